"""From what sampled forests say to graphs, and to words."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from seminaive.models.forest_samples import ForestPosterior, Groups, Parents
from seminaive.show.forest_graph import ForestGraph

__all__ = ["average_graph", "forest_in_words", "one_forest"]

Mask = npt.NDArray[np.bool_]
SHOWN = 10
"""Columns, and pairs, that a summary names."""


def average_graph(
    posterior: ForestPosterior, names: list[str], varies: Mask, min_probability: float, noise: bool = True
) -> ForestGraph:
    """Columns that are signal, or joined, with at least this probability; columns that do not vary never are.

    Without ``noise``, edges among noise columns are left out.
    """
    p = posterior
    chosen = (p.probability >= min_probability) & varies[p.first] & varies[p.second]
    if not noise:
        chosen &= p.group == 1
    nodes = np.union1d(
        np.flatnonzero(varies & (p.inclusion >= min_probability)),
        np.concatenate([p.first[chosen], p.second[chosen]]),
    )
    by_chain = p.by_chain[:, chosen]
    return ForestGraph(
        names,
        nodes.astype(np.int64),
        p.inclusion,
        np.stack([p.inclusion_by_chain.min(axis=0), p.inclusion_by_chain.max(axis=0)], axis=1),
        p.first[chosen],
        p.second[chosen],
        p.group[chosen],
        p.probability[chosen],
        by_chain.min(axis=0),
        by_chain.max(axis=0),
    )


def one_forest(parent: Parents, group: Groups, names: list[str], varies: Mask) -> ForestGraph:
    """One forest, whose edges point from parent to child."""
    child = np.flatnonzero((parent >= 0) & varies & varies[parent])
    nodes = np.union1d(np.flatnonzero((group == 1) & varies), np.concatenate([child, parent[child]]))
    inclusion, one = group.astype(np.float64), np.ones(len(child))
    spread = np.stack([inclusion, inclusion], axis=1)
    ends = parent[child].astype(np.int64), child.astype(np.int64)
    return ForestGraph(
        names, nodes.astype(np.int64), inclusion, spread, *ends, group[child], one, one, one, directed=True
    )


def forest_in_words(
    posterior: ForestPosterior, names: list[str], varies: Mask, n_draws: int, converged: bool
) -> list[str]:
    """The lines of a summary: columns and pairs that matter, and whether the chains have met."""
    order = np.argsort(-np.where(varies, posterior.inclusion, 0.0), kind="stable")[:SHOWN]
    likely = [f"{names[j]} {posterior.inclusion[j]:.2f}" for j in order if varies[j]]
    lines = [f"signal columns, by probability: {', '.join(likely) or 'none'}"]
    edges = average_graph(posterior, names, varies, 0.2, noise=False).to_frame().head(SHOWN)
    joined = [f"{a} - {b} {p:.2f}" for a, b, p in edges[["feature", "with", "probability"]].itertuples(index=False)]
    lines.append(f"pairs that matter together: {', '.join(joined) or 'none'}")
    if posterior.exact:
        lines.append(f"exact; predicts by {n_draws} forests drawn from the exact posterior")
    else:
        rhat, ess = posterior.overall[0]
        met = "the chains have met" if converged else "THE CHAINS HAVE NOT MET"
        lines.append(
            f"{len(posterior.inclusion_by_chain)} chains of {posterior.n_iter} iterations, {n_draws} forests; "
            f"log posterior: R-hat {rhat:.2f}, effective sample size {ess:.0f}; {met}"
        )
    constant = [names[j] for j in np.flatnonzero(~varies)]
    if constant:
        lines.append(f"the same in all rows: {', '.join(constant[:SHOWN])}{' ...' if len(constant) > SHOWN else ''}")
    return lines
