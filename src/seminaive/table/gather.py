"""Rows in one place: methods that need all scores at once gather a limited number of rows, always the same ones.

Which rows depends on their number in the table and on the seed, never on where the blocks are or how they are cut.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from seminaive.table.block import BLOCK_ROWS, Block
from seminaive.table.fold import MemoryBlocks
from seminaive.table.schema import Integers, Schema
from seminaive.table.table import Table

MOST_ROWS = 50_000
"""More rows are represented by a seeded sample of this many."""
assert MOST_ROWS <= BLOCK_ROWS


@dataclass(frozen=True, eq=False)
class Rows:
    """Rows of a table in one block, sorted by class and then by their number in the table.

    Attributes
    ----------
    schema : Schema
    block : Block
    numbers : int array
        Where each row stands in the table.
    """

    schema: Schema
    block: Block
    numbers: Integers

    @property
    def labels(self) -> Integers:
        """The class code of each row."""
        return np.repeat(self.block.classes, np.diff(self.block.starts))

    def where(self, chosen: npt.NDArray[np.bool_]) -> Rows:
        """Some of the rows."""
        return Rows(self.schema, _pick(self.block, chosen), self.numbers[chosen])

    def as_table(self) -> Table:
        """The rows as a table of one block in memory."""
        return Table(self.schema, MemoryBlocks((self.block,)))


def gather_rows(table: Table, seed: int, most: int = MOST_ROWS, n_jobs: int | None = None) -> Rows:
    """All rows of a table, or, beyond ``most``, a simple random sample of them."""
    n = table.n_rows
    chosen = None if n <= most else np.sort(np.random.default_rng(seed).choice(n, most, replace=False))
    parts = [part for part in table.map(_numbered, chosen, n_jobs=n_jobs) if part[0].n_rows]
    if not parts:
        raise ValueError("no row is left to learn from")
    blocks = [block for block, _ in parts]
    numbers = np.concatenate([number for _, number in parts])
    labels = np.concatenate([np.repeat(block.classes, np.diff(block.starts)) for block in blocks])
    order = np.lexsort((numbers, labels))
    weighted = any(block.weights is not None for block in blocks)
    weights = [np.ones(block.n_rows) if block.weights is None else block.weights for block in blocks]
    classes, counts = np.unique(labels, return_counts=True)
    block = Block(
        codes8=np.concatenate([block.codes8 for block in blocks], axis=1)[:, order],
        codes16=np.concatenate([block.codes16 for block in blocks], axis=1)[:, order],
        values=np.concatenate([block.values for block in blocks], axis=1)[:, order],
        weights=np.concatenate(weights)[order] if weighted else None,
        starts=np.concatenate([[0], np.cumsum(counts)]).astype(np.int64),
        classes=classes,
        folds=np.zeros_like(classes),
        order=np.arange(len(order), dtype=np.uint16),
        first_row=0,
    )
    return Rows(table.schema, block, numbers[order])


def without_rows(table: Table, numbers: Integers, n_jobs: int | None = None) -> Table:
    """The table without the rows of these numbers."""
    return Table(table.schema, table.blocks.transform(_leave_out, np.sort(numbers), n_jobs=n_jobs))


def _row_numbers(block: Block) -> Integers:
    within = np.arange(block.n_rows) if block.order is None else block.order.astype(np.int64)
    return block.first_row + within


def _numbered(block: Block, chosen: Integers | None) -> tuple[Block, Integers]:
    numbers = _row_numbers(block)
    if chosen is None:
        return block, numbers
    keep = np.isin(numbers, chosen, assume_unique=True)
    return _pick(block, keep), numbers[keep]


def _leave_out(block: Block, numbers: Integers) -> Block:
    return _pick(block, ~np.isin(_row_numbers(block), numbers, assume_unique=True))


def _pick(block: Block, keep: npt.NDArray[np.bool_]) -> Block:
    """Some rows of a block, in the same order; segments that lose all their rows go."""
    segment = np.repeat(np.arange(len(block.classes)), np.diff(block.starts))[keep]
    counts = np.bincount(segment, minlength=len(block.classes))
    some = counts > 0
    order: npt.NDArray[Any] = np.arange(block.n_rows, dtype=np.uint16) if block.order is None else block.order
    return replace(
        block,
        codes8=np.ascontiguousarray(block.codes8[:, keep]),
        codes16=np.ascontiguousarray(block.codes16[:, keep]),
        values=np.ascontiguousarray(block.values[:, keep]),
        weights=None if block.weights is None else block.weights[keep],
        starts=np.concatenate([[0], np.cumsum(counts[some])]).astype(np.int64),
        classes=block.classes[some],
        folds=block.folds[some],
        order=order[keep],
    )
