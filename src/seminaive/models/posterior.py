"""What was estimated, and how sure it is: means, variances and probabilities with posterior intervals."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from scipy.special import betaincinv

from seminaive.evidence.evidence import Evidence
from seminaive.evidence.terms import GaussianTerm, TableTerm
from seminaive.models.level_priors import added_counts
from seminaive.models.naive import Estimation, Sums
from seminaive.statistics.normal_gamma import Posterior, mean_interval, variance_interval
from seminaive.table.schema import FIRST_LEVEL, MISSING, Floats, Schema

if TYPE_CHECKING:
    import pandas as pd


def posterior_frame(evidence: Evidence, sums: Sums, how: Estimation, level: float) -> pd.DataFrame:
    """One row per column, class and parameter: the evidence's own value, and the data's posterior interval.

    Parameters
    ----------
    evidence : Evidence
        Gaussians, and tables over levels; other terms have no parameters to show, and neither have tables that are not
        probabilities of levels (smoothed otherwise than by adding to their counts).
    sums : Sums
    how : Estimation
    level : float
        Probability inside the intervals.
    """
    import pandas as pd

    if not 0 < level < 1:
        raise ValueError(f"level must lie between 0 and 1; got {level!r}")
    schema = evidence.schema
    adds = how.smoothing_kind in ("level", "none")
    dirichlet = sums.counts + added_counts(schema, how.smoothing if how.smoothing_kind == "level" else 0.0)
    rows: list[tuple[Any, ...]] = []
    for term in evidence.terms:
        name = schema.columns[term.column].name
        if isinstance(term, GaussianTerm):
            after = Posterior(*term.posterior)
            estimates = (("mean", term.mean, mean_interval), ("variance", 1 / term.precision, variance_interval))
            for parameter, estimate, interval in estimates:
                low, high = interval(after, level)
                rows += [
                    (name, label, parameter, *numbers)
                    for label, *numbers in zip(schema.classes, estimate, low, high, strict=True)
                ]
        elif isinstance(term, TableTerm) and adds:
            rows += _levels(term, schema, dirichlet, level)
    return pd.DataFrame(rows, columns=["column", "class", "parameter", "estimate", "low", "high"])


def _levels(term: TableTerm, schema: Schema, dirichlet: Floats, level: float) -> list[tuple[Any, ...]]:
    """Each level's share among those the table gives a probability: Beta(a_v, sum of the others)."""
    column = schema.columns[term.column]
    first = MISSING if term.table[:, MISSING].any() else FIRST_LEVEL
    start = schema.layout.starts[term.column]
    own = dirichlet[:, start + first : start + column.n_codes]
    rest = own.sum(axis=1, keepdims=True) - own
    tail = 0.5 - 0.5 * level
    bounds = [np.where(own > 0, _beta_point(own, rest, share), 0.0) for share in (tail, 1 - tail)]
    return [
        (column.name, label, column.level_name(first + v), np.exp(term.table[k, first + v]), *(b[k, v] for b in bounds))
        for v in range(own.shape[1])
        for k, label in enumerate(schema.classes)
    ]


def _beta_point(a: Floats, b: Floats, share: float) -> Floats:
    return np.where(b > 0, betaincinv(np.where(a > 0, a, 1.0), np.where(b > 0, b, 1.0), share), 1.0)
