"""Promised class rates, as people write them: {"sick": {"recall": 0.95}, "*": {"accuracy": 0.9}}."""

from __future__ import annotations

import numbers
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float64]

OF_A_CLASS = ("recall", "specificity", "precision", "f1", "fbeta")
OVERALL = ("accuracy", "balanced_accuracy", "cost")
ALSO_CALLED = {
    "sensitivity": "recall", "tpr": "recall", "tnr": "specificity", "ppv": "precision", "positive predictive value":
    "precision", "f2": "fbeta", "balanced accuracy": "balanced_accuracy",
}  # fmt: skip


@dataclass(frozen=True)
class Constraint:
    """One promise: a metric of one class, or of all, is at least a rate (a mean cost: at most).

    Attributes
    ----------
    metric : str
    rate : float
    position : int
        Of the class among the sorted labels; -1 for all classes together.
    label : class label, or "*"
    beta : float
        Of F-beta: how many times recall counts more than precision.
    matrix : tuple of tuples
        Costs, ``matrix[true][predicted]``.
    """

    metric: str
    rate: float
    position: int = -1
    label: Any = "*"
    beta: float = 1.0
    matrix: tuple[tuple[float, ...], ...] = ()

    def __str__(self) -> str:
        name = f"f{self.beta:g}" if self.metric == "fbeta" else self.metric
        where = "overall" if self.position < 0 else f"of {self.label!r}"
        return f"{name} {where} {'<=' if self.metric == 'cost' else '>='} {self.rate:g}"


def read_constraints(constraints: Mapping[Any, Mapping[str, Any]] | None, classes: Sequence[Any]) -> list[Constraint]:
    """Constraints as users write them, checked; rates of 0 promise nothing and are dropped.

    Parameters
    ----------
    constraints : dict or None
        ``{label: {metric: rate}}``; the key ``"*"`` is for accuracy, balanced_accuracy and
        ``{"cost": {"matrix": C, "max": c}}``; a class whose label is ``"*"`` is written ``("*",)``.
    classes : sequence
        The labels.

    Examples
    --------
    >>> for c in read_constraints({"sick": {"recall": 0.95}, "*": {"accuracy": 0.8}}, ["sick", "well"]):
    ...     print(c)
    recall of 'sick' >= 0.95
    accuracy overall >= 0.8
    """
    if constraints is None:
        return []
    if not isinstance(constraints, Mapping):
        raise ValueError(f"constraints must be a dict such as {{'label': {{'recall': 0.9}}}}; got {constraints!r}")
    found: list[Constraint] = []
    for key, wishes in constraints.items():
        overall = isinstance(key, str) and key == "*"
        position, label = (-1, "*") if overall else _class_position(key, classes)
        known = OVERALL if overall else OF_A_CLASS
        if not isinstance(wishes, Mapping):
            raise ValueError(f"constraints[{key!r}] must be a dict such as {{{known[0]!r}: 0.9}}; got {wishes!r}")
        for metric, value in wishes.items():
            if metric not in known:
                same = ALSO_CALLED.get(metric) if isinstance(metric, str) else None
                hint = f" ({metric} is called {same!r} here)" if same in known else ""
                if overall and metric in OF_A_CLASS:
                    hint = " (rates of one class are asked for under its label; that of a class '*' is written ('*',))"
                raise ValueError(f"constraints[{key!r}]: {metric!r} is not one of {', '.join(known)}{hint}")
            found.append(_read_one(metric, value, position, label, len(classes)))
    seen = set()
    for c in found:
        if (c.position, c.metric, c.beta) in seen:
            raise ValueError(f"constraints: {c} and another rate for the same metric; keep one of them")
        seen.add((c.position, c.metric, c.beta))
    return [c for c in found if c.metric == "cost" or c.rate > 0]


def _class_position(key: Any, classes: Sequence[Any]) -> tuple[int, Any]:
    label = key[0] if isinstance(key, tuple) and len(key) == 1 else key
    for k, known in enumerate(classes):
        if known == label and isinstance(known, bool) == isinstance(label, (bool, np.bool_)):
            return k, known
    raise ValueError(f"constraints: {key!r} is not one of the classes {list(classes)} (nor '*' for all of them)")


def _read_one(metric: str, value: Any, position: int, label: Any, n_classes: int) -> Constraint:
    where = f"constraints[{label!r}][{metric!r}]"
    if metric == "cost":
        if not isinstance(value, Mapping) or set(value) != {"matrix", "max"}:
            raise ValueError(f"{where} must be {{'matrix': C, 'max': c}}; got {value!r}")
        matrix = np.asarray(value["matrix"], dtype=np.float64)
        if matrix.shape != (n_classes, n_classes) or not np.isfinite(matrix).all():
            raise ValueError(f"{where}['matrix'] must be {n_classes} x {n_classes} finite costs, [true, predicted]")
        if not isinstance(value["max"], numbers.Real) or not np.isfinite(float(value["max"])):
            raise ValueError(f"{where}['max'] must be a number; got {value['max']!r}")
        return Constraint(metric, float(value["max"]), matrix=tuple(map(tuple, matrix.tolist())))
    beta = 1.0
    if metric == "fbeta":
        if not isinstance(value, Sequence) or len(value) != 2 or not _is_number(value[0]) or not value[0] > 0:
            raise ValueError(f"{where} must be a pair (beta, rate) with beta > 0; got {value!r}")
        beta, value = float(value[0]), value[1]
    if not _is_number(value) or not 0 <= value <= 1:
        raise ValueError(f"{where} must be a rate between 0 and 1; got {value!r}")
    return Constraint("fbeta" if metric == "f1" else metric, float(value), position, label, beta)


def _is_number(value: Any) -> bool:
    return isinstance(value, numbers.Real) and not isinstance(value, (bool, np.bool_))
