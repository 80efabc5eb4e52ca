r"""What a column says given its parents, from counts: smoothed conditional probabilities and how sure they are.

With n_xpy rows of class y, level x and parents' levels p, n_x rows of level x among n, v levels of the column, w
combinations of the parents' levels and m classes, counting only those that occur:

    shrink      theta_xpy = (n_xpy + s n_x / n) / (n_py + s)                      s smoothing, 1 by default
    bd          theta_xpy = (n_xpy + a / (v w m)) / (n_py + a / (w m))            a concentration

"shrink" pulls towards the column's overall distribution; "bd" is the predictive distribution that belongs to the
Bayesian-Dirichlet score. Without parents, w = 1.
"""

from __future__ import annotations

from typing import Literal

import numpy as np
import numpy.typing as npt

from seminaive.statistics.smoothing import LOG_ZERO, log_variance

Floats = npt.NDArray[np.float64]
FamilySmoothing = Literal["shrink", "bd"]


def conditional_evidence(
    counts: npt.ArrayLike, smoothing: float = 1.0, kind: FamilySmoothing = "shrink"
) -> tuple[Floats, Floats]:
    """Log theta of every cell and its posterior variance, both of the shape of the counts.

    Parameters
    ----------
    counts : array (classes, codes of the column, codes of each parent ...)
        Weight of each combination. Codes that do not occur, of the column or of a parent, say 0.
    smoothing : float
        The s of "shrink", the a of "bd".
    kind : "shrink" or "bd"

    Examples
    --------
    A column that copies its parent in the first class only:

    >>> counts = np.array([[[3, 0], [0, 1]], [[1, 1], [1, 1]]])
    >>> np.exp(conditional_evidence(counts)[0]).round(3)
    array([[[0.906, 0.312],
            [0.094, 0.688]],
    <BLANKLINE>
           [[0.542, 0.542],
            [0.458, 0.458]]])
    """
    table, variance = stacked_evidence(np.asarray(counts, dtype=np.float64)[None], smoothing, kind)
    return table[0], variance[0]


def stacked_evidence(counts: Floats, smoothing: float = 1.0, kind: FamilySmoothing = "shrink") -> tuple[Floats, Floats]:
    """The same for many families of one shape at once, (families, classes, codes of the column, codes of parents ...).

    Examples
    --------
    >>> counts = np.array([[[3.0, 0.0], [1.0, 1.0]], [[0.0, 0.0], [2.0, 2.0]]])[..., None]   # two columns, no parents
    >>> stacked_evidence(counts)[0].shape
    (2, 2, 2, 1)
    """
    families, classes, codes = counts.shape[:3]
    beside = np.moveaxis(counts.reshape(families, classes, codes, -1), 0, 1).reshape(classes, families * codes, -1)
    bounds = np.arange(families + 1) * codes
    said, variance = _smoothed(beside, bounds, _parents_occur(counts), smoothing, kind)
    apart = (classes, families, *counts.shape[2:])
    return np.moveaxis(said.reshape(apart), 1, 0), np.moveaxis(variance.reshape(apart), 1, 0)


def evidence_given_one(
    counts: Floats, bounds: npt.NDArray[np.integer], smoothing: float = 1.0, kind: FamilySmoothing = "shrink"
) -> tuple[Floats, Floats]:
    """The same for many columns that share one parent, side by side: what `conditional_evidence` says of each.

    Parameters
    ----------
    counts : array (classes, codes of all columns, codes of the parent)
    bounds : (columns + 1,) ints
        The codes of column j are ``counts[:, bounds[j]:bounds[j + 1]]``.

    Examples
    --------
    >>> counts = np.array([[[3, 0], [0, 1]], [[1, 1], [1, 1]]])
    >>> twice, _ = evidence_given_one(np.concatenate([counts, counts], axis=1), np.array([0, 2, 4]))
    >>> np.array_equal(twice[:, 2:], conditional_evidence(counts)[0])
    True
    """
    bounds = np.asarray(bounds)
    occur = np.add.reduceat(counts.sum(axis=0), bounds[:-1], axis=0) > 0
    return _smoothed(np.asarray(counts, dtype=np.float64), bounds, occur, smoothing, kind)


def _smoothed(
    counts: Floats,
    bounds: npt.NDArray[np.integer],
    parents_occur: npt.NDArray[np.bool_],
    smoothing: float,
    kind: FamilySmoothing,
) -> tuple[Floats, Floats]:
    """Log theta and variance of columns side by side, (classes, codes, parents' combinations)."""
    column = np.repeat(np.arange(len(bounds) - 1), np.diff(bounds))
    of_level = counts.sum(axis=(0, 2))
    occurs = (of_level > 0)[:, None] & parents_occur[column]
    if kind == "shrink":
        of_column = np.add.reduceat(of_level, bounds[:-1])
        added = smoothing * (of_level / np.maximum(of_column, 1e-300)[column])[:, None]
    else:
        cells = np.add.reduceat(occurs.sum(axis=1), bounds[:-1])
        classes = np.add.reduceat(counts.sum(axis=2), bounds[:-1], axis=1) > 0
        added = (smoothing / np.maximum(cells * classes.sum(axis=0), 1))[column, None] * occurs
    parameter = counts + np.broadcast_to(added, counts.shape[1:])
    total = np.add.reduceat(parameter, bounds[:-1], axis=1)[:, column]
    theta = np.where(total > 0, parameter / np.where(total > 0, total, 1.0), 1.0)
    positive = theta > 0
    table = np.where(positive, np.maximum(np.log(np.where(positive, theta, 1.0)), LOG_ZERO), LOG_ZERO)
    shown = parameter > 0
    spread = log_variance(np.where(shown, parameter, 1.0), np.where(total > 0, total, 1.0))
    variance = np.where(shown, np.maximum(spread, 0.0), np.inf)
    return np.where(occurs, table, 0.0), np.where(occurs, variance, 0.0)


def _parents_occur(counts: Floats) -> npt.NDArray[np.bool_]:
    """Which combinations of parents' levels are made of levels that all occur, (families, combinations)."""
    occur = np.ones((len(counts), *counts.shape[3:]), dtype=bool)
    for axis in range(3, counts.ndim):
        others = tuple(i for i in range(1, counts.ndim) if i != axis)
        shape = [len(counts)] + [1] * (counts.ndim - 3)
        shape[axis - 2] = -1
        occur &= (counts.sum(axis=others) > 0).reshape(shape)
    return occur.reshape(len(counts), -1)
