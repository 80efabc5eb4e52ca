"""Weighted quantiles, and the cuts they give.

`averaged_inverted_cdf`: the smallest value whose cumulative weight exceeds p times the total, averaged with
the value before it when that one reaches p times the total exactly. Whole-number weights are repeated rows,
to the bit.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

FloatArray = npt.NDArray[np.float64]


def weighted_quantiles(
    values: npt.ArrayLike, probabilities: npt.ArrayLike, weights: npt.ArrayLike | None = None
) -> FloatArray:
    """Return the quantiles of `values` without its NaN; NaN if nothing is left.

    Parameters
    ----------
    values : array of shape (n,)
    probabilities : array of shape (m,)
        Between 0 and 1.
    weights : array of shape (n,), optional
        Weight two is the row twice, weight zero the row left out. Without weights the result equals
        `numpy.quantile(..., method="averaged_inverted_cdf")`.

    Examples
    --------
    >>> weighted_quantiles([4.0, 1.0, 3.0, 2.0], [0.25, 0.5, 0.9])
    array([1.5, 2.5, 4. ])
    >>> weighted_quantiles([1.0, 2.0], [0.5], weights=[1, 3])
    array([2.])
    """
    rows = np.asarray(values, dtype=np.float64)
    shares = np.ones(rows.shape) if weights is None else np.asarray(weights, dtype=np.float64)
    used = ~np.isnan(rows) & (shares > 0)
    wanted = np.asarray(probabilities, dtype=np.float64)
    if not used.any():
        return np.full(wanted.shape, np.nan)
    rows, shares = rows[used], shares[used]
    order = np.argsort(rows, kind="stable")
    rows, reached = rows[order], np.cumsum(shares[order])
    total = reached[-1]
    target = total * wanted
    if not np.array_equal(shares, np.rint(shares)):
        # Sums of weights like .1 meet the target only up to rounding.
        nearest = np.clip(np.searchsorted(reached, target), 1, len(rows) - 1) if len(rows) > 1 else 0
        for candidate in (nearest, np.maximum(nearest - 1, 0)):
            meets = np.abs(reached[candidate] - target) <= 1e-12 * total
            target = np.where(meets, reached[candidate], target)
    last = len(rows) - 1
    lower = rows[np.minimum(np.searchsorted(reached, target, side="left"), last)]
    upper = rows[np.minimum(np.searchsorted(reached, target, side="right"), last)]
    lower = np.where(target <= 0, rows[0], lower)
    upper = np.where(target <= 0, rows[0], upper)
    return np.asarray(upper - (upper - lower) * 0.5)


def quantile_cuts(values: npt.ArrayLike, n_bins: int, weights: npt.ArrayLike | None = None) -> FloatArray:
    """Return the distinct inner quantiles that cut `values` into at most `n_bins` bins of about equal weight.

    A value's bin is the number of cuts at or below it, `searchsorted(cuts, x, side="right")`. A cut at the
    smallest value would leave the first bin empty and is dropped, so a constant or all-missing column has
    no cuts.

    Examples
    --------
    >>> quantile_cuts([1.0, 1.0, 1.0, 2.0, 3.0, 4.0, 5.0, 6.0], 4)
    array([2.5, 4.5])
    """
    if n_bins < 1:
        raise ValueError(f"n_bins={n_bins!r} must be at least 1.")
    quantiles = weighted_quantiles(values, np.arange(n_bins) / n_bins, weights)
    # The first of these is the smallest value, or NaN, and never a cut.
    return np.unique(quantiles[quantiles > quantiles[0]])
