"""Level probabilities of nominal columns, pulled towards the distribution that all classes share.

With counts N_vk and the pooled distribution theta0, each column by itself minimises

    - sum over levels v and classes k of  N_vk log theta_vk  +  penalty * | theta - theta0 |

over distributions theta_k, one per class; | | is Euclidean over all levels and classes together. So a column either
keeps some difference between the classes or has none at all: it has none exactly if the penalty is at least the
steepest descent at theta0,

    | (N_vk / theta0_v) - its mean over v |.

Otherwise the minimum is also that of the loss plus tightness / 2 * | theta - theta0 |^2, for the one tightness with
tightness * distance = penalty; there, every theta_vk is the root of a quadratic equation.

On the straight line from theta0 to the frequencies, theta = theta0 + alpha (theta1 - theta0), and with the penalty
relative to the length of that line, the loss is convex in alpha and its slope at 0 is minus Pearson's chi-square: a
column says nothing exactly if its chi-square is at most the penalty.

Reference: van Gerven and Heskes, "L1/Lp regularization of differences", 2008, extended to levels by Vidaurre, Bielza
and Larrañaga, "Forward stagewise naïve Bayes", Progress in Artificial Intelligence 1, 2012, section 3.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from seminaive.statistics.roots import rising_roots

__all__ = ["Levels", "levels_on_line", "pull_levels"]

Floats = npt.NDArray[np.float64]
Integers = npt.NDArray[np.int64]

MOST_STEPS = 500
WIDEST = 80.0
"""Tightness is looked for up to exp(80) times its least value: beyond, theta is theta0 to the last digit."""


@dataclass(frozen=True, eq=False)
class Levels:
    """Columns side by side: column p owns the levels ``starts[p]`` to ``starts[p + 1]``, at least one.

    Parameters
    ----------
    counts : array (classes, levels)
        What is known of each class, smoothing included.
    pooled : array (levels,)
        Positive; the distribution of each column that all classes share.
    starts : array (columns + 1,)

    Examples
    --------
    >>> levels = Levels(np.array([[4.0, 1, 0, 5], [1, 4, 5, 0]]), np.full(4, 0.5), np.array([0, 2, 4]))
    >>> levels.chi_square.round(6), levels.threshold.round(6)
    (array([ 3.6, 10. ]), array([ 6., 10.]))
    """

    counts: Floats
    pooled: Floats
    starts: Integers

    @cached_property
    def totals(self) -> Floats:
        """Sum of the counts of each class, (classes, columns)."""
        return self.sums(self.counts)

    @cached_property
    def own(self) -> Floats:
        """The frequencies of each class; the pooled ones where a class is unknown."""
        totals = self.spread(self.totals)
        return np.where(totals > 0, self.counts / np.where(totals > 0, totals, 1.0), self.pooled)

    @cached_property
    def distance(self) -> Floats:
        """From the frequencies to the pooled distribution, (columns,)."""
        return self.distance_of(self.own)

    def distance_of(self, theta: Floats) -> Floats:
        """From any distributions to the pooled one, (columns,)."""
        return np.sqrt(self.sums(((theta - self.pooled) ** 2).sum(axis=0)))

    @cached_property
    def threshold(self) -> Floats:
        """The least penalty that leaves no difference between the classes, (columns,)."""
        steep = self.counts / self.pooled
        steep = steep - self.spread(self.sums(steep) / np.diff(self.starts))
        return np.sqrt(self.sums((steep**2).sum(axis=0)))

    @cached_property
    def chi_square(self) -> Floats:
        """How fast the loss falls where the line begins, (columns,): without smoothing, Pearson's statistic."""
        return self.sums((self.counts * (self.own - self.pooled) / self.pooled).sum(axis=0))

    def sums(self, table: Floats) -> Floats:
        """Sums over the levels of each column."""
        return np.add.reduceat(table, self.starts[:-1], axis=-1) if table.shape[-1] else table

    def spread(self, by_column: npt.NDArray[Any]) -> npt.NDArray[Any]:
        """A value per column, for each of its levels."""
        return np.repeat(by_column, np.diff(self.starts), axis=-1)

    def where(self, columns: npt.NDArray[np.bool_]) -> Levels:
        """Some of the columns."""
        levels = self.spread(columns)
        starts = np.concatenate([[0], np.cumsum(np.diff(self.starts)[columns])]).astype(np.int64)
        return replace(self, counts=self.counts[:, levels], pooled=self.pooled[levels], starts=starts)


def pull_levels(levels: Levels, penalty: Floats) -> Floats:
    """The distributions (classes, levels) that minimise loss plus penalty, one penalty per column.

    Examples
    --------
    >>> levels = Levels(np.array([[4.0, 1], [1, 4]]), np.full(2, 0.5), np.array([0, 2]))
    >>> pull_levels(levels, np.array([3.0]))
    array([[0.66666667, 0.33333333],
           [0.33333333, 0.66666667]])
    >>> pull_levels(levels, np.array([6.0]))
    array([[0.5, 0.5],
           [0.5, 0.5]])
    """
    pulled = (penalty > 0) & (penalty < levels.threshold) & (levels.distance > 0)
    theta = np.where(levels.spread(penalty >= levels.threshold), levels.pooled, levels.own)
    if pulled.any():
        theta[:, levels.spread(pulled)] = _at_tightness(levels.where(pulled), penalty[pulled])
    return theta


def _at_tightness(levels: Levels, penalty: Floats) -> Floats:
    """The distributions at the tightness where tightness * distance = penalty."""
    force_at = _Forces(levels)

    def excess(log_tightness: Floats) -> Floats:
        """Rises with tightness."""
        force = np.sqrt(levels.sums((force_at(np.exp(log_tightness)) ** 2).sum(axis=0)))
        return np.log(np.maximum(force, 1e-300)) - np.log(penalty)

    # The distance is never larger than that of the frequencies, so this is too loose, or just right.
    low = np.log(penalty / levels.distance)
    high, step = low + 1.0, 1.0
    while step < WIDEST:
        short = excess(high) < 0
        if not short.any():
            break
        low, step = np.where(short, high, low), 2.0 * step
        high = np.where(short, high + step, high)
    tightness = np.exp(rising_roots(excess, low, high, near=1e-14))
    return np.maximum(levels.pooled + force_at(tightness) / levels.spread(tightness), 0.0)


class _Forces:
    """tightness * (theta - theta0) at the minimum for a given tightness t.

    theta_vk is the root >= 0 of t theta^2 + (m_k - t theta0_v) theta = N_vk. So t (theta - theta0) = N / theta - m,
    which keeps its digits where theta is next to theta0. The multiplier m_k is where the forces of class k sum to 0:
    the sum falls with m and is convex, so Newton's method from the left never passes the root. It starts from the
    multipliers of the last call.
    """

    def __init__(self, levels: Levels) -> None:
        self.levels = levels
        self.multipliers = np.zeros_like(levels.totals)

    def __call__(self, tightness: Floats) -> Floats:
        levels, m = self.levels, self.multipliers
        t = levels.spread(tightness)
        for _ in range(MOST_STEPS):
            by_level = levels.spread(m)
            b = by_level - t * levels.pooled
            tight = b < 0
            root = np.sqrt(b * b + 4.0 * t * levels.counts)
            # the same root twice: the form without cancellation
            theta = np.where(tight, (root - b) / (2.0 * t), 2.0 * levels.counts / np.where(tight, 1.0, b + root))
            force = np.where(tight, levels.counts / np.where(tight, theta, 1.0) - by_level, t * (theta - levels.pooled))
            total = levels.sums(force)
            if np.all(np.abs(total) <= 1e-15 * levels.sums(np.abs(force) + by_level)):
                break
            slope = tightness * levels.sums(theta / np.where(root > 0, root, 1.0))
            # A slope of 0 belongs to an unknown class, whose multiplier is 0.
            m = np.maximum(m + np.where(slope > 0, total / np.where(slope > 0, slope, 1.0), -m), 0.0)
        self.multipliers = m
        return force


def levels_on_line(levels: Levels, penalty: Floats) -> Floats:
    """The alpha in [0, 1] of each column that minimises loss + penalty * alpha on the line to the frequencies."""
    way = levels.own - levels.pooled
    alpha = np.zeros(len(penalty))
    moves = (levels.chi_square > penalty) & (levels.distance > 0)
    if not moves.any():
        return alpha
    some, way = levels.where(moves), way[:, levels.spread(moves)]

    def slope(at: Floats) -> Floats:
        """Rises with alpha. A level that a class never has costs it nothing, and has probability 0 at the end."""
        share = some.spread(at)
        theta = (1 - share) * some.pooled + share * some.own  # the ends to the last digit
        known = some.counts > 0
        return penalty[moves] - some.sums(
            np.where(known, some.counts * way / np.where(known, theta, 1.0), 0.0).sum(axis=0)
        )

    ends = np.ones(int(moves.sum()))
    inside = (slope(ends) > 0) & (penalty[moves] > 0)
    # Where the loss falls all the way, the end is the answer: any function with its root there will do.
    found = rising_roots(lambda at: np.where(inside, slope(at), at - 1.0), np.zeros_like(ends), ends)
    alpha[moves] = found
    return alpha
