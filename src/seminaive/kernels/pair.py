"""Counting pairs of columns within classes, and the two scores that every pair table is read for."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numba import njit, types
from numba.extending import intrinsic

Array = Any  # numba kernels are typed by their arguments, not by annotations


@intrinsic  # type: ignore[untyped-decorator, unused-ignore]
def _popcount(typing_context: Any, word: Any) -> Any:
    """Number of set bits of a word: one instruction where the machine has one, vectorised by the compiler."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        return builder.ctpop(arguments[0])

    return types.uint64(types.uint64), generate


@njit(cache=True, nogil=True)
def pack_planes(
    codes: Array,
    weights: Array,
    level_starts: Array,
    plane_starts: Array,
    segment_starts: Array,
    word_starts: Array,
    planes: Array,
    margins: Array,
) -> None:
    """Write one bit plane per level but the last, and count every level per segment in the same pass.

    Bit i of ``planes[plane_starts[j] + code]`` is set where column j has that code in row i of its segment;
    each segment starts at a fresh word. Columns without planes have ``plane_starts[j] == plane_starts[j +
    1]``. ``margins[s, level_starts[j] + code]`` gains the weight of each row (1 when ``weights`` is empty).
    """
    weighted = weights.size > 0
    for column in range(codes.shape[0]):
        row = codes[column]
        first_plane = plane_starts[column]
        n_planes = plane_starts[column + 1] - first_plane
        for segment in range(segment_starts.size - 1):
            first = segment_starts[segment]
            part = row[first : segment_starts[segment + 1]]
            margin = margins[segment, level_starts[column] :]
            if weighted:
                for i in range(part.size):
                    margin[part[i]] += weights[first + i]
                continue
            word = word_starts[segment]
            for i in range(part.size):
                code = types.int64(part[i])
                margin[code] += 1.0
                if code < n_planes:
                    planes[first_plane + code, word + (i >> 6)] |= types.uint64(1) << types.uint64(i & 63)


@njit(cache=True, nogil=True)
def count_pairs(
    codes: Array,
    weights: Array,
    planes: Array,
    margins: Array,
    level_starts: Array,
    plane_starts: Array,
    segment_starts: Array,
    word_starts: Array,
    slots: Array,
    left: Any,
    right: Any,
    most_cells: int,
    out: Array,
) -> None:
    """Add the counts of every pair j < k of two ranges of columns to ``out[slot, level of j, level of k]``.

    Pairs with planes and at most ``most_cells`` cells are counted by AND and popcount, their last levels by
    subtraction from the margins; all others by walking the rows.
    """
    left_first = level_starts[left[0]]
    right_first = level_starts[right[0]]
    weighted = weights.size > 0
    for j in range(left[0], left[1]):
        n_left = level_starts[j + 1] - level_starts[j]
        left_planes = plane_starts[j + 1] - plane_starts[j]
        at_left = level_starts[j] - left_first
        for k in range(max(j + 1, right[0]), right[1]):
            n_right = level_starts[k + 1] - level_starts[k]
            right_planes = plane_starts[k + 1] - plane_starts[k]
            at_right = level_starts[k] - right_first
            by_bits = left_planes == n_left - 1 and right_planes == n_right - 1 and n_left * n_right <= most_cells
            for segment in range(slots.size):
                cells = out[slots[segment]]
                if by_bits and not weighted:
                    first, last = word_starts[segment], word_starts[segment + 1]
                    margin_left = margins[segment, level_starts[j] :]
                    margin_right = margins[segment, level_starts[k] :]
                    corner = margin_right[n_right - 1]
                    for a in range(left_planes):
                        row = cells[at_left + a]
                        bits = planes[plane_starts[j] + a, first:last]
                        rest = margin_left[a]
                        for b in range(right_planes):
                            other = planes[plane_starts[k] + b, first:last]
                            both = types.uint64(0)
                            for i in range(bits.size):
                                both += _popcount(bits[i] & other[i])
                            row[at_right + b] += both
                            cells[at_left + n_left - 1, at_right + b] -= both
                            rest -= both
                        row[at_right + n_right - 1] += rest
                        corner -= rest
                    for b in range(right_planes):
                        cells[at_left + n_left - 1, at_right + b] += margin_right[b]
                    cells[at_left + n_left - 1, at_right + n_right - 1] += corner
                else:
                    row_left = codes[j, segment_starts[segment] : segment_starts[segment + 1]]
                    row_right = codes[k, segment_starts[segment] : segment_starts[segment + 1]]
                    if weighted:
                        weight = weights[segment_starts[segment] : segment_starts[segment + 1]]
                        for i in range(row_left.size):
                            cells[at_left + row_left[i], at_right + row_right[i]] += weight[i]
                    else:
                        for i in range(row_left.size):
                            cells[at_left + row_left[i], at_right + row_right[i]] += 1.0


@njit(cache=True, nogil=True)
def _log_gamma_ratio(count: float, q: float, concentration: float, table: Array) -> float:
    """ln Gamma(count + concentration / q) - ln Gamma(concentration / q), from a table if there is one."""
    if table.size > 0:
        return float(table[int(count)])
    return math.lgamma(count + concentration / q) - math.lgamma(concentration / q)


@njit(cache=True, nogil=True)
def dirichlet_edges(
    cells: Array,
    level_starts: Array,
    kinds: Array,
    tables: Array,
    table_of: Array,
    single: Array,
    whole: Array,
    concentration: float,
    left: Any,
    right: Any,
    edge: Array,
) -> None:
    """Edge log Bayes factors of a tile of pair counts, written to both triangles of ``edge[group]``.

    W_0[j, k] = sum_ab LG(n_ab, v_j v_k) - S_0[j] - S_0[k] + T_0 and W_1 the same within classes, where
    LG(c, q) = ln Gamma(c + concentration / q) - ln Gamma(concentration / q). For whole counts it is read from
    ``tables[table_of[g, kind_j, kind_k]]``; ``tables`` without columns means: work it out.
    """
    n_classes = cells.shape[0]
    left_first = level_starts[left[0]]
    right_first = level_starts[right[0]]
    for j in range(left[0], left[1]):
        n_left = level_starts[j + 1] - level_starts[j]
        for k in range(max(j + 1, right[0]), right[1]):
            n_right = level_starts[k + 1] - level_starts[k]
            q_noise = float(n_left * n_right)
            q_signal = q_noise * n_classes
            table_noise = tables[table_of[0, kinds[j], kinds[k]]]
            table_signal = tables[table_of[1, kinds[j], kinds[k]]]
            noise = 0.0
            signal = 0.0
            for a in range(level_starts[j] - left_first, level_starts[j + 1] - left_first):
                for b in range(level_starts[k] - right_first, level_starts[k + 1] - right_first):
                    total = 0.0
                    for y in range(n_classes):
                        count = cells[y, a, b]
                        total += count
                        signal += _log_gamma_ratio(count, q_signal, concentration, table_signal)
                    noise += _log_gamma_ratio(total, q_noise, concentration, table_noise)
            edge[0, j, k] = noise - single[0, j] - single[0, k] + whole[0]
            edge[1, j, k] = signal - single[1, j] - single[1, k] + whole[1]
    for group in range(2):  # mirrored afterwards: writing whole rows saves the cache misses of writing columns
        for k in range(right[0], right[1]):
            for j in range(left[0], min(k, left[1])):
                edge[group, k, j] = edge[group, j, k]


@njit(cache=True, nogil=True)
def conditional_information(cells: Array, total: float, level_starts: Array, left: Any, right: Any, out: Array) -> None:
    """I(X_j; X_k | Y) in nats of the pairs j < k of a tile of pair counts, written to ``out[j - left, k - right]``.

    Only the rows in ``cells`` speak, each pair's own; what they tell is shared out over ``total`` rows.
    """
    n_classes = cells.shape[0]
    left_first = level_starts[left[0]]
    right_first = level_starts[right[0]]
    of_left = np.empty(cells.shape[1])
    of_right = np.empty(cells.shape[2])
    for j in range(left[0], left[1]):
        a_first, a_last = level_starts[j] - left_first, level_starts[j + 1] - left_first
        for k in range(max(j + 1, right[0]), right[1]):
            b_first, b_last = level_starts[k] - right_first, level_starts[k + 1] - right_first
            told = 0.0
            for y in range(n_classes):
                of_class = 0.0
                of_left[a_first:a_last] = 0.0
                of_right[b_first:b_last] = 0.0
                for a in range(a_first, a_last):
                    for b in range(b_first, b_last):
                        count = cells[y, a, b]
                        of_left[a] += count
                        of_right[b] += count
                        of_class += count
                for a in range(a_first, a_last):
                    for b in range(b_first, b_last):
                        count = cells[y, a, b]
                        if count > 0.0:
                            told += count * math.log(count * of_class / (of_left[a] * of_right[b]))
            out[j - left[0], k - right[0]] = told / total
