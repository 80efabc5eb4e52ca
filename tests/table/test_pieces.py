"""Blocks read piece by piece: in order, a few at a time, whatever the number of threads."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
import pytest

from seminaive.table import pieces
from seminaive.table.block import plan_rows
from seminaive.table.encode import make_block
from seminaive.table.frames import open_frame
from seminaive.table.pieces import PieceBlocks
from seminaive.table.schema import Column, Schema

every_number_of_threads = pytest.mark.parametrize("n_jobs", [1, 3])


@dataclass(eq=False)
class Counted(PieceBlocks):
    """Pieces of four blocks of five rows; notes which blocks were opened."""

    n_pieces: int = 6
    opened: list = field(default_factory=list)

    @property
    def largest(self):
        return 20

    def pieces(self):
        return range(self.n_pieces)

    def open(self, piece):
        X = np.arange(20.0)[:, None] + 20 * piece
        schema = Schema((Column(0, "numeric"),), np.array([0]))
        for plan in plan_rows(20, np.zeros(20, dtype=np.int64), block_rows=5):
            self.opened.append((piece, plan.first_row))
            yield make_block(schema, open_frame(X), plan, [], None)


def first_value(block):
    return block.values[0, 0]


def total(block):
    return block.values.sum(), block.n_rows


@every_number_of_threads
@pytest.mark.parametrize("large", [10, 1_000])
def test_results_come_in_block_order(n_jobs, large, monkeypatch):
    monkeypatch.setattr(pieces, "LARGE", large)
    assert list(Counted().map(first_value, n_jobs=n_jobs)) == [5.0 * i for i in range(24)]


@every_number_of_threads
def test_a_fold_is_the_sum_over_all_blocks(n_jobs):
    assert Counted().fold(total, n_jobs=n_jobs) == (sum(range(120)), 120)


def test_one_thread_reads_one_block_ahead_of_nobody():
    blocks = Counted()
    results = blocks.map(first_value, n_jobs=1)
    assert blocks.opened == []
    next(results)
    next(results)
    assert blocks.opened == [(0, 0), (0, 5)]


def test_threads_stay_a_few_blocks_ahead_in_large_pieces(monkeypatch):
    monkeypatch.setattr(pieces, "LARGE", 10)
    blocks = Counted(n_pieces=100)
    next(blocks.map(first_value, n_jobs=2))
    assert len(blocks.opened) <= 6
