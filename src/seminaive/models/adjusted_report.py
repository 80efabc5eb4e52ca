"""What `AdjustedNB` says about its weights: how they were chosen, which are reversed, which repeat each other."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from seminaive.evidence.storage import storable
from seminaive.search.unrestricted import WEAKEST
from seminaive.show.explanation import Z95
from seminaive.show.path import Curve, PathPicture
from seminaive.table.schema import Floats, Integers, Schema

if TYPE_CHECKING:
    import pandas as pd

ALIKE = 0.7
"""Evidence of two columns that is correlated at least as much is said to be nearly the same."""
WITHOUT_ERROR = 1e-3
"""Fewer bits per row are those of classes told apart without error."""
NAMED = 8
"""Columns that a sentence of the summary names."""


@storable
@dataclass(frozen=True, eq=False)
class WeightPath:
    """The fits that were compared, strongest penalty first (by size where the paper's search chose).

    Attributes
    ----------
    criterion : str
        What they were judged by.
    steps : dict of arrays
        Penalty, penalty relative to its unit, m and criterion of each fit.
    chosen : bool array
    classes : array or None
        The class that each fit tells from the rest, where every class is fitted alone.
    """

    criterion: str
    steps: dict[str, Floats]
    chosen: npt.NDArray[np.bool_]
    classes: npt.NDArray[Any] | None

    @property
    def endless(self) -> bool:
        """Whether some class is told apart without error, so that only the weakest penalty tried holds the weights."""
        if "relative" not in self.steps:
            return False
        weakest = self.steps["relative"] <= 1.001 * WEAKEST
        return bool(np.any(self.chosen & weakest & (self.steps["criterion"] < WITHOUT_ERROR)))

    def to_frame(self) -> pd.DataFrame:
        """One row per fit."""
        import pandas as pd

        of_class = {} if self.classes is None else {"class": self.classes}
        return pd.DataFrame({**of_class, **self.steps, "chosen": self.chosen})

    def picture(self, kept: tuple[int, ...] | None = None) -> PathPicture:
        """The criterion against the penalty (or, where the paper's search chose, against m) of every fit."""
        by_penalty = "penalty" in self.steps
        x = self.steps.get("penalty", self.steps.get("m", np.zeros(0)))
        of_class = np.zeros(len(x), dtype=object) if self.classes is None else self.classes.astype(object)
        curves = []
        for label in dict.fromkeys(of_class.tolist()):
            rows = of_class == label
            name = self.criterion if self.classes is None else f"{label} against the rest"
            curves.append(Curve(name, x[rows], self.steps["criterion"][rows], "bits per row", "criterion"))
        label = "penalty" if by_penalty else "m, the sum of squared weights"
        return PathPicture(label, curves, x[self.chosen].tolist(), falling=by_penalty and bool(np.all(x > 0)))

    def __repr__(self) -> str:
        return f"WeightPath({len(self.chosen)} fits, judged by {self.criterion})"


@storable
@dataclass(frozen=True, eq=False)
class Overlap:
    """For each column the other one whose evidence is most like its own, and their correlation over the rows.

    Attributes
    ----------
    partner : int array (columns,)
        -1 where there is none, or where it is not known.
    correlation : array (columns,)
    """

    partner: Integers
    correlation: Floats

    @classmethod
    def of(cls, gram: Floats) -> Overlap:
        """From sums over the rows of products of two columns' evidence."""
        size = np.sqrt(np.diag(gram))
        scaled = np.divide(gram, np.outer(size, size), out=np.zeros_like(gram), where=np.outer(size, size) > 0)
        np.fill_diagonal(scaled, 0.0)
        scaled = np.round(scaled, 9)  # copies of one column are equally alike, whatever the rounding
        partner = np.abs(scaled).argmax(axis=1) if len(gram) else np.zeros(0, dtype=np.int64)
        correlation = scaled[np.arange(len(gram)), partner]
        return cls(np.where(correlation != 0, partner, -1), correlation)


def weights_frame(schema: Schema, weights: Floats, errors: Floats, overlap: Overlap) -> pd.DataFrame:
    """One row per column (and class, where classes have weights of their own): weight, interval, and what it means."""
    import pandas as pd

    names = [str(name) for name in schema.names]
    partner = [names[j] if j >= 0 else "" for j in overlap.partner]
    frames = []
    for k, (own, error) in enumerate(zip(np.atleast_2d(weights), np.atleast_2d(errors), strict=True)):
        of_class = {"class": schema.classes[k]} if weights.ndim == 2 else {}
        columns = {
            "term": names,
            **of_class,
            "weight": own,
            "low": own - Z95 * error,
            "high": own + Z95 * error,
            "reversed": own < 0,
            "most like": partner,
            "correlation": overlap.correlation,
        }
        frames.append(pd.DataFrame(columns))
    together = pd.concat(frames)
    return together.sort_index(kind="stable").reset_index(drop=True) if len(frames) > 1 else together


def sentences(schema: Schema, weights: Floats, errors: Floats, overlap: Overlap, endless: bool) -> list[str]:
    """The surest weights, which columns are reversed given the others, and which say nearly the same.

    Where classes are told apart without error (``endless``) the rows do not bound the weights; the largest are named
    without intervals, since the column that gives the class away is among them.
    """
    size, half = np.atleast_2d(weights), Z95 * np.atleast_2d(errors)
    names = [str(name) for name in schema.names]

    def listed(places: Integers, sign: bool = False) -> str:
        parts = []
        for k, j in places[:NAMED].tolist():
            of_class = f" for {schema.classes[k]}" if weights.ndim == 2 else ""
            width = f" ± {half[k, j]:.2f}" if np.isfinite(half[k, j]) else ""
            surely = ", could be chance" if sign and size[k, j] + half[k, j] >= 0 else ""
            about = f" ({size[k, j]:.2f}{width}{surely})" if sign else f" {size[k, j]:.2f}{width}"
            parts.append(f"{names[j]}{of_class}{about}")
        return ", ".join(parts) + (f" and {len(places) - NAMED} more" if len(places) > NAMED else "")

    lines = []
    if endless:
        half = np.full_like(half, np.inf)
        largest = _sorted_by(np.argwhere(size != 0), -np.abs(size))
        lines.append(
            "classes are told apart without error: the rows do not bound the weights, and no interval means anything; "
            f"does a column give the class away? largest weights: {listed(largest)}"
        )
    fitted = _sorted_by(np.argwhere(half > 0), -np.abs(size) / np.where(half > 0, half, 1.0))
    if len(fitted) and not endless:
        lines.append(f"weights, the surest first (1: as naive Bayes; 95 % interval): {listed(fitted)}")
    reversed_ones = _sorted_by(np.argwhere(size < 0), size + half)
    if len(reversed_ones):
        these = listed(reversed_ones, sign=True)
        lines.append(f"reversed given the other columns (negative weight, 95 % interval): {these}")
    alike = {
        (min(j, int(i)), max(j, int(i))): c
        for j, (i, c) in enumerate(zip(overlap.partner, overlap.correlation, strict=True))
        if i >= 0 and abs(c) >= ALIKE
    }
    if alike:
        strongest = sorted(alike, key=lambda pair: -abs(alike[pair]))
        parts = [f"{names[a]} ~ {names[b]} ({alike[a, b]:.2f})" for a, b in strongest[:NAMED]]
        more = f" and {len(alike) - NAMED} more" if len(alike) > NAMED else ""
        lines.append(f"say nearly the same, and share their weight (correlation): {', '.join(parts)}{more}")
    return lines


def _sorted_by(places: Integers, key: Floats) -> Integers:
    """Places (pairs of row and column) in rising order of a key."""
    return places[np.argsort(key[tuple(places.T)], kind="stable")]
