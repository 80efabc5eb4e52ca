"""Draws from the posterior over forests: tables in, states and draws out.

One iteration is Switch (some trees offer to change their group), Pivot (a tree gets a random root) and
Reassign (a subtree is cut off and its new root, parent and group are drawn from their full conditional). A
chain is a start, a number of such steps, and the draws kept on the way; chains know nothing of each other
and run in threads.

    tables = sampler_tables(forest_tables(root, edge, n_classes))
    state = step(tables, init(tables, *start_forest(tables, "greedy", seed), seed), 100)
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

from seminaive.kernels.forest_sample import ForestState, SamplerTables, run_chain
from seminaive.search.forest_start import Start, init, start_forest

__all__ = [
    "ForestDraws",
    "count_draws",
    "sample_forests",
    "step",
]

Floats = npt.NDArray[np.float64]
Parents = npt.NDArray[np.int32]
Groups = npt.NDArray[np.uint8]
Moves = Literal["joint", "paper"]

STARTS: tuple[Start, ...] = ("noise", "random", "greedy", "naive")
MOST_NODES = 1 << 12
"""Larger subtrees keep their root; bounds the time of one visit."""

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


def step(
    tables: SamplerTables, state: ForestState, iterations: int = 1, moves: Moves = "joint", n_switch: int = 10
) -> ForestState:
    """The state some iterations later; the given one is left as it is.

    Examples
    --------
    >>> from seminaive.search.forest_start import sampler_tables
    >>> from seminaive.statistics.family import ForestTables
    >>> tables = sampler_tables(ForestTables(np.zeros((2, 2)), np.full((2, 2, 2), 9.0), np.ones(2)))
    >>> seed = np.random.SeedSequence(0)
    >>> state = init(tables, *start_forest(tables, "noise", seed, grown=False), seed)
    >>> later = step(tables, state, 20)
    >>> state.log_posterior[0], later.log_posterior[0]   # the edge between the two columns was found
    (np.float64(0.0), np.float64(8.0))
    """
    later = ForestState(*(array.copy() for array in state))
    d = state.parent.size
    most = MOST_NODES if moves == "joint" else 0
    nowhere = np.empty((0, d), dtype=np.int32), np.empty((0, d), dtype=np.uint8)
    no_sweep = np.empty(0, dtype=np.int32)
    thin = iterations + 1  # counted from 1, no iteration is recorded
    run_chain(tables, later, 1, thin, n_switch, most, thin, thin, no_sweep, np.empty((0, 2)), *nowhere)
    return later


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
    most_nodes: int = MOST_NODES,
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
        Seconds after which the draws so far are returned; chains that wait for a thread have their share of them.
    progress : callable, optional
        Called with the number of iterations done since it was last called, from the chains' threads.

    Examples
    --------
    >>> from seminaive.search.forest_start import sampler_tables
    >>> from seminaive.statistics.family import ForestTables
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
    patience = np.inf if max_time is None else max_time / -(-chains // threads)
    ours = moves == "joint"
    most = most_nodes if ours else 0

    def run(chain: int, chain_seed: np.random.SeedSequence) -> None:
        deadline = time.monotonic() + patience
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
    return ForestDraws(parent[:, :n_kept], group[:, :n_kept], log_posterior, trace, complete=finished == n_iter)
