"""Rows dealt to folds, every class spread evenly: for methods that hold rows out."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from itertools import accumulate
from typing import Any
from zlib import crc32

import numpy as np
import numpy.typing as npt

from seminaive.table.block import Block, codes_of, row_weights, take_rows
from seminaive.table.gather import GatheredRows, as_table, gather_rows
from seminaive.table.sample import hashed
from seminaive.table.schema import Floats, Integers
from seminaive.table.table import Table

Ranks = dict[int, Integers]
"""How many rows of each class come before each block, by its ``first_row``."""


FEW_ROWS = 20_000
"""Tables of at most so many rows are dealt by what the rows say; of larger ones, by where they stand."""


def hold_out_in_turn(table: Table, n_folds: int, seed: int, n_jobs: int | None = None) -> Iterator[tuple[Table, Table]]:
    """For each fold in turn the rows outside it, and those in it; every class is spread evenly.

    Up to 20,000 rows are gathered, and which fold a row is in depends on the seed and on what the row says: the order
    of rows, columns and classes does not matter, and, where all weights are whole numbers, a row of weight 2 is dealt
    like two rows, one copy to each of two folds. Larger tables stay where they live: each ``n_folds`` successive rows
    of a class are dealt to all the folds, whatever their weights.
    """
    if table.n_rows <= FEW_ROWS:
        return _in_turn_by_content(table, n_folds, seed, n_jobs)
    return _in_turn_by_place(table, n_folds, seed, n_jobs)


# --- few rows: by what they say ---------------------------------------------------------------------------------------


def _in_turn_by_content(table: Table, n_folds: int, seed: int, n_jobs: int | None) -> Iterator[tuple[Table, Table]]:
    rows = gather_rows(table, FEW_ROWS, seed, n_jobs)
    weights, classes, content = row_weights(rows.block), rows.labels, _content(rows, seed)
    whole = bool((weights == np.rint(weights)).all()) and weights.sum() < 2**53
    inside = np.zeros((n_folds, len(weights)))
    dealt = 0  # classes follow one another, those of one row too, so that folds are of a size
    for own in sorted(_by_class(classes, content), key=lambda own: int(content[own[0]])):
        inside[:, own] = _dealt(weights[own], n_folds, dealt % n_folds, whole)
        dealt += int(weights[own].sum()) if whole else len(own)
    for of_fold in inside:
        yield _weighing(rows, weights - of_fold), _weighing(rows, of_fold)


def _by_class(classes: Integers, content: npt.NDArray[np.uint64]) -> list[Integers]:
    """The rows of each class, in the order of what they say."""
    rows = [np.flatnonzero(classes == k) for k in np.unique(classes)]
    return [own[np.argsort(content[own], kind="stable")] for own in rows]


def _content(rows: GatheredRows, seed: int) -> npt.NDArray[np.uint64]:
    """A number for what each row says, the same for equal rows: a sum over the columns that vary, by their names."""
    block, schema = rows.block, rows.schema
    content = np.zeros(block.n_rows, dtype=np.uint64)
    for j, column in enumerate(schema.columns):
        if column.is_coded:
            said: npt.NDArray[Any] = codes_of(block, schema, j).astype(np.uint64)
        else:
            values = block.values[schema.layout.slot[j]]
            said = np.where(np.isnan(values), np.nan, values + 0.0).view(np.uint64)
        if (said != said[0]).any():
            content += hashed(hashed(said, seed), crc32(str(column.name).encode()))
    return content


def _dealt(weights: Floats, n_folds: int, first: int, whole: bool) -> Floats:
    """What each fold gets of each row, (folds, rows): copies in turn, or, if weights are not whole, rows in turn.

    Examples
    --------
    >>> _dealt(np.array([1.0, 3.0]), 2, first=1, whole=True)
    array([[0., 2.],
           [1., 1.]])
    >>> _dealt(np.array([0.5, 3.0]), 2, first=1, whole=False)
    array([[0. , 3. ],
           [0.5, 0. ]])
    """
    fold = np.arange(n_folds)[:, None]
    if not whole:
        return np.where((first + np.arange(len(weights))) % n_folds == fold, weights, 0.0)
    upto = first + np.concatenate([[0.0], np.cumsum(weights)])
    return np.asarray(np.diff((upto + (n_folds - 1 - fold)) // n_folds, axis=1))


def _weighing(rows: GatheredRows, weights: Floats) -> Table:
    """The rows with other weights; those of weight 0 are left out."""
    there = np.flatnonzero(weights > 0)
    some = replace(take_rows(rows.block, there), weights=None if (weights[there] == 1).all() else weights[there])
    return as_table(rows.schema, some)


# --- many rows: by where they stand -----------------------------------------------------------------------------------


def _in_turn_by_place(table: Table, n_folds: int, seed: int, n_jobs: int | None) -> Iterator[tuple[Table, Table]]:
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
