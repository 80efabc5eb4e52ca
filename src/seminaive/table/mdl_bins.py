"""Bins of numeric columns by minimum description length: cuts that look at the class, learned from training rows."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from seminaive.statistics.mdl import mdl_cuts
from seminaive.table.block import Block, row_classes, row_weights
from seminaive.table.sample import sample_rows
from seminaive.table.schema import Floats, Integers
from seminaive.table.table import Table

MDL_ROWS = 1_000_000
"""Cuts need a whole column in order: of more rows than these, a random sample decides."""


def mdl_bins(table: Table, seed: int = 0, n_jobs: int | None = None) -> dict[int, Floats]:
    """Cuts of every valued column, chosen to tell the classes apart; a column that says nothing gets none.

    One column at a time is gathered, up to about a million rows; of a larger table a random sample, the same for the
    same seed wherever the rows are.
    """
    if not len(table.schema.layout.valued):
        return {}
    rows = sample_rows(table, MDL_ROWS, seed, n_jobs) if table.n_rows > MDL_ROWS else table
    cuts = {}
    for j in table.schema.layout.valued.tolist():
        parts = list(rows.map(_labelled_values, int(table.schema.layout.slot[j]), n_jobs=n_jobs))
        values, classes, weights = (np.concatenate([part[i] for part in parts]) for i in range(3))
        cuts[j] = mdl_cuts(values, classes, table.schema.n_classes, weights)
    return cuts


def _labelled_values(block: Block, slot: int) -> tuple[Floats, Integers, npt.NDArray[np.float64]]:
    return block.values[slot], row_classes(block), row_weights(block)
