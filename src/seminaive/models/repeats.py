"""Columns that seem to repeat each other within a class: a hint beside promised rates, quick and on few rows."""

from __future__ import annotations

from typing import Any

import numpy as np

from seminaive.statistics.grouping import complete_linkage
from seminaive.statistics.mic import chance_limits, mic_of_pairs, strongest
from seminaive.table.block import Block, codes_of
from seminaive.table.gather import GatheredRows
from seminaive.table.schema import FIRST_LEVEL, Floats, Schema

ALIKE = 0.9
"""Least MIC of two columns that are said to repeat each other."""
ROWS, CLASSES, COLUMNS = 100, 4, 30
"""A hint must not cost more than a fit: rows per class, the largest classes, and no more columns than these (.06 s)."""


def repeated_columns(rows: GatheredRows, seed: int) -> tuple[tuple[Any, ...], ...]:
    """Groups of two and more columns, by name; empty for tables of many columns, which are not looked at."""
    columns = ordered_columns(rows.block, rows.schema)
    if not 2 <= len(columns) <= COLUMNS:
        return ()
    rng = np.random.default_rng(seed)
    labels = rows.labels
    sizes = np.bincount(labels)
    members = [np.flatnonzero(labels == k) for k in np.argsort(-sizes, kind="stable")[:CLASSES]]
    members = [m if len(m) <= ROWS else np.sort(rng.choice(m, ROWS, replace=False)) for m in members]
    counts = [len(m) for m in members]
    matrices = np.array([mic_of_pairs([column[m] for column in columns.values()]) for m in members])
    groups = complete_linkage(strongest(matrices, counts, chance_limits(counts, len(columns))), ALIKE)
    names = [rows.schema.columns[j].name for j in columns]
    return tuple(tuple(names[i] for i in group) for group in groups if len(group) > 1)


def ordered_columns(rows: Block, schema: Schema) -> dict[int, Floats]:
    """Numbers of the columns whose values have an order, by position: numeric, binned, or of two levels."""
    layout = schema.layout
    out: dict[int, Floats] = {}
    for j, column in enumerate(schema.columns):
        if not column.is_coded:
            out[j] = rows.values[layout.slot[j]]
        elif column.cuts is not None or column.n_codes <= FIRST_LEVEL + 2:
            codes = codes_of(rows, schema, j)
            out[j] = np.where(codes < FIRST_LEVEL, np.nan, codes)
    return out
