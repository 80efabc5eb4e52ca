"""How much the columns of a table tell about the class and about one another, from counts that add up over blocks.

So the figures are exact wherever the rows are. A missing value counts as a level of its own where it occurs.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from seminaive.statistics.information import entropy, mutual_information, symmetric_uncertainty
from seminaive.table.pairs import pair_strips
from seminaive.table.schema import Floats
from seminaive.table.table import Table

__all__ = ["information_of_pairs", "information_with_class", "uncertainty_of_pairs", "uncertainty_with_class"]


def information_with_class(table: Table, n_jobs: int | None = None) -> Floats:
    """Mutual information of every column with the class; all columns coded."""
    return mutual_information(table.counts(n_jobs), _bounds(table))


def uncertainty_with_class(table: Table, n_jobs: int | None = None) -> Floats:
    """Symmetric uncertainty of every column with the class."""
    return symmetric_uncertainty(table.counts(n_jobs), _bounds(table))


def information_of_pairs(table: Table, n_jobs: int | None = None) -> Floats:
    """Mutual information of every pair of columns; entropies on the diagonal.

    With n_ab rows that have level a of one column and b of the other,
    n I = sum n_ab log n_ab - sum n_a log n_a - sum n_b log n_b + n log n.
    """
    counts = table.counts(n_jobs).sum(axis=0)
    own = entropy(counts, _bounds(table))
    n = float(table.class_weights(n_jobs).sum())
    single = n * (np.log(n) - own)  # sum of n_a log n_a
    out = np.diag(own)
    for strip in pair_strips(table, n_jobs):
        cells = _x_log_x(strip.counts.sum(axis=0))
        starts = strip.level_starts
        here, all_after = starts[strip.first : strip.last], starts[strip.first : -1]
        joint = np.add.reduceat(np.add.reduceat(cells, here - here[0], axis=0), all_after - here[0], axis=1)
        rows = np.arange(strip.first, strip.last)
        found = (joint - single[rows, None] - single[strip.first :]) / n + np.log(n)
        upper = np.arange(strip.first, len(own)) > rows[:, None]
        out[strip.first : strip.last, strip.first :][upper] = np.maximum(found, 0.0)[upper]
    return np.triu(out) + np.triu(out, 1).T


def uncertainty_of_pairs(table: Table, n_jobs: int | None = None) -> Floats:
    """Symmetric uncertainty of every pair of columns; 1 on the diagonal, 0 for constant columns."""
    information = information_of_pairs(table, n_jobs)
    own = np.diag(information)
    both = own[:, None] + own
    uncertainty = 2.0 * information / np.where(both > 0, both, 1.0)
    np.fill_diagonal(uncertainty, 1.0)
    return uncertainty


def _x_log_x(counts: npt.NDArray[np.float64]) -> Floats:
    return counts * np.log(np.where(counts > 0, counts, 1.0))


def _bounds(table: Table) -> npt.NDArray[np.int64]:
    layout = table.schema.layout
    return np.append(layout.starts, layout.width)
