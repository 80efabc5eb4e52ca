"""From sampled forests to how the chains went."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from seminaive.models.checks import check_choice
from seminaive.models.forest_samples import ForestPosterior, ForestSamples, of_numbers
from seminaive.show.forest_graph import GROUPS
from seminaive.show.forest_trace import WHAT, ForestTrace
from seminaive.table.schema import Floats, Integers

__all__ = ["trace_of"]

LAGS = 40
"""Distances in draws at which draws are compared."""


def trace_of(
    what: str, samples: ForestSamples, posterior: ForestPosterior, varies: npt.NDArray[np.bool_]
) -> ForestTrace:
    """One quantity along every chain.

    Parameters
    ----------
    what : str
        One of `seminaive.show.forest_trace.WHAT`.
    samples : ForestSamples
    posterior : ForestPosterior
    varies : (columns,) bool array
        Columns that are the same in all rows are no part of edges and trees.
    """
    check_choice("what", what, WHAT)
    n_chains = len(posterior.inclusion_by_chain)
    parent = samples.parent.reshape(n_chains, -1, samples.parent.shape[1])
    group = samples.group.reshape(parent.shape)
    draws = np.arange(parent.shape[1])
    n_burnt = 0 if posterior.exact else posterior.n_burnt
    x = draws if posterior.exact else (n_burnt + draws) * posterior.thin
    rhat: dict[str, float] = {}
    ess: dict[str, float] = {}
    if what in ("log posterior", "signal size") and not posterior.exact:
        quantity = WHAT.index(what)
        lines = {"": posterior.trace[:, :, quantity]}
        x = np.arange(lines[""].shape[1]) * posterior.thin
        rhat[""], ess[""] = map(float, posterior.overall[quantity])
    elif what == "log posterior":
        lines = {"": samples.log_posterior.reshape(n_chains, -1)}
    elif what == "signal size":
        lines = {"": group.sum(axis=2, dtype=np.float64)}
    elif what == "edges":
        lines = {GROUPS[g]: _edges_per_column(parent, group, g, varies) for g in (1, 0)}
        if not posterior.exact:
            for name, values in lines.items():
                rhat[name], ess[name] = of_numbers(values)
    elif what == "autocorrelation":
        lines = {"": _correlation(samples.log_posterior.reshape(n_chains, -1))}
        x = np.arange(lines[""].shape[1]) * (1 if posterior.exact else posterior.thin)
        if not posterior.exact:
            rhat[""], ess[""] = map(float, posterior.overall[0])
    else:
        lines = _tree_sizes(parent, group, varies)
        x = np.arange(1, next(iter(lines.values())).shape[1] + 1)
    in_time = what in WHAT[:2] and not posterior.exact
    return ForestTrace(what, x, lines, n_burnt if in_time else 0, rhat, ess, len(samples), posterior.exact)


def _edges_per_column(parent: Any, group: Any, of: int, varies: npt.NDArray[np.bool_]) -> Floats:
    edges = np.zeros(parent.shape[:2])
    for c in range(len(parent)):  # one chain at a time bounds the memory
        joined = (parent[c] >= 0) & (group[c] == of) & varies
        edges[c] = (joined & varies[parent[c]]).sum(axis=1)
    return np.asarray(edges / np.maximum(((group == of) & varies).sum(axis=2), 1))


def _correlation(values: Floats) -> Floats:
    """Of draws some steps apart, per chain; a chain that stands still is not correlated with itself."""
    n = values.shape[1]
    centred = values - values.mean(axis=1, keepdims=True)
    scale = (centred**2).sum(axis=1)
    lags = range(min(LAGS, n - 1) + 1)
    products = np.stack([(centred[:, : n - lag] * centred[:, lag:]).sum(axis=1) for lag in lags], axis=1)
    return np.divide(products, scale[:, None], out=np.zeros_like(products), where=scale[:, None] > 0)


def _tree_sizes(parent: Any, group: Any, varies: npt.NDArray[np.bool_]) -> dict[str, Floats]:
    """How many trees of each size a forest has on average, per chain and group."""
    n_chains, n_draws, d = parent.shape
    counts = np.zeros((2, n_chains, d + 1))
    for c in range(n_chains):
        for above, groups in zip(parent[c], group[c], strict=True):
            root = _roots(above)
            size = np.bincount(root[varies], minlength=d)
            trees = np.flatnonzero(size)
            np.add.at(counts[:, c], (groups[trees], size[trees]), 1 / n_draws)
    largest = int(np.flatnonzero(counts.any(axis=(0, 1))).max(initial=1))
    return {GROUPS[g]: counts[g, :, 1 : largest + 1] for g in (1, 0)}


def _roots(parent: npt.NDArray[np.int32]) -> Integers:
    """The root of every column's tree: the way to it is halved until nothing moves."""
    above = np.where(parent < 0, np.arange(len(parent)), parent).astype(np.int64)
    while True:
        further = above[above]
        if np.array_equal(further, above):
            return above
        above = further
