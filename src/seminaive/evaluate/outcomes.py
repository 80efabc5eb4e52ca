"""What happened, beside the probabilities that were given to it: checked once, as positions and columns."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

__all__ = ["class_positions", "of_one_class", "probability_columns"]

Floats = npt.NDArray[np.float64]
Positions = npt.NDArray[np.intp]

ROUNDING = 1e-6  # of single precision


def probability_columns(probability: npt.ArrayLike) -> Floats:
    """Probabilities as one column per class; a single column is that of the second of two classes.

    Examples
    --------
    >>> probability_columns([0.75])
    array([[0.25, 0.75]])
    """
    given = np.asarray(probability, dtype=np.float64)
    outside = ~((given >= -ROUNDING) & (given <= 1 + ROUNDING))  # NaN, too
    if outside.any():
        row = int(np.argwhere(outside)[0][0])
        raise ValueError(f"probability, row {row}, holds {given[outside][0]:g}, but probabilities lie between 0 and 1.")
    return np.column_stack([1 - given, given]) if given.ndim == 1 else given


def class_positions(y: npt.ArrayLike, n_classes: int, classes: npt.ArrayLike | None = None) -> Positions:
    """The position of each row's class: looked up among the labels, or given as such.

    Examples
    --------
    >>> class_positions(["no", "yes"], 2, ["no", "yes"])
    array([0, 1])
    """
    label = np.asarray(y)
    if classes is not None:
        labels = np.asarray(classes).tolist()
        if len(labels) != n_classes:
            raise ValueError(f"classes has {len(labels)} labels, probability {n_classes} columns.")
        place = {name: k for k, name in enumerate(labels)}
        unknown = [name for name in label.tolist() if name not in place]
        if unknown:
            raise ValueError(f"y holds {unknown[0]!r}, which is not among the classes {labels}.")
        return np.array([place[name] for name in label.tolist()], dtype=np.intp)
    if label.dtype.kind not in "bui" and not (label.dtype.kind == "f" and np.all(label == np.floor(label))):
        raise ValueError("y holds labels: give classes=model.classes_, the labels in the order of the columns.")
    position = label.astype(np.intp)
    if len(label) and (position.min() < 0 or position.max() >= n_classes):
        raise ValueError(
            f"y must hold class positions from 0 to {n_classes - 1}, got {position.min()} to {position.max()}; "
            "give classes=model.classes_ if these are labels."
        )
    return position


def of_one_class(
    y: npt.ArrayLike, probability: npt.ArrayLike, classes: npt.ArrayLike | None, of: Any
) -> tuple[Floats, Floats]:
    """Whether each row is of one class (the last, unless named), 0 or 1, and the probability it was given."""
    columns = probability_columns(probability)
    position = class_positions(y, columns.shape[1], classes)
    sought = columns.shape[1] - 1
    if of is not None:
        labels = list(range(columns.shape[1])) if classes is None else np.asarray(classes).tolist()
        if of not in labels:
            raise ValueError(f"of={of!r} is not among the classes {labels}.")
        sought = labels.index(of)
    return (position == sought).astype(np.float64), columns[:, sought]
