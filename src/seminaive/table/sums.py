"""What every model asks of the rows: class weights, counts of codes, moments of values.

Each is a kernel over a block and a one-line fold over a table; unit weights give exact integers.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from seminaive.kernels.count import count_codes, weigh_codes
from seminaive.kernels.moments import segment_moments, segment_moments_weighted
from seminaive.statistics.moments import Moments, from_segments, reclass
from seminaive.table.block import Block
from seminaive.table.schema import Layout


def class_weights(block: Block, n_classes: int) -> npt.NDArray[Any]:
    """Total weight of each class: integers when all weights are 1."""
    if block.weights is None:
        return np.bincount(block.classes, weights=np.diff(block.starts), minlength=n_classes).astype(np.int64)
    by_segment = np.add.reduceat(block.weights, block.starts[:-1]) if block.n_rows else np.zeros(len(block.classes))
    return np.bincount(block.classes, weights=by_segment, minlength=n_classes)


def class_counts(block: Block, layout: Layout, n_classes: int) -> npt.NDArray[Any]:
    """Weight of every code of every coded column in each class, flat: shape (classes, layout.width)."""
    out: npt.NDArray[Any] = np.zeros((n_classes, layout.width), dtype=np.int64 if block.weights is None else np.float64)
    for codes, columns in ((block.codes8, layout.narrow), (block.codes16, layout.wide)):
        if len(columns) == 0:
            continue
        starts = layout.starts[columns]
        if block.weights is None:
            count_codes(codes, starts, block.starts, block.classes, out)
        else:
            weigh_codes(codes, block.weights, starts, block.starts, block.classes, out)
    return out


def class_moments(block: Block, n_classes: int) -> Moments:
    """Count, mean and sum of squares of every valued column in each class."""
    n_columns, n_segments = block.values.shape[0], len(block.classes)
    results = np.zeros((4, n_columns, n_segments))
    for values, into in zip(block.values, results.transpose(1, 0, 2), strict=True):
        if block.weights is None:
            segment_moments(values, block.starts, block.classes, *into)
        else:
            segment_moments_weighted(values, block.weights, block.starts, block.classes, *into)
    parts = (np.ascontiguousarray(part.T) for part in results)
    return reclass(from_segments(*parts, weighted=block.weights is not None), block.classes, n_classes)
