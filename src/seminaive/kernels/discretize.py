"""Cutting a sorted column by minimum description length."""

from __future__ import annotations

import math

import numpy as np
import numpy.typing as npt
from numba import njit

Integers = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float64]

STRIDE = 64  # candidates between two places where the counts of all classes are kept


@njit(cache=True, nogil=True)
def split_by_description_length(
    values: Floats, classes: Integers, weights: Floats, n_classes: int, min_bin: float
) -> tuple[Integers, Integers, Floats]:
    """All cuts the rule of Fayyad and Irani accepts in a sorted column; ``weights`` is empty when all are 1.

    Returns for each cut, parents before children: the row after which it falls, the number of the cut whose
    interval it splits (-1 for the first) and the bits of class entropy it saves. Bins lighter than
    ``min_bin`` are not made.
    """
    last = _candidates(values, classes, min_bin <= 0)
    before = _counts_before(last, classes, weights, n_classes)
    n_groups = len(last)
    cut_row = np.empty(n_groups, np.int64)
    cut_parent = np.empty(n_groups, np.int64)
    cut_saving = np.empty(n_groups)
    n_cuts = 0

    at_start = np.empty(n_classes)
    total = np.empty(n_classes)
    left = np.empty(n_classes)
    rest = np.empty(n_classes)
    bits = np.empty(n_groups)

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
        _count_to(start, last, before, classes, weights, at_start)
        _count_to(stop, last, before, classes, weights, total)
        total -= at_start
        weight, present, entropy = _entropy(total)
        if present < 2:
            continue
        best = _best_cut(start, stop, last, before, classes, weights, at_start, total, min_bin, bits)
        if best < 0:
            continue

        # the price of a cut: where it falls, and the class frequencies of two sides instead of one
        _count_to(best + 1, last, before, classes, weights, left)
        left -= at_start
        rest[:] = total - left
        below, present_below, entropy_below = _entropy(left)
        above, present_above, entropy_above = _entropy(rest)
        if below <= 0.0 or above <= 0.0:  # weights lost in the rounding of much larger ones
            continue
        saving = entropy - entropy_below - entropy_above
        # log2(3^c - 2), without overflow
        price = present * math.log2(3.0) + math.log2(1.0 - 2.0 * 3.0**-present)
        price -= (
            present * entropy / weight - present_below * entropy_below / below - present_above * entropy_above / above
        )
        price += math.log2(max(weight - 1.0, 1.0))
        if not saving > price:
            continue

        cut_row[n_cuts], cut_parent[n_cuts], cut_saving[n_cuts] = last[best], parent, saving
        longer, shorter = (start, best + 1), (best + 1, stop)
        if best + 1 - start < stop - best - 1:
            longer, shorter = shorter, longer
        wait_start[n_waiting], wait_stop[n_waiting] = longer
        wait_start[n_waiting + 1], wait_stop[n_waiting + 1] = shorter
        wait_parent[n_waiting] = wait_parent[n_waiting + 1] = n_cuts
        n_waiting += 2
        n_cuts += 1
    return cut_row[:n_cuts], cut_parent[:n_cuts], cut_saving[:n_cuts]


@njit(cache=True, nogil=True)
def _candidates(values: Floats, classes: Integers, between_classes: bool) -> Integers:
    """The last row of each run of equal values; runs of one and the same class count as one run if so wished.

    The best cut never falls between two of those, unless bins must be heavy.
    """
    n = len(values)
    last = np.empty(n, np.int64)
    n_groups = 0
    before = -1  # class of the run before, -2 if several
    first = 0
    for i in range(n):
        if i + 1 < n and values[i + 1] == values[i]:
            continue
        now = classes[first]
        for r in range(first + 1, i + 1):
            if classes[r] != now:
                now = -2
                break
        if between_classes and now == before and now >= 0:
            n_groups -= 1
        last[n_groups] = i
        n_groups += 1
        before = now
        first = i + 1
    return last[:n_groups]


@njit(cache=True, nogil=True)
def _counts_before(last: Integers, classes: Integers, weights: Floats, n_classes: int) -> Floats:
    """Weight of each class before every STRIDE-th group."""
    out = np.zeros((len(last) // STRIDE + 1, n_classes))
    running = np.zeros(n_classes)
    i = 0
    for g in range(len(last)):
        if g % STRIDE == 0:
            out[g // STRIDE] = running
        while i <= last[g]:
            running[classes[i]] += weights[i] if weights.size else 1.0
            i += 1
    if len(last) % STRIDE == 0:
        out[len(last) // STRIDE] = running
    return out


@njit(cache=True, nogil=True)
def _count_to(group: int, last: Integers, before: Floats, classes: Integers, weights: Floats, out: Floats) -> None:
    """Weight of each class in all groups before one."""
    at = group // STRIDE
    out[:] = before[at]
    first = last[at * STRIDE - 1] + 1 if at > 0 else 0
    if group > at * STRIDE:
        for i in range(first, last[group - 1] + 1):
            out[classes[i]] += weights[i] if weights.size else 1.0


@njit(cache=True, nogil=True)
def _entropy(counts: Floats) -> tuple[float, int, float]:
    """Weight, number of classes present, and class entropy in bits times the weight."""
    weight = 0.0
    present = 0
    inner = 0.0
    for count in counts:
        if count > 0:
            weight += count
            present += 1
            inner += count * math.log2(count)
    return weight, present, weight * math.log2(weight) - inner if present > 1 else 0.0


@njit(cache=True, nogil=True)
def _best_cut(
    start: int,
    stop: int,
    last: Integers,
    before: Floats,
    classes: Integers,
    weights: Floats,
    at_start: Floats,
    total: Floats,
    min_bin: float,
    bits: Floats,
) -> int:
    """The group after which a cut leaves least entropy, the first of equals; -1 if none is allowed.

    Entropy times weight never falls when rows are added. So between two places, what is on the left of the first and on
    the right of the second bounds every cut between them from below: whole strides are passed over unseen.
    """
    n_classes = len(total)
    left = np.empty(n_classes)
    right = np.empty(n_classes)
    seen = np.empty(n_classes)
    left_term = np.empty(n_classes)
    right_term = np.empty(n_classes)
    weight = total.sum()
    tolerance = 1e-12 * weight

    # pieces of the interval end at the strides inside it
    first_stride = start // STRIDE + 1
    n_pieces = max((stop - 1) // STRIDE - first_stride + 2, 1)
    entropy_left = np.empty(n_pieces + 1)
    entropy_right = np.empty(n_pieces + 1)
    entropy_left[0], entropy_right[n_pieces] = 0.0, 0.0
    least = np.inf
    for p in range(1, n_pieces):
        for k in range(n_classes):
            left[k] = before[first_stride + p - 1, k] - at_start[k]
            right[k] = total[k] - left[k]
        below, _, entropy_left[p] = _entropy(left)
        above, _, entropy_right[p] = _entropy(right)
        if below >= min_bin and above >= min_bin and above > 0:
            least = min(least, entropy_left[p] + entropy_right[p])

    least_of_piece = np.full(n_pieces, np.inf)
    for p in range(n_pieces):
        if p + 1 < n_pieces and entropy_left[p] + entropy_right[p + 1] > least + 2 * tolerance:
            continue
        if p + 1 == n_pieces and entropy_left[p] > least + 2 * tolerance:
            continue
        g = start if p == 0 else (first_stride + p - 1) * STRIDE
        end = stop - 1 if p + 1 == n_pieces else (first_stride + p) * STRIDE
        for k in range(n_classes):
            left[k] = 0.0 if p == 0 else before[first_stride + p - 1, k] - at_start[k]
            rest = total[k] - left[k]
            seen[k] = left[k]
            left_term[k] = left[k] * math.log2(left[k]) if left[k] > 0 else 0.0
            right_term[k] = rest * math.log2(rest) if rest > 0 else 0.0
        i = last[g - 1] + 1 if g > 0 else 0
        while g < end:
            while i <= last[g]:
                left[classes[i]] += weights[i] if weights.size else 1.0
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
                least_of_piece[p] = min(least_of_piece[p], bits[g])
            g += 1
        least = min(least, least_of_piece[p])

    if least == np.inf:
        return -1
    for p in range(n_pieces):
        if least_of_piece[p] <= least + tolerance:
            g = start if p == 0 else (first_stride + p - 1) * STRIDE
            while bits[g] > least + tolerance:
                g += 1
            return g
    return -1
