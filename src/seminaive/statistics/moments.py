"""Counts, means and spreads that can be merged, and taken apart again, without losing digits.

A class's rows in a column are summed up by their number n, their mean and M2 = sum (x - mean)^2. Two groups
merge by Chan's rule, with d = mean_b - mean_a:

    n = n_a + n_b     mean = mean_a + d n_b / n     M2 = M2_a + M2_b + d^2 n_a n_b / n

and the same rule solved for one group forgets rows. Forgetting cancels: what is left can be a millionth of
what was there. So mean and M2 are kept as pairs of float64 (31 digits) together with a bound on their
error, and `check_digits` says when too few digits are left.

Reference: Chan, Golub and LeVeque, "Algorithms for computing the sample variance" (1983).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields

import numpy as np
import numpy.typing as npt

from seminaive.statistics import double_double as dd
from seminaive.statistics.double_double import PAIR_ROUNDING

FloatArray = npt.NDArray[np.float64]

_EPSILON = float(np.finfo(np.float64).eps)
_DIGITS = 1e-9


@dataclass(frozen=True)
class Moments:
    """Number, mean and sum of squared deviations per class (rows) and column.

    Parameters
    ----------
    count : array of shape (K, P)
        Rows (or weight) with a value.
    mean, mean_low : arrays of shape (K, P)
        The mean is `mean + mean_low`; `mean` alone is its nearest float64. Zero where nothing was seen.
    m2, m2_low : arrays of shape (K, P)
        Sum of squared deviations from the mean, `m2 + m2_low`. Spreads below 1e-140 count as zero.
    error, mean_error, count_error : arrays of shape (K, P)
        Bounds on the absolute errors of M2, mean and count. Zero means exact: counts of unweighted rows,
        and mean and M2 of equal values.

    See Also
    --------
    check_digits : refuse results that have lost too many digits.

    Examples
    --------
    >>> import numpy as np
    >>> a = moments_of(np.array([[1.0, 2.0], [3.0, 2.0]]), [0, 0], 1)
    >>> b = moments_of(np.array([[5.0, 2.0]]), [0], 1)
    >>> (a + b).mean
    array([[3., 2.]])
    >>> (a + b).variance().round(12)
    array([[2.66666667, 0. ]])
    >>> subtract(a + b, b).mean
    array([[2., 2.]])
    """

    count: FloatArray
    mean: FloatArray
    mean_low: FloatArray
    m2: FloatArray
    m2_low: FloatArray
    error: FloatArray
    mean_error: FloatArray
    count_error: FloatArray

    def __add__(self, other: Moments) -> Moments:
        return merge(self, other)

    def __len__(self) -> int:
        return len(self.count)

    def __getitem__(self, rows: npt.NDArray[np.intp] | slice) -> Moments:
        """Return the given rows (classes)."""
        return Moments(*(array[rows] for array in arrays(self)))

    def variance(self, ddof: int = 0) -> FloatArray:
        """Return M2 / (n - ddof), NaN where there are too few rows for it."""
        left = self.count - ddof
        enough = left > 0
        result = (self.m2 + self.m2_low) / np.where(enough, left, 1.0)
        return np.where(enough, np.maximum(result, 0.0), np.nan)


def arrays(moments: Moments) -> tuple[FloatArray, ...]:
    """Return the arrays of `moments` in the order of its fields (to store them, say)."""
    return tuple(getattr(moments, field.name) for field in fields(moments))


def empty_moments(n_classes: int, n_columns: int) -> Moments:
    """Return the moments of no rows, the zero of `+`."""
    return Moments(*(np.zeros((n_classes, n_columns)) for _ in fields(Moments)))


def from_segments(
    count: FloatArray, mean: FloatArray, mean_low: FloatArray, m2: FloatArray, *, weighted: bool = False
) -> Moments:
    """Return what `kernels.moments` measured, arrays (segments, columns), with the error bounds of its sums.

    `weighted` says that the weighted kernel was used, whose products and counts are rounded.
    """
    spread = np.sqrt(m2 / np.where(count > 0, count, 1.0))
    # A compensated sum of m terms is off by at most (m eps)^2, and m is n / 64 plus the 64 lanes. Weights can add up
    # to far more than there are rows.
    sum_rounding = ((np.minimum(count, 1e9) / 64 + 64) * _EPSILON) ** 2
    # Unweighted, each squared deviation is rounded three times; weights add two roundings, and round the
    # mean too.
    mean_error = sum_rounding * (np.abs(mean) + spread) + (4 * _EPSILON * spread if weighted else 0.0)
    return Moments(
        count,
        mean,
        mean_low,
        m2,
        np.zeros_like(m2),
        (4 if weighted else 2) * _EPSILON * m2,
        np.where(m2 > 0, mean_error, 0.0),
        _EPSILON * count if weighted else np.zeros_like(count),
    )


def moments_of(
    values: FloatArray,
    classes: npt.ArrayLike,
    n_classes: int,
    weights: FloatArray | None = None,
) -> Moments:
    """Return the moments of a table of values (rows, columns) per class; NaN is missing.

    For small tables at hand; blocks are summed up by the kernels.
    """
    from seminaive.kernels.moments import segment_moments, segment_moments_weighted

    labels = np.asarray(classes, dtype=np.int64)
    order = np.argsort(labels, kind="stable")
    present = np.arange(n_classes, dtype=np.int64)
    starts = np.searchsorted(labels[order], np.arange(n_classes + 1)).astype(np.int64)
    results = np.zeros((4, values.shape[1], n_classes))
    for column, into in enumerate(results.transpose(1, 0, 2)):
        row = np.ascontiguousarray(values[order, column], dtype=np.float64)
        if weights is None:
            segment_moments(row, starts, present, *into)
        else:
            share = np.ascontiguousarray(weights[order], dtype=np.float64)
            segment_moments_weighted(row, share, starts, present, *into)
    count, mean, mean_low, m2 = (np.ascontiguousarray(result.T) for result in results)
    return from_segments(count, mean, mean_low, m2, weighted=weights is not None)


def merge(a: Moments, b: Moments) -> Moments:
    """Return the moments of the rows of `a` and `b` together; `a + b` is the same."""
    count, rounding = dd.sum_exactly(a.count, b.count)
    count_error = a.count_error + b.count_error + np.abs(rounding)
    return _combine(a, b, b.count, count, count_error, sign=1.0)


def subtract(a: Moments, b: Moments) -> Moments:
    """Return the moments of the rows of `a` without those of `b`, which must be among them.

    Raises ValueError where `b` has more rows than `a`. A group that becomes empty is zero exactly, one that
    is left with a single row has M2 = 0 exactly. Call `check_digits` on the result before using it.
    """
    count, rounding = dd.sum_exactly(a.count, -b.count)
    count_error = a.count_error + b.count_error + np.abs(rounding)
    too_many = count < -count_error
    if np.any(too_many):
        k, p = np.argwhere(too_many)[0]
        raise ValueError(
            f"Cannot forget {b.count[k, p]:g} rows of class number {k} in column number {p}: "
            f"only {a.count[k, p]:g} were learned; forget only rows that were learned before."
        )
    left = _combine(a, b, -b.count, count, count_error, sign=-1.0)
    # Weights like .1 do not add up exactly: a remainder within the error of the count is nothing.
    gone = count <= count_error
    single = ~gone & (left.count == 1.0) & (left.count_error == 0.0)
    cleared = Moments(*(np.where(gone, 0.0, array) for array in arrays(left)))
    zeroed = {name: np.where(single, 0.0, getattr(cleared, name)) for name in ("m2", "m2_low", "error")}
    return Moments(
        cleared.count,
        cleared.mean,
        cleared.mean_low,
        zeroed["m2"],
        zeroed["m2_low"],
        zeroed["error"],
        cleared.mean_error,
        cleared.count_error,
    )


def _combine(
    a: Moments, b: Moments, moved: FloatArray, count: FloatArray, count_error: FloatArray, sign: float
) -> Moments:
    """Chan's rule: merge for sign = 1 and moved = n_b; forget for sign = -1 and moved = -n_b."""
    divisor = np.where(count > 0, count, 1.0)
    moved = np.where(count > 0, moved, 0.0)
    zero = np.zeros_like(count)
    # An empty group has no mean of its own; giving it the other's makes the result that other group exactly.
    mean_a = (np.where(a.count > 0, a.mean, b.mean), np.where(a.count > 0, a.mean_low, b.mean_low))
    mean_b = (np.where(b.count > 0, b.mean, mean_a[0]), np.where(b.count > 0, b.mean_low, mean_a[1]))
    distance = dd.add(mean_b, dd.negative(mean_a))
    step = dd.divide(dd.multiply(distance, (moved, zero)), divisor)
    mean = dd.add(mean_a, step)
    # distance x step first: the largest product is then the result itself.
    between = dd.multiply(dd.multiply(step, (a.count, zero)), distance)
    within = dd.add((a.m2, a.m2_low), (sign * b.m2, sign * b.m2_low))
    m2 = dd.add(within, between)

    far = np.abs(distance[0])
    share = np.abs(moved) / divisor
    relative = count_error / divisor
    mean_error = (
        (a.count * a.mean_error + np.abs(moved) * b.mean_error) / divisor
        + far * (1.0 + share) * relative
        + np.where(far > 0, PAIR_ROUNDING * (np.abs(mean_a[0]) + far * (1.0 + share)), 0.0)
    )
    off = a.mean_error + b.mean_error
    factor = a.count * share
    between_error = factor * (2.0 * far * off + off * off) + np.abs(between[0]) * (3.0 * relative)
    rounding = PAIR_ROUNDING * (a.m2 + b.m2 + np.abs(between[0]))
    error = a.error + b.error + between_error + rounding
    positive = m2[0] > 0.0
    return Moments(
        count,
        mean[0],
        mean[1],
        np.where(positive, m2[0], 0.0),
        np.where(positive, m2[1], 0.0),
        error,
        mean_error,
        count_error,
    )


def columns_of(moments: Moments, columns: npt.NDArray[np.intp]) -> Moments:
    """Return the moments of some columns."""
    return Moments(*(part[:, columns] for part in arrays(moments)))


def pooled(moments: Moments) -> Moments:
    """Return the moments over all classes, arrays of shape (1, P)."""
    return reclass(moments, np.zeros(len(moments), dtype=np.intp), 1)


def reclass(moments: Moments, index: npt.ArrayLike, n_classes: int) -> Moments:
    """Return moments on another class axis: row k goes to row `index[k]`.

    Rows with the same index are merged, in order; a negative index leaves the row out; rows nobody goes to
    are empty. So segments become classes, and classes take their place among more classes.
    """
    places = np.asarray(index, dtype=np.intp)
    # In round r, the r-th row of every place is merged into it: as many rounds as rows in the fullest place.
    rows = np.flatnonzero(places >= 0)
    rows = rows[np.argsort(places[rows], kind="stable")]
    goal = places[rows]
    turn = np.arange(len(rows)) - np.searchsorted(goal, goal)
    result = empty_moments(n_classes, moments.count.shape[1])
    for now in range(int(turn.max(initial=-1)) + 1):
        into = goal[turn == now]
        merged = merge(result[into], moments[rows[turn == now]])
        for whole, part in zip(arrays(result), arrays(merged), strict=True):
            whole[into] = part
    return result


def check_digits(
    moments: Moments,
    names: Sequence[object] | None = None,
    labels: Sequence[object] | None = None,
    added: npt.ArrayLike = 0.0,
) -> None:
    """Raise ValueError where count, mean or M2 is no longer known to 1e-9.

    Count and M2 to 1e-9 of themselves, the mean to 1e-9 of the standard deviation (of itself, if there is
    none).

    Parameters
    ----------
    moments : Moments
        Mostly the result of `subtract`.
    names, labels : sequences, optional
        Columns and classes, for the message.
    added : array broadcastable to (K, P)
        What a prior adds to M2 (2 beta_0 for a Normal-Gamma prior): the promise is then about M2 + added.
    """
    m2 = moments.m2 + np.asarray(added, dtype=np.float64)
    spread = np.sqrt(m2 / np.where(moments.count > 0, moments.count, 1.0))
    scale = np.where(spread > 0, spread, np.abs(moments.mean))
    lost = (
        (moments.error > _DIGITS * m2)
        | (moments.mean_error > _DIGITS * scale)
        | (moments.count_error > _DIGITS * moments.count)
    ) & (moments.count > 0)
    if np.any(lost):
        k, p = np.argwhere(lost)[0]
        column = f"number {p}" if names is None else repr(names[p])
        label = f"number {k}" if labels is None else repr(labels[k])
        raise ValueError(
            f"After forgetting, mean and variance of column {column} in class {label} are no longer known "
            f"to nine digits ({moments.count[k, p]:g} rows are left); fit again on the remaining rows."
        )
