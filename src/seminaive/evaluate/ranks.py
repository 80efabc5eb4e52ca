"""Ranks of several classifiers over several data sets, and whether they differ.

On every data set the best classifier has rank 1, the worst rank k, ties share their mean rank. With N data
sets and average ranks R_1 ... R_k,

    chi2_F = 12 N / (k (k + 1)) * (sum_j R_j^2 - k (k + 1)^2 / 4)           Friedman, k - 1 degrees of freedom
    F_F    = (N - 1) chi2_F / (N (k - 1) - chi2_F)                          Iman and Davenport
    z_ij   = (R_i - R_j) / sqrt(k (k + 1) / (6 N))                          two classifiers

as in J. Demšar (2006), Statistical comparisons of classifiers over multiple data sets, JMLR 7, 1-30. The
formulas take no credit for ties, so with ties they err on the cautious side.
"""

import math
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from scipy import special

__all__ = ["Friedman", "average_ranks", "friedman", "pairs", "rank_tests"]

Floats = npt.NDArray[np.float64]


@dataclass(frozen=True)
class Friedman:
    """Friedman's test that all classifiers rank alike, and its sharper form by Iman and Davenport."""

    statistic: float
    p_value: float
    iman_davenport: float
    iman_davenport_p_value: float
    n_models: int
    n_sets: int


def pairs(n_models: int) -> tuple[npt.NDArray[np.intp], npt.NDArray[np.intp]]:
    """First and second classifier of every pair, in the order all p values of pairs have here.

    Parameters
    ----------
    n_models : int
        Number of classifiers.

    Returns
    -------
    first, second : arrays of n_models * (n_models - 1) / 2 positions

    Examples
    --------
    >>> first, second = pairs(3)
    >>> list(zip(first.tolist(), second.tolist()))
    [(0, 1), (0, 2), (1, 2)]
    """
    first, second = np.triu_indices(n_models, k=1)
    return first, second


def average_ranks(scores: npt.ArrayLike, higher_is_better: bool = False) -> Floats:
    """Average rank of each classifier over the data sets; 1 is best, ties share their mean rank.

    Parameters
    ----------
    scores : array of shape (data sets, classifiers)
        One score of every classifier on every data set, for instance errors.
    higher_is_better : bool, default=False
        True for scores such as accuracy, where more is better.

    Returns
    -------
    array of shape (classifiers,)

    Examples
    --------
    >>> average_ranks([[0.10, 0.20, 0.20], [0.05, 0.07, 0.30]])
    array([1.  , 2.25, 2.75])
    """
    table = np.asarray(scores, dtype=np.float64)
    if table.ndim != 2 or table.shape[0] == 0 or table.shape[1] < 2:
        raise ValueError(
            f"scores has shape {table.shape}; it must be (data sets, classifiers) with at least one data set "
            "and two classifiers."
        )
    if np.isnan(table).any():
        row, column = np.argwhere(np.isnan(table))[0]
        raise ValueError(
            f"scores has no value for data set {row}, classifier {column}; leave that data set or that "
            "classifier out before ranking."
        )
    better = -table if higher_is_better else table
    beaten_by = (better[:, None, :] < better[:, :, None]).sum(axis=2)
    tied_with = (better[:, None, :] == better[:, :, None]).sum(axis=2)
    ranks: Floats = (beaten_by + (tied_with + 1) / 2).mean(axis=0)
    return ranks


def friedman(mean_ranks: npt.ArrayLike, n_sets: int) -> Friedman:
    """Test whether all classifiers rank alike.

    Parameters
    ----------
    mean_ranks : array of shape (classifiers,)
        Average ranks, as `average_ranks` returns them.
    n_sets : int
        Number of data sets the ranks are averages of; at least two.

    Returns
    -------
    Friedman

    Examples
    --------
    >>> test = friedman([2.100, 3.250, 2.200, 4.333, 3.117], n_sets=30)
    >>> round(test.statistic, 2), round(test.iman_davenport, 2)
    (39.64, 14.3)
    """
    ranks = _checked(mean_ranks, n_sets)
    k = len(ranks)
    statistic = max(0.0, 12 * n_sets / (k * (k + 1)) * (float(ranks @ ranks) - k * (k + 1) ** 2 / 4))
    # The largest possible statistic: every data set orders the classifiers alike.
    room = n_sets * (k - 1) - statistic
    alike = room <= 1e-9 * n_sets * k
    f = np.inf if alike else (n_sets - 1) * statistic / room
    return Friedman(
        statistic=statistic,
        p_value=float(special.chdtrc(k - 1, statistic)),
        iman_davenport=float(f),
        # F is infinite where all sets order the classifiers alike, which by chance they do this often.
        iman_davenport_p_value=(
            math.factorial(k) ** -(n_sets - 1.0) if alike else float(special.fdtrc(k - 1, (k - 1) * (n_sets - 1), f))
        ),
        n_models=k,
        n_sets=n_sets,
    )


def rank_tests(mean_ranks: npt.ArrayLike, n_sets: int) -> tuple[Floats, Floats]:
    """Statistic z and two-sided p value of every pair of classifiers, not adjusted.

    Parameters
    ----------
    mean_ranks : array of shape (classifiers,)
        Average ranks, as `average_ranks` returns them.
    n_sets : int
        Number of data sets the ranks are averages of; at least two.

    Returns
    -------
    z, p : arrays, one entry per pair in the order of `pairs`; z < 0 where the first ranks better

    Examples
    --------
    >>> z, p = rank_tests([1.2, 2.0, 2.8], n_sets=10)
    >>> z.round(2), p.round(3)
    (array([-1.79, -3.58, -1.79]), array([0.074, 0.   , 0.074]))
    """
    ranks = _checked(mean_ranks, n_sets)
    k = len(ranks)
    first, second = pairs(k)
    z: Floats = (ranks[first] - ranks[second]) / np.sqrt(k * (k + 1) / (6 * n_sets))
    p: Floats = special.erfc(np.abs(z) / np.sqrt(2.0))
    return z, p


def _checked(mean_ranks: npt.ArrayLike, n_sets: int) -> Floats:
    ranks = np.asarray(mean_ranks, dtype=np.float64)
    if ranks.ndim != 1 or len(ranks) < 2:
        raise ValueError(
            f"mean_ranks has shape {ranks.shape}; it must hold one rank for each of at least two classifiers."
        )
    if n_sets < 2:
        raise ValueError(f"n_sets is {n_sets}; ranks can be tested over at least two data sets.")
    return ranks
