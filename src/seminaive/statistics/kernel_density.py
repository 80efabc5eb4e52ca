"""Kernel densities per class, as they are and as piecewise-linear curves of the log density.

Class k's density at x is a Gaussian kernel estimate, mixed with a wide normal of the whole column so that
the tails stay bounded:

    f_k(x) = n_k / (n_k + 1) * mean of N(x; x_i, h_k^2) over the class + 1 / (n_k + 1) * N(x; mean, (2 sd)^2)
    h_k = .9 s_k n_k^(-1/5), at least 1e-3 sd, with s_k = min(sd_k, IQR_k / 1.34)

Half the rows of a class may share one value: its quartiles then say nothing about its spread, and a bandwidth of almost
zero beside another class's ordinary one would turn that value, however common in both, into proof of the class. So if
any class has s_k = 0, all take the whole column's min(sd, IQR / 1.34), or its sd if that is 0, too.

The rows enter as counts on a support: the distinct values of the column (point masses, exact), or bins, in
each of which the rows are spread evenly. Inside, a column is shifted by its mean and divided by its sd.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from scipy.special import ndtr

from seminaive.statistics.quantiles import weighted_quantiles
from seminaive.statistics.smoothing import trigamma

FloatArray = npt.NDArray[np.float64]

_LOG_ROOT_2PI = 0.5 * math.log(2 * math.pi)
# More knots are pointless once the curve is this close; far below the noise of any density estimate.
_CLOSE_ENOUGH = 1e-4


def density_support(values: npt.ArrayLike, weights: npt.ArrayLike | None = None, limit: int = 1024) -> FloatArray:
    """Return the distinct values of a column, or, if they are more than `limit`, the edges of quantile bins.

    The second case is told by the counts: one fewer than edges. NaN is left out.
    """
    rows = np.asarray(values, dtype=np.float64)
    used = ~np.isnan(rows)
    if weights is not None:
        used &= np.asarray(weights) > 0
    points = np.unique(rows[used])
    if len(points) <= limit:
        return points
    return np.unique(weighted_quantiles(rows, np.arange(limit + 1) / limit, weights))


@dataclass(frozen=True)
class KernelDensity:
    """The density of each class in one column.

    Parameters
    ----------
    support : array of shape (B,) or (B + 1,)
        Distinct values, or edges of bins, increasing, in units of the column's sd from its mean.
    counts : array of shape (K, B)
        Rows (or weight) per class and point or bin.
    bandwidth : array of shape (K,)
        In units of the sd.
    mean, sd : float
        Of the whole column; sd = 0 says that it is constant (or empty) and every log density 0.
    """

    support: FloatArray
    counts: FloatArray
    bandwidth: FloatArray
    mean: float
    sd: float

    def log_density(self, x: npt.ArrayLike) -> FloatArray:
        """Return log f_k(x) for every class, shape (K, len(x))."""
        places = np.asarray(x, dtype=np.float64)
        if self.sd == 0.0:
            return np.zeros((len(self.counts), len(places)))
        return self._log_standard((places - self.mean) / self.sd) - math.log(self.sd)

    def _log_standard(self, u: FloatArray) -> FloatArray:
        wide = -0.125 * u * u - math.log(2.0) - _LOG_ROOT_2PI
        result = np.empty((len(self.counts), len(u)))
        for k, (row, h) in enumerate(zip(self.counts, self.bandwidth, strict=True)):
            n = row.sum()
            if n > 0:
                # Far from every row the kernels vanish and only the wide normal is left.
                with np.errstate(divide="ignore"):
                    kernels = np.log(self._kernel_sum(u, row, h) / (n + 1))
                result[k] = np.logaddexp(kernels, wide - np.log(n + 1))
            else:
                result[k] = wide
        return result

    def _kernel_sum(self, u: FloatArray, row: FloatArray, h: float) -> FloatArray:
        z = (u[:, None] - self.support) / h
        if len(self.support) == len(row):
            return np.asarray(np.exp(-0.5 * z * z) @ row) / (h * math.exp(_LOG_ROOT_2PI))
        # Differences of tails, each on its own side of x, or digits would cancel to the left of x; the bin
        # that holds x has a tail of either side.
        right = z <= 0
        tail = ndtr(-np.abs(z))
        mass = np.where(right, tail, -tail)
        mass = mass[:, :-1] - mass[:, 1:] + (right[:, 1:] & ~right[:, :-1])
        return np.asarray(mass @ (row / np.diff(self.support)))


@dataclass(frozen=True)
class DensityCurve:
    """Log densities as straight lines between knots, flat outside.

    Parameters
    ----------
    knots : array of shape (G,)
        Increasing.
    log_density : array of shape (K, G)
    variance : array of shape (K, G)
        Of the log density: trigamma(c + 1/2) with c = 2 sqrt(pi) n_k h_k f_k, the rows that the kernel counts near x.
        Where they are many this is 1 / c, where there are none 4.9 (a Jeffreys prior); infinite without rows at all.
    error : float
        The largest difference from the log density in the middle between two knots.
    """

    knots: FloatArray
    log_density: FloatArray
    variance: FloatArray
    error: float


def kernel_density(support: npt.ArrayLike, counts: npt.ArrayLike) -> KernelDensity:
    """Return the densities of all classes from counts (K, B) on B points, or on the bins between B + 1 edges.

    Examples
    --------
    >>> import numpy as np
    >>> density = kernel_density([1.0, 2.0, 3.0, 7.0], [[1, 1, 1, 0], [0, 0, 1, 1]])
    >>> density.log_density([2.0, 5.0]).round(3)
    array([[-1.292, -3.8  ],
           [-2.206, -2.498]])
    """
    places = np.asarray(support, dtype=np.float64)
    table = np.asarray(counts, dtype=np.float64)
    binned = len(places) == table.shape[1] + 1
    if not binned and len(places) != table.shape[1]:
        raise ValueError(
            f"counts has {table.shape[1]} columns, but {len(places)} points need as many and "
            f"{len(places)} edges one fewer."
        )
    middle = 0.5 * (places[:-1] + places[1:]) if binned else places
    width = np.diff(places) if binned else np.zeros_like(places)
    mean, sd = _mean_and_sd(middle, width, table.sum(axis=0))
    if sd == 0.0:
        return KernelDensity(places, table, np.ones(len(table)), mean, 0.0)
    middle, width = (middle - mean) / sd, width / sd
    return KernelDensity((places - mean) / sd, table, _bandwidths(middle, width, table), mean, sd)


def density_curve(density: KernelDensity, n_knots: int = 256) -> DensityCurve:
    """Return the curve of at most `n_knots` knots, placed where straight lines would be furthest off.

    The first quarter lies evenly over the data and six bandwidths beyond, the second on quantiles of the
    rows; then the worst intervals are halved until the knots are used up, or the error is below 1e-4.

    Examples
    --------
    >>> import numpy as np
    >>> density = kernel_density([1.0, 2.0, 3.0, 7.0], [[1, 1, 1, 0], [0, 0, 1, 1]])
    >>> curve = density_curve(density)
    >>> curve.error < 0.01
    True
    >>> x = np.array([2.2, 6.1])
    >>> bool(np.abs(np.interp(x, curve.knots, curve.log_density[1]) - density.log_density(x)[1]).max() < 0.01)
    True
    """
    if n_knots < 2:
        raise ValueError(f"n_knots={n_knots!r} must be at least 2.")
    n_classes = len(density.counts)
    if density.sd == 0.0:
        knots = density.mean + np.array([0.0, max(1.0, abs(density.mean))])
        flat = np.zeros((n_classes, 2))
        return DensityCurve(knots, flat, flat.copy(), 0.0)
    inhabited = density.counts.any(axis=1)  # a class without rows has no say in where knots are
    knots = _first_knots(density, n_knots)
    values = density._log_standard(knots)
    exact = density._log_standard(_middles(knots))
    while True:
        error = np.abs(exact - 0.5 * (values[:, :-1] + values[:, 1:]))[inhabited].max(axis=0, initial=0.0)
        room = min(n_knots - len(knots), max(1, len(knots) // 4))
        worst = np.argsort(-error, kind="stable")[:room]
        worst = np.sort(worst[error[worst] > _CLOSE_ENOUGH])
        if len(worst) == 0:
            break
        # The middle of a bad interval becomes a knot, and both halves get middles of their own.
        knots = np.insert(knots, worst + 1, _middles(knots)[worst])
        values = np.insert(values, worst + 1, exact[:, worst], axis=1)
        left = worst + np.arange(len(worst))
        halves = np.concatenate([left, left + 1])
        exact = np.insert(exact, worst, 0.0, axis=1)
        exact[:, halves] = density._log_standard(_middles(knots)[halves])
    rows = density.counts.sum(axis=1, keepdims=True)
    near = 2.0 * np.sqrt(np.pi) * rows * density.bandwidth[:, None] * np.exp(values)
    # 1 / near would be thousands of nats in the tails, where no interval of it covers more than this one does.
    variance = np.where(rows > 0, trigamma(near + 0.5), np.inf)
    places = density.mean + density.sd * knots
    # A small spread at a large offset: neighbouring knots may be the same float64.
    keep = np.concatenate([[True], np.diff(places) > 0])
    return DensityCurve(places[keep], values[:, keep] - np.log(density.sd), variance[:, keep], float(error.max()))


def _middles(knots: FloatArray) -> FloatArray:
    return np.asarray(0.5 * (knots[:-1] + knots[1:]))


def _first_knots(density: KernelDensity, n_knots: int) -> FloatArray:
    # Six bandwidths beyond the rows only the normal that all classes share is left: the curves may end there.
    margin = 6.0 * density.bandwidth[density.counts.any(axis=1)].max(initial=0.0)
    low, high = density.support[0] - margin, density.support[-1] + margin
    even = np.linspace(low, high, max(2, n_knots // 4))
    points = density.support[: density.counts.shape[1]]
    asked = (np.arange(n_knots // 4) + 0.5) / max(1, n_knots // 4)
    return np.unique(np.concatenate([even, weighted_quantiles(points, asked, density.counts.sum(axis=0))]))


def _mean_and_sd(middle: FloatArray, width: FloatArray, weight: FloatArray) -> tuple[float, float]:
    total = weight.sum()
    if total == 0.0:
        return 0.0, 0.0
    origin = middle[np.argmax(weight)]
    away = middle - origin
    shift = float(away @ weight) / total
    variance = float((np.square(away - shift) + np.square(width) / 12.0) @ weight) / total
    return float(origin + shift), float(np.sqrt(variance))


def _bandwidths(middle: FloatArray, width: FloatArray, table: FloatArray) -> FloatArray:
    """h of every class in units of the column's sd; 1 for a class without rows."""
    rows = table.sum(axis=1)
    inhabited = rows > 0
    spread = np.array([_spread(middle, width, row) for row in table[inhabited]])
    if not spread.all():
        spread = np.full(len(spread), _spread(middle, width, table.sum(axis=0)) or 1.0)
    bandwidth = np.ones(len(table))
    bandwidth[inhabited] = np.maximum(0.9 * spread * np.power(rows[inhabited], -0.2), 1e-3)
    return bandwidth


def _spread(middle: FloatArray, width: FloatArray, row: FloatArray) -> float:
    """min(sd, IQR / 1.34) of some rows."""
    return min(_mean_and_sd(middle, width, row)[1], _interquartile_range(middle, row) / 1.34)


def _interquartile_range(middle: FloatArray, row: FloatArray) -> float:
    """The distance of the quartiles with linear interpolation: `numpy.quantile` of the repeated rows."""
    reached = np.cumsum(row)
    place = np.array([0.25, 0.75]) * max(reached[-1] - 1.0, 0.0)
    below = np.floor(place)
    last = int(np.flatnonzero(row)[-1])
    lower, upper = (middle[np.minimum(np.searchsorted(reached, at, side="right"), last)] for at in (below, below + 1.0))
    quartiles = lower + (place - below) * (upper - lower)
    return float(quartiles[1] - quartiles[0])
