"""How much one column tells about another, from counts: natural logarithms, plain frequencies.

H(X) = - sum of p(x) log p(x)            I(X; Y) = sum of p(x, y) log [p(x, y) / (p(x) p(y))]
symmetric uncertainty = 2 I(X; Y) / (H(X) + H(Y)), between 0 and 1
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from seminaive.kernels.filters import pair_information

__all__ = [
    "entropy",
    "mutual_information",
    "pairwise_information",
    "symmetric_uncertainty",
]

Floats = npt.NDArray[np.float64]
Integers = npt.NDArray[np.int64]
Codes = npt.NDArray[np.uint8] | npt.NDArray[np.uint16]


def _x_log_x(counts: npt.ArrayLike) -> Floats:
    counts = np.asarray(counts, dtype=np.float64)
    return counts * np.log(np.where(counts > 0, counts, 1.0))


def entropy(counts: npt.ArrayLike, offsets: npt.ArrayLike | None = None) -> Floats:
    """Entropy of one distribution, or of one per column.

    Parameters
    ----------
    counts : (T,) array
        How often each value occurs.
    offsets : (P + 1,) ints, optional
        The values of column p are ``counts[offsets[p]:offsets[p + 1]]``; all are of one column if left out.

    Examples
    --------
    >>> entropy([5, 5, 10]).round(4), entropy([5, 5, 10], [0, 2, 3]).round(4)
    (array([1.0397]), array([0.6931, 0.    ]))
    """
    values = np.asarray(counts, dtype=np.float64)
    at = np.array([0, len(values)]) if offsets is None else np.asarray(offsets)
    totals = _sums(values, at)
    inner = _sums(_x_log_x(values), at)
    n = np.where(totals > 0, totals, 1.0)
    return np.maximum(np.log(n) - inner / n, 0.0)


def _sums(values: Floats, offsets: npt.NDArray[np.integer]) -> Floats:
    """Sums over the last axis between offsets; columns without values get 0."""
    running = np.concatenate([np.zeros((*values.shape[:-1], 1)), np.cumsum(values, axis=-1)], axis=-1)
    if not np.all(np.diff(offsets) > 0):
        return np.asarray(running[..., offsets[1:]] - running[..., offsets[:-1]])
    return np.add.reduceat(values, offsets[:-1], axis=-1)


def mutual_information(counts: npt.ArrayLike, offsets: npt.ArrayLike) -> Floats:
    """Mutual information of every column with the class.

    Parameters
    ----------
    counts : (K, T) array
        How often each level of each column occurs in each class.
    offsets : (P + 1,) ints
        Levels of column p are ``counts[:, offsets[p]:offsets[p + 1]]``. Leave out the counts of missing
        values, by setting them to 0, to judge a column by its known values.

    Examples
    --------
    >>> mutual_information([[4, 1, 3, 2], [1, 4, 3, 2]], [0, 2, 4]).round(4)
    array([0.1927, 0.    ])
    """
    table = np.asarray(counts, dtype=np.float64)
    at = np.asarray(offsets)
    by_class = _sums(table, at)
    n = by_class.sum(axis=0)
    safe = np.where(n > 0, n, 1.0)
    joint = _sums(_x_log_x(table).sum(axis=0), at)
    levels = _sums(_x_log_x(table.sum(axis=0)), at)
    classes = _x_log_x(by_class).sum(axis=0)
    information: Floats = np.maximum((joint - levels - classes) / safe + np.log(safe), 0.0)
    return information


def symmetric_uncertainty(counts: npt.ArrayLike, offsets: npt.ArrayLike) -> Floats:
    """Symmetric uncertainty of every column with the class; 0 for a constant column.

    Parameters
    ----------
    counts, offsets
        See `mutual_information`.

    Examples
    --------
    >>> symmetric_uncertainty([[4, 1, 5, 0], [1, 4, 5, 0]], [0, 2, 4]).round(4)
    array([0.2781, 0.    ])
    """
    table = np.asarray(counts, dtype=np.float64)
    at = np.asarray(offsets)
    by_class = _sums(table, at)
    K = len(table)
    of_class = entropy(by_class.T.ravel(), np.arange(0, K * (len(at) - 1) + 1, K))
    both = entropy(table.sum(axis=0), at) + of_class
    return np.asarray(2.0 * mutual_information(table, at) / np.where(both > 0, both, 1.0))


def pairwise_information(codes: Codes, weights: Floats | None = None) -> Floats:
    """Mutual information of every pair of columns; entropies on the diagonal.

    All pair counts come from one matrix product of indicators, one per level but the last of each column.

    Parameters
    ----------
    codes : (P, n) array
        Every code that occurs is a level.
    weights : (n,) floats, optional

    Examples
    --------
    >>> codes = np.array([[2, 2, 3, 3], [3, 3, 2, 2], [2, 3, 2, 3]], dtype=np.uint8)
    >>> pairwise_information(codes).round(4)
    array([[0.6931, 0.6931, 0.    ],
           [0.6931, 0.6931, 0.    ],
           [0.    , 0.    , 0.6931]])
    """
    n_rows = codes.shape[1]
    occurring = [np.unique(row) for row in codes]
    starts = np.concatenate([[0], np.cumsum([len(levels) - 1 for levels in occurring])]).astype(np.int64)
    # counts below 2 ** 24 are exact in float32, where the product is twice as fast
    kind: type[np.floating] = np.float32 if weights is None and n_rows < 2**24 else np.float64
    indicators = np.empty((starts[-1], n_rows), dtype=kind)
    for p, levels in enumerate(occurring):
        indicators[starts[p] : starts[p + 1]] = codes[p] == levels[:-1, None]
    row_weights = np.ones(n_rows) if weights is None else np.asarray(weights, dtype=np.float64)
    weighted = indicators if weights is None else indicators * row_weights
    product = weighted @ indicators.T
    margins = (
        indicators.astype(np.float64) @ row_weights if weights is not None else np.diag(product).astype(np.float64)
    )
    last = np.array([row_weights[row == levels[-1]].sum() for row, levels in zip(codes, occurring, strict=True)])
    out = np.empty((len(codes), len(codes)))
    pair_information(product, margins, starts, last, float(row_weights.sum()), out)
    return out
