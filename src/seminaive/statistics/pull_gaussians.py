"""Means and deviations of numeric columns, pulled towards those that all classes share.

In units in which a column has mean 0 and deviation 1 over all classes, each column by itself minimises

    sum over classes k of  n_k log sigma_k + (n_k s_k^2 + c_k (mu_k - m_k)^2) / (2 sigma_k^2)  +  penalty * distance
    distance = | (mu, sigma - 1) |

over all means and deviations together, Euclidean. Without a prior n_k and c_k are the rows of the class, m_k and s_k
its mean and deviation; a Normal-Gamma prior makes n = 2 alpha - 1 and c = k of the posterior, and m and s its mode. So
a column either keeps some difference between the classes or has none at all.

The loss is not convex in sigma where sigma^2 > 3 s^2. So the steepest descent at the pooled parameters,

    | c_k m_k,  n_k (1 - s_k^2) - c_k m_k^2 |,

which a penalty must exceed to leave no difference there, is only a local condition: Newton's method starts from the
class's own parameters and from the pooled ones, and the lowest of where it ends is the answer.

On the straight line from the pooled parameters to the class's own, with the penalty relative to its length, the slope
at the beginning is minus

    chi-square = sum of  c_k m_k^2 - (s_k - 1) (n_k (1 - s_k^2) - c_k m_k^2).

Reference: van Gerven and Heskes, "L1/Lp regularization of differences", 2008.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
import numpy.typing as npt

__all__ = ["Gaussians", "gaussians_on_line", "pull_gaussians"]

Floats = npt.NDArray[np.float64]

MOST_STEPS = 400
MOST_HALVINGS = 60
ON_LINE = 201
"""Points of the line on which the lowest is looked for, before it is made exact."""


@dataclass(frozen=True, eq=False)
class Gaussians:
    """What is known of every class and column, arrays (classes, columns) in the columns' own units.

    Parameters
    ----------
    mean, deviation : arrays
        Where the loss is least; deviations are positive.
    rows, strength : arrays
        How many rows deviation and mean rest on: n and c.

    Examples
    --------
    >>> column = Gaussians(*np.array([[[0.8], [-0.6]], [[0.7], [0.9]], [[40.0], [50.0]], [[40.0], [50.0]]]))
    >>> column.chi_square.round(3), column.threshold.round(3)
    (array([41.19]), array([44.981]))
    """

    mean: Floats
    deviation: Floats
    rows: Floats
    strength: Floats

    @cached_property
    def own(self) -> Floats:
        """Means and deviations, (2, classes, columns)."""
        return np.stack([self.mean, self.deviation])

    @cached_property
    def pooled(self) -> Floats:
        """Zeros and ones."""
        return np.stack([np.zeros_like(self.mean), np.ones_like(self.mean)])

    @cached_property
    def distance(self) -> Floats:
        """From the class's own parameters to the pooled ones, (columns,)."""
        return self.distance_of(self.own)

    def distance_of(self, x: Floats) -> Floats:
        """From any parameters (2, classes, columns) to the pooled ones."""
        return np.sqrt(((x - self.pooled) ** 2).sum(axis=(0, 1)))

    def loss(self, x: Floats) -> Floats:
        """The loss of each column."""
        mu, sigma = x
        away = self.rows * self.deviation**2 + self.strength * (mu - self.mean) ** 2
        return (self.rows * np.log(sigma) + 0.5 * away / sigma**2).sum(axis=0)

    def slope(self, x: Floats) -> Floats:
        """Its gradient, (2, classes, columns)."""
        mu, sigma = x
        d = mu - self.mean
        away = self.rows * self.deviation**2 + self.strength * d**2
        return np.stack([self.strength * d / sigma**2, self.rows / sigma - away / sigma**3])

    @cached_property
    def threshold(self) -> Floats:
        """The steepest descent at the pooled parameters, (columns,)."""
        return np.sqrt((self.slope(self.pooled) ** 2).sum(axis=(0, 1)))

    @cached_property
    def chi_square(self) -> Floats:
        """How fast the loss falls where the line begins, (columns,)."""
        return -(self.slope(self.pooled) * (self.own - self.pooled)).sum(axis=(0, 1))

    def where(self, columns: npt.NDArray[np.bool_] | npt.NDArray[np.int64]) -> Gaussians:
        """Some of the columns, in any order."""
        parts = (self.mean, self.deviation, self.rows, self.strength)
        return Gaussians(*(part[:, columns] for part in parts))


def pull_gaussians(columns: Gaussians, penalty: Floats) -> Floats:
    """The means and deviations (2, classes, columns) that minimise loss plus penalty, one penalty per column.

    Examples
    --------
    >>> column = Gaussians(*np.array([[[0.8], [-0.6]], [[0.7], [0.9]], [[40.0], [50.0]], [[40.0], [50.0]]]))
    >>> pull_gaussians(column, np.array([10.0]))[:, :, 0].round(3)
    array([[ 0.698, -0.507],
           [ 0.727,  0.913]])
    >>> pull_gaussians(column, np.array([60.0]))[:, :, 0]
    array([[0., 0.],
           [1., 1.]])
    """
    x = columns.own.copy()
    pulled = np.flatnonzero((penalty > 0) & (columns.distance > 0))
    if len(pulled) == 0:
        return x
    some, price = columns.where(pulled), penalty[pulled]
    best = _descend(some, price, some.own)
    lowest = some.loss(best) + price * some.distance_of(best)
    at_pooled = some.loss(some.pooled)
    rounding = 1e-13 * some.rows.sum(axis=0)  # of the loss: what is lower by no more is the pooled minimum itself
    best = np.where(at_pooled <= lowest + rounding, some.pooled, best)
    lowest = np.minimum(lowest, at_pooled)
    leaves = np.flatnonzero(some.threshold > price * (1 + 1e-12))
    if len(leaves):
        these = some.where(leaves)
        other = _descend(these, price[leaves], _first_step(these, price[leaves]))
        lower = these.loss(other) + price[leaves] * these.distance_of(other) < lowest[leaves]
        best[:, :, leaves[lower]] = other[:, :, lower]
    x[:, :, pulled] = best
    return x


def _first_step(columns: Gaussians, penalty: Floats) -> Floats:
    """Away from the pooled parameters by steepest descent, as far as it is lower there."""
    way = -columns.slope(columns.pooled) / columns.threshold
    length = np.full(len(penalty), 0.5)
    start = columns.loss(columns.pooled)
    for _ in range(2 * MOST_HALVINGS):
        high = columns.loss(columns.pooled + length * way) + penalty * length >= start
        if not high.any():
            break
        length = np.where(high, 0.5 * length, length)
    return columns.pooled + length * way


def _descend(columns: Gaussians, penalty: Floats, start: Floats) -> Floats:
    """Newton's method on loss + penalty * distance, column by column."""
    x = start.copy()
    left = np.arange(x.shape[2])
    for _ in range(MOST_STEPS):
        some, price, at = columns.where(left), penalty[left], x[:, :, left]
        step, falls = _newton_step(some, price, at)
        value = some.loss(at) + price * some.distance_of(at)
        # deviations stay positive
        shrinking = np.where(step[1] < 0, 0.9 * at[1] / np.where(step[1] < 0, -step[1], 1.0), 1.0)
        share = np.minimum(1.0, shrinking.min(axis=0))
        # so close that rounding would decide what is lower: the full step
        close = (-falls <= 1e-10 * (1 + np.abs(value))) & (share == 1)
        good = close.copy()
        for _ in range(MOST_HALVINGS):
            tried = at + share * step
            good |= some.loss(tried) + price * some.distance_of(tried) <= value + 1e-4 * share * falls
            if good.all():
                break
            share = np.where(good, share, 0.5 * share)
        x[:, :, left] = np.where(good, tried, at)
        ended = ~good | (close & (np.abs(step).max(axis=(0, 1)) <= 1e-14)) | (some.distance_of(x[:, :, left]) < 1e-12)
        left = left[~ended]
        if len(left) == 0:
            break
    return x


def _newton_step(columns: Gaussians, penalty: Floats, x: Floats) -> tuple[Floats, Floats]:
    """A step downhill, and the slope along it.

    The curvature is B + t (1 - u u') with one 2 x 2 matrix B per class, t = penalty / distance and u the direction
    away from the pooled parameters: B + t is inverted class by class, and u u' added by Sherman and Morrison's formula.
    Where that is not positive, the expected curvature takes the place of B.
    """
    distance = columns.distance_of(x)
    u = (x - columns.pooled) / distance
    t = penalty / distance
    slope = columns.slope(x) + penalty * u
    mu, sigma = x
    d = mu - columns.mean
    away = columns.rows * columns.deviation**2 + columns.strength * d**2
    of_mean = columns.strength / sigma**2
    of_both = -2 * columns.strength * d / sigma**3
    of_deviation = (3 * away / sigma**2 - columns.rows) / sigma**2
    positive = (of_deviation + t > 0) & ((of_mean + t) * (of_deviation + t) > of_both**2)
    convex = positive.all(axis=0)
    for _ in range(2):
        of_both = np.where(convex, of_both, 0.0)
        of_deviation = np.where(convex, of_deviation, 2 * columns.rows / sigma**2)
        blocks = of_mean, of_both, of_deviation
        outward, along = _solve(blocks, t, u), _solve(blocks, t, slope)
        # 1 - t u' (B + t)^-1 u, without cancellation
        rest = (u[0] * (of_mean * outward[0] + of_both * outward[1])).sum(axis=0)
        rest += (u[1] * (of_both * outward[0] + of_deviation * outward[1])).sum(axis=0)
        if np.all(rest > 0):
            break
        convex = convex & (rest > 0)
    step = -(along + outward * (t * (u * along).sum(axis=(0, 1)) / rest))
    return step, (step * slope).sum(axis=(0, 1))


def _solve(blocks: tuple[Floats, Floats, Floats], t: Floats, right: Floats) -> Floats:
    """(B + t)^-1 times a vector."""
    a, b, c = blocks[0] + t, blocks[1], blocks[2] + t
    determinant = a * c - b * b
    return np.stack([(c * right[0] - b * right[1]) / determinant, (a * right[1] - b * right[0]) / determinant])


def gaussians_on_line(columns: Gaussians, penalty: Floats) -> Floats:
    """The alpha in [0, 1] of each column that minimises loss + penalty * alpha on the line to the own parameters.

    The loss along the line can have several lows: the lowest of a grid is made exact by bisecting the slope around it.
    """
    way = columns.own - columns.pooled

    def value(alpha: Floats) -> Floats:
        return columns.loss(columns.pooled + alpha * way) + penalty * alpha

    def slope(alpha: Floats) -> Floats:
        return (columns.slope(columns.pooled + alpha * way) * way).sum(axis=(0, 1)) + penalty

    grid = np.linspace(0, 1, ON_LINE)
    values = np.stack([value(np.full(len(penalty), point)) for point in grid])
    best = values.argmin(axis=0)
    low, high = grid[np.maximum(best - 1, 0)], grid[np.minimum(best + 1, ON_LINE - 1)]
    for _ in range(MOST_HALVINGS):
        middle = 0.5 * (low + high)
        rises = slope(middle) > 0
        low, high = np.where(rises, low, middle), np.where(rises, middle, high)
    found = 0.5 * (low + high)
    ends = np.stack([np.zeros_like(found), found, np.ones_like(found)])
    lowest = ends[np.stack([value(end) for end in ends]).argmin(axis=0), np.arange(len(found))]
    return np.where((penalty > 0) | (columns.distance == 0), lowest, 1.0)
