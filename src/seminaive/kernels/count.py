"""Counting and placing codes: the loops that touch every cell of a table."""

from __future__ import annotations

from typing import Any

from numba import njit

Array = Any  # numba kernels are typed by their arguments, not by annotations


@njit(cache=True, nogil=True)
def mark_used(raw: Array, used: Array) -> None:
    """Set ``used[c] = 1`` for every code c that occurs in ``raw``."""
    for i in range(raw.size):
        used[raw[i]] = 1


@njit(cache=True, nogil=True)
def place_codes(raw: Array, translate: Array, order: Array, out: Array) -> None:
    """Translate codes and write them in the block's row order: ``out[i] = translate[raw[order[i]]]``."""
    for i in range(order.size):
        out[i] = translate[raw[order[i]]]


@njit(cache=True, nogil=True)
def bin_values(values: Array, cuts: Array, missing: int, first: int, out: Array) -> None:
    """Code of each value: ``first`` plus the number of cuts at or below it; ``missing`` for NaN.

    One pass per cut over a tile that stays in cache: for a few dozen cuts faster than a search per value.
    """
    for start in range(0, values.size, 1024):
        x = values[start : start + 1024]
        code = out[start : start + 1024]
        code[:] = first
        for c in range(cuts.size):
            cut = cuts[c]
            for i in range(x.size):
                code[i] += x[i] >= cut
        for i in range(x.size):
            if not x[i] == x[i]:
                code[i] = missing


@njit(cache=True, nogil=True)
def count_codes(codes: Array, column_starts: Array, segment_starts: Array, segment_slots: Array, out: Array) -> None:
    """Add every code of every column to ``out[slot of the row's segment, column start + code]``.

    Rows are sorted into segments, so there is no label in the inner loop: it is a plain histogram.
    """
    for column in range(codes.shape[0]):
        row = codes[column]
        for segment in range(segment_slots.size):
            part = row[segment_starts[segment] : segment_starts[segment + 1]]
            histogram = out[segment_slots[segment], column_starts[column] :]
            for i in range(part.size):
                histogram[part[i]] += 1


@njit(cache=True, nogil=True)
def weigh_codes(
    codes: Array,
    weights: Array,
    column_starts: Array,
    segment_starts: Array,
    segment_slots: Array,
    out: Array,
) -> None:
    """The weighted twin of `count_codes`: each row adds its weight."""
    for column in range(codes.shape[0]):
        row = codes[column]
        for segment in range(segment_slots.size):
            first, last = segment_starts[segment], segment_starts[segment + 1]
            part = row[first:last]
            weight = weights[first:last]
            histogram = out[segment_slots[segment], column_starts[column] :]
            for i in range(part.size):
                histogram[part[i]] += weight[i]
