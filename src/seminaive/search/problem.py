"""What a greedy search works on: rows, and what every feature would say about them.

Naive Bayes is additive, so a set S of features scores row i and class k by

    L_S(i, k) = log prior(k) + sum over p in S of  log P(x_ip | class k)

and the search needs nothing else. A feature with levels brings a table of log evidence per class and level
and the rows' codes; any other feature brings the evidence itself, one number per row and class.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

__all__ = ["SearchProblem", "Segments", "arrange_rows"]

Floats = npt.NDArray[np.float64]
Integers = npt.NDArray[np.int64]


@dataclass(frozen=True)
class Segments:
    """Rows in stretches of one class and one fold each.

    Attributes
    ----------
    starts : (S + 1,) ints
        Segment s holds the rows ``starts[s]:starts[s + 1]``.
    labels : (S,) ints
        Class of each segment.
    tables : (S,) ints
        Which evidence tables score the segment: with cross-validation, those learned without its fold.
    """

    starts: Integers
    labels: Integers
    tables: Integers

    @property
    def n_rows(self) -> int:
        return int(self.starts[-1])

    def per_row(self, values: npt.NDArray[np.int64]) -> Integers:
        """Spread one number per segment over its rows."""
        return np.repeat(values, np.diff(self.starts))


def arrange_rows(y: npt.ArrayLike, folds: npt.ArrayLike | None = None) -> tuple[Integers, Segments]:
    """Order of rows that puts every class (and fold) together, and the segments they then form.

    Parameters
    ----------
    y : (n,) ints
        Class of each row, 0 .. K - 1.
    folds : (n,) ints, optional
        Number of the tables that score each row; one set of tables for all rows if left out.

    Returns
    -------
    order : (n,) ints
        ``codes[:, order]`` and ``weights[order]`` are in the order of the segments.
    segments : Segments

    Examples
    --------
    >>> order, segments = arrange_rows([1, 0, 1, 0], folds=[0, 0, 1, 0])
    >>> order.tolist(), segments.starts.tolist(), segments.labels.tolist(), segments.tables.tolist()
    ([1, 3, 0, 2], [0, 2, 3, 4], [0, 1, 1], [0, 0, 1])
    """
    labels = np.asarray(y, dtype=np.int64)
    fold = np.zeros_like(labels) if folds is None else np.asarray(folds, dtype=np.int64)
    order = np.lexsort((fold, labels))
    pairs = np.stack([labels[order], fold[order]])
    begins = np.flatnonzero(np.any(np.diff(pairs, axis=1, prepend=-1) != 0, axis=0))
    starts = np.append(begins, len(labels)).astype(np.int64)
    return order.astype(np.int64), Segments(starts, pairs[0, begins], pairs[1, begins])


@dataclass(frozen=True)
class SearchProblem:
    """Rows in segments, with the evidence of every feature.

    Features are numbered in the order of their columns, whatever their kind: ``coded_features`` and
    ``dense_features`` say which numbers the rows of ``codes`` and of ``dense`` have.

    Attributes
    ----------
    segments : Segments
    log_prior : (V, K) floats
        One row per set of tables.
    codes : (C, n) uint8
        A feature's code in each row. A code whose evidence should say nothing (a value never seen, a
        missing one) has the same number, 0 say, for every class.
    tables : (V, K, T) floats
        Log evidence of every code of every feature, finite: a probability of zero is floored at log -700.
    offsets : (C + 1,) ints
        The codes of coded feature c have columns ``offsets[c]:offsets[c + 1]`` of ``tables``.
    dense : callable or array (D, K, n), optional
        Evidence of feature d, ``dense(d)`` or ``dense[d]``, (K, n) in the order of the segments. A feature
        with more than 254 levels is passed here too, as ``lambda d: table[:, codes16]``.
    n_dense : int
    weights : (n,) floats, optional
        All 1 if left out.
    coded_features, dense_features : ints, optional
        Coded features first, then the dense ones, if left out.

    Examples
    --------
    Six rows, two classes, one feature with the levels 2 and 3:

    >>> order, segments = arrange_rows([0, 0, 0, 1, 1, 1])
    >>> problem = SearchProblem(
    ...     segments,
    ...     log_prior=np.log([[0.5, 0.5]]),
    ...     codes=np.array([[2, 2, 3, 3, 3, 3]], dtype=np.uint8),
    ...     tables=np.log([[[1, 1, 0.6, 0.4], [1, 1, 0.2, 0.8]]]),
    ...     offsets=np.array([0, 4]),
    ... )
    >>> problem.n_features, problem.n_classes
    (1, 2)
    """

    segments: Segments
    log_prior: Floats
    codes: npt.NDArray[np.uint8]
    tables: Floats
    offsets: Integers
    dense: Callable[[int], Floats] | Floats | None = None
    n_dense: int = 0
    weights: Floats | None = None
    coded_features: Integers | None = None
    dense_features: Integers | None = None

    def __post_init__(self) -> None:
        n = self.segments.n_rows
        if n == 0 or self.n_features == 0:
            raise ValueError(f"A search needs rows and features; got {n} rows and {self.n_features} features.")
        if self.n_classes < 2:
            raise ValueError("A search needs at least two classes; got one.")
        if self.codes.dtype != np.uint8:
            raise ValueError(f"Codes must be uint8, not {self.codes.dtype}; pass wider ones as dense features.")
        if not np.isfinite(self.tables).all() or not np.isfinite(self.log_prior).all():
            raise ValueError("Log evidence and log prior must be finite; floor a probability of zero at log -700.")
        if self.weights is not None and (np.min(self.weights) < 0 or np.sum(self.weights) <= 0):
            raise ValueError("Weights must not be negative, and one at least must be positive.")

    @property
    def n_classes(self) -> int:
        return int(self.log_prior.shape[1])

    @property
    def n_coded(self) -> int:
        return int(self.codes.shape[0])

    @property
    def n_features(self) -> int:
        return self.n_coded + self.n_dense

    @property
    def positions(self) -> Integers:
        """Number of every feature: those of the coded ones, then those of the dense ones."""
        coded, dense = self.coded_features, self.dense_features
        if coded is None:
            coded = np.arange(self.n_coded)
        if dense is None:
            dense = np.arange(self.n_coded, self.n_features)
        return np.concatenate([coded, dense]).astype(np.int64)

    def dense_evidence(self, d: int) -> Floats:
        """Evidence of dense feature d, (K, n)."""
        assert self.dense is not None
        rows = self.dense(d) if callable(self.dense) else self.dense[d]
        return np.asarray(rows, dtype=np.float64)
