"""From a table to the scores of all columns and pairs, wherever the rows are."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from joblib import effective_n_jobs

from seminaive.statistics.family import EdgeScores, ForestTables, forest_tables
from seminaive.statistics.pair_counts import PairRows, each_tile, occurring_codes, pack_rows
from seminaive.table.block import Block, column_codes
from seminaive.table.pairs import pair_strips, used_codes
from seminaive.table.schema import Floats, Integers, Schema
from seminaive.table.table import Table

MOST_GATHERED = 1 << 28
"""Up to so many codes are packed once and kept while all pairs are counted; beyond, rows are read strip by strip."""

FEW_COLUMNS = 512
"""Up to so many columns edges are kept in double precision."""


@dataclass(frozen=True, eq=False)
class ScoredColumns:
    """What a forest's posterior is read from.

    Attributes
    ----------
    tables : ForestTables
    class_weight : (classes,) array
    levels : (columns,) int array
        How many values of each column occur, missing among them; 1 is a constant.
    """

    tables: ForestTables
    class_weight: Floats
    levels: Integers


def score_columns(
    table: Table, concentration: float, edge_weight: float, signal_weight: float, n_jobs: int | None = None
) -> ScoredColumns:
    """Score every column and every pair of columns of a coded table.

    Classes without rows do not count among the classes: they take nothing from the prior's mass.
    """
    class_weight = np.asarray(table.class_weights(n_jobs), dtype=np.float64)
    present = np.flatnonzero(class_weight > 0)
    used = used_codes(table, n_jobs)
    levels = used.sum(axis=1).astype(np.int64)
    level_starts = np.concatenate([[0], np.cumsum(levels)]).astype(np.int64)
    margins = _margins(table, used, n_jobs)[present]
    unit = bool(table.fold(_unit, n_jobs=n_jobs) == 0)
    dtype = np.float64 if len(levels) <= FEW_COLUMNS else np.float32
    scores = EdgeScores.of(margins, level_starts, unit, concentration, dtype)
    if table.n_rows * len(levels) <= MOST_GATHERED:
        blocks = [rows for rows in table.map(_pack, table.schema, used, present, n_jobs=n_jobs) if rows.codes.size]
        each_tile(blocks, len(present), scores.read, effective_n_jobs(n_jobs))
    else:
        for strip in pair_strips(table, n_jobs):
            counts = np.ascontiguousarray(strip.counts[present])
            scores.read(counts, (strip.first, strip.last), (strip.first, len(levels)))
    tables = forest_tables(scores.root, scores.edge, len(present), edge_weight, signal_weight)
    return ScoredColumns(tables, class_weight, levels)


def _margins(table: Table, used: npt.NDArray[np.bool_], n_jobs: int | None) -> Floats:
    """Weight of every code that occurs, column after column, in each class."""
    counts, layout = table.counts(n_jobs), table.schema.layout
    parts = [
        counts[:, layout.starts[j] : layout.starts[j] + column.n_codes][:, used[j, : column.n_codes]]
        for j, column in enumerate(table.schema.columns)
    ]
    return np.concatenate(parts, axis=1).astype(np.float64)


def _unit(block: Block) -> int:
    """How many of a block's rows do not weigh 1."""
    return 0 if block.weights is None else int(np.count_nonzero(block.weights != 1))


def _pack(block: Block, schema: Schema, used: npt.NDArray[np.bool_], present: Integers) -> PairRows:
    codes, n_levels = occurring_codes(column_codes(block, schema), used)
    weights = None if block.weights is None or np.all(block.weights == 1) else block.weights
    return pack_rows(codes, block.starts, np.searchsorted(present, block.classes), n_levels, weights)
