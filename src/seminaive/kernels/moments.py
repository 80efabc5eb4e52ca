"""Count, mean and sum of squared deviations of one numeric row, segment by segment.

Both passes keep `LANES` running sums side by side, each with the rounding errors it has lost so far
(Neumaier's sum). Neighbouring lanes do not depend on each other, so the loops become vector instructions
although every operation keeps its exact IEEE meaning, and the sums come out as if added in twice the
precision.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
from numba import njit

FloatRow = npt.NDArray[np.float64]
IntRow = npt.NDArray[np.int64]

# 64 lanes of two sums stay in the first-level cache and hide the latency of the dependent additions.
LANES = 64


@njit(cache=True, nogil=True)
def _add(high: FloatRow, low: FloatRow, j: int, x: float) -> None:
    """Add x to lane j, and what the addition rounds off to the lane's low part."""
    old = high[j]
    new = old + x
    back = new - old
    low[j] += (old - (new - back)) + (x - back)
    high[j] = new


@njit(cache=True, nogil=True)
def _total(high: FloatRow, low: FloatRow) -> tuple[float, float]:
    """Add the lanes up to one value and what it lost, `value + lost` being the sum."""
    value = 0.0
    lost = 0.0
    for j in range(LANES):
        new = value + high[j]
        back = new - value
        lost += (value - (new - back)) + (high[j] - back) + low[j]
        value = new
    new = value + lost
    return new, lost - (new - value)


@njit(cache=True, nogil=True)
def segment_moments(
    values_row: FloatRow,
    starts: IntRow,
    classes: IntRow,
    count: FloatRow,
    mean: FloatRow,
    mean_low: FloatRow,
    m2: FloatRow,
) -> None:
    """Write count, mean (in two parts) and M2 = sum (x - mean)^2 of every segment; NaN is missing.

    Segment s is `values_row[starts[s]:starts[s + 1]]`. A segment of unknown class (`classes[s] < 0`) is
    skipped and counts as empty, and an empty segment has all results zero. Equal values give their value
    and M2 = 0 exactly.
    """
    high = np.empty(LANES)
    low = np.empty(LANES)
    for out in (count, mean, mean_low, m2):
        out[:] = 0.0
    for s in range(len(starts) - 1):
        begin = starts[s]
        end = starts[s + 1]
        if classes[s] < 0 or begin == end:
            continue

        high[:] = 0.0
        low[:] = 0.0
        present = 0
        for at in range(begin, end, LANES):
            part = values_row[at : min(at + LANES, end)]
            for j in range(len(part)):
                known = part[j] == part[j]
                x = part[j] if known else 0.0
                _add(high, low, j, x)
                if known:
                    present += 1
        if present == 0:
            continue
        n = float(present)
        total, lost = _total(high, low)
        centre = total / n
        # What n times the centre leaves of the sum, exactly: n has few bits, so each half of the product is.
        upper = centre * 134217729.0
        upper = upper - (upper - centre)
        rest = ((total - n * upper) - n * (centre - upper)) + lost
        shift = rest / n

        high[:] = 0.0
        low[:] = 0.0
        for at in range(begin, end, LANES):
            part = values_row[at : min(at + LANES, end)]
            for j in range(len(part)):
                d = part[j] - centre
                square = d * d if d == d else 0.0
                _add(high, low, j, square)
        squares, lost = _total(high, low)
        count[s] = n
        mean[s] = centre
        if squares > 0.0:
            mean_low[s] = shift
            m2[s] = max(squares + (lost - n * shift * shift), 0.0)


@njit(cache=True, nogil=True)
def segment_moments_weighted(
    values_row: FloatRow,
    weights: FloatRow,
    starts: IntRow,
    classes: IntRow,
    count: FloatRow,
    mean: FloatRow,
    mean_low: FloatRow,
    m2: FloatRow,
) -> None:
    """`segment_moments` with row weights: weight two is the row twice, weight zero the row left out."""
    high = np.empty(LANES)
    low = np.empty(LANES)
    high_first = np.empty(LANES)
    low_first = np.empty(LANES)
    for out in (count, mean, mean_low, m2):
        out[:] = 0.0
    for s in range(len(starts) - 1):
        begin = starts[s]
        end = starts[s + 1]
        if classes[s] < 0 or begin == end:
            continue
        # The first value that counts is the shift of pass one, so that equal values leave nothing to round.
        origin = np.nan
        for i in range(begin, end):
            if values_row[i] == values_row[i] and weights[i] > 0.0:
                origin = values_row[i]
                break
        if origin != origin:
            continue

        high[:] = 0.0
        low[:] = 0.0
        high_first[:] = 0.0
        low_first[:] = 0.0
        for at in range(begin, end, LANES):
            part = values_row[at : min(at + LANES, end)]
            share = weights[at : min(at + LANES, end)]
            for j in range(len(part)):
                known = part[j] == part[j]
                w = share[j] if known else 0.0
                _add(high, low, j, w)
                high_first[j] += w * (part[j] - origin) if known else 0.0
        n, lost = _total(high, low)
        total, lost = _total(high_first, low_first)
        centre = origin + total / n

        high[:] = 0.0
        low[:] = 0.0
        high_first[:] = 0.0
        for at in range(begin, end, LANES):
            part = values_row[at : min(at + LANES, end)]
            share = weights[at : min(at + LANES, end)]
            for j in range(len(part)):
                d = part[j] - centre
                known = d == d
                first = share[j] * d if known else 0.0
                _add(high_first, low_first, j, first)
                square = first * d if known else 0.0
                _add(high, low, j, square)
        squares, lost = _total(high, low)
        first, lost_first = _total(high_first, low_first)
        shift = (first + lost_first) / n
        count[s] = n
        mean[s] = centre + shift
        mean_low[s] = shift - (mean[s] - centre)
        m2[s] = max(squares + (lost - n * shift * shift), 0.0)
