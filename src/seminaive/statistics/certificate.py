"""How sure a counted rate is: exact one-sided bounds, and the counts needed to promise a rate.

With k of n independent cases right, the Clopper-Pearson lower bound at confidence 1 - delta is the delta quantile of
Beta(k, n - k + 1). It is at least a exactly when P(Bin(n, a) >= k) <= delta; so the smallest count that certifies a
rate comes from the binomial tail, and no count does if n < log(delta) / log(a).

Reference: Clopper and Pearson, "The use of confidence or fiducial limits" (1934); Hoeffding (1963) for mean costs.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy.special import bdtrc, betaincinv

_ROUNDING = 1e-12


def lower_bound(right: npt.ArrayLike, cases: npt.ArrayLike, delta: float) -> Any:
    """Clopper-Pearson lower bound of a rate, 0 when nothing is right.

    Parameters
    ----------
    right, cases : arrays of counts
        ``right`` of ``cases`` were right.
    delta : float
        One minus the confidence.

    Examples
    --------
    >>> float(lower_bound(59, 59, 0.05).round(6))
    0.950492
    >>> lower_bound([0, 95], [10, 100], 0.05).round(6)
    array([0.      , 0.897747])
    """
    k, n = np.broadcast_arrays(np.asarray(right, dtype=np.float64), np.asarray(cases, dtype=np.float64))
    some = k > 0
    return np.where(some, betaincinv(np.where(some, k, 1.0), np.where(some, n - k, 0.0) + 1.0, delta), 0.0)


def smallest_count(rate: float, cases: npt.ArrayLike, delta: float) -> npt.NDArray[np.int64]:
    """The smallest count out of ``cases`` whose lower bound reaches the rate; ``cases + 1`` when none does.

    Examples
    --------
    >>> smallest_count(0.95, [58, 59, 100, 200], 0.05)
    array([ 59,  59,  99, 196])
    """
    n = np.asarray(cases, dtype=np.int64)
    if rate <= 0:
        return np.zeros_like(n)
    low, high = np.zeros_like(n), n + 1  # P(Bin >= low) > delta (or low = 0), and high certifies
    while np.any(high - low > 1):
        middle = (low + high) // 2
        # bdtrc(k, n, p) is P(Bin > k)
        tail = bdtrc(np.maximum(middle - 1, 0).astype(np.float64), np.maximum(n, 1), min(rate, 1.0))
        certifies = np.where(middle > n, True, tail <= delta * (1 + _ROUNDING)) & (middle > 0) & (rate < 1)
        high, low = np.where(certifies, middle, high), np.where(certifies, low, middle)
    return high


def cases_needed(rate: float, delta: float) -> int | None:
    """The fewest cases with which a rate can be certified at all, every one of them right; None for the rate 1.

    Examples
    --------
    >>> [cases_needed(rate, 0.05) for rate in (0.9, 0.95, 0.98, 1.0)]
    [29, 59, 149, None]
    """
    if rate >= 1:
        return None
    if rate <= 0:
        return 0
    return math.ceil(math.log(delta) / math.log(rate) - 1e-9)


def hoeffding_margin(spread: float, cases: float, delta: float) -> float:
    """What a mean of ``cases`` values within a range of width ``spread`` must keep as distance to its limit.

    Examples
    --------
    >>> round(hoeffding_margin(5.0, 200, 0.05), 4)
    0.4327
    """
    return spread * math.sqrt(math.log(1 / delta) / (2 * cases)) if cases > 0 else math.inf
