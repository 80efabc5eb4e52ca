"""Bins of equal width between the smallest and the largest value of a numeric column."""

from __future__ import annotations

from functools import reduce

import numpy as np

from seminaive.table.block import Block
from seminaive.table.schema import Floats
from seminaive.table.table import Table


def width_bins(table: Table, n_bins: int, n_jobs: int | None = None) -> dict[int, Floats]:
    """Cuts of every valued column that make bins of equal width; a constant column gets none.

    Examples
    --------
    >>> from seminaive.table.door import encode
    >>> width_bins(encode([[0.0], [1.5], [6.0]], [0, 1, 1]), n_bins=3)
    {0: array([2., 4.])}
    """
    columns = table.schema.layout.valued.tolist()
    if not columns:
        return {}
    lows, highs = zip(*table.map(_ends, n_jobs=n_jobs), strict=True)
    low, high = reduce(np.fmin, lows), reduce(np.fmax, highs)
    cuts = {}
    for j, first, last in zip(columns, low, high, strict=True):
        between = np.unique(first + (last - first) * (np.arange(1, n_bins) / n_bins))
        cuts[j] = between[(between > first) & (between <= last)]  # rounding, or a column without any value
    return cuts


def _ends(block: Block) -> tuple[Floats, Floats]:
    return np.fmin.reduce(block.values, axis=1, initial=np.nan), np.fmax.reduce(block.values, axis=1, initial=np.nan)
