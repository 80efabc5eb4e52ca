"""How numeric columns are modelled: as values with a density, or as bins that were learned before."""

from __future__ import annotations

from seminaive.table.discretize import binned
from seminaive.table.exact_quantiles import quantile_bins
from seminaive.table.mdl_bins import mdl_bins
from seminaive.table.table import Table


def as_modelled(table: Table, numeric: str, n_bins: int = 10, seed: int = 0, n_jobs: int | None = None) -> Table:
    """The same rows, with numeric columns as bins if the model wants them so.

    Parameters
    ----------
    table : Table
    numeric : {"gaussian", "kde", "bins", "mdl"}
        Quantile bins never look at the class. MDL bins do: whatever holds rows out must call this on the others only.
    n_bins : int
        Quantile bins per column.
    seed : int
        Seeds the sample of rows that MDL cuts are learned from where a table is very large.
    """
    if numeric == "bins":
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
