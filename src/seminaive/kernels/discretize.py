"""Cutting a sorted column by minimum description length."""

from __future__ import annotations

import math

import numpy as np
import numpy.typing as npt
from numba import njit

Integers = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float64]


@njit(cache=True, nogil=True)
def split_by_description_length(
    values: Floats, classes: Integers, weights: Floats, n_classes: int, min_bin: float
) -> tuple[Integers, Integers, Floats]:
    """All cuts the rule of Fayyad and Irani accepts in a sorted column.

    Returns for each cut, parents before children: the row after which it falls, the number of the cut whose
    interval it splits (-1 for the first) and the bits of class entropy it saves. Bins lighter than
    ``min_bin`` are not made. One pass finds the candidates; then each interval costs one pass per entropy
    and cut.
    """
    n = len(values)
    last = np.empty(n, np.int64)  # last row of each run of equal values
    n_groups = 0
    for i in range(n):
        if i + 1 == n or values[i + 1] != values[i]:
            last[n_groups] = i
            n_groups += 1

    # the best cut never falls between two groups of one and the same class (unless bins must be heavy)
    if min_bin <= 0:
        kept = 0
        before = -1  # class of the group before, -2 if several
        first = 0
        for g in range(n_groups):
            now = classes[first]
            for i in range(first, last[g] + 1):
                if classes[i] != now:
                    now = -2
                    break
            if g > 0 and not (now == before and now >= 0):
                last[kept] = first - 1
                kept += 1
            before = now
            first = last[g] + 1
        if n_groups > 0:
            last[kept] = n - 1
            n_groups = kept + 1

    cut_row = np.empty(n_groups, np.int64)
    cut_parent = np.empty(n_groups, np.int64)
    cut_saving = np.empty(n_groups)
    n_cuts = 0

    total = np.empty(n_classes)
    left = np.empty(n_classes)
    seen = np.empty(n_classes)
    left_term = np.empty(n_classes)
    right_term = np.empty(n_classes)
    bits = np.empty(n_groups)  # class entropy of both sides, times their weight, by candidate

    # intervals of groups that wait: the longer half waits, so 64 places are enough
    wait_start = np.empty(64, np.int64)
    wait_stop = np.empty(64, np.int64)
    wait_parent = np.empty(64, np.int64)
    wait_start[0], wait_stop[0], wait_parent[0] = 0, n_groups, -1
    n_waiting = 1
    while n_waiting > 0:
        n_waiting -= 1
        start, stop, parent = wait_start[n_waiting], wait_stop[n_waiting], wait_parent[n_waiting]
        if stop - start < 2:
            continue
        first = last[start - 1] + 1 if start > 0 else 0

        for k in range(n_classes):
            total[k] = 0.0
        for i in range(first, last[stop - 1] + 1):
            total[classes[i]] += weights[i]
        weight = 0.0
        present = 0
        entropy = 0.0
        for k in range(n_classes):
            weight += total[k]
            if total[k] > 0:
                present += 1
                entropy -= total[k] * math.log2(total[k])
            left[k], seen[k], left_term[k] = 0.0, 0.0, 0.0
            right_term[k] = total[k] * math.log2(total[k]) if total[k] > 0 else 0.0
        if present < 2:
            continue
        entropy += weight * math.log2(weight)

        least = np.inf
        i = first
        for g in range(start, stop - 1):
            while i <= last[g]:
                left[classes[i]] += weights[i]
                i += 1
            below = 0.0
            both = 0.0
            for k in range(n_classes):
                here = left[k]
                below += here
                if here != seen[k]:  # only the classes that moved need new logarithms
                    seen[k] = here
                    left_term[k] = here * math.log2(here)
                    rest = total[k] - here
                    right_term[k] = rest * math.log2(rest) if rest > 0 else 0.0
                both -= left_term[k] + right_term[k]
            above = weight - below
            bits[g] = np.inf
            if below >= min_bin and above >= min_bin and above > 0:
                bits[g] = both + below * math.log2(below) + above * math.log2(above)
                least = min(least, bits[g])
        if least == np.inf:
            continue
        best = start
        while bits[best] > least + 1e-12 * weight:
            best += 1

        # the price of a cut: where it falls, and the class frequencies of two sides instead of one
        for k in range(n_classes):
            left[k] = 0.0
        for i in range(first, last[best] + 1):
            left[classes[i]] += weights[i]
        below = 0.0
        present_below = 0
        present_above = 0
        entropy_below = 0.0
        entropy_above = 0.0
        for k in range(n_classes):
            below += left[k]
            if left[k] > 0:
                present_below += 1
                entropy_below -= left[k] * math.log2(left[k])
            rest = total[k] - left[k]
            if rest > 0:
                present_above += 1
                entropy_above -= rest * math.log2(rest)
        above = weight - below
        entropy_below = entropy_below / below + math.log2(below)
        entropy_above = entropy_above / above + math.log2(above)
        # log2(3^c - 2), without overflow
        price = present * math.log2(3.0) + math.log2(1.0 - 2.0 * 3.0**-present)
        price -= present * entropy / weight - present_below * entropy_below - present_above * entropy_above
        price += math.log2(max(weight - 1.0, 1.0))
        if not (entropy - least) / weight > price / weight:
            continue

        cut_row[n_cuts] = last[best]
        cut_parent[n_cuts] = parent
        cut_saving[n_cuts] = entropy - least
        longer, shorter = (start, best + 1), (best + 1, stop)
        if best + 1 - start < stop - best - 1:
            longer, shorter = shorter, longer
        wait_start[n_waiting], wait_stop[n_waiting] = longer
        wait_start[n_waiting + 1], wait_stop[n_waiting + 1] = shorter
        wait_parent[n_waiting] = n_cuts
        wait_parent[n_waiting + 1] = n_cuts
        n_waiting += 2
        n_cuts += 1
    return cut_row[:n_cuts], cut_parent[:n_cuts], cut_saving[:n_cuts]
