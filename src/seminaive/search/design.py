"""Coded rows, and how codes become weighted evidence.

score_k = offset_k + sum_j  w_jk g_jk(x_j)              p = softmax(score), or logistic of a single score
"""

from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt

__all__ = ["Design", "Lookup", "Rows", "table_design"]

Float = npt.NDArray[np.float64]
Index = npt.NDArray[np.intp]

NEVER = 700.0  # the largest log odds of a prior: a class without rows keeps its place


@dataclass(frozen=True)
class Rows:
    """Coded rows: codes by column, class of every row, and weights unless all are 1.

    `dense` holds evidence that no table can give (density differences of numeric columns), one
    (columns, rows) layer per score.
    """

    codes: npt.NDArray[np.uint8]
    label: Index
    weight: Float | None = None
    codes16: npt.NDArray[np.uint16] | None = None
    dense: Float | None = None

    def __len__(self) -> int:
        return len(self.label)

    @property
    def total(self) -> float:
        return float(len(self)) if self.weight is None else float(self.weight.sum())

    def take(self, chosen: npt.NDArray[Any]) -> "Rows":
        """Copy the chosen rows (positions or a mask)."""
        return Rows(
            np.ascontiguousarray(self.codes[:, chosen]),
            self.label[chosen],
            None if self.weight is None else self.weight[chosen],
            None if self.codes16 is None else np.ascontiguousarray(self.codes16[:, chosen]),
            None if self.dense is None else np.ascontiguousarray(self.dense[:, :, chosen]),
        )


@dataclass(frozen=True)
class Lookup:
    """Which row of codes each predictor reads, where its table starts, and which predictor it is."""

    source: Index
    start: Index
    place: Index


NOTHING = np.empty(0, dtype=np.intp)


@dataclass(frozen=True)
class Design:
    """How codes become weighted evidence: offsets, flat tables (one line per score), and the predictors.

    One line of tables is a logit for class `positive`; several are a softmax, with a weight per class
    and predictor or, if `shared`, one weight per predictor.
    """

    offset: Float
    tables: Float
    predictors: int
    lookup: Lookup
    lookup16: Lookup | None = None
    dense_place: Index = field(default_factory=lambda: NOTHING)
    shared: bool = False
    positive: int = 1

    @property
    def size(self) -> int:
        """Number of weights."""
        return self.predictors if self.shared else self.predictors * len(self.offset)

    def by_class(self, weights: Float) -> Float:
        """Weights as one line of predictors per score."""
        shape = (len(self.offset), self.predictors)
        lines = 1 if self.shared else len(self.offset)
        return np.ascontiguousarray(np.broadcast_to(weights.reshape(lines, self.predictors), shape))


def table_design(
    offset: Float,
    tables: Float,
    starts: Index,
    *,
    source: Index | None = None,
    wide: npt.NDArray[np.bool_] | None = None,
    dense: int = 0,
    shared: bool = False,
    positive: int = 1,
    residual: float = 0.0,
    seen: npt.NDArray[np.bool_] | None = None,
) -> Design:
    """Design with one predictor per column of codes, read from flat tables that begin at `starts`.

    Column c reads row `source[c]` of the codes (by default its own number), of the 16-bit ones where `wide` says so.
    After the columns of codes come `dense` columns of numbers. `residual` > 0 adds, at the end, a predictor for every
    value that `seen` marks, worth `residual` where the value occurs: each table entry may then move on its own, under
    the same penalty.

    Examples
    --------
    >>> design = table_design(np.zeros(1), np.array([[0.0, 0.0, -1.0, 1.0]]), np.array([0, 4]))
    >>> rows = Rows(np.array([[2, 3, 3]], dtype=np.uint8), np.array([0, 1, 1]))
    >>> from seminaive.search.weighted_evidence import scores
    >>> scores(rows, design, np.array([0.5]))
    array([[-0.5,  0.5,  0.5]])
    """
    columns = len(starts) - 1
    source = np.arange(columns) if source is None else source
    wide = np.zeros(columns, dtype=bool) if wide is None else wide
    start, place = np.asarray(starts[:-1]), np.arange(columns)
    if residual > 0:
        if shared:
            raise ValueError("residual needs one weight per class and predictor: use shared=False.")
        tables, of_column, there = _one_hot(tables, starts, residual, seen)
        place = np.concatenate([place, columns + dense + np.arange(len(there))])
        start = np.concatenate([start, there])
        source, wide = (np.concatenate([part, part[of_column]]) for part in (source, wide))
    narrow, broad = (
        Lookup(source[these].astype(np.intp), start[these].astype(np.intp), place[these].astype(np.intp))
        for these in (~wide, wide)
    )
    return Design(
        offset=np.clip(np.asarray(offset, dtype=float), -NEVER, NEVER),
        tables=np.ascontiguousarray(tables, dtype=np.float64),
        predictors=len(place) + dense,
        lookup=narrow,
        lookup16=broad if wide.any() else None,
        dense_place=np.arange(columns, columns + dense, dtype=np.intp),
        shared=shared,
        positive=positive,
    )


def _one_hot(
    tables: Float, starts: Index, residual: float, seen: npt.NDArray[np.bool_] | None
) -> tuple[Float, Index, Index]:
    """Tables with a common one for all values at their end; the column of each value, and where it starts reading.

    The common table is `residual` in its middle and 0 elsewhere: who wants it at code v starts v before the middle.
    """
    values = np.arange(tables.shape[1]) if seen is None else np.flatnonzero(seen)
    of_column = np.searchsorted(starts, values, side="right") - 1
    widest = int(np.diff(starts).max(initial=1))
    common = np.zeros((len(tables), 2 * widest - 1))
    common[:, widest - 1] = residual
    there = tables.shape[1] + widest - 1 - (values - np.asarray(starts)[of_column])
    return np.concatenate([tables, common], axis=1), of_column.astype(np.intp), there.astype(np.intp)
