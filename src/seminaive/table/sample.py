"""A seeded subsample of rows, the same ones wherever the rows are: each row is chosen by a hash of its number."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import numpy.typing as npt

from seminaive.table.block import Block
from seminaive.table.fold import MemoryBlocks
from seminaive.table.table import Table


def sample_rows(table: Table, n_rows: int, seed: int = 0, n_jobs: int | None = None) -> Table:
    """About ``n_rows`` rows in memory, for a search that ends with a fit on all rows; all of them if there are no more.

    A row is kept when the hash of (seed, its number) lies in the lowest ``n_rows / table.n_rows`` part, so the choice
    depends neither on blocks nor on the engine.
    """
    share = min(1.0, n_rows / max(table.n_rows, 1))
    limit = np.uint64(min(share * 2.0**64, 2.0**64 - 1025))
    blocks = [
        block for block in table.map(_chosen, limit, np.uint64(seed), share >= 1, n_jobs=n_jobs) if block is not None
    ]
    return Table(table.schema, MemoryBlocks(tuple(blocks)))


def _chosen(block: Block, limit: np.uint64, seed: np.uint64, everything: bool) -> Block | None:
    if everything:
        return block
    place = np.arange(block.n_rows, dtype=np.uint64) if block.order is None else block.order.astype(np.uint64)
    keep = _hash(place + np.uint64(block.first_row), seed) < limit
    if not keep.any():
        return None
    kept_before = np.concatenate([[0], np.cumsum(keep)])
    starts = kept_before[block.starts]
    there = np.diff(starts) > 0
    rows = np.flatnonzero(keep)
    order = np.argsort(np.argsort(place[rows], kind="stable"), kind="stable").astype(np.uint16)
    return replace(
        block,
        codes8=np.ascontiguousarray(block.codes8[:, rows]),
        codes16=np.ascontiguousarray(block.codes16[:, rows]),
        values=np.ascontiguousarray(block.values[:, rows]),
        weights=None if block.weights is None else block.weights[rows],
        starts=np.append(starts[:-1][there], starts[-1]),
        classes=block.classes[there],
        folds=block.folds[there],
        order=order,
    )


def _hash(numbers: npt.NDArray[np.uint64], seed: np.uint64) -> npt.NDArray[Any]:
    """Splitmix64: every bit of the result depends on every bit of the number and the seed."""
    with np.errstate(over="ignore"):
        x = numbers + (seed + np.uint64(1)) * np.uint64(0x9E3779B97F4A7C15)
        x = (x ^ (x >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
        x = (x ^ (x >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
        return x ^ (x >> np.uint64(31))
