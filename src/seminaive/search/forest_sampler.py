"""Draws from the posterior over forests: tables in, states and draws out.

One iteration is Switch (some trees offer to change their group), Pivot (a tree gets a random root) and
Reassign (a subtree is cut off and its new root, parent and group are drawn from their full conditional). A
chain is a start, a number of such steps, and the draws kept on the way; chains know nothing of each other
and run in threads.

    tables = sampler_tables(forest_tables(root, edge, n_classes))
    state = init(tables, *start_forest(tables, "greedy", seed), seed)
    draws = sample_forests(tables, n_iter=10_000, seed=0)

Krakovna, Du and Liu (2015), Selective Bayesian Forest Classifier; the joint draw of root and parent is ours.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Literal

import numpy as np
import numpy.typing as npt

from seminaive.kernels.forest_sample import ForestState, SamplerTables, best_partners, run_chain
from seminaive.statistics.family import ForestTables

__all__ = [
    "ForestDraws",
    "count_draws",
    "init",
    "sample_forests",
    "sampler_tables",
    "spanning_forest",
    "start_forest",
]

Floats = npt.NDArray[np.float64]
Parents = npt.NDArray[np.int32]
Groups = npt.NDArray[np.uint8]
Start = Literal["noise", "random", "greedy", "naive"]
Moves = Literal["joint", "paper"]

STARTS: tuple[Start, ...] = ("noise", "random", "greedy", "naive")
N_NEAR = 64
"""Partners kept sorted per column; a visit that needs more reads the whole row."""

LEAST_SHARE = 0.5
"""No column is visited less than half as often as with equal shares, whatever burn-in taught."""

CHUNK_SECONDS = 0.2
"""About how often a chain looks whether it is to stop."""


@dataclass(frozen=True)
class ForestDraws:
    """Forests drawn from the posterior, and how the chains went.

    Attributes
    ----------
    parent : (chains, draws, d) int32
        -1 for a root.
    group : (chains, draws, d) uint8
        1 for signal columns.
    log_posterior : (chains, draws)
    trace : (chains, points, 2)
        Log posterior and signal size at every thin-th iteration, those before burn-in included.
    complete : bool
        False when time ran out or the user interrupted; every chain then has the same, smaller, number of
        draws.
    """

    parent: Parents
    group: Groups
    log_posterior: Floats
    trace: Floats
    complete: bool


def count_draws(n_iter: int, thin: int, burn_in: int) -> int:
    """Number of iterations i in burn_in .. n_iter - 1 with i divisible by thin.

    Examples
    --------
    >>> count_draws(10_000, 50, 2_000), count_draws(10_060, 50, 2_012), count_draws(1_000, 1_000, 200)
    (160, 161, 0)
    """
    return max(0, (n_iter - 1) // thin - (burn_in - 1) // thin)


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


def _shares(unrest: Floats, visits: npt.NDArray[np.int64]) -> Floats:
    """How often each column is visited after burn-in, 1 on average.

    A visit draws a fresh place, so a column's draws are as good as it is visited often, and what it adds to
    the variance of the log posterior grows with its chance to move: the square root of that chance is the
    best share.
    """
    visited = visits > 0
    wish = np.sqrt(np.maximum(unrest, 0.0) / np.maximum(visits, 1))
    if not wish.any():
        return np.ones(unrest.size)
    wish[~visited] = wish[visited].mean()
    return np.asarray(LEAST_SHARE + (1 - LEAST_SHARE) * wish / wish.mean(), dtype=np.float64)


def sample_forests(
    tables: SamplerTables,
    n_iter: int,
    thin: int = 50,
    burn_in: int | None = None,
    chains: int = 4,
    moves: Moves = "joint",
    n_switch: int = 10,
    most_nodes: int = 1 << 12,
    starts: tuple[Start, ...] = STARTS,
    seed: int | np.random.SeedSequence | None = None,
    threads: int = 1,
    max_time: float | None = None,
    progress: Callable[[int], None] | None = None,
) -> ForestDraws:
    """Run several chains and keep every ``thin``-th forest after burn-in.

    Parameters
    ----------
    tables : SamplerTables
    n_iter : int
        Iterations of each chain.
    thin, burn_in : int
        Iterations i >= burn_in with i divisible by thin are kept; ``burn_in`` defaults to a fifth of
        ``n_iter``.
    chains : int
    moves : "joint" or "paper"
        "joint" draws a subtree's new root together with its parent, starts from spanning forests, visits
        every column in turn during burn-in and afterwards the unsettled ones more often. "paper" keeps the
        root, starts from lone roots and visits all columns equally often, as published; it rarely converges.
    n_switch : int
        Trees that offer to change their group in each iteration.
    most_nodes : int
        Subtrees with more nodes keep their root (see `run_chain`).
    starts : tuple of {"noise", "random", "greedy", "naive"}
        Start of the first chains; further chains start "random".
    seed : int or SeedSequence
        The same seed gives the same draws for any number of threads.
    threads : int
    max_time : float, optional
        Seconds after which the draws so far are returned.
    progress : callable, optional
        Called with the number of iterations done since it was last called, from the chains' threads.

    Examples
    --------
    >>> tables = sampler_tables(ForestTables(np.zeros((2, 2)), np.full((2, 2, 2), 3.0), np.ones(2)))
    >>> draws = sample_forests(tables, n_iter=1000, thin=10, chains=2, seed=0)
    >>> draws.parent.shape, draws.complete
    ((2, 80, 2), True)
    """
    burn_in = n_iter // 5 if burn_in is None else burn_in
    n_draws = count_draws(n_iter, thin, burn_in)
    if n_draws == 0:
        raise ValueError(
            f"no draw would be kept: n_iter={n_iter}, thin={thin}, burn_in={burn_in}; "
            "take more iterations, a smaller thin or a smaller burn_in"
        )
    root_seed = seed if isinstance(seed, np.random.SeedSequence) else np.random.SeedSequence(seed)
    d = tables.root.shape[1]
    parent = np.empty((chains, n_draws, d), dtype=np.int32)
    group = np.empty((chains, n_draws, d), dtype=np.uint8)
    trace = np.empty((chains, (n_iter - 1) // thin + 1, 2))
    done = np.zeros(chains, dtype=np.int64)
    stop = threading.Event()
    deadline = np.inf if max_time is None else time.monotonic() + max_time
    ours = moves == "joint"
    most = most_nodes if ours else 0

    def run(chain: int, chain_seed: np.random.SeedSequence) -> None:
        start_seed, move_seed = chain_seed.spawn(2)
        start = starts[chain] if chain < len(starts) else "random"
        state = init(tables, *start_forest(tables, start, start_seed, grown=ours), move_seed)
        sweep = np.random.default_rng(start_seed).permutation(d if ours else 0).astype(np.int32)
        out = trace[chain], parent[chain], group[chain]
        size = 100  # iterations between two looks at the clock
        while done[chain] < n_iter and not stop.is_set() and time.monotonic() < deadline:
            begun = time.monotonic()
            first = int(done[chain])
            stage = next(end for end in (burn_in // 2, burn_in, n_iter) if first < end)
            last = min(first + size, stage)
            run_chain(tables, state, first, last, n_switch, most, thin, burn_in, sweep, *out)
            done[chain] = last
            if ours and last == burn_in // 2:
                state.unrest[:] = 0.0
            if ours and last == burn_in:
                learned = sweep[np.arange(burn_in // 2, burn_in) % d]
                state.share[:] = _shares(state.unrest, np.bincount(learned, minlength=d))
            if progress is not None:
                progress(last - first)
            if time.monotonic() - begun < CHUNK_SECONDS / 2:
                size *= 2

    with ThreadPoolExecutor(threads) as pool:
        waiting = [pool.submit(run, chain, child) for chain, child in enumerate(root_seed.spawn(chains))]
        try:
            for task in waiting:
                task.result()
        except KeyboardInterrupt:
            stop.set()
    finished = int(done.min())
    n_kept = count_draws(finished, thin, burn_in)
    points = (finished - 1) // thin + 1
    trace = trace[:, :points].round(6)  # the same forest reached by two ways must tie when draws are ranked
    log_posterior = trace[:, points - n_kept :, 0]
    return ForestDraws(
        parent[:, :n_kept], group[:, :n_kept], log_posterior, trace, complete=finished == n_iter
    )
