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
    shared: bool = False,
    positive: int = 1,
    residual: float = 0.0,
    seen: npt.NDArray[np.bool_] | None = None,
) -> Design:
    """Design with one predictor per column of codes, read from flat tables that begin at `starts`.

    `residual` > 0 adds a predictor for every value that `seen` marks, worth `residual` where the value
    occurs: each table entry may then move on its own, under the same penalty.

    Examples
    --------
    >>> design = table_design(np.zeros(1), np.array([[0.0, 0.0, -1.0, 1.0]]), np.array([0, 4]))
    >>> rows = Rows(np.array([[2, 3, 3]], dtype=np.uint8), np.array([0, 1, 1]))
    >>> from seminaive.search.weighted_evidence import scores
    >>> scores(rows, design, np.array([0.5]))
    array([[-0.5,  0.5,  0.5]])
    """
    columns = len(starts) - 1
    source, start = np.arange(columns), np.asarray(starts[:-1])
    if residual > 0:
        if shared:
            raise ValueError("residual needs one weight per class and predictor: use shared=False.")
        level = np.ones(tables.shape[1], dtype=bool) if seen is None else seen
        extra, position = [tables], tables.shape[1]
        for column in range(columns):
            first, width = starts[column], starts[column + 1] - starts[column]
            values = np.flatnonzero(level[first : first + width])
            one_hot = np.zeros((len(values), width))
            one_hot[np.arange(len(values)), values] = residual
            extra.append(np.broadcast_to(one_hot.reshape(1, -1), (len(tables), one_hot.size)))
            source = np.append(source, np.full(len(values), column))
            start = np.append(start, position + width * np.arange(len(values)))
            position += one_hot.size
        tables = np.concatenate(extra, axis=1)
    lookup = Lookup(source.astype(np.intp), start.astype(np.intp), np.arange(len(source)))
    flat = np.ascontiguousarray(tables, dtype=np.float64)
    offset = np.clip(np.asarray(offset, dtype=float), -NEVER, NEVER)
    return Design(offset, flat, len(source), lookup, shared=shared, positive=positive)
