r"""Independent draws from the exact posterior over forests, for up to 14 columns.

First the split into noise and signal is drawn by its exact weight, then a rooted forest within either group. Columns
are removed one after the other, as when the weights of all forests are added up (see `forest_exact`): removing q, with
edges c_i to what is left (one of them to the outside, by which q would be a root) and s their sum, puts an edge of
weight c_i c_j / s beside every edge (i, j). Going back,

    1. a forest on what was left is known; each of its edges is an old one, or one that q put there, by their weights;
    2. those of q are cut, and every part that falls off is joined to q at one of its columns i, drawn by c_i.

That the result has the right probability follows from counting: trees joining parts of total edge c_A, c_B, ... with
weights c_A c_B / s weigh prod(c_A) / s together. No random walk is needed, so columns that hang together by hundreds of
nats take no longer than others.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from seminaive.statistics.family import ForestTables
from seminaive.statistics.forest_exact import NEVER, eliminate, split_weights

__all__ = ["draw_forests"]

Floats = npt.NDArray[np.float64]
Parents = npt.NDArray[np.int32]
Groups = npt.NDArray[np.uint8]

DIGITS = 6
"""Digits of the root scores by which columns are put in order, so that their order in the table does not matter."""


def draw_forests(tables: ForestTables, n_draws: int, rng: np.random.Generator) -> tuple[Parents, Groups]:
    """Draw rooted forests with their groups, (draws, d) each; -1 is a root, 1 is signal.

    The splits are drawn evenly (systematic sampling), which keeps their shares within one draw of the exact ones.

    Examples
    --------
    >>> tables = ForestTables(np.array([[0.0, 0.0], [9.0, 9.0]]), np.full((2, 2, 2), 9.0), np.ones(2))
    >>> parent, group = draw_forests(tables, 4, np.random.default_rng(0))
    >>> group.tolist()
    [[1, 1], [1, 1], [1, 1], [1, 1]]
    >>> (parent >= 0).sum(axis=1)   # one is the other's parent
    array([1, 1, 1, 1])
    """
    order = np.lexsort((tables.root[1].round(DIGITS), tables.root[0].round(DIGITS)))
    sorted_tables = ForestTables(
        tables.root[:, order], tables.edge[:, order[:, None], order[None, :]], tables.edge_penalty
    )
    log_joint = split_weights(sorted_tables)
    cumulative = np.cumsum(np.exp(log_joint - log_joint.max()))
    marks = (np.arange(n_draws) + rng.random()) / n_draws * cumulative[-1]
    split = np.minimum(np.searchsorted(cumulative, marks, side="right"), len(cumulative) - 1)
    in_signal = (split[:, None] >> np.arange(tables.n_columns)) & 1 == 1
    same = in_signal[:, :, None] == in_signal[:, None, :]
    weights = np.where(in_signal[:, :, None], sorted_tables.weights(1), sorted_tables.weights(0))
    parent = _draw_within(np.where(same & np.isfinite(weights), weights, NEVER), rng)
    number = np.append(order, -1).astype(np.int32)  # -1 stays a root
    out_parent, out_group = np.empty_like(parent), np.empty(parent.shape, dtype=np.uint8)
    out_parent[:, order], out_group[:, order] = number[parent], in_signal
    shuffled = rng.permutation(n_draws)
    return out_parent[shuffled], out_group[shuffled]


def _draw_within(log_weights: Floats, rng: np.random.Generator) -> Parents:
    """One rooted forest per batch entry of log weights (draws, d, d)."""
    n, d, _ = log_weights.shape
    steps = eliminate(log_weights)
    joined = np.zeros((n, d + 1, d + 1), dtype=bool)  # which pairs are joined; the outside is the last
    for q, (weights, root, pivot) in enumerate(reversed(steps)):
        edge = weights[:, :q, q]
        through = np.concatenate([edge, root[:, q : q + 1]], axis=1)  # from q to what is left, and to the outside
        old = np.empty((n, q + 1, q + 1))
        old[:, :q, :q], old[:, q, :q], old[:, :q, q] = weights[:, :q, :q], root[:, :q], root[:, :q]
        old[:, q, q] = NEVER
        new = through[:, :, None] + through[:, None, :] - pivot[:, None, None]
        places = np.append(np.arange(q), d)
        part = joined[:, places[:, None], places[None, :]]
        kept = np.triu(rng.random((n, q + 1, q + 1)) < np.exp(old - np.logaddexp(old, new)), 1)
        part &= kept | kept.transpose(0, 2, 1)
        together = _connected(part)
        score = through + rng.gumbel(size=through.shape)
        best = np.where(together, score[:, None, :], -np.inf).argmax(axis=2)  # the column that each one's part chose
        chosen = best == np.arange(q + 1)
        joined[:, places[:, None], places[None, :]] = part
        joined[:, q, places] = joined[:, places, q] = chosen
    return _rooted(joined)


def _connected(joined: npt.NDArray[np.bool_]) -> npt.NDArray[np.bool_]:
    """Which pairs are in one part, each with itself."""
    together = joined | np.eye(joined.shape[1], dtype=bool)
    reach = 1
    while reach < joined.shape[1]:
        whole = together.astype(np.float32)
        together = whole @ whole > 0
        reach *= 2
    return together


def _rooted(joined: npt.NDArray[np.bool_]) -> Parents:
    """Parents, seen from the outside, which is the last of the nodes; -1 where it is the parent itself."""
    n, d = len(joined), joined.shape[1] - 1
    parent = np.full((n, d + 1), -1, dtype=np.int32)
    reached = np.zeros((n, d + 1), dtype=bool)
    reached[:, d] = True
    for _ in range(d):
        step = joined & reached[:, None, :] & ~reached[:, :, None]  # from the column, not reached, to one reached
        found = step.any(axis=2)
        parent = np.where(found, step.argmax(axis=2).astype(np.int32), parent)
        reached |= found
    return np.where(parent[:, :d] == d, -1, parent[:, :d]).astype(np.int32)
