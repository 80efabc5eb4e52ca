"""The way a search went, and which of its sets to keep."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

import numpy as np

from seminaive.evidence.storage import storable
from seminaive.show.path import Curve, PathPicture
from seminaive.table.schema import Floats, Integers

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["Choice", "Path", "Size", "choose", "measured"]

Size = int | Literal["best", "one-se"]

EQUAL = 1e-12
"""Criteria this close are ties."""


@storable
@dataclass(frozen=True)
class Path:
    """Every step of one greedy phase.

    Attributes
    ----------
    direction : {"forward", "backward"}
    criterion : {"error", "probability", "log_loss"}
    start : tuple of ints
        Features of the set to begin with, in their order.
    start_value, start_error : float
        Criterion and error of that set on the rows searched.
    features : (steps,) ints
        Feature that moved at each step.
    values, errors : (steps,) floats
        Criterion and error on the rows searched after each step.
    evaluations : int
        How many candidate sets were compared, those of a last pass that changed nothing included.
    interrupted : bool
        Stopped from the keyboard; the steps so far are complete.

    Examples
    --------
    >>> errors = np.array([0.2, 0.1])
    >>> path = Path("forward", "error", (), 0.5, 0.5, np.array([2, 0]), errors, errors)
    >>> path.sizes.tolist(), path.features_after(1), path.action
    ([1, 2], (2,), 'add')
    """

    direction: Literal["forward", "backward"]
    criterion: str
    start: tuple[int, ...]
    start_value: float
    start_error: float
    features: Integers
    values: Floats
    errors: Floats
    evaluations: int = 0
    interrupted: bool = False

    @property
    def action(self) -> str:
        """What every step of this phase does: "add" or "remove"."""
        return "add" if self.direction == "forward" else "remove"

    @property
    def sizes(self) -> Integers:
        """Number of features after each step."""
        steps = np.arange(1, len(self.features) + 1)
        return len(self.start) + (steps if self.direction == "forward" else -steps)

    def features_after(self, step: int) -> tuple[int, ...]:
        """The set after that many steps, in the order of the columns."""
        moved = {int(feature) for feature in self.features[:step]}
        return tuple(sorted(moved.symmetric_difference(self.start)))

    def to_frame(self) -> pd.DataFrame:
        """One row per step: step, feature, action, criterion, error, size."""
        import pandas as pd

        return pd.DataFrame(
            {
                "step": np.arange(1, len(self.features) + 1),
                "feature": self.features,
                "action": self.action,
                "criterion": self.values,
                "error": self.errors,
                "size": self.sizes,
            }
        )

    def picture(self, kept: tuple[int, ...] | None = None) -> PathPicture:
        """Error and criterion after every step, and the step that led to the kept features."""
        steps = np.arange(1, len(self.features) + 1)
        curves = measured(steps, self.errors, self.values, self.criterion)
        led = [float(step) for step in steps.tolist() if kept is not None and self.features_after(step) == kept]
        return PathPicture("step", curves, led[:1])


@storable
@dataclass(frozen=True)
class Choice:
    """The set kept from a path, and its error on the rows that decided its size."""

    features: tuple[int, ...]
    error: float

    @property
    def rank(self) -> tuple[float, int]:
        return (self.error, len(self.features))


def measured(steps: Integers, errors: Floats, values: Floats, criterion: str) -> list[Curve]:
    """The error on the rows searched, and what the search lowered where that is something else."""
    at = steps.astype(np.float64)
    curves = [Curve("error", at, errors, "error", "error")]
    if criterion != "error":
        unit = "nats per row" if criterion.endswith("log_loss") else "error"
        curves.append(Curve(criterion.replace("_", " "), at, values, unit, "criterion"))
    return curves


def choose(
    path: Path, errors: Sequence[float], n_rows: float, size: Size = "best", empty_error: float = np.inf
) -> Choice:
    """Pick a set of a path by its error, usually on other rows than those searched.

    Parameters
    ----------
    path : Path
    errors : (steps + 1,) floats
        Error of the start set and after each step.
    n_rows : float
        How many rows (or how much weight) these errors rest on.
    size : "best", "one-se" or int
        The smallest set with the lowest error; the smallest within one standard error of the lowest; or
        the set of that many features (the nearest smaller one if the path has none).
    empty_error : float
        Error of the empty set, which is admissible even where the path does not reach it.

    Examples
    --------
    >>> errors = np.array([0.13, 0.1, 0.1])
    >>> path = Path("forward", "error", (), 0.5, 0.5, np.array([2, 0, 1]), errors, errors)
    >>> choose(path, [0.5, 0.13, 0.1, 0.1], n_rows=100)
    Choice(features=(0, 2), error=0.1)
    >>> choose(path, [0.5, 0.13, 0.1, 0.1], n_rows=100, size="one-se")
    Choice(features=(2,), error=0.13)
    """
    sizes = np.concatenate([[0, len(path.start)], path.sizes])
    every = np.concatenate([[empty_error], np.asarray(errors, dtype=np.float64)])
    if isinstance(size, str):
        best = float(every.min())
        spread = np.sqrt(best * (1.0 - best) / n_rows) if size == "one-se" else 0.0
        admissible = np.flatnonzero(every <= best + spread + EQUAL)
    else:
        smaller = np.where((sizes <= size) & np.isfinite(every), sizes, -1)
        admissible = np.flatnonzero(smaller == smaller.max())
    # smallest first, then the lower error
    at = admissible[np.lexsort((every[admissible], sizes[admissible]))[0]]
    return Choice(() if at == 0 else path.features_after(int(at) - 1), float(every[at]))
