"""Tests of a change between the two halves of a sliding window, and what it takes to confirm an alarm.

Per window, with h points in each half, two-sided p-values:

    U    Mann-Whitney: z = max(|U - h^2/2| - 1/2, 0) / sd, p = erfc(z / sqrt 2), sd corrected for ties
    KS   Kolmogorov-Smirnov, exact: p = 2 sum over k of (-1)^(k-1) C(2h, h - k d) / C(2h, h), d = h D
    F    ratio of variances: p = 2 min(c, 1 - c) with c the F distribution function with h - 1, h - 1 degrees

They equal SciPy's `mannwhitneyu(method="asymptotic")`, `ks_2samp(method="exact")` and `f.cdf`.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from scipy.special import erfc, fdtr

from seminaive.kernels.scores import smallest_confirmed, window_statistics

__all__ = ["Series", "confirmation_name", "confirmed", "window_counts", "window_p_values"]

Floats = npt.NDArray[np.float64]
Integers = npt.NDArray[np.int64]
Confirmation = tuple[int, int] | float
"""(b, g): at least b of g consecutive windows; a number r: at least a share r of all windows."""


@dataclass(frozen=True)
class Series:
    """Series of any lengths, one after the other: series s is ``values[starts[s]:starts[s + 1]]``."""

    values: Floats
    starts: Integers

    def __len__(self) -> int:
        return len(self.starts) - 1

    def __getitem__(self, s: int) -> Floats:
        return self.values[self.starts[s] : self.starts[s + 1]]


def window_counts(series: Series, window: int, stride: int) -> Integers:
    """Number of windows of each series: floor((m - w) / r) + 1, none if it is shorter than the window."""
    lengths = np.diff(series.starts)
    return np.where(lengths < window, 0, (lengths - window) // stride + 1).astype(np.int64)


def window_p_values(series: Series, tests: Sequence[str], window: int, stride: int) -> dict[str, Floats]:
    """P-values of every window of every series, in their order, for each of the tests "U", "KS", "F", "min".

    "min" is the smallest of the three.

    Examples
    --------
    >>> series = Series(np.array([1.0, 1, 2, 2, 3, 2, 3, 3, 4, 4]), np.array([0, 10]))
    >>> p = window_p_values(series, ["U", "KS"], window=10, stride=1)
    >>> p["U"].round(6), p["KS"].round(6)
    (array([0.052412]), array([0.357143]))
    """
    half = window // 2
    n = int(window_counts(series, window, stride).sum())
    wanted = {"U", "KS", "F"} if "min" in tests else set(tests)
    u, ties, distance, first, last = np.empty((5, n))
    work = np.empty((2, half))
    window_statistics(
        series.values,
        series.starts,
        window,
        stride,
        bool(wanted & {"U", "KS"}),
        "F" in wanted,
        u,
        ties,
        distance,
        first,
        last,
        work,
    )
    p: dict[str, Floats] = {}
    if "U" in wanted:
        p["U"] = mann_whitney_p(u, ties, half)
    if "KS" in wanted:
        p["KS"] = kolmogorov_smirnov_p(half)[distance.astype(np.int64)]
    if "F" in wanted:
        p["F"] = variance_ratio_p(first, last, half)
    if "min" in tests:
        p["min"] = np.minimum(np.minimum(p["U"], p["KS"]), p["F"])
    return {test: p[test] for test in tests}


def mann_whitney_p(u: Floats, ties: Floats, half: int) -> Floats:
    """Two-sided p of U by the normal approximation, with corrections for continuity and ties."""
    n = 2 * half
    sd = np.sqrt(half * half / 12.0 * ((n + 1) - ties / (n * (n - 1))))
    above = np.maximum(np.abs(u - half * half / 2.0) - 0.5, 0.0)
    z = np.divide(above, sd, out=np.zeros_like(above), where=above > 0.0)
    return np.asarray(erfc(z / math.sqrt(2.0)), dtype=np.float64)


def kolmogorov_smirnov_p(half: int) -> Floats:
    """Exact two-sided p for every distance d = 0 .. h between two samples of h points.

    >>> kolmogorov_smirnov_p(5)[3]
    np.float64(0.357142857...)
    """
    steps = np.arange(1, half + 1)
    # C(2h, h - j) / C(2h, h) for j = 0 .. h
    shares = np.concatenate([[1.0], np.cumprod((half - steps + 1) / (half + steps))])
    p = np.ones(half + 1)
    for d in range(1, half + 1):
        terms = shares[d::d]
        p[d] = 2.0 * (terms[::2].sum() - terms[1::2].sum())
    return np.clip(p, 0.0, 1.0)


def variance_ratio_p(first: Floats, last: Floats, half: int) -> Floats:
    """Two-sided p of the ratio of two variances; 1 if both are 0, 0 if one of them is."""
    low, high = np.minimum(first, last), np.maximum(first, last)
    ratio = np.divide(low, high, out=np.ones_like(low), where=high > 0.0)
    p = np.minimum(2.0 * fdtr(half - 1, half - 1, ratio), 1.0)
    return np.asarray(p, dtype=np.float64)


def confirmed(p: Floats, counts: Integers, confirmation: Confirmation, nothing: float = 1.0) -> Floats:
    """One score per series that is <= a exactly if an alarm at level a is confirmed by neighbouring windows.

    Parameters
    ----------
    p : (windows,) floats
        Of all series, in their order.
    counts : (n,) ints
        Number of windows of each series.
    confirmation : (b, g) or float
        (b, g): some g consecutive windows hold at least b with p <= a (all windows, if there are fewer
        than g).
        r: at least a share r of all windows has p <= a.
    nothing : float
        Score of a series without windows.

    Examples
    --------
    >>> p = np.array([0.5, 0.01, 0.3, 0.02, 0.9])
    >>> [confirmed(p, np.array([5, 0]), rule).tolist() for rule in ((1, 1), (2, 3), 0.6)]
    [[0.01, 1.0], [0.02, 1.0], [0.3, 1.0]]
    """
    if isinstance(confirmation, tuple):
        needed, runs = (np.minimum(number, np.maximum(counts, 1)) for number in confirmation)
    else:
        runs = np.maximum(counts, 1)
        needed = np.maximum(np.ceil(confirmation * runs - 1e-9), 1).astype(np.int64)
    starts = np.concatenate([[0], np.cumsum(counts)])
    out = np.empty(len(counts))
    work = np.empty(int(runs.max(initial=1)))
    smallest_confirmed(p, starts, needed.astype(np.int64), runs.astype(np.int64), nothing, work, out)
    return out


def confirmation_name(confirmation: Confirmation) -> str:
    """ "3of5" or "share0.3"."""
    if isinstance(confirmation, tuple):
        return f"{confirmation[0]}of{confirmation[1]}"
    return f"share{confirmation:g}"
