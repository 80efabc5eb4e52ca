"""Rankings and subsets from how much features tell about the class and about one another, without any
classifier.

MI      by decreasing I(X_p; Y)
mRMR    first the largest I(X_p; Y); then, again and again, the largest
        I(X_p; Y) - mean over the chosen q of I(X_p; X_q)        (Peng, Long, Ding 2005)
CFS     the subset S with the largest merit
        sum over S of c(i, Y) / sqrt(|S| + sum over i != k in S of c(i, k))        (Hall 1999)
"""

from __future__ import annotations

import heapq
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

__all__ = ["Ranking", "Subset", "cfs_subset", "information_ranking", "mrmr_ranking"]

Floats = npt.NDArray[np.float64]
Integers = npt.NDArray[np.int64]

EQUAL = 1e-11
"""Values this close are ties: lowest feature first."""


class Ranking(NamedTuple):
    """Features, best first, and what each was worth when chosen."""

    order: Integers
    scores: Floats


class Subset(NamedTuple):
    """Features in the order of their columns, and the merit of the set."""

    features: tuple[int, ...]
    merit: float


def information_ranking(relevance: npt.ArrayLike) -> Ranking:
    """Rank features by decreasing mutual information with the class.

    Examples
    --------
    >>> information_ranking([0.1, 0.3, 0.3 + 1e-15, 0.2]).order.tolist()
    [1, 2, 3, 0]
    """
    values = np.asarray(relevance, dtype=np.float64)
    order = np.argsort(-values, kind="stable")
    level = np.cumsum(np.diff(values[order], prepend=np.inf) < -EQUAL)
    order = order[np.lexsort((order, level))]
    return Ranking(order.astype(np.int64), values[order])


def mrmr_ranking(relevance: npt.ArrayLike, redundancy: npt.ArrayLike, n: int | None = None) -> Ranking:
    """Rank features by relevance minus mean redundancy with those already chosen.

    Parameters
    ----------
    relevance : (P,) array
        Mutual information with the class.
    redundancy : (P, P) array
        Mutual information of pairs.
    n : int, optional
        Rank only so many.

    Examples
    --------
    The copy of the best feature comes last:

    >>> ranking = mrmr_ranking([0.5, 0.5, 0.1], [[0.6, 0.6, 0.0], [0.6, 0.6, 0.0], [0.0, 0.0, 0.4]])
    >>> ranking.order.tolist(), ranking.scores.round(2).tolist()
    ([0, 2, 1], [0.5, 0.1, 0.2])
    """
    values = np.array(relevance, dtype=np.float64)
    pairs = np.asarray(redundancy, dtype=np.float64)
    free = np.ones(len(values), dtype=bool)
    shared = np.zeros(len(values))
    steps = len(values) if n is None else min(n, len(values))
    order, scores = np.empty(steps, dtype=np.int64), np.empty(steps)
    for step in range(steps):
        worth = np.where(free, values - shared / max(step, 1), -np.inf)
        order[step] = best = int(np.flatnonzero(worth >= worth.max() - EQUAL)[0])
        scores[step] = worth[best]
        free[best] = False
        shared += pairs[best]
    return Ranking(order, scores)


def cfs_subset(
    with_class: npt.ArrayLike, between: npt.ArrayLike, *, stale: int = 5, improvement: float = 1e-5
) -> Subset:
    """Best-first search for the subset of largest merit.

    The best set not yet expanded is expanded by every feature outside it; the search ends when ``stale``
    expansions in a row bring no merit larger by more than ``improvement``.

    Parameters
    ----------
    with_class : (P,) array
        Correlation of each feature with the class: symmetric uncertainty, or absolute correlation.
    between : (P, P) array
        Correlation of each pair.
    stale : int
    improvement : float

    Examples
    --------
    >>> between = [[1.0, 0.95, 0.0], [0.95, 1.0, 0.0], [0.0, 0.0, 1.0]]
    >>> cfs_subset([0.5, 0.4, 0.4], between)
    Subset(features=(0, 2), merit=0.636396103...)
    """
    relevance = np.asarray(with_class, dtype=np.float64)
    pairs = np.asarray(between, dtype=np.float64)
    features = np.arange(len(relevance))
    best = Subset((), 0.0)
    waiting: list[tuple[float, tuple[int, ...]]] = [(0.0, ())]
    seen: set[tuple[int, ...]] = {()}
    without = 0
    while waiting and without < stale:
        _, members = heapq.heappop(waiting)
        outside = np.setdiff1d(features, members)
        inside = np.array(members, dtype=np.int64)
        common = pairs[np.ix_(inside, inside)].sum() - pairs[inside, inside].sum()
        shared = 2.0 * pairs[np.ix_(outside, inside)].sum(axis=1)
        size = len(members) + 1
        merits = (relevance[inside].sum() + relevance[outside]) / np.sqrt(size + common + shared)
        better = False
        for feature, merit in zip(outside.tolist(), merits.tolist(), strict=True):
            larger = tuple(sorted((*members, feature)))
            if larger in seen:
                continue
            seen.add(larger)
            heapq.heappush(waiting, (-merit, larger))
            if merit > best.merit + improvement:
                best, better = Subset(larger, merit), True
        without = 0 if better else without + 1
    return best
