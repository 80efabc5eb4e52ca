"""Search problems built from codes by counting, for the tests of the search room."""

import numpy as np

from seminaive.search.problem import SearchProblem, arrange_rows


def tables_from(codes, y, n_levels, n_classes, weights=None, alpha=1.0):
    """Log tables (K, T) with codes 0 (unseen) and 1 (missing) saying nothing, and the log prior."""
    weights = np.ones(len(y)) if weights is None else weights
    offsets = np.concatenate([[0], np.cumsum(np.asarray(n_levels) + 2)])
    tables = np.zeros((n_classes, offsets[-1]))
    totals = np.bincount(y, weights, n_classes)
    for p, levels in enumerate(n_levels):
        for k in range(n_classes):
            counts = np.bincount(codes[p][y == k], weights[y == k], levels + 2)[2:]
            tables[k, offsets[p] + 2 : offsets[p + 1]] = np.log((counts + alpha) / (counts.sum() + levels * alpha))
    with np.errstate(divide="ignore"):
        return tables, np.maximum(np.log(totals / totals.sum()), -700), offsets


def problem_from(codes, y, n_levels=None, *, fit=None, rows=None, folds=None, weights=None, alpha=1.0, **others):
    """Tables from the rows ``fit``, criterion on ``rows``; with ``folds``, tables of the other folds."""
    codes = np.asarray(codes, dtype=np.uint8)
    y = np.asarray(y)
    n_classes = y.max() + 1
    n_levels = [int(c.max()) - 1 for c in codes] if n_levels is None else n_levels
    every = np.arange(len(y))
    fit = every if fit is None else fit
    rows = every if rows is None else rows
    parts = [fit] if folds is None else [every[folds != f] for f in range(folds.max() + 1)]
    learned = [
        tables_from(codes[:, part], y[part], n_levels, n_classes, None if weights is None else weights[part], alpha)
        for part in parts
    ]
    order, segments = arrange_rows(y[rows], None if folds is None else folds[rows])
    return SearchProblem(
        segments,
        np.stack([prior for _, prior, _ in learned]),
        np.ascontiguousarray(codes[:, rows][:, order]),
        np.stack([tables for tables, _, _ in learned]),
        learned[0][2],
        weights=None if weights is None else weights[rows][order],
        **others,
    )


def binary_codes(columns):
    """Strings of 0 and 1 to codes 2 and 3."""
    return np.array([[int(c) + 2 for c in column] for column in columns], dtype=np.uint8)
