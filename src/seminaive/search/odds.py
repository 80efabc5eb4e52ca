"""The odds of a set of features against the true class, row by row: the definition that every search must
equal.

For row i of class c and each of its K - 1 rivals k,

    D(k, i) = L_S(i, k) - L_S(i, c)

Row i is wrong if a rival of lower label reaches L(i, c) or one of higher label exceeds it; scores within
1e-12 of each other, relative to their size, count as equal. With s_i = sum over k of exp D(k, i),

    error = share of rows wrong      probability = mean of s_i / (1 + s_i)     log loss = mean of log(1 + s_i)
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any, Literal, NamedTuple

import numpy as np
import numpy.typing as npt

from seminaive.kernels.search import add_coded, decide
from seminaive.search.problem import SearchProblem

__all__ = ["Criteria", "Criterion", "Odds", "trace"]

Floats = npt.NDArray[np.float64]
Criterion = Literal["error", "probability", "log_loss"]

SAME = 1e-12
"""Scores this close, relative to their size, are ties of classes."""

FARTHEST = 350.0
"""Log odds are cut off here before they are turned into odds: so far off, a probability is 0 or 1."""


class Criteria(NamedTuple):
    """Error, error probability and log loss of one set of features."""

    error: float
    probability: float
    log_loss: float


class Odds:
    """Log odds of all rivals in all rows, updated as features come and go.

    Parameters
    ----------
    problem : SearchProblem
    features : iterable of ints
        Features of the set to begin with.

    Attributes
    ----------
    rivals : (K - 1, n) floats
        D above. Rivals stand in the order of their labels, the true class left out.
    own : (n,) floats
        Score of the true class.
    included : (P,) bools
    """

    def __init__(self, problem: SearchProblem, features: Iterable[int] = ()) -> None:
        self.problem = problem
        segments = problem.segments
        K = problem.n_classes
        labels = segments.per_row(segments.labels)
        of_segment = np.asarray(segments.labels)
        self.rival_labels = np.array([[k + (k >= c) for k in range(K - 1)] for c in range(K)])
        self.tolerance = np.where(np.arange(K - 1)[:, None] < of_segment, SAME, -SAME)
        self.log_ratios, self.own_evidence = _against_own(problem.tables, segments.tables, segments.labels)
        prior, own_prior = _against_own(problem.log_prior[:, :, None], segments.tables, segments.labels)
        row_segment = segments.per_row(np.arange(len(segments.labels)))
        self.labels = labels
        self.rivals = np.take(prior[:, :, 0], row_segment, axis=1)
        self.own = np.take(own_prior[:, 0], row_segment)
        self.weights = problem.weights
        self.total_weight = float(segments.n_rows if problem.weights is None else problem.weights.sum())
        self.included = np.zeros(problem.n_features, dtype=bool)
        self._decided: tuple[Floats, npt.NDArray[np.bool_]] | None = None
        self._odds: Floats | None = None
        self.slot = np.empty(problem.n_features, dtype=np.int64)
        self.slot[problem.positions] = np.arange(problem.n_features)
        for feature in features:
            self.move(feature)

    def dense_evidence(self, feature: int) -> tuple[Floats, Floats]:
        """What a dense feature says: (K - 1, n) for the rivals relative to the true class, (n,) for that class."""
        rows = self.problem.dense_evidence(int(self.slot[feature]) - self.problem.n_coded)
        if not np.isfinite(rows).all():
            raise ValueError(f"Evidence of feature {feature} must be finite; floor a density of zero at log -700.")
        columns = np.arange(rows.shape[1])
        own = rows[self.labels, columns]
        return rows[self.rival_labels[self.labels].T, columns] - own, own

    def move(self, feature: int) -> None:
        """Add the feature to the set, or remove it if it is in."""
        sign = -1.0 if self.included[feature] else 1.0
        problem, slot = self.problem, int(self.slot[feature])
        if slot < problem.n_coded:
            here = slice(problem.offsets[slot], problem.offsets[slot + 1])
            told = self.log_ratios[:, :, here], self.own_evidence[:, here]
            add_coded(problem.codes[slot], problem.segments.starts, *told, sign, self.rivals, self.own)
        else:
            shift, own = self.dense_evidence(feature)
            self.rivals += sign * shift
            self.own += sign * own
        self.included[feature] = not self.included[feature]
        self._decided = self._odds = None

    def decided(self) -> Floats:
        """Log odds moved by the tolerance for ties, so that row i is wrong exactly if one of its rivals is
        above 0."""
        return self._decide()[0]

    def wrong(self) -> npt.NDArray[np.bool_]:
        """Which rows are wrong."""
        return self._decide()[1]

    def _decide(self) -> tuple[Floats, npt.NDArray[np.bool_]]:
        if self._decided is None:
            self._decided = np.empty_like(self.rivals), np.empty(self.rivals.shape[1], dtype=bool)
            decide(self.rivals, self.own, self.problem.segments.starts, self.tolerance, *self._decided)
        return self._decided

    def odds(self) -> Floats:
        """Exponentials of the log odds, cut off where a probability is 0 or 1 anyway."""
        if self._odds is None:
            self._odds = np.exp(np.minimum(self.rivals, FARTHEST))
        return self._odds

    def _mean(self, per_row: npt.NDArray[Any]) -> float:
        total = per_row.sum() if self.weights is None else np.dot(per_row.astype(np.float64), self.weights)
        return float(total) / self.total_weight

    def error(self) -> float:
        """Share of rows wrong."""
        return self._mean(self.wrong())

    def value(self, criterion: Criterion) -> float:
        """One criterion of the present set."""
        if criterion == "error":
            return self.error()
        if criterion == "probability":
            odds = self.odds().sum(axis=0)
            return self._mean(odds / (1.0 + odds))
        top = np.maximum(self.rivals.max(axis=0), 0.0)
        return self._mean(top + np.log(np.exp(-top) + np.exp(self.rivals - top).sum(axis=0)))

    def value_after(self, feature: int, criterion: Criterion) -> float:
        """One criterion of the set that moving the feature would lead to."""
        before = self.rivals.copy(), self.own.copy()
        self.move(feature)
        value = self.value(criterion)
        self.move(feature)
        self.rivals, self.own = before
        return value

    def criteria(self) -> Criteria:
        """All three criteria of the present set."""
        return Criteria(self.error(), self.value("probability"), self.value("log_loss"))


def _against_own(
    tables: Floats, table_of: npt.NDArray[np.int64], labels: npt.NDArray[np.int64]
) -> tuple[Floats, Floats]:
    """Per segment, evidence of the rivals minus that of the segment's class (K - 1, S, T), and the latter (S, T)."""
    own = tables[table_of, labels]
    rivals = [np.delete(tables[v], c, axis=0) - own[s] for s, (v, c) in enumerate(zip(table_of, labels, strict=True))]
    return np.stack(rivals, axis=1), own


def trace(problem: SearchProblem, start: Iterable[int], moves: Iterable[int]) -> Iterator[Criteria]:
    """Criteria of a start set and of the sets after each move, on any rows: on a held-out half, say.

    Examples
    --------
    >>> from seminaive.search.problem import SearchProblem, arrange_rows
    >>> order, segments = arrange_rows([0, 0, 0, 1, 1, 1])
    >>> problem = SearchProblem(
    ...     segments, np.log([[0.5, 0.5]]), np.array([[2, 2, 3, 3, 3, 3]], dtype=np.uint8),
    ...     np.log([[[1, 1, 0.6, 0.4], [1, 1, 0.2, 0.8]]]), np.array([0, 4]))
    >>> for criteria in trace(problem, start=[], moves=[0]):
    ...     print(f"{criteria.error:.3f} {criteria.probability:.3f} {criteria.log_loss:.3f}")
    0.500 0.500 0.693
    0.167 0.361 0.482
    """
    odds = Odds(problem, start)
    yield odds.criteria()
    for feature in moves:
        odds.move(feature)
        yield odds.criteria()
