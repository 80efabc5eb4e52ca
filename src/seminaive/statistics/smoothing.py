"""From class counts to log evidence: the six ways to smooth, and how sure the result is.

Counts come flat, (K, T): the levels of all columns side by side, column p owning `starts[p]` to `starts[p +
1]`. With N_vk rows of class k with level v, N_v over the classes, n_k and N over the column's levels, L
levels, K classes, class shares pi_k and smoothing s:

    level       theta_vk = (N_vk + s) / (n_k + s L)                                      evidence log theta_vk
    pooled      theta_vk = (N_vk + s theta0_v) / (n_k + s), theta0_v = (N_v + s / L) / (N + s)   log theta_vk
    class       P(k | v) = (N_vk + s K pi_k) / (N_v + s K)                               log P(k | v) / pi_k
    half        P(k | v) = (N_vk + s) / (N_v + s K)                                      log P(k | v) / pi_k
    likelihood  P(k | v) proportional to pi_k (N_vk + s) / (n_k + s L)                   log P(k | v) / pi_k
    none        level with s = 0

Only differences between classes matter. A probability of zero is floored at log -700.
"""

from __future__ import annotations

from typing import Literal, get_args

import numpy as np
import numpy.typing as npt
from scipy.special import zeta

FloatArray = npt.NDArray[np.float64]
SmoothingKind = Literal["level", "pooled", "class", "likelihood", "half", "none"]

LOG_ZERO = -700.0


def log_evidence(
    counts: npt.ArrayLike,
    smoothing: float = 1.0,
    kind: SmoothingKind = "level",
    class_weight: npt.ArrayLike | None = None,
    starts: npt.ArrayLike | None = None,
) -> FloatArray:
    """Return the evidence of every level for every class, shape (K, T), always finite.

    Parameters
    ----------
    counts : array of shape (K, T)
        Rows (or weight) per class and level.
    smoothing : float
        The s of the formulas, at least 0; `kind="none"` ignores it.
    kind : {"level", "pooled", "class", "likelihood", "half", "none"}
        The formula, see the module.
    class_weight : array of shape (K,), optional
        Rows per class, for the shares pi_k. Default: the column's own rows. A class without rows says
        nothing.
    starts : array of shape (P + 1,), optional
        Where each column's levels start. Default: one column.

    Examples
    --------
    >>> import numpy as np
    >>> counts = np.array([[3, 1, 0], [1, 1, 2]])
    >>> np.exp(log_evidence(counts, 1.0, "level")) * 7
    array([[4., 2., 1.],
           [2., 2., 3.]])
    """
    counts, smoothing, starts = _checked(counts, smoothing, kind, starts)
    if kind in ("class", "half"):
        shares = _class_shares(counts, class_weight, starts)
        numbers = smoothing * (shares > 0).sum(axis=0)  # a class without rows is as good as not there
        added = numbers * shares if kind == "class" else np.where(shares > 0, smoothing, 0.0)
        probability = _ratio(counts + added, counts.sum(axis=0) + numbers, shares)
        return np.where(shares > 0, _log(probability) - np.log(np.where(shares > 0, shares, 1.0)), 0.0)

    log_theta = _log(_level_probability(counts, smoothing, kind, starts))
    if kind != "likelihood":
        return log_theta
    shares = _class_shares(counts, class_weight, starts)
    # The sum over the classes, from the largest term so that nothing underflows.
    joint = np.where(shares > 0, log_theta + np.log(np.where(shares > 0, shares, 1.0)), -np.inf)
    largest = joint.max(axis=0)
    largest = np.where(np.isfinite(largest), largest, 0.0)
    total = np.exp(joint - largest).sum(axis=0)
    return np.where(shares > 0, log_theta - largest - np.log(np.where(total > 0, total, 1.0)), 0.0)


def evidence_variance(
    counts: npt.ArrayLike,
    smoothing: float = 1.0,
    kind: SmoothingKind = "level",
    class_weight: npt.ArrayLike | None = None,
    starts: npt.ArrayLike | None = None,
) -> FloatArray:
    """Return the posterior variance of the evidence, shape (K, T), such that a contrast has the sum of two.

    The variance of evidence_k - evidence_j is the sum of the variances of k and j. Probabilities of levels
    follow a Dirichlet posterior in each class: trigamma(a_vk) - trigamma(sum over v of a_vk), where a_vk is
    the numerator of theta. P(k | v) follows one per level: trigamma(a_vk), because what the classes share
    drops out of every contrast. Of less than half a count the variance is that of half a count (see
    `log_variance`); without smoothing a level that a class never showed has an infinite one.

    Examples
    --------
    >>> import numpy as np
    >>> evidence_variance(np.array([[3, 1], [1, 1]])).round(4)
    array([[0.1025, 0.4636],
           [0.3611, 0.3611]])
    """
    counts, smoothing, starts = _checked(counts, smoothing, kind, starts)
    if kind in ("class", "half"):
        shares = _class_shares(counts, class_weight, starts)
        share = (shares > 0).sum(axis=0) * shares if kind == "class" else 1.0
        # A class without rows has no share of its own; it gets the average one.
        return log_variance(counts + smoothing * np.where(shares > 0, share, 1.0))
    if kind == "pooled":
        parameter = counts + smoothing * _overall_probability(counts, smoothing, starts)
    else:
        parameter = counts + smoothing
    total = _spread(_sum_by_column(parameter, starts), starts)
    shown = parameter > 0
    result = log_variance(np.where(shown, parameter, 1.0), np.where(shown, total, 1.0))
    return np.where(shown, np.maximum(result, 0.0), np.inf)


def _checked(
    counts: npt.ArrayLike, smoothing: float, kind: str, starts: npt.ArrayLike | None
) -> tuple[FloatArray, float, npt.NDArray[np.intp]]:
    """Return the counts as floats, the smoothing in force and the starts of the columns."""
    if kind not in get_args(SmoothingKind):
        raise ValueError(f"smoothing_kind={kind!r} is unknown; use one of {', '.join(get_args(SmoothingKind))}.")
    if not 0 <= smoothing < np.inf:
        raise ValueError(f"smoothing={smoothing!r} must be a finite number of at least 0.")
    table = np.asarray(counts, dtype=np.float64)
    bounds = np.asarray([0, table.shape[1]] if starts is None else starts, dtype=np.intp)
    return table, 0.0 if kind == "none" else float(smoothing), bounds


def _level_probability(counts: FloatArray, smoothing: float, kind: str, starts: npt.NDArray[np.intp]) -> FloatArray:
    """P(level | class); a class without rows and without smoothing takes the limit of small smoothing."""
    totals = _spread(_sum_by_column(counts, starts), starts)
    widths = np.repeat(np.diff(starts), np.diff(starts)).astype(np.float64)
    if kind == "pooled":
        overall = _overall_probability(counts, smoothing, starts)
        return _ratio(counts + smoothing * overall, totals + smoothing, overall)
    return _ratio(counts + smoothing, totals + smoothing * widths, 1.0 / widths)


def overall_probability(
    counts: npt.ArrayLike, smoothing: float = 1.0, kind: SmoothingKind = "pooled", starts: npt.ArrayLike | None = None
) -> FloatArray:
    """Return the probability of every level whatever the class, shape (1, T): what the classes share.

    "pooled" spreads the mass over the levels; "level" adds it to each; "none" leaves the frequencies.

    Examples
    --------
    >>> import numpy as np
    >>> overall_probability(np.array([[3, 1, 0], [1, 1, 2]]), 1.0, "level") * 11
    array([[5., 3., 3.]])
    """
    if kind not in ("pooled", "level", "none"):
        raise ValueError(f"kind={kind!r} has no overall probability; use 'pooled', 'level' or 'none'.")
    table, strength, bounds = _checked(counts, smoothing, kind, starts)
    if kind == "pooled":
        return _overall_probability(table, strength, bounds)
    return _level_probability(table.sum(axis=0, keepdims=True), strength, "level", bounds)


def _overall_probability(counts: FloatArray, smoothing: float, starts: npt.NDArray[np.intp]) -> FloatArray:
    """theta0_v: the column's distribution over all classes."""
    levels = counts.sum(axis=0, keepdims=True)
    totals = _spread(_sum_by_column(levels, starts), starts)
    widths = np.repeat(np.diff(starts), np.diff(starts)).astype(np.float64)
    return _ratio(levels + smoothing / widths, totals + smoothing, 1.0 / widths)


def _class_shares(counts: FloatArray, class_weight: npt.ArrayLike | None, starts: npt.NDArray[np.intp]) -> FloatArray:
    """pi_k, shape (K, 1), or (K, T) when taken from each column's own rows; equal if there are no rows."""
    if class_weight is None:
        weight = _spread(_sum_by_column(counts, starts), starts)
    else:
        weight = np.asarray(class_weight, dtype=np.float64).reshape(-1, 1)
    total = np.broadcast_to(weight.sum(axis=0), weight.shape)
    return _ratio(weight, total, 1.0 / len(counts))


def _ratio(part: FloatArray, whole: FloatArray, otherwise: FloatArray | float) -> FloatArray:
    """part / whole, and `otherwise` where there is nothing to divide by."""
    some = whole > 0
    return np.where(some, part / np.where(some, whole, 1.0), otherwise)


def _log(probability: FloatArray) -> FloatArray:
    some = probability > 0
    return np.maximum(np.where(some, np.log(np.where(some, probability, 1.0)), LOG_ZERO), LOG_ZERO)


def log_variance(mass: FloatArray, total: FloatArray | None = None) -> FloatArray:
    """Posterior variance of the logarithm of a probability whose cell holds ``mass`` of ``total``; infinite of none.

    Dirichlet: trigamma(mass) - trigamma(total), or the first alone where what is shared drops out. A cell of less than
    half a count is taken for one of half a count, Jeffreys' prior (4.9): the logarithm then has a long tail to the
    left, which a symmetric interval of hundreds of nats would show on both sides.

    Examples
    --------
    >>> log_variance(np.array([100.0, 1.0, 0.5, 0.01, 0.0])).round(2)
    array([0.01, 1.64, 4.93, 4.93,  inf])
    >>> log_variance(np.array([0.01, 3.0]), np.array([4.0, 4.0])).round(2)
    array([4.69, 0.11])
    """
    held = np.maximum(mass, 0.5)
    shared = 0.0 if total is None else trigamma(total + (held - mass))
    return np.where(mass > 0, trigamma(held) - shared, np.inf)


def trigamma(x: FloatArray) -> FloatArray:
    """The second derivative of log gamma, infinite at zero: Hurwitz's zeta(2, x), faster than polygamma."""
    some = x > 1e-150
    return np.where(some, zeta(2.0, np.where(some, x, 1.0)), np.inf)


def _sum_by_column(table: FloatArray, starts: npt.NDArray[np.intp]) -> FloatArray:
    """Sum a flat table (K, T) over each column's levels, (K, P); a column without levels has sum zero."""
    occupied = np.diff(starts) > 0
    sums = np.zeros((len(table), len(occupied)))
    if occupied.any():
        sums[:, occupied] = np.add.reduceat(table, starts[:-1][occupied], axis=1)
    return sums


def _spread(by_column: FloatArray, starts: npt.NDArray[np.intp]) -> FloatArray:
    """Repeat a value per column (K, P) for each of its levels, (K, T)."""
    return np.repeat(by_column, np.diff(starts), axis=1)
