"""Where a chain of the forest sampler begins: tables with sorted partners, a forest, and its linked state."""

from __future__ import annotations

from typing import Literal

import numpy as np
import numpy.typing as npt

from seminaive.kernels.forest_sample import ForestState, SamplerTables, best_partners
from seminaive.statistics.family import ForestTables

__all__ = ["Start", "init", "sampler_tables", "spanning_forest", "start_forest"]

Parents = npt.NDArray[np.int32]
Groups = npt.NDArray[np.uint8]
Start = Literal["noise", "random", "greedy", "naive"]

N_NEAR = 64
"""Partners kept sorted per column; a visit that needs more reads the whole row."""


def sampler_tables(tables: ForestTables, n_near: int = N_NEAR) -> SamplerTables:
    """The tables with every column's best partners sorted, so that a step looks at few candidates.

    Examples
    --------
    >>> edge = np.zeros((2, 3, 3), dtype=np.float32)
    >>> edge[:, 0, 2] = edge[:, 2, 0] = 5.0
    >>> sampler_tables(ForestTables(np.zeros((2, 3)), edge, np.ones(2))).near_column[0]
    array([[2, 1],
           [0, 2],
           [0, 1]], dtype=int32)
    """
    d = tables.n_columns
    length = min(n_near, d - 1)
    near_column = np.zeros((2, d, length), dtype=np.int32)
    near_edge = np.zeros((2, d, length), dtype=tables.edge.dtype)
    nearest = np.zeros((2, d), dtype=tables.edge.dtype)
    if length:
        best_partners(tables.edge, near_column, near_edge)
        nearest[:] = near_edge[:, :, 0]
    return SamplerTables(tables.root, tables.edge, tables.edge_penalty, near_column, near_edge, nearest)


def spanning_forest(tables: SamplerTables, group: Groups) -> Parents:
    """Parents of the forest of highest log posterior for given groups: maximum spanning, positive edges only.

    Examples
    --------
    >>> edge = np.zeros((2, 3, 3))
    >>> edge[:, 0, 2] = edge[:, 2, 0] = 5.0
    >>> tables = sampler_tables(ForestTables(np.zeros((2, 3)), edge, np.ones(2)))
    >>> spanning_forest(tables, np.zeros(3, dtype=np.uint8))
    array([-1, -1,  0], dtype=int32)
    """
    parent = np.full(group.size, -1, dtype=np.int32)
    for g in (0, 1):
        gain = np.where(group == g, tables.penalty[g], np.inf)
        waiting = group == g
        for _ in range(int(waiting.sum())):
            node = int(np.where(waiting, gain, -np.inf).argmax())
            waiting[node] = False
            better = waiting & (tables.edge[g, node] > gain)
            gain[better] = tables.edge[g, node][better]
            parent[better] = node
    return parent


def start_forest(
    tables: SamplerTables, start: Start, seed: np.random.SeedSequence, grown: bool = True
) -> tuple[Parents, Groups]:
    """Parents and groups to start a chain from.

    Parameters
    ----------
    tables : SamplerTables
    start : {"noise", "naive", "greedy", "random"}
        Every column noise, every column signal, each in the group it prefers alone, or in random groups.
    seed : SeedSequence
        Used by "random" only.
    grown : bool
        Join the columns of each group by their `spanning_forest`; otherwise all are lone roots, as published.

    Examples
    --------
    >>> root = np.array([[-5.0, -5.0], [-3.0, -6.0]])
    >>> tables = sampler_tables(ForestTables(root, np.zeros((2, 2, 2)), np.ones(2)))
    >>> start_forest(tables, "greedy", np.random.SeedSequence(0))
    (array([-1, -1], dtype=int32), array([1, 0], dtype=uint8))
    """
    d = tables.root.shape[1]
    if start == "greedy":
        group = (tables.root[1] > tables.root[0]).astype(np.uint8)
    elif start == "random":
        group = np.random.default_rng(seed).integers(0, 2, d, dtype=np.uint8)
    else:
        group = np.full(d, start == "naive", dtype=np.uint8)
    return spanning_forest(tables, group) if grown else np.full(d, -1, dtype=np.int32), group


def init(tables: SamplerTables, parent: Parents, group: Groups, seed: np.random.SeedSequence) -> ForestState:
    """A chain's state at a given forest.

    Examples
    --------
    >>> tables = sampler_tables(ForestTables(np.zeros((2, 2)), np.full((2, 2, 2), 3.0), np.ones(2)))
    >>> state = init(tables, np.array([-1, 0]), np.array([1, 1]), np.random.SeedSequence(0))
    >>> state.counts[0], state.log_posterior[0]   # one tree, one edge worth 3 - 1
    (np.int64(1), np.float64(2.0))
    """
    d = parent.size
    child, after, before = (np.full(d, -1, dtype=np.int32) for _ in range(3))
    up = np.zeros((2, d))
    lean = tables.root[1] - tables.root[0]
    roots, slot = np.zeros(d, dtype=np.int32), np.zeros(d, dtype=np.int32)
    heads = np.flatnonzero(parent < 0)
    roots[: heads.size] = heads
    slot[heads] = np.arange(heads.size)
    log_posterior = float(tables.root[group, np.arange(d)].sum())
    below = np.flatnonzero(parent >= 0)
    up[:, below] = tables.edge[:, below, parent[below]] - tables.penalty[:, None]
    log_posterior += float(up[group[below], below].sum())
    for node in below:
        first = child[parent[node]]
        child[parent[node]], after[node] = node, first
        if first >= 0:
            before[first] = node
    for root in heads:
        tree = [root]
        for node in tree:
            next_child = child[node]
            while next_child >= 0:
                tree.append(next_child)
                next_child = after[next_child]
        members = np.array(tree)
        lean[root] = (tables.root[1] - tables.root[0])[members].sum() + (up[1] - up[0])[members].sum()
    return ForestState(
        parent.astype(np.int32),
        group.astype(np.uint8),
        child,
        after,
        before,
        up,
        roots,
        slot,
        lean,
        np.ones(d),
        np.zeros(d),
        np.array([heads.size, 0], dtype=np.int64),
        np.array([log_posterior]),
        seed.generate_state(4, dtype=np.uint64),
    )
