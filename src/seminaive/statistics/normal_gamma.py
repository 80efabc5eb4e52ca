"""Mean and precision of a normal distribution under the Normal-Gamma prior.

For each class and column, x | mu, lambda ~ N(mu, 1 / lambda) and (mu, lambda) ~ NG(mu0, k0, alpha0, beta0).
After n values with mean m and SS = sum (x - m)^2 the posterior is of the same form:

    mu_n = (k0 mu0 + n m) / (k0 + n)     k_n = k0 + n     alpha_n = alpha0 + n / 2
    beta_n = beta0 + SS / 2 + k0 n (m - mu0)^2 / (2 (k0 + n))

Its mode in (mu, lambda) is closed form: mean mu_n, variance beta_n / (alpha_n - 1/2).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
from scipy.special import gammaincinv, stdtrit, zeta

from seminaive.statistics.moments import Moments, pooled

FloatArray = npt.NDArray[np.float64]

# The least pooled variance of the default prior, as a share of the column's own variance.
_LEAST_SHARE = 1e-9


@dataclass(frozen=True)
class NormalGamma:
    """The prior: each parameter a number, one per column, or one per class and column.

    Parameters
    ----------
    mu0 : float, or array of shape (P,) or (K, P)
        Where the mean is expected.
    k0 : float or array
        How many rows that expectation is worth.
    alpha0 : float or array
        Half the number of rows that beta0 is worth.
    beta0 : float or array
        alpha0 times the expected variance.

    See Also
    --------
    default_prior : weak and taken from the columns.
    """

    mu0: float | FloatArray = 0.0
    k0: float | FloatArray = 0.01
    alpha0: float | FloatArray = 1.0
    beta0: float | FloatArray = 1.0


# The limits without a prior. `mode` refuses variances they leave at zero or undefined.
MAXIMUM_LIKELIHOOD = NormalGamma(mu0=0.0, k0=0.0, alpha0=0.5, beta0=0.0)  # variance with ddof = 0
SAMPLE_VARIANCE = NormalGamma(mu0=0.0, k0=0.0, alpha0=0.0, beta0=0.0)  # variance with ddof = 1


class Posterior(NamedTuple):
    """The parameters of the posterior, arrays of shape (K, P)."""

    mu: FloatArray
    k: FloatArray
    alpha: FloatArray
    beta: FloatArray


def default_prior(moments: Moments, k0: float = 0.01, alpha0: float = 1.0) -> NormalGamma:
    """Return the weak prior that moves with shift and scale of a column.

    mu0 is the column's mean over all classes, beta0 = alpha0 times its variance within classes (ddof 0),
    which is taken as at least 1e-9 of the column's own variance. A constant column has no scale but its
    value: there the variance is 1e-9 times the value's square (1 for the value zero, or no values), the
    same for all classes.

    Examples
    --------
    >>> import numpy as np
    >>> from seminaive.statistics.moments import moments_of
    >>> moments = moments_of(np.array([[1.0], [3.0], [6.0], [10.0]]), [0, 0, 1, 1], 2)
    >>> default_prior(moments)
    NormalGamma(mu0=array([5.]), k0=0.01, alpha0=1.0, beta0=array([2.5]))
    """
    overall = pooled(moments)
    mean = overall.mean[0]
    count = np.where(overall.count[0] > 0, overall.count[0], 1.0)
    within = moments.m2.sum(axis=0) / count
    variance = np.maximum(within, _LEAST_SHARE * (overall.m2[0] / count))
    scale = np.where(np.abs(mean) > 1e-100, np.abs(mean), 1.0)
    constant = np.where(mean != 0.0, _LEAST_SHARE * scale * scale, 1.0)
    return NormalGamma(mean, k0, alpha0, alpha0 * np.where(variance > 0, variance, constant))


def posterior(moments: Moments, prior: NormalGamma) -> Posterior:
    """Return the posterior's (mu_n, k_n, alpha_n, beta_n); a class without rows keeps the prior.

    Examples
    --------
    >>> import numpy as np
    >>> from seminaive.statistics.moments import moments_of
    >>> moments = moments_of(np.array([[1.0], [2.0], [3.0], [4.0]]), [0, 0, 0, 0], 1)
    >>> mean, variance = mode(posterior(moments, NormalGamma(mu0=0.5, k0=2, alpha0=3, beta0=1.5)))
    >>> mean.round(6), variance.round(6)
    (array([[1.833333]]), array([[1.481481]]))
    """
    n = moments.count
    k = prior.k0 + n
    # The share of the rows in k_n; without rows and without prior there is no mean at all.
    share = n / np.where(k > 0, k, 1.0)
    away = np.where(n > 0, (moments.mean - prior.mu0) + moments.mean_low, 0.0)
    proper = np.broadcast_to(np.asarray(prior.k0) > 0.0, n.shape)
    # Without prior the mean is that of the rows, digit for digit.
    mu = np.where(proper | (n <= 0), prior.mu0 + share * away, moments.mean)
    pulled = 0.5 * prior.k0 * share * away * away
    beta = prior.beta0 + 0.5 * (moments.m2 + moments.m2_low) + pulled
    return Posterior(mu, k, prior.alpha0 + 0.5 * n, beta)


def mode(
    after: Posterior, names: Sequence[object] | None = None, labels: Sequence[object] | None = None
) -> tuple[FloatArray, FloatArray]:
    """Return mean and variance at the posterior's mode, arrays of shape (K, P).

    Raises ValueError, naming class and column (`labels`, `names`), where the variance is zero or undefined.
    That cannot happen under the default prior.
    """
    undefined = (after.alpha <= 0.5) | (after.beta <= 0.0) | (after.k <= 0.0)
    if np.any(undefined):
        k, p = np.argwhere(undefined)[0]
        column = f"number {p}" if names is None else repr(names[p])
        label = f"number {k}" if labels is None else repr(labels[k])
        problem = "zero" if after.alpha[k, p] > 0.5 and after.k[k, p] > 0.0 else "undefined (too few rows)"
        raise ValueError(
            f"The variance of column {column} in class {label} is {problem}; "
            "use variance_prior='normal-gamma' or leave the column out."
        )
    return after.mu, after.beta / (after.alpha - 0.5)


def mean_interval(after: Posterior, level: float = 0.95) -> tuple[FloatArray, FloatArray]:
    """Return the central credible interval of the mean: a Student t with 2 alpha degrees of freedom.

    Examples
    --------
    >>> import numpy as np
    >>> after = Posterior(*(np.array([[value]]) for value in (0.0, 10.0, 6.0, 5.0)))
    >>> low, high = mean_interval(after)
    >>> low.round(4), high.round(4)
    (array([[-0.629]]), array([[0.629]]))
    """
    half = stdtrit(2 * after.alpha, 0.5 + 0.5 * level) * np.sqrt(after.beta / (after.alpha * after.k))
    return after.mu - half, after.mu + half


def variance_interval(after: Posterior, level: float = 0.95) -> tuple[FloatArray, FloatArray]:
    """Return the central credible interval of the variance, whose reciprocal is Gamma(alpha, rate beta).

    Examples
    --------
    >>> import numpy as np
    >>> after = Posterior(*(np.array([[value]]) for value in (0.0, 10.0, 6.0, 5.0)))
    >>> low, high = variance_interval(after)
    >>> low.round(2), high.round(2)
    (array([[0.43]]), array([[2.27]]))
    """
    tail = 0.5 - 0.5 * level
    return after.beta / gammaincinv(after.alpha, 1 - tail), after.beta / gammaincinv(after.alpha, tail)


def evidence_variance(x: npt.ArrayLike, after: Posterior) -> FloatArray:
    """Return the variance of log N(x; mu, 1 / lambda) when (mu, lambda) follows the posterior.

    With d = x - mu_n, exactly

        trigamma(alpha) / 4 - d^2 / (2 beta) + d^4 alpha / (4 beta^2) + alpha d^2 / (beta k) + 1 / (2 k^2).

    Its root is the standard error of a Gaussian term's evidence. `x` broadcasts against (K, P).

    Examples
    --------
    >>> import numpy as np
    >>> after = Posterior(*(np.array([[value]]) for value in (0.0, 10.0, 6.0, 5.0)))
    >>> evidence_variance(1.0, after).round(6)
    array([[0.130331]])
    """
    distance = np.asarray(x, dtype=np.float64) - after.mu
    # Far from a narrow class d^2 / beta may overflow; 1e140 is then as good, and keeps its square finite.
    with np.errstate(over="ignore"):
        ratio = np.minimum(np.abs(distance) * (np.abs(distance) / after.beta), 1e140)
    trigamma = zeta(2.0, after.alpha)
    result = (
        0.25 * trigamma
        + ratio * (0.25 * after.alpha * ratio - 0.5)
        + after.alpha * (ratio / after.k)
        + 0.5 / (after.k * after.k)
    )
    return np.asarray(result, dtype=np.float64)
