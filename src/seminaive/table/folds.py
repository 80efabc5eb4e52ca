"""Rows dealt to folds at random, every class spread evenly: for methods that hold rows out."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import accumulate

import numpy as np

from seminaive.table.block import Block, take_rows
from seminaive.table.sample import hashed
from seminaive.table.schema import Integers
from seminaive.table.table import Table

Ranks = dict[int, Integers]
"""How many rows of each class come before each block, by its ``first_row``."""


def hold_out_in_turn(table: Table, n_folds: int, seed: int, n_jobs: int | None = None) -> Iterator[tuple[Table, Table]]:
    """For each fold in turn the rows outside it, and those in it, where the table lives.

    Every class is spread evenly. Which fold a row is in depends on the seed and on how many rows of its class come
    before it, never on blocks: each ``n_folds`` successive rows of a class are dealt to all the folds.
    """
    parts = list(table.map(_class_sizes, table.schema.n_classes, n_jobs=n_jobs))
    *before, _ = accumulate((sizes for _, sizes in parts), initial=np.zeros(table.schema.n_classes, dtype=np.int64))
    ranks = dict(zip((first for first, _ in parts), before, strict=True))
    for fold in range(n_folds):
        training, held_out = (
            Table(table.schema, table.blocks.transform(_part, ranks, n_folds, seed, fold, inside, n_jobs=n_jobs))
            for inside in (False, True)
        )
        yield training, held_out


def _class_sizes(block: Block, n_classes: int) -> tuple[int, Integers]:
    sizes = np.zeros(n_classes, dtype=np.int64)
    np.add.at(sizes, block.classes, np.diff(block.starts))
    return block.first_row, sizes


def _part(block: Block, ranks: Ranks, n_folds: int, seed: int, fold: int, inside: bool) -> Block:
    of_row = np.empty(block.n_rows, dtype=np.int64)
    order = np.arange(block.n_rows) if block.order is None else block.order.astype(np.int64)
    dealt = ranks[block.first_row].copy()
    for k in np.unique(block.classes):
        rows = np.concatenate(
            [np.arange(block.starts[s], block.starts[s + 1]) for s in np.flatnonzero(block.classes == k)]
        )
        rows = rows[np.argsort(order[rows], kind="stable")]
        of_row[rows] = _deal(dealt[k] + np.arange(len(rows)), n_folds, seed + int(k))
    return take_rows(block, np.flatnonzero((of_row == fold) == inside))


def _deal(ranks: Integers, n_folds: int, seed: int) -> Integers:
    """The fold of each row of a class: every group of ``n_folds`` successive rows in an order of its own.

    Examples
    --------
    >>> np.sort(_deal(np.arange(5, 10), 5, seed=1)).tolist()
    [0, 1, 2, 3, 4]
    """
    groups = np.unique(ranks // n_folds)
    members = hashed(groups[:, None] * n_folds + np.arange(n_folds), seed).argsort(axis=1, kind="stable")
    return np.asarray(members[np.searchsorted(groups, ranks // n_folds), ranks % n_folds])


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
