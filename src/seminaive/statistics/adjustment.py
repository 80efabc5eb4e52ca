"""What one value says about the class: tables of adjustments, from counts.

    g_k(v) = ln P(k|v) - ln P(k)                  the factor by which value v changes class k's probability
    q(v)   = logit P(C|v) - logit P(C)            the same as one number, for a class against the rest

Counts are (classes, values), the values of all columns side by side, column j from `starts[j]` to
`starts[j + 1]`. A value without any row says nothing: its entries are exactly 0.

Reference: Hong, Hosking and Natarajan (2002), IBM Research Report RC 22393, eq. 5, 10 and 13.
"""

from typing import Literal

import numpy as np
import numpy.typing as npt

__all__ = [
    "SmoothingKind",
    "class_adjustments",
    "density_adjustments",
    "density_log_odds",
    "left_out_log_odds",
    "log_odds_adjustments",
    "one_against_rest",
]

Float = npt.NDArray[np.float64]
Index = npt.NDArray[np.intp]
SmoothingKind = Literal["class", "likelihood", "half", "level", "pooled", "none"]

FLOOR = 1e-10  # no value makes a class more certain than this
CLIP = 8.0  # nor does a density ratio, in nats


def class_adjustments(
    counts: Float,
    starts: Index,
    prior: Float,
    smoothing: float | Literal["1/n"] = 1.0,
    kind: SmoothingKind = "class",
    rows: float | None = None,
) -> Float:
    """Table g_k(v) = ln P(k|v) - ln P(k), with P(k|v) from smoothed counts.

    Parameters
    ----------
    counts : (classes, values) array
        Weight of the training rows with each value, by class.
    starts : (columns + 1,) array
        Where each column's values begin, and the total.
    prior : (classes,) array
        P(k), never smoothed.
    smoothing : float or "1/n"
        L below; "1/n" is one over the number of training rows.
    kind : str
        With N_v the rows of value v, N_vk those of class k, n_k the column's rows of class k, K
        classes, `card` values:

        - "class": (N_vk + L K P(k)) / (N_v + L K), drawn towards the prior;
        - "half": (N_vk + L) / (N_v + L K), drawn towards equal classes;
        - "likelihood", "level": proportional to P(k) (N_vk + L) / (n_k + L card);
        - "pooled": proportional to P(k) (N_vk + L N_v / N) / (n_k + L), N the column's rows;
        - "none": N_vk / N_v.

        Every probability is then held between 1e-10 and 1 - 1e-10.
    rows : float, optional
        n for "1/n"; the largest column total unless given.

    Examples
    --------
    One column with the values unseen, missing, a, b: nobody lacked it, "a" speaks for the first class.

    >>> counts = np.array([[0, 0, 3, 1], [0, 0, 0, 4.0]])
    >>> class_adjustments(counts, np.array([0, 4]), np.array([0.5, 0.5])).round(3)
    array([[ 0.   ,  0.   ,  0.47 , -0.56 ],
           [ 0.   ,  0.   , -0.916,  0.357]])
    """
    inside, outside = _posterior(counts, starts, prior, smoothing, kind, rows)
    bounded = np.where(outside < FLOOR, 1 - FLOOR, np.maximum(inside, FLOOR))
    certain = outside < FLOOR
    with np.errstate(divide="ignore"):
        log_prior = np.log(prior)[:, None]
    table = np.where(certain, np.log1p(-FLOOR), np.log(bounded)) - log_prior
    silent = (counts.sum(axis=0) <= 0)[None] | (prior <= 0)[:, None]
    return np.asarray(np.where(silent, 0.0, table), dtype=np.float64)


def log_odds_adjustments(
    counts: Float,
    starts: Index,
    prior: Float,
    smoothing: float | Literal["1/n"] = 1.0,
    kind: SmoothingKind = "class",
    rows: float | None = None,
) -> Float:
    """Table q(v) = logit P(C|v) - logit P(C) for two classes, the second being C.

    Parameters are those of `class_adjustments`. An empty cell without smoothing has a logit of
    +-23.0258509298: both probabilities are formed from counts, and the smaller is replaced by 1e-10.

    Examples
    --------
    >>> counts = np.array([[2.0, 0.0], [0.0, 2.0]])
    >>> log_odds_adjustments(counts, np.array([0, 2]), np.array([0.5, 0.5]), 0, "none")
    array([-23.02585093,  23.02585093])
    """
    table = class_adjustments(counts, starts, prior, smoothing, kind, rows)
    return np.asarray(table[1] - table[0], dtype=np.float64)


def one_against_rest(counts: Float, k: int) -> Float:
    """Counts, or a prior, of class k (second) against all others together (first).

    >>> one_against_rest(np.array([0.2, 0.5, 0.3]), 1)
    array([0.5, 0.5])
    """
    return np.stack([np.delete(counts, k, axis=0).sum(axis=0), counts[k]])


def left_out_log_odds(
    counts: Float,
    starts: Index,
    prior_counts: Float,
    smoothing: float = 1.0,
    kind: SmoothingKind = "class",
) -> Float:
    """Table q(v) a row sees once it is itself left out: of its cell, its value's total and the prior.

    Returns (2, values): the first line for rows of the first class, the second for rows of C. For
    non-negative weights only: with free signs it does not help.

    >>> counts, rows = np.array([[3.0, 1.0], [1.0, 3.0]]), np.array([4.0, 4.0])
    >>> left_out_log_odds(counts, np.array([0, 2]), rows).round(3)
    array([[-0.575,  1.288],
           [-1.288,  0.575]])
    """
    out = np.zeros((2, counts.shape[1]))
    for own in range(2):
        less = prior_counts.astype(float).copy()
        less[own] -= 1
        for value in np.flatnonzero(counts[own] >= 1):
            column = int(np.searchsorted(starts, value, side="right")) - 1
            here = slice(starts[column], starts[column + 1])
            left = counts[:, here].astype(float).copy()
            left[own, value - here.start] -= 1
            bounds = np.array([0, left.shape[1]])
            table = log_odds_adjustments(left, bounds, less / less.sum(), smoothing, kind)
            out[own, value] = table[value - here.start]
    return out


def density_log_odds(log_density: Float, clip: float = CLIP) -> Float:
    """Log ratio of two densities (second over first), held between -clip and clip; 0 where x is missing.

    Examples
    --------
    >>> density_log_odds(np.array([[-1.0, -1.0, np.nan], [-3.0, -20.0, np.nan]]))
    array([-2., -8.,  0.])
    """
    with np.errstate(invalid="ignore"):
        difference = np.clip(log_density[1] - log_density[0], -clip, clip)
    return np.where(np.isnan(difference), 0.0, difference)


def density_adjustments(log_density: Float, prior: Float, clip: float = CLIP) -> Float:
    """Log densities (classes, rows) as adjustments: floored `clip` below the largest, centred by the prior.

    Examples
    --------
    >>> density_adjustments(np.array([[-1.0, np.nan], [-3.0, np.nan], [-20.0, np.nan]]), np.array([0.5, 0.5, 0]))
    array([[ 1.,  0.],
           [-1.,  0.],
           [-7.,  0.]])
    """
    known = np.where(np.isnan(log_density), 0.0, log_density)
    floored = np.maximum(known - known.max(axis=0), -clip)  # shifted first: densities may be of any size
    return np.asarray(floored - prior @ floored, dtype=np.float64)


def _posterior(
    counts: Float,
    starts: Index,
    prior: Float,
    smoothing: float | Literal["1/n"],
    kind: SmoothingKind,
    rows: float | None,
) -> tuple[Float, Float]:
    """P(k|v) and P(not k|v), both straight from counts so that neither is one minus the other."""
    counts = np.asarray(counts, dtype=float)
    classes = len(counts)
    width = np.diff(starts)
    total = np.add.reduceat(np.pad(counts, ((0, 0), (0, 1))), starts[:-1], axis=1)[:, : len(width)]
    if smoothing == "1/n":
        smoothing = 1.0 / (rows if rows is not None else max(total.sum(axis=0).max(initial=0.0), 1.0))
    if smoothing < 0:
        raise ValueError(f"smoothing must be 0 or more, got {smoothing}.")
    per_value = np.repeat(total, width, axis=1)
    of_value = counts.sum(axis=0)
    if kind == "class":
        mass = counts + smoothing * classes * prior[:, None]
    elif kind == "half":
        mass = counts + smoothing
    elif kind in ("likelihood", "level"):
        seen = np.add.reduceat(np.pad((of_value > 0).astype(float), (0, 1)), starts[:-1])[: len(width)]
        size = per_value + smoothing * np.repeat(seen, width)
        mass = prior[:, None] * _ratio(counts + smoothing, size)
    elif kind == "pooled":
        share = _ratio(of_value, per_value.sum(axis=0))
        mass = prior[:, None] * _ratio(counts + smoothing * share, per_value + smoothing)
    elif kind == "none":
        mass = counts
    else:
        raise ValueError(
            f"smoothing_kind must be 'class', 'half', 'likelihood', 'level', 'pooled' or 'none', got {kind!r}."
        )
    whole = mass.sum(axis=0)
    others = whole - mass
    largest = mass.argmax(axis=0)[None]  # only here would the difference lose digits
    rest = mass.copy()
    np.put_along_axis(rest, largest, 0.0, axis=0)
    np.put_along_axis(others, largest, rest.sum(axis=0)[None], axis=0)
    return _ratio(mass, whole), _ratio(others, whole)


def _ratio(over: Float, under: Float) -> Float:
    return np.divide(over, under, out=np.zeros(np.broadcast(over, under).shape), where=under > 0)
