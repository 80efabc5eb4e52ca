"""Counts of columns together with their parents: only of the families that a model has chosen, whatever their number.

A family reads some columns, its own first; its cells are the combinations of their codes, the last column's code
changing fastest. Tables of many families lie side by side.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from seminaive.kernels.family import count_families
from seminaive.table.block import Block, column_codes
from seminaive.table.schema import Floats, Integers, Schema
from seminaive.table.table import Table

MOST_CELLS = 2**27
"""Cells of all families and classes together: a gigabyte of counts."""


@dataclass(frozen=True, eq=False)
class FamilyCounts:
    """How often every combination of codes occurs in each class.

    Family f reads the columns ``reads[read_starts[f]:read_starts[f + 1]]`` and has the counts
    ``counts[:, starts[f]:starts[f + 1]]``.
    """

    read_starts: Integers
    reads: Integers
    starts: Integers
    counts: Floats

    def of(self, family: int, schema: Schema) -> Floats:
        """Counts (classes, codes of the column, codes of each parent ...) of one family."""
        reads = self.reads[self.read_starts[family] : self.read_starts[family + 1]]
        cells = self.counts[:, self.starts[family] : self.starts[family + 1]]
        return cells.reshape(-1, *(schema.columns[j].n_codes for j in reads))


def n_codes(schema: Schema) -> Integers:
    """The number of codes of every column."""
    return np.array([column.n_codes for column in schema.columns], dtype=np.int64)


def family_counts(table: Table, families: Sequence[Sequence[int]], n_jobs: int | None = None) -> FamilyCounts:
    """Count families in one pass over the rows; their columns must be coded.

    Examples
    --------
    >>> from seminaive.table.door import encode
    >>> table = encode([["a", "x"], ["a", "x"], ["b", "y"]], [0, 0, 1])
    >>> counted = family_counts(table, [(1, 0)])
    >>> counted.of(0, table.schema)[0, 2:, 2:]   # "x" and "y" given "a" and "b" in the first class
    array([[2., 0.],
           [0., 0.]])
    """
    sizes = n_codes(table.schema)
    read_starts = np.cumsum([0, *map(len, families)]).astype(np.int64)
    reads = np.array([j for family in families for j in family], dtype=np.int64)
    size_of = sizes.tolist()
    cells = [math.prod(size_of[j] for j in family) for family in families]
    if sum(cells) * table.schema.n_classes > MOST_CELLS:
        names = [str(table.schema.columns[j].name) for j in families[int(np.argmax(cells))]]
        raise ValueError(
            f"counting {' with '.join(names)} and the like needs {sum(cells)} cells per class, too many: "
            "use max_levels to fold rare levels, or leave out columns that are identifiers"
        )
    starts = np.cumsum([0, *cells]).astype(np.int64)
    if not families:
        return FamilyCounts(read_starts, reads, starts, np.zeros((table.schema.n_classes, 0)))
    counts = table.fold(_count_block, table.schema, read_starts, reads, starts, n_jobs=n_jobs)
    return FamilyCounts(read_starts, reads, starts, counts)


def _count_block(block: Block, schema: Schema, read_starts: Integers, reads: Integers, starts: Integers) -> Floats:
    counts = np.zeros((schema.n_classes, starts[-1]))
    weights = np.empty(0) if block.weights is None else block.weights
    layout = read_starts, reads, n_codes(schema)[reads], starts
    count_families(column_codes(block, schema), weights, block.starts, block.classes, *layout, counts)
    return counts
