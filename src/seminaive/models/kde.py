"""Kernel densities as evidence: class-conditional densities of numeric columns, kept as piecewise-linear curves.

A column is reduced to counts on at most 1024 support points (its distinct values, or quantile bins); only choosing the
support looks at a whole column at once.
"""

from __future__ import annotations

import numpy as np

from seminaive.evidence.terms import CurveTerm
from seminaive.models.naive import Estimation, Sums, described_as, missingness, varies
from seminaive.statistics.kernel_density import density_curve, density_support, kernel_density
from seminaive.table.discretize import binned, column_values
from seminaive.table.schema import FIRST_LEVEL, Floats
from seminaive.table.table import Table

SUPPORT = 1024


def density_terms(
    table: Table, sums: Sums, how: Estimation, n_jobs: int | None = None, groups: Floats | None = None
) -> dict[int, CurveTerm]:
    """A curve for every numeric column that is not constant.

    ``groups`` (groups, classes) makes groups of the table's classes, such as all but one; ``sums`` are theirs.
    """
    valued = sums.schema.layout.valued.tolist()
    varied = [j for j, does in zip(valued, varies(sums.moments), strict=True) if does]
    supports = {j: density_support(*column_values(table, j), limit=SUPPORT) for j in varied}
    # Bins start at each support point; the last edge of true bins is open, so that the largest value is inside.
    cuts = {j: np.append(s[:-1], np.inf) if len(s) > SUPPORT else s for j, s in supports.items()}
    counted = binned(table, cuts, n_jobs)
    counts, layout = counted.counts(n_jobs), counted.schema.layout
    counts = counts if groups is None else groups @ counts
    observed, missing = missingness(sums, how)
    as_class = described_as(sums, how)
    terms = {}
    for j, support in supports.items():
        first = layout.starts[j] + FIRST_LEVEL + 1  # no value lies below the first point
        points = len(support) - (len(support) > SUPPORT)
        curve = density_curve(kernel_density(support, counts[:, first : first + points]))
        i = valued.index(j)
        terms[j] = CurveTerm(
            column=j,
            knots=curve.knots,
            curve=curve.log_density[as_class] + observed[:, [i]],
            curve_variance=curve.variance[as_class],
            missing=missing[:, i].copy(),
            error=curve.error,
        )
    return terms
