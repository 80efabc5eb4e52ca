"""What a fitted forest keeps: the sampled forests, and what they say of columns, of pairs, and of themselves."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from seminaive.evidence.storage import storable
from seminaive.statistics.diagnostics import bulk_ess, indicator_ess, split_rhat
from seminaive.table.schema import Floats, Integers

if TYPE_CHECKING:
    import pandas as pd

Parents = npt.NDArray[np.int32]
Groups = npt.NDArray[np.uint8]

UNSETTLED = (0.02, 0.98)
"""Only what is neither nearly always nor nearly never there can tell whether chains have met."""

AT_ONCE = 64
"""Draws whose edges are sorted together; bounds the memory."""


@storable
@dataclass(frozen=True, eq=False)
class ForestSamples:
    """Sampled forests.

    Attributes
    ----------
    parent : (draws, columns) int32
        Position of each column's parent; -1 for a root.
    packed : (draws, bytes) uint8
        The groups, a bit per column.
    chain : (draws,) int
        All 0 when the draws are independent ones from the exact posterior.
    log_posterior : (draws,)
        Unnormalised.
    weight : (draws,)
        How much each draw counts in a prediction; adds up to 1.
    """

    parent: Parents
    packed: Groups
    chain: Integers
    log_posterior: Floats
    weight: Floats

    def __post_init__(self) -> None:
        n, d = self.parent.shape
        fits = self.packed.shape == (n, (d + 7) // 8) and self.packed.dtype == np.uint8
        if not fits or any(part.shape != (n,) for part in (self.chain, self.log_posterior, self.weight)):
            raise ValueError("the sampled forests' parts do not fit together")
        if n == 0 or np.any((self.parent < -1) | (self.parent >= d)):
            raise ValueError("a sampled forest has a parent that is not a column")

    def __len__(self) -> int:
        return len(self.parent)

    def __repr__(self) -> str:
        return f"ForestSamples({len(self)} forests of {self.parent.shape[1]} columns)"

    @property
    def group(self) -> Groups:
        """(draws, columns) uint8: 1 for signal columns, 0 for noise."""
        return np.unpackbits(self.packed, axis=1, count=self.parent.shape[1])


@storable
@dataclass(frozen=True, eq=False)
class ForestPosterior:
    """How probable it is that a column matters, and that two columns are joined.

    Attributes
    ----------
    exact : bool
        Summed over all forests; otherwise from the sampled ones.
    n_iter, thin : int
        Iterations of each chain, and every which was kept; 0 when exact.
    complete : bool
        False when time ran out or the user interrupted.
    inclusion : (columns,)
    inclusion_by_chain : (chains, columns)
    first, second : (edges,) int
        The columns of each edge, first < second.
    group : (edges,) uint8
        1 for edges among signal columns.
    probability : (edges,)
    by_chain : (chains, edges)
    inclusion_rhat, inclusion_ess : (columns,)
    edge_rhat, edge_ess : (edges,)
    overall : (2, 2)
        R-hat and effective sample size of the log posterior and of the number of signal columns.
    trace : (chains, points, 2)
        Log posterior and number of signal columns, burn-in included; no points when exact.
    n_burnt : int
        Points of the trace that are burn-in.
    best_parent, best_group : (columns,)
        The most probable forest that was met (of all, when exact).
    best_log_posterior : float
    """

    exact: bool
    n_iter: int
    thin: int
    complete: bool
    inclusion: Floats
    inclusion_by_chain: Floats
    first: Integers
    second: Integers
    group: Groups
    probability: Floats
    by_chain: Floats
    inclusion_rhat: Floats
    inclusion_ess: Floats
    edge_rhat: Floats
    edge_ess: Floats
    overall: Floats
    trace: Floats
    n_burnt: int
    best_parent: Parents
    best_group: Groups
    best_log_posterior: float

    def diagnostics(self) -> pd.DataFrame:
        """R-hat and effective sample size: of the log posterior, the signal size, and the worst inclusion and edge."""
        import pandas as pd

        (rhat, ess), (size_rhat, size_ess) = self.overall.tolist()
        rows: list[tuple[str, float, float, int]] = [
            ("log posterior", rhat, ess, 1),
            ("signal size", size_rhat, size_ess, 1),
        ]
        parts: tuple[tuple[str, Floats, Floats, Floats], ...] = (
            ("inclusion", self.inclusion, self.inclusion_rhat, self.inclusion_ess),
            ("edges", self.probability, self.edge_rhat, self.edge_ess),
        )
        for name, share, rhats, sizes in parts:
            some = unsettled(share)
            rows.append(
                (name, float(rhats[some].max(initial=1.0)), float(sizes[some].min(initial=ess)), int(some.sum()))
            )
        frame = pd.DataFrame(rows, columns=["quantity", "R-hat", "effective sample size", "how many"])
        return frame.set_index("quantity")


def unsettled(share: Floats) -> npt.NDArray[np.bool_]:
    """Which indicators are neither nearly always nor nearly never there."""
    return (share > UNSETTLED[0]) & (share < UNSETTLED[1])


@dataclass(frozen=True, eq=False)
class EdgeShares:
    """How often edges occur: their columns and group, their share in each chain, and how their chains went."""

    first: Integers
    second: Integers
    group: Groups
    by_chain: Floats
    rhat: Floats
    ess: Floats


def edge_shares(parent: Parents, group: Groups) -> EdgeShares:
    """Shares of all edges in draws (chains, draws, columns)."""
    n_chains, n_draws, d = parent.shape
    known: Integers = np.empty(0, dtype=np.int64)
    for _, _, keys in _each_few(parent, group):
        known = np.union1d(known, keys)
    counts = np.zeros((n_chains, len(known)))
    for c, _, keys in _each_few(parent, group):
        counts[c] += np.bincount(np.searchsorted(known, keys), minlength=len(known))
    by_chain = counts / n_draws
    some = np.flatnonzero(unsettled(by_chain.mean(axis=0)))
    place = np.full(len(known), -1, dtype=np.int64)
    place[some] = np.arange(len(some))
    there = np.zeros((n_chains, n_draws, len(some)), dtype=np.uint8)
    for c, draw, keys in _each_few(parent, group):
        at = place[np.searchsorted(known, keys)]
        there[c, draw[at >= 0], at[at >= 0]] = 1
    rhat, ess = indicators(there)
    all_rhat, all_ess = np.ones(len(known)), np.full(len(known), float(n_chains * n_draws))
    all_rhat[some], all_ess[some] = rhat, ess
    first, second = known // (2 * d), known // 2 % d
    return EdgeShares(first, second, (known % 2).astype(np.uint8), by_chain, all_rhat, all_ess)


def _each_few(parent: Parents, group: Groups) -> Iterator[tuple[int, Integers, Integers]]:
    """Every edge of a limited number of draws at a time: the chain, each edge's draw, and a number that says which.

    The number is (smaller column * d + larger column) * 2 + group.
    """
    n_chains, n_draws, d = parent.shape
    for c in range(n_chains):
        for i in range(0, n_draws, AT_ONCE):
            above = parent[c, i : i + AT_ONCE]
            draw, child = np.nonzero(above >= 0)
            other = above[draw, child].astype(np.int64)
            pair = np.minimum(child, other) * d + np.maximum(child, other)
            yield c, i + draw, pair * 2 + group[c, i + draw, child]


def indicators(there: npt.NDArray[Any]) -> tuple[Floats, Floats]:
    """R-hat and effective sample size of indicators (chains, draws, indicators); few draws tell nothing."""
    _, n_draws, n = there.shape
    if n_draws < 4:
        return np.full(n, np.inf), np.ones(n)
    if n == 0:
        return np.ones(0), np.ones(0)
    parts = [split_rhat(there[:, :, first : first + 512]) for first in range(0, n, 512)]
    return np.concatenate(parts), indicator_ess(there)


def of_numbers(draws: Floats) -> tuple[float, float]:
    """R-hat and effective sample size of one quantity (chains, draws)."""
    if draws.shape[1] < 4:
        return np.inf, 1.0
    return float(split_rhat(draws)), float(bulk_ess(draws))
