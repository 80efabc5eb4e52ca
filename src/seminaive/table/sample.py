"""A seeded subsample of rows, the same ones wherever the rows are: each row is chosen by a hash of its number."""

from __future__ import annotations

from dataclasses import replace
from itertools import accumulate
from typing import Any

import numpy as np
import numpy.typing as npt

from seminaive.table.block import Block, same_block, take_rows
from seminaive.table.fold import MemoryBlocks
from seminaive.table.schema import Integers
from seminaive.table.table import Table

Before = dict[int, int]
"""How many rows come before each block, by its ``first_row``; which itself also counts rows that were left out."""


def sample_rows(table: Table, n_rows: int, seed: int = 0, n_jobs: int | None = None) -> Table:
    """About ``n_rows`` rows in memory, for a search that ends with a fit on all rows; all of them if there are no more.

    A row is kept when the hash of (seed, its number) lies in the lowest ``n_rows / table.n_rows`` part, so the choice
    depends neither on blocks nor on the engine. Numbers count the rows of positive weight; a first, short pass learns
    how many come before each block. Encode a scan of files before it is sampled: both passes read it.
    """
    total, before = count_before(table, n_jobs)
    if total <= n_rows:
        return Table(table.schema, MemoryBlocks(tuple(table.map(same_block, n_jobs=n_jobs))))
    chosen = table.map(_chosen, before, share_limit(n_rows, total), seed, n_jobs=n_jobs)
    return Table(table.schema, MemoryBlocks(tuple(block for block in chosen if block is not None)))


def count_before(table: Table, n_jobs: int | None = None) -> tuple[int, Before]:
    """Number of rows, and how many of them come before each block."""
    firsts, sizes = zip(*table.map(_size, n_jobs=n_jobs), strict=True)
    *before, total = accumulate(sizes, initial=0)
    return total, dict(zip(firsts, before, strict=True))


def row_numbers(block: Block, before: Before) -> Integers:
    """The number of each row of a block in its table, in the block's order."""
    within = np.arange(block.n_rows) if block.order is None else block.order.astype(np.int64)
    return within + before[block.first_row]


def share_limit(n_rows: int, total: int) -> np.uint64 | None:
    """Below which limit a row's hash must be for about ``n_rows`` of ``total`` rows to be drawn; None: take all."""
    return None if total <= n_rows else np.uint64(n_rows / total * 2.0**64)


def drawn(numbers: Integers, limit: np.uint64, seed: int) -> npt.NDArray[np.bool_]:
    """Which rows are drawn: those whose hash is below the limit."""
    return hashed(numbers, seed) < limit


def _size(block: Block) -> tuple[int, int]:
    return block.first_row, block.n_rows


def _chosen(block: Block, before: Before, limit: np.uint64, seed: int) -> Block | None:
    numbers = row_numbers(block, before)
    keep = np.flatnonzero(drawn(numbers, limit, seed))
    if not len(keep):
        return None
    place = np.argsort(np.argsort(numbers[keep], kind="stable"), kind="stable").astype(np.uint16)
    return replace(take_rows(block, keep), order=place)


def hashed(numbers: Integers, seed: int) -> npt.NDArray[Any]:
    """Splitmix64: every bit of the result depends on every bit of the number and the seed."""
    with np.errstate(over="ignore"):
        x = numbers.astype(np.uint64) + (np.uint64(seed) + np.uint64(1)) * np.uint64(0x9E3779B97F4A7C15)
        x = (x ^ (x >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
        x = (x ^ (x >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
        return x ^ (x >> np.uint64(31))
