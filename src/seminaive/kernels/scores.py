"""Two-sample statistics of every sliding window of every series, and order statistics over runs of windows.

Series lie one after the other in one array. A window of w points splits into its first and last h = w / 2.
"""

from __future__ import annotations

from typing import Any

from numba import njit

Array = Any  # numba kernels are typed by their arguments, not by annotations

GAPS = (701, 301, 132, 57, 23, 10, 4, 1)
"""Shell sort with Ciura's gaps: as fast as insertion for a handful of numbers and never quadratic."""


@njit(cache=True, nogil=True)
def _sort(x: Array) -> None:
    for gap in GAPS:
        for i in range(gap, x.size):
            value = x[i]
            j = i
            while j >= gap and x[j - gap] > value:
                x[j] = x[j - gap]
                j -= gap
            x[j] = value


@njit(cache=True, nogil=True, error_model="numpy")
def _variance(x: Array) -> float:
    mean = 0.0
    for i in range(x.size):
        mean += x[i]
    mean /= x.size
    total = 0.0
    for i in range(x.size):
        total += (x[i] - mean) ** 2
    variance: float = total / (x.size - 1)
    return variance


@njit(cache=True, nogil=True, error_model="numpy")
def window_statistics(
    values: Array,
    starts: Array,
    window: int,
    stride: int,
    ranks: bool,
    variances: bool,
    u: Array,
    ties: Array,
    distance: Array,
    first: Array,
    last: Array,
    work: Array,
) -> None:
    """Statistics of all windows of all series, in their order.

    Parameters
    ----------
    values, starts
        Series s is ``values[starts[s]:starts[s + 1]]``.
    ranks, variances : bool
        Which of the statistics are wanted.
    u, ties, distance : (windows,)
        Number of pairs with the first half's point above the second's, ties counted half; the sum of t**3
        - t over groups of t equal points; the largest difference between the halves' counts of points up
        to a value.
    first, last : (windows,)
        Variances of the halves.
    work : (2, window // 2) scratch
    """
    half = window // 2
    at = 0
    for s in range(starts.size - 1):
        for begin in range(starts[s], starts[s + 1] - window + 1, stride):
            if variances:
                first[at] = _variance(values[begin : begin + half])
                last[at] = _variance(values[begin + half : begin + window])
            if ranks:
                a, b = work[0], work[1]
                for i in range(half):
                    a[i] = values[begin + i]
                    b[i] = values[begin + half + i]
                _sort(a)
                _sort(b)
                i = j = 0
                pairs = 0.0
                tied = 0.0
                farthest = 0
                while i < half or j < half:
                    # step past all copies of the next value in both halves before comparing
                    value = a[i] if j == half or (i < half and a[i] <= b[j]) else b[j]
                    in_a, in_b = i, j
                    while i < half and a[i] == value:
                        i += 1
                    while j < half and b[j] == value:
                        j += 1
                    pairs += (i - in_a) * (in_b + 0.5 * (j - in_b))
                    t = float(i - in_a + j - in_b)
                    tied += t * t * t - t
                    farthest = max(farthest, abs(i - j))
                u[at] = pairs
                ties[at] = tied
                distance[at] = farthest
            at += 1


@njit(cache=True, nogil=True)
def smallest_confirmed(
    p: Array, starts: Array, needed: Array, runs: Array, nothing: float, work: Array, out: Array
) -> None:
    """Per series, the minimum over runs of consecutive windows of the needed-th smallest value.

    Series s has the windows ``p[starts[s]:starts[s + 1]]``, looked at in runs of ``runs[s]``, of which the
    ``needed[s]``-th smallest counts; ``nothing`` if it has no window. ``work`` is as long as the longest run.
    """
    for s in range(starts.size - 1):
        length = runs[s]
        at = needed[s] - 1
        best = nothing
        is_first = True
        for begin in range(starts[s], starts[s + 1] - length + 1):
            if length == 1:
                value = p[begin]
            else:
                run = work[:length]
                for i in range(length):
                    run[i] = p[begin + i]
                _sort(run)
                value = run[at]
            if is_first or value < best:
                best = value
                is_first = False
        out[s] = best
