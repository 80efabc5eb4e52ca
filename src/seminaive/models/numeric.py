"""How numeric columns are modelled: as values with a density, or as bins that were learned before."""

from __future__ import annotations

import numpy as np

from seminaive.table.block import Block
from seminaive.table.discretize import binned
from seminaive.table.exact_quantiles import quantile_bins
from seminaive.table.mdl_bins import mdl_bins
from seminaive.table.schema import Floats, Integers
from seminaive.table.table import Table


def as_modelled(table: Table, numeric: str, n_bins: int = 10, seed: int = 0, n_jobs: int | None = None) -> Table:
    """The same rows, with numeric columns as bins if the model wants them so.

    Parameters
    ----------
    table : Table
    numeric : {"gaussian", "kde", "bins", "mdl"}
        Quantile bins never look at the class; an indicator, a column of zeros and ones, has two bins, however rare its
        ones are. MDL bins look at the class: whatever holds rows out must call this on the others only.
    n_bins : int
        Quantile bins per column.
    seed : int
        Seeds the sample of rows that MDL cuts are learned from where a table is very large.
    """
    if numeric == "bins":
        table = binned(table, zeros_and_ones(table, both=True, n_jobs=n_jobs), n_jobs)
        return binned(table, quantile_bins(table, n_bins, n_jobs), n_jobs)
    if numeric == "mdl":
        return binned(table, mdl_bins(table, seed, n_jobs), n_jobs)
    return table


def in_words(numeric: str, n_bins: int) -> str:
    """What every numeric column is, for a summary: "each ..."."""
    return {
        "gaussian": "a Gaussian per class",
        "bins": f"up to {n_bins} bins",
        "kde": "a kernel density",
        "mdl": "bins that tell the classes apart",
    }[numeric]


def zeros_and_ones(table: Table, both: bool, n_jobs: int | None = None) -> dict[int, Floats]:
    """The cut of every numeric column that holds nothing but zeros and ones, both or, if so wished, either alone."""
    valued = table.schema.layout.valued
    if not len(valued):
        return {}
    zeros, ones, others = table.fold(_count_indicators, n_jobs=n_jobs)
    occurs = np.minimum(zeros, ones) if both else np.maximum(zeros, ones)
    return {int(j): np.array([0.5]) for j in valued[(others == 0) & (occurs > 0)]}


def _count_indicators(block: Block) -> tuple[Integers, Integers, Integers]:
    """How many values of each valued column are 0, 1, and neither."""
    zeros, ones = (block.values == 0).sum(axis=1), (block.values == 1).sum(axis=1)
    return zeros, ones, (~np.isnan(block.values)).sum(axis=1) - zeros - ones
