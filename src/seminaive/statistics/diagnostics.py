r"""Have the chains met, and how many independent draws are theirs worth?

With each chain cut in halves, B the variance between the means of the halves times their length n, and W
the mean variance within them,

    R-hat = sqrt((n - 1) / n + B / (n W))

is near 1 when all halves tell the same story. The bulk effective sample size is the number of draws divided
by the autocorrelation time of the ranked draws, whose correlations are summed until a pair of them turns
negative.

Gelman, Carlin, Stern, Dunson, Vehtari and Rubin (2013), Bayesian Data Analysis; Vehtari, Gelman, Simpson,
Carpenter and Buerkner (2021), Rank-normalization, folding, and localization.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
from scipy.special import ndtri

__all__ = ["bulk_ess", "indicator_ess", "split_rhat"]

Floats = npt.NDArray[np.float64]

BATCH = 512
"""Quantities worked on together."""


def _halves(draws: npt.ArrayLike) -> Floats:
    """Cut every chain in two equal halves: (2 chains, draws // 2, ...); a middle draw is left out."""
    draws = np.asarray(draws, dtype=np.float64)
    half = draws.shape[1] // 2
    if half < 2:
        raise ValueError(f"diagnostics need at least 4 draws per chain, got {draws.shape[1]}")
    return np.concatenate([draws[:, :half], draws[:, -half:]])


def split_rhat(draws: npt.ArrayLike) -> Floats:
    """Split R-hat of each quantity.

    Parameters
    ----------
    draws : (chains, draws) or (chains, draws, quantities) array

    Returns
    -------
    rhat : one value per quantity
        1 when all draws are equal; infinite when every half stands still but at different values.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> together = rng.normal(size=(4, 500))
    >>> apart = together + np.arange(4)[:, None]
    >>> split_rhat(together).round(2), split_rhat(apart).round(1)
    (np.float64(1.0), np.float64(1.6))
    """
    halves = _halves(draws)
    n = halves.shape[1]
    between = halves.mean(axis=1).var(axis=0, ddof=1)
    within = halves.var(axis=1, ddof=1).mean(axis=0)
    still = np.where(between > 0, np.inf, 1.0)
    ratio = np.divide(between, within, out=np.zeros_like(between), where=within > 0)
    return np.asarray(np.where(within > 0, np.sqrt((n - 1) / n + ratio), still))[()]


def bulk_ess(draws: npt.ArrayLike) -> Floats:
    """Bulk effective sample size of each quantity, over all chains.

    Parameters
    ----------
    draws : (chains, draws) or (chains, draws, quantities) array

    Returns
    -------
    ess : one value per quantity
        The number of draws where all of them are equal.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> independent = rng.normal(size=(4, 500))
    >>> walk = np.cumsum(independent, axis=1)
    >>> bool(bulk_ess(independent) > 1500), bool(bulk_ess(walk) < 30)
    (True, True)
    """
    halves = _halves(draws)
    flat = halves.reshape(halves.shape[0], halves.shape[1], -1)
    scores = [_normal_scores(flat[:, :, q]) for q in range(flat.shape[2])]
    return np.asarray(_ess(np.stack(scores, axis=2)).reshape(halves.shape[2:]))[()]


def indicator_ess(draws: npt.ArrayLike) -> Floats:
    """Bulk effective sample size of indicators (chains, draws, indicators), whose ranks are the indicators themselves.

    Examples
    --------
    >>> coins = np.random.default_rng(0).random((4, 500, 3)) < 0.3
    >>> bool(np.allclose(indicator_ess(coins), bulk_ess(coins)))
    True
    """
    draws = np.asarray(draws)
    parts = [_ess(_halves(draws[:, :, first : first + BATCH])) for first in range(0, draws.shape[2], BATCH)]
    return np.concatenate([*parts, np.empty(0)])


def _normal_scores(halves: Floats) -> Floats:
    _, place, ties = np.unique(halves, return_inverse=True, return_counts=True)
    ranks = (np.cumsum(ties) - (ties - 1) / 2)[place].reshape(halves.shape)  # equal draws share their mean rank
    return np.asarray(ndtri((ranks - 0.375) / (halves.size + 0.25)), dtype=np.float64)


def _ess(halves: Floats) -> Floats:
    chains, n, _ = halves.shape
    total = float(chains * n)
    centred = halves - halves.mean(axis=1, keepdims=True)
    spectrum = np.fft.rfft(centred, n=2 * n, axis=1)
    covariance = np.fft.irfft(np.abs(spectrum) ** 2, axis=1)[:, :n].mean(axis=0) / n
    within = covariance[0] * n / (n - 1)
    pooled = within * (n - 1) / n + halves.mean(axis=1).var(axis=0, ddof=1)
    still = pooled <= 1e-300
    correlation = 1 - (within - covariance * n / (n - 1)) / np.where(still, 1.0, pooled)
    correlation[0] = 1.0
    pairs = correlation[: n // 2 * 2].reshape(n // 2, 2, -1).sum(axis=1)
    ended = np.logical_or.accumulate(pairs < 0, axis=0)
    steady = np.minimum.accumulate(pairs, axis=0)  # Geyer's initial monotone sequence
    time = 2 * np.where(ended, 0.0, steady).sum(axis=0) - 1
    return np.asarray(np.where(still, total, total / np.maximum(time, 1 / np.log10(total))))
