"""From scores to sampled forests and what they say: by chains, or, for few columns, exactly."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from seminaive.models.forest_samples import (
    EdgeShares,
    ForestPosterior,
    ForestSamples,
    Groups,
    Parents,
    edge_shares,
    indicators,
    of_numbers,
    unsettled,
)
from seminaive.search.forest_sampler import Moves, count_draws, sample_forests
from seminaive.search.forest_start import sampler_tables
from seminaive.statistics.family import ForestTables, log_posterior
from seminaive.statistics.forest_draws import draw_forests
from seminaive.statistics.forest_exact import MOST_COLUMNS, exact_forest_posterior
from seminaive.table.schema import Floats

EXACT_UP_TO = 12
"""Columns up to which the exact answer costs no more than four chains of the default length."""

EXACT_DRAWS = 1000
"""Forests drawn from the exact posterior, to predict with."""

LEAST_ITERATIONS, SWEEPS = 10_000, 50
"""A chain has max(10,000, 50 d) iterations unless told otherwise."""

DIGITS = 7
"""Digits after the point that chains see of scores: what is equal stays equal, however the rows were added up."""

NEGLIGIBLE = 1e-9
"""Less probable edges of the exact answer are not listed."""


@dataclass(frozen=True)
class SamplingPlan:
    """How to sample; made from an estimator's parameters.

    ``n_iter`` is 0 for the exact answer.
    """

    n_iter: int
    thin: int
    burn_in: int
    chains: int
    moves: Moves
    weights: str
    seed: int
    threads: int
    max_time: float | None


def plan_iterations(n_iter: int | str, thin: int, burn_in: float, d: int) -> tuple[int, int, int]:
    """Iterations of a chain, every which is kept, and how many are burnt; iterations 0 stand for the exact answer.

    With "auto" long chains are thinned more, so that the number of draws does not grow with the number of columns.

    Examples
    --------
    >>> [plan_iterations("auto", thin=50, burn_in=0.2, d=d) for d in (8, 100, 1000)]
    [(0, 0, 0), (10000, 50, 2000), (50000, 250, 10000)]
    """
    if n_iter == "exact" or (n_iter == "auto" and d <= EXACT_UP_TO):
        if d > MOST_COLUMNS:
            raise ValueError(f"n_iter='exact' is possible for up to {MOST_COLUMNS} columns, not {d}: use n_iter='auto'")
        return 0, 0, 0
    if n_iter == "auto":
        n_iter = max(LEAST_ITERATIONS, SWEEPS * d)
        thin = thin * n_iter // LEAST_ITERATIONS
    iterations, burnt = int(n_iter), int(burn_in * int(n_iter))
    if count_draws(iterations, thin, burnt) == 0:
        raise ValueError(
            f"no draw would be kept: n_iter={iterations}, thin={thin}, burn_in={burn_in}; "
            "take more iterations, a smaller thin or a smaller burn_in"
        )
    return iterations, thin, burnt


def sample(
    tables: ForestTables, plan: SamplingPlan, progress: Callable[[int], None] | None = None
) -> tuple[ForestSamples, ForestPosterior]:
    """Forests drawn from the posterior, and the posterior's summary."""
    return _exact(tables, plan) if plan.n_iter == 0 else _chains(tables, plan, progress)


def _exact(tables: ForestTables, plan: SamplingPlan) -> tuple[ForestSamples, ForestPosterior]:
    exact = exact_forest_posterior(tables)
    parent, group = draw_forests(tables, EXACT_DRAWS, np.random.default_rng(plan.seed))
    score = np.array([log_posterior(tables, p, g) for p, g in zip(parent, group, strict=True)])
    upper = np.triu(exact.edges, 1)
    of_group, first, second = np.nonzero(upper > NEGLIGIBLE)
    probability = upper[of_group, first, second]
    d, n_edges = tables.n_columns, len(first)
    posterior = ForestPosterior(
        exact=True,
        n_iter=0,
        thin=0,
        complete=True,
        inclusion=exact.inclusion,
        inclusion_by_chain=exact.inclusion[None],
        first=first.astype(np.int64),
        second=second.astype(np.int64),
        group=of_group.astype(np.uint8),
        probability=probability,
        by_chain=probability[None],
        inclusion_rhat=np.ones(d),
        inclusion_ess=np.full(d, float(EXACT_DRAWS)),
        edge_rhat=np.ones(n_edges),
        edge_ess=np.full(n_edges, float(EXACT_DRAWS)),
        overall=np.array([[1.0, EXACT_DRAWS]] * 2),
        trace=np.zeros((1, 0, 2)),
        n_burnt=0,
        best_parent=exact.best_parent,
        best_group=exact.best_group,
        best_log_posterior=exact.best_log_posterior,
    )
    return _samples(parent[None], group[None], score[None], plan.weights), posterior


def _chains(
    tables: ForestTables, plan: SamplingPlan, progress: Callable[[int], None] | None
) -> tuple[ForestSamples, ForestPosterior]:
    if tables.edge.dtype == np.float64:  # of many columns, edges are in single precision, and no copy is wanted
        tables = ForestTables(tables.root.round(DIGITS), tables.edge.round(DIGITS), tables.edge_penalty)
    draws = sample_forests(
        sampler_tables(tables),
        plan.n_iter,
        plan.thin,
        plan.burn_in,
        plan.chains,
        plan.moves,
        seed=plan.seed,
        threads=plan.threads,
        max_time=plan.max_time,
        progress=progress,
    )
    if draws.log_posterior.shape[1] == 0:
        raise ValueError(
            f"no forest was kept before the chains were stopped, within their {plan.burn_in} iterations of burn-in: "
            "allow more max_time, or fewer iterations"
        )
    inclusion = draws.group.mean(axis=1)
    some = np.flatnonzero(unsettled(inclusion.mean(axis=0)))
    d, n_draws = tables.n_columns, draws.log_posterior.size
    inclusion_rhat, inclusion_ess = np.ones(d), np.full(d, float(n_draws))
    inclusion_rhat[some], inclusion_ess[some] = indicators(draws.group[:, :, some])
    edges: EdgeShares = edge_shares(draws.parent, draws.group)
    sizes = draws.group.sum(axis=2, dtype=np.float64)
    best = np.unravel_index(int(draws.log_posterior.argmax()), draws.log_posterior.shape)
    posterior = ForestPosterior(
        exact=False,
        n_iter=plan.n_iter,
        thin=plan.thin,
        complete=draws.complete,
        inclusion=inclusion.mean(axis=0),
        inclusion_by_chain=inclusion,
        first=edges.first,
        second=edges.second,
        group=edges.group,
        probability=edges.by_chain.mean(axis=0),
        by_chain=edges.by_chain,
        inclusion_rhat=inclusion_rhat,
        inclusion_ess=inclusion_ess,
        edge_rhat=edges.rhat,
        edge_ess=edges.ess,
        overall=np.array([of_numbers(draws.log_posterior), of_numbers(sizes)]),
        trace=draws.trace,
        n_burnt=draws.trace.shape[1] - draws.log_posterior.shape[1],
        best_parent=draws.parent[best].copy(),
        best_group=draws.group[best].copy(),
        best_log_posterior=float(draws.log_posterior[best]),
    )
    return _samples(draws.parent, draws.group, draws.log_posterior, plan.weights), posterior


def _samples(parent: Parents, group: Groups, log_posterior: Floats, weights: str) -> ForestSamples:
    n_chains, n_draws, d = parent.shape
    score = log_posterior.ravel()
    weight = np.ones(score.size) if weights == "uniform" else np.exp(score - score.max())
    return ForestSamples(
        parent.reshape(-1, d),
        np.packbits(group.reshape(-1, d), axis=1),
        np.repeat(np.arange(n_chains), n_draws),
        score,
        weight / weight.sum(),
    )
