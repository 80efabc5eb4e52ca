"""Counting columns together with their parents, and adding what they say, for one sum or for many that share tables.

A family reads some columns, its own first. Its table is flat, the cell of codes (c_0, c_1, ...) being

    start + (c_0 * size_1 + c_1) * size_2 + c_2 ...        size_r = number of codes of the r-th column read
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numba import njit

Array = Any

TILE = 256  # rows whose sums stay in the first-level cache while all families are added


@njit(cache=True, nogil=True)
def _find_cells(codes: Array, rows: Array, sizes: Array, first: int, n: int, cells: Array) -> None:
    """The cell of each of the n rows from ``first`` on, counted from the start of the family's table."""
    code = codes[rows[0], first : first + n]
    for i in range(n):
        cells[i] = code[i]
    for r in range(1, rows.size):
        code = codes[rows[r], first : first + n]
        size = sizes[r]
        for i in range(n):
            cells[i] = cells[i] * size + code[i]


@njit(cache=True, nogil=True)
def count_families(
    codes: Array,
    weights: Array,
    segment_starts: Array,
    classes: Array,
    read_starts: Array,
    read_rows: Array,
    read_sizes: Array,
    starts: Array,
    out: Array,
) -> None:
    """Add every row's weight (1 when ``weights`` is empty) to its cell of every family, in the row of its class."""
    cells = np.empty(TILE, dtype=np.int64)
    for segment in range(classes.size):
        for first in range(segment_starts[segment], segment_starts[segment + 1], TILE):
            n = min(TILE, segment_starts[segment + 1] - first)
            for f in range(starts.size - 1):
                rows = read_rows[read_starts[f] : read_starts[f + 1]]
                sizes = read_sizes[read_starts[f] : read_starts[f + 1]]
                _find_cells(codes, rows, sizes, first, n, cells)
                counts = out[classes[segment], starts[f] :]
                if weights.size > 0:
                    for i in range(n):
                        counts[cells[i]] += weights[first + i]
                else:
                    for i in range(n):
                        counts[cells[i]] += 1.0


@njit(cache=True, nogil=True)
def _add_family(
    codes: Array,
    rows: Array,
    sizes: Array,
    start: int,
    tables: Array,
    sign: float,
    first: int,
    n: int,
    cells: Array,
    sums: Array,
) -> None:
    """``sums[k, i] += sign * tables[k, start + cell of row first + i]`` for the n rows from ``first`` on."""
    _find_cells(codes, rows, sizes, first, n, cells)
    for k in range(sums.shape[0]):
        table = tables[k, start:]
        total = sums[k]
        for i in range(n):
            total[i] += sign * table[cells[i]]


@njit(cache=True, nogil=True)
def add_families(
    codes: Array, read_starts: Array, read_rows: Array, read_sizes: Array, starts: Array, tables: Array, scores: Array
) -> None:
    """Add every family to ``scores`` (classes, rows), in order.

    Family f reads the rows ``read_rows[read_starts[f]:read_starts[f + 1]]`` of ``codes``, which have ``read_sizes``
    codes; its table is ``tables[:, starts[f]:starts[f + 1]]``.
    """
    cells = np.empty(TILE, dtype=np.int64)
    for first in range(0, scores.shape[1], TILE):
        n = min(TILE, scores.shape[1] - first)
        tile = scores[:, first : first + n]
        for f in range(starts.size - 1):
            rows = read_rows[read_starts[f] : read_starts[f + 1]]
            sizes = read_sizes[read_starts[f] : read_starts[f + 1]]
            _add_family(codes, rows, sizes, starts[f], tables, 1.0, first, n, cells, tile)


@njit(cache=True, nogil=True)
def mix_sums(
    codes: Array,
    read_starts: Array,
    read_rows: Array,
    read_sizes: Array,
    starts: Array,
    tables: Array,
    prior: Array,
    step_starts: Array,
    steps: Array,
    fresh: Array,
    log_weight: Array,
    needs: Array,
    may: Array,
    may_starts: Array,
    normalise: bool,
    scores: Array,
) -> None:
    """Log of a weighted average over many sums, written to ``scores`` (classes, rows).

    Sum g begins as the one before it, or as the prior alone where ``fresh[g]``; then every family in
    ``steps[step_starts[g]:step_starts[g + 1]]`` is added, or taken away if it was in. What is averaged is exp(sum), or,
    with ``normalise``, its share among the classes. A sum that needs a column (``needs[g]``, -1: none) has a say only
    in rows where ``may[may_starts[column] + code]``; where none has one, the last sum stands alone. A sum of weight
    zero (log weight -inf) has no say but as the last.
    """
    n_classes = prior.size
    cells = np.empty(TILE, dtype=np.int64)
    sums = np.empty((n_classes, TILE))
    top = np.empty((n_classes, TILE))
    total = np.empty((n_classes, TILE))
    weight = np.empty(TILE)
    entered = np.zeros(starts.size, dtype=np.int64)  # the last fresh start since which the family is in
    since = 0
    for first in range(0, scores.shape[1], TILE):
        n = min(TILE, scores.shape[1] - first)
        weight[:] = 0.0
        top[:] = -np.inf
        total[:] = 0.0
        for g in range(fresh.size):
            if fresh[g]:
                since += 1
                for k in range(n_classes):
                    sums[k, :] = prior[k]
            for s in range(step_starts[g], step_starts[g + 1]):
                f = steps[s]
                sign = -1.0 if entered[f] == since else 1.0
                entered[f] = since if sign > 0.0 else 0
                rows = read_rows[read_starts[f] : read_starts[f + 1]]
                sizes = read_sizes[read_starts[f] : read_starts[f + 1]]
                _add_family(codes, rows, sizes, starts[f], tables, sign, first, n, cells, sums)
            if log_weight[g] == -np.inf:
                continue
            share = math.exp(log_weight[g])
            for i in range(n):
                if needs[g] >= 0 and not may[may_starts[needs[g]] + codes[needs[g], first + i]]:
                    continue
                weight[i] += share
                shift = log_weight[g]
                if normalise:
                    largest = sums[0, i]
                    for k in range(1, n_classes):
                        largest = max(largest, sums[k, i])
                    mass = 0.0
                    for k in range(n_classes):
                        mass += math.exp(sums[k, i] - largest)
                    shift -= largest + math.log(mass)
                for k in range(n_classes):
                    value = sums[k, i] + shift
                    if value > top[k, i]:
                        total[k, i] = total[k, i] * math.exp(top[k, i] - value) + 1.0
                        top[k, i] = value
                    else:
                        total[k, i] += math.exp(value - top[k, i])
        for i in range(n):
            if weight[i] > 0.0:
                rest = math.log(weight[i])
                for k in range(n_classes):
                    scores[k, first + i] = top[k, i] + math.log(total[k, i]) - rest
                continue
            shift = 0.0
            if normalise:
                mass = 0.0
                largest = sums[:, i].max()
                for k in range(n_classes):
                    mass += math.exp(sums[k, i] - largest)
                shift = largest + math.log(mass)
            for k in range(n_classes):
                scores[k, first + i] = sums[k, i] - shift
