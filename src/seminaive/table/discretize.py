"""Numeric columns become bins: the blocks of a table are coded by cuts that were learned before."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import numpy as np

from seminaive.table.block import Block, codes_of
from seminaive.table.encode import bin_codes
from seminaive.table.schema import Floats, Schema
from seminaive.table.table import Table


def column_values(table: Table, column: int) -> tuple[Floats, Floats | None]:
    """All values of a valued column in one array, and the rows' weights (None when all are 1)."""
    slot = int(table.schema.layout.slot[column])
    parts = list(table.map(_slot_values, slot))
    values = np.concatenate([part[0] for part in parts])
    weighted = any(part[1] is not None for part in parts)
    weights = np.concatenate([np.ones(len(v)) if w is None else w for v, w in parts]) if weighted else None
    return values, weights


def _slot_values(block: Block, slot: int) -> tuple[Floats, Floats | None]:
    return block.values[slot], block.weights


def binned(table: Table, cuts: Mapping[int, Floats], n_jobs: int | None = None) -> Table:
    """The same rows with the given columns coded by their cuts instead of held as values."""
    if not cuts:
        return table
    columns = list(table.schema.columns)
    for j, column_cuts in cuts.items():
        columns[j] = replace(columns[j], cuts=np.asarray(column_cuts, dtype=np.float64))
    schema = table.schema.with_columns(columns)
    return Table(schema, table.blocks.transform(_bin_block, table.schema, schema, n_jobs=n_jobs))


def binned_like(table: Table, schema: Schema, n_jobs: int | None = None) -> Table:
    """The same rows with numeric columns coded by the cuts that a schema learned for them."""
    both = enumerate(zip(table.schema.columns, schema.columns, strict=True))
    return binned(table, {j: b.cuts for j, (a, b) in both if a.cuts is None and b.cuts is not None}, n_jobs)


def _bin_block(block: Block, before: Schema, after: Schema) -> Block:
    old, new = before.layout, after.layout
    codes8 = np.empty((len(new.narrow), block.n_rows), dtype=np.uint8)
    codes16 = np.empty((len(new.wide), block.n_rows), dtype=np.uint16)
    for j, column in enumerate(after.columns):
        if not column.is_coded:
            continue
        home = codes8 if column.is_narrow else codes16
        if before.columns[j].is_coded:
            home[new.slot[j]] = codes_of(block, before, j)
        elif column.cuts is not None:
            home[new.slot[j]] = bin_codes(block.values[old.slot[j]], column.cuts)
    values = np.ascontiguousarray(block.values[old.slot[new.valued]])
    return replace(block, codes8=codes8, codes16=codes16, values=values)
