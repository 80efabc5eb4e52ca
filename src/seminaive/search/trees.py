"""Which columns depend on which: the best tree, or the best few parents in an order, from scores of pairs.

Scores come in strips, so that no matrix of all pairs need exist: of every strip only the edges that can still matter
are kept. Scores are rounded to 12 decimals and ties go to the lower column numbers, so the result is the same
however the pairs were cut into strips.
"""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
import numpy.typing as npt
from scipy.sparse import csr_array
from scipy.sparse.csgraph import breadth_first_order, minimum_spanning_tree

__all__ = ["best_parents", "rooted", "spanning_forest"]

Floats = npt.NDArray[np.float64]
Integers = npt.NDArray[np.int64]
Strip = tuple[int, Floats]
"""Number of the first column, and the scores (columns of the strip, columns from the first on) of its pairs j < k."""

DIGITS = 12
LEAST = 1e-12
"""An edge must be worth more than this."""


def spanning_forest(strips: Iterable[Strip], n_columns: int) -> tuple[Integers, Floats]:
    """The forest of largest total score, edges that are worth nothing left out.

    Returns
    -------
    edges : (E, 2) ints
        Pairs j < k, the strongest first.
    scores : (E,) floats

    Examples
    --------
    >>> score = np.array([[0, 0.5, 0.3], [0, 0, 0.4], [0, 0, 0]])
    >>> edges, scores = spanning_forest([(0, score)], 3)
    >>> edges.tolist(), scores.tolist()
    ([[0, 1], [1, 2]], [0.5, 0.4])
    """
    edges, scores = np.zeros((0, 2), dtype=np.int64), np.zeros(0)
    for first, strip in strips:
        rounded = np.round(strip, DIGITS)
        j, k = np.nonzero(np.triu(rounded > LEAST, 1))
        # The best forest of all edges so far is among those of the last one and the new edges. Edges stand in the
        # order of their columns, so a stable sort gives ties to the first.
        edges = np.concatenate([edges, np.stack([j, k], axis=1) + first])
        scores = np.concatenate([scores, rounded[j, k]])
        order = np.argsort(-scores, kind="stable")
        place = np.empty(len(order))  # distinct, so that there is one best forest
        place[order] = np.arange(1.0, len(order) + 1)
        row_starts = np.searchsorted(edges[:, 0], np.arange(n_columns + 1))
        index = edges[:, 1].astype(np.int32), row_starts.astype(np.int32)  # SciPy 1.12 knows no others here
        graph = csr_array((place, *index), shape=(n_columns, n_columns))
        kept = np.sort(order[minimum_spanning_tree(graph).data.astype(np.int64) - 1])
        edges, scores = edges[kept], scores[kept]
    strongest = np.argsort(-scores, kind="stable")
    return edges[strongest], scores[strongest]


def rooted(edges: Integers, n_columns: int, root: int | None = None) -> Integers:
    """The parent of every column, -1 for roots: the lowest column of every tree, or the one asked for of its tree.

    Examples
    --------
    >>> edges = np.array([[0, 1], [1, 2]])
    >>> rooted(edges, 4).tolist(), rooted(edges, 4, root=2).tolist()
    ([-1, 0, 1, -1], [1, 2, -1, -1])
    """
    graph = csr_array((np.ones(len(edges)), (edges[:, 0], edges[:, 1])), shape=(n_columns, n_columns))
    parents = np.full(n_columns, -1, dtype=np.int64)
    waiting = np.ones(n_columns, dtype=bool)
    for start in ([] if root is None else [root]) + list(range(n_columns)):
        if waiting[start]:
            tree, before = breadth_first_order(graph, start, directed=False)
            waiting[tree] = False
            parents[tree[1:]] = before[tree[1:]]
    return parents


def best_parents(strips: Iterable[Strip], order: Integers, k: int) -> tuple[Integers, Floats]:
    """For every column the k columns before it in the order that score highest with it.

    Returns
    -------
    parents : (columns, k) ints
        The best first; -1 where there are fewer.
    scores : (columns, k) floats
        0 where there is no parent.

    Examples
    --------
    >>> score = np.array([[0, 0.5, 0.3], [0, 0, 0.4], [0, 0, 0]])
    >>> best_parents([(0, score)], np.array([2, 0, 1]), k=1)[0].ravel().tolist()
    [2, 0, -1]
    """
    d = len(order)
    place = np.empty(d, dtype=np.int64)
    place[order] = np.arange(d)
    parents, scores = np.full((d, k), -1, dtype=np.int64), np.zeros((d, k))
    for first, strip in strips:
        rounded = np.round(strip, DIGITS)
        width = len(rounded)
        here, after = np.arange(first, first + width), np.arange(first, d)
        pair = np.triu(rounded > LEAST, 1)
        later = place[here][:, None] < place[after]  # whether the second of the pair comes later
        _keep_best(parents, scores, after, here, np.where(pair & later, rounded, 0.0).T)
        _keep_best(parents, scores, here, after, np.where(pair & ~later, rounded, 0.0))
    return parents, scores


def _keep_best(parents: Integers, scores: Floats, children: Integers, candidates: Integers, offered: Floats) -> None:
    """Let candidates, in rising order, compete with the parents that children have; a score of 0 is no offer."""
    k = parents.shape[1]
    all_scores = np.concatenate([scores[children], offered], axis=1)
    everyone = np.broadcast_to(candidates, offered.shape)
    who = np.concatenate([parents[children], np.where(offered > 0, everyone, -1)], axis=1)
    best = np.lexsort((who, -all_scores), axis=1)[:, :k]
    parents[children] = np.take_along_axis(who, best, axis=1)
    scores[children] = np.take_along_axis(all_scores, best, axis=1)
