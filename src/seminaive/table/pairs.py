"""Counts of pairs of columns over a table, a strip of columns at a time, so that no partial result is large."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from seminaive.statistics.pair_counts import count_tile, occurring_codes, pack_rows
from seminaive.table.block import Block, column_codes
from seminaive.table.schema import Floats, Integers, Schema
from seminaive.table.table import Table

STRIP_BYTES = 64 * 2**20
"""Largest partial result that a worker sends: a strip of columns against all that follow."""


@dataclass(frozen=True, eq=False)
class PairStrip:
    """Counts of the columns ``first:last`` against all columns from ``first`` on.

    ``counts`` has shape (classes, levels of the strip, levels from ``first`` on); only pairs j < k are counted.
    ``level_starts`` says where each column's levels begin, counted over all columns.
    """

    first: int
    last: int
    counts: Floats
    level_starts: Integers

    def pair(self, j: int, k: int) -> Floats:
        """Counts (classes, levels of j, levels of k) of one pair, j < k and j inside the strip."""
        if not self.first <= j < self.last or j >= k:
            raise ValueError(f"the pair ({j}, {k}) is not in the strip {self.first}:{self.last}")
        base = self.level_starts[self.first]
        a, b = self.level_starts[[j, j + 1]] - base
        c, d = self.level_starts[[k, k + 1]] - base
        return self.counts[:, a:b, c:d]


def used_codes(table: Table, n_jobs: int | None = None) -> npt.NDArray[np.bool_]:
    """Which codes occur in each coded column, (columns, most codes); missing counts as a level where it occurs."""
    counts = table.counts(n_jobs).sum(axis=0)
    layout = table.schema.layout
    used = np.zeros((len(table.schema.columns), max(c.n_codes for c in table.schema.columns)), dtype=bool)
    for j, column in enumerate(table.schema.columns):
        start = layout.starts[j]
        used[j, : column.n_codes] = counts[start : start + column.n_codes] > 0
    return used


def pair_strips(table: Table, n_jobs: int | None = None, strip_bytes: int = STRIP_BYTES) -> Iterator[PairStrip]:
    """Count all pairs of columns within each class, strip by strip; a pass over the rows for each.

    All columns must be coded: bin numeric ones first (`binned`).
    """
    schema = table.schema
    if len(schema.layout.valued):
        name = schema.columns[schema.layout.valued[0]].name
        raise ValueError(f"column {name!r} is not coded: pairs can be counted only among levels or bins")
    used = used_codes(table, n_jobs)
    level_starts = np.concatenate([[0], np.cumsum(used.sum(axis=1))]).astype(np.int64)
    first, d = 0, len(schema.columns)
    while first < d:
        width = schema.n_classes * 8 * max(int(level_starts[-1] - level_starts[first]), 1)
        room = level_starts[first] + max(strip_bytes // width, 1)
        last = max(first + 1, int(np.searchsorted(level_starts, room, side="right")) - 1)
        last = min(last, d)
        counts = table.fold(_count_strip, schema, used, (first, last), n_jobs=n_jobs)
        yield PairStrip(first, last, counts, level_starts)
        first = last


def _count_strip(block: Block, schema: Schema, used: npt.NDArray[np.bool_], strip: tuple[int, int]) -> Floats:
    first, last = strip
    codes, n_levels = occurring_codes(column_codes(block, schema)[first:], used[first:])
    rows = pack_rows(codes, block.starts, block.classes, n_levels, block.weights)
    return count_tile([rows], (0, last - first), (0, len(codes)), schema.n_classes)
