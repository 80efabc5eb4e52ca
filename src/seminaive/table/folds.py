"""Rows dealt to folds at random, every class spread evenly: for methods that hold rows out."""

from __future__ import annotations

import numpy as np

from seminaive.table.schema import Integers


def stratified_folds(classes: Integers, n_folds: int, seed: int) -> Integers:
    """A random fold for each row; every class is spread evenly.

    Examples
    --------
    >>> folds = stratified_folds(np.array([0, 0, 0, 0, 1, 1]), 2, seed=1)
    >>> np.bincount(folds[:4]).tolist(), np.bincount(folds[4:]).tolist()
    ([2, 2], [1, 1])
    """
    rng = np.random.default_rng(seed)
    folds = np.empty(len(classes), dtype=np.int64)
    dealt = 0
    for k in np.unique(classes):
        rows = rng.permutation(np.flatnonzero(classes == k))
        folds[rows] = (dealt + np.arange(len(rows))) % n_folds
        dealt += len(rows)
    return folds


def stratified_share(classes: Integers, share: float, seed: int) -> Integers:
    """1 for a random share of the rows of each class, as near as whole rows come; 0 for the others.

    Examples
    --------
    >>> chosen = stratified_share(np.array([0, 0, 0, 0, 1, 1]), 0.5, seed=1)
    >>> int(chosen[:4].sum()), int(chosen[4:].sum())
    (2, 1)
    """
    rng = np.random.default_rng(seed)
    chosen = np.zeros(len(classes), dtype=np.int64)
    for k in np.unique(classes):
        rows = rng.permutation(np.flatnonzero(classes == k))
        chosen[rows[: round(share * len(rows))]] = 1
    return chosen
