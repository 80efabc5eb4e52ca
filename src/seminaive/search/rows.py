"""The rows of a search in one place: what a search along a path looks at hundreds of times.

A search needs the scores of all its rows at every step, so it gathers the rows' codes and values into one block sorted
by class. Above a number of rows it takes a random sample, the same for the same seed wherever the blocks are.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import numpy.typing as npt

from seminaive.table.block import Block
from seminaive.table.fold import MemoryBlocks
from seminaive.table.schema import Schema
from seminaive.table.table import Table


def gather_rows(table: Table, most: int, seed: int = 0) -> Block:
    """All rows of a table in one block, sorted by class; a random sample of about ``most`` of them if there are more.

    Every row has the same chance; each block draws its own rows, so nothing else ever leaves the blocks.
    """
    share = min(1.0, most / max(table.n_rows, 1))
    return join_blocks(list(table.map(_drawn, share, seed)))


def _drawn(block: Block, share: float, seed: int) -> Block:
    if share >= 1.0:
        return block
    keep = np.random.default_rng([seed, block.first_row]).random(block.n_rows) < share
    return take_rows(block, np.flatnonzero(keep))


def join_blocks(blocks: Sequence[Block]) -> Block:
    """One block, its rows sorted by class and within a class in the order they came."""
    weighted = any(block.weights is not None for block in blocks)
    weights = [np.ones(block.n_rows) if block.weights is None else block.weights for block in blocks]
    together = Block(
        np.concatenate([block.codes8 for block in blocks], axis=1),
        np.concatenate([block.codes16 for block in blocks], axis=1),
        np.concatenate([block.values for block in blocks], axis=1),
        np.concatenate(weights) if weighted else None,
        *_segments(np.concatenate([row_classes(block) for block in blocks])),
        order=None,
        first_row=0,
    )
    order = np.argsort(row_classes(together), kind="stable")
    return take_rows(together, order)


def row_classes(block: Block) -> npt.NDArray[np.int64]:
    """The class of each row of a block."""
    return np.repeat(block.classes, np.diff(block.starts))


def take_rows(block: Block, rows: npt.NDArray[np.int64]) -> Block:
    """The given rows of a block, in the given order."""
    starts, classes, folds = _segments(row_classes(block)[rows])
    return replace(
        block,
        codes8=np.ascontiguousarray(block.codes8[:, rows]),
        codes16=np.ascontiguousarray(block.codes16[:, rows]),
        values=np.ascontiguousarray(block.values[:, rows]),
        weights=None if block.weights is None else block.weights[rows],
        starts=starts,
        classes=classes,
        folds=folds,
        order=None,
    )


def as_table(schema: Schema, block: Block) -> Table:
    """A table of one block."""
    return Table(schema, MemoryBlocks((block,)))


def stratified_folds(classes: npt.NDArray[np.int64], n_folds: int, seed: int) -> npt.NDArray[np.int64]:
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


def _segments(
    classes: npt.NDArray[np.int64],
) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64], npt.NDArray[np.int64]]:
    changes = np.flatnonzero(np.diff(classes)) + 1
    starts = np.concatenate([[0], changes, [len(classes)]]).astype(np.int64)
    if len(classes) == 0:
        starts = np.zeros(1, dtype=np.int64)
    of = classes[starts[:-1]]
    return starts, of, np.zeros_like(of)
