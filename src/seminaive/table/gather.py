"""Rows in one place: methods that look at the same rows again and again gather a limited number of them in one block.

Which rows depends on their number in the table and on the seed, never on where the blocks are or how they are cut.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from seminaive.table.block import Block, row_classes, row_weights, take_rows
from seminaive.table.fold import MemoryBlocks
from seminaive.table.sample import Before, count_before, drawn, row_numbers, share_limit
from seminaive.table.schema import Integers, Schema
from seminaive.table.table import Table


@dataclass(frozen=True, eq=False)
class GatheredRows:
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
        return row_classes(self.block)

    def where(self, chosen: npt.NDArray[np.bool_]) -> GatheredRows:
        """Some of the rows."""
        return GatheredRows(self.schema, take_rows(self.block, np.flatnonzero(chosen)), self.numbers[chosen])

    def as_table(self) -> Table:
        """The rows as a table of one block in memory."""
        return as_table(self.schema, self.block)


def as_table(schema: Schema, block: Block) -> Table:
    """A table of one block."""
    return Table(schema, MemoryBlocks((block,)))


def gather_rows(table: Table, most: int, seed: int, n_jobs: int | None = None) -> GatheredRows:
    """All rows of a table, or, if there are more than ``most``, a random sample of about that many."""
    total, before = count_before(table, n_jobs)
    limit = share_limit(most, total)
    parts = [part for part in table.map(_numbered, before, limit, seed, n_jobs=n_jobs) if part[0].n_rows]
    if not parts:
        raise ValueError("no row is left to learn from")
    joined = _join([block for block, _ in parts])
    numbers = np.concatenate([number for _, number in parts])
    order = np.lexsort((numbers, row_classes(joined)))
    return GatheredRows(table.schema, take_rows(joined, order), numbers[order])


def without_rows(table: Table, numbers: Integers, n_jobs: int | None = None) -> Table:
    """The table without the rows of these numbers."""
    _, before = count_before(table, n_jobs)
    return Table(table.schema, table.blocks.transform(_leave_out, before, np.sort(numbers), n_jobs=n_jobs))


def _numbered(block: Block, before: Before, limit: np.uint64 | None, seed: int) -> tuple[Block, Integers]:
    numbers = row_numbers(block, before)
    if limit is None:
        return block, numbers
    keep = np.flatnonzero(drawn(numbers, limit, seed))
    return take_rows(block, keep), numbers[keep]


def _leave_out(block: Block, before: Before, numbers: Integers) -> Block:
    keep = ~np.isin(row_numbers(block, before), numbers, assume_unique=True)
    return take_rows(block, np.flatnonzero(keep))


def _join(blocks: Sequence[Block]) -> Block:
    """All rows in one block, in the order they came."""
    firsts = np.cumsum([0, *(block.n_rows for block in blocks)])
    starts = [block.starts[:-1] + first for block, first in zip(blocks, firsts, strict=False)]
    weighted = any(block.weights is not None for block in blocks)
    return Block(
        codes8=np.concatenate([block.codes8 for block in blocks], axis=1),
        codes16=np.concatenate([block.codes16 for block in blocks], axis=1),
        values=np.concatenate([block.values for block in blocks], axis=1),
        weights=np.concatenate([row_weights(block) for block in blocks]) if weighted else None,
        starts=np.concatenate([*starts, firsts[-1:]]).astype(np.int64),
        classes=np.concatenate([block.classes for block in blocks]),
        order=None,
        first_row=0,
    )
