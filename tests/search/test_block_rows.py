"""A table's blocks as rows of weighted evidence."""

import numpy as np
import pytest

from seminaive.search.block_rows import over_blocks, rows_of_block
from seminaive.search.design import table_design
from seminaive.search.weighted_evidence import WeightedEvidence, in_memory
from seminaive.table.block import Block
from seminaive.table.fold import MemoryBlocks


def random_block(seed):
    rng = np.random.default_rng(seed)
    classes, counts = np.array([0, 0, 1]), rng.integers(1, 9, 3)
    starts = np.concatenate([[0], np.cumsum(counts)])
    n = int(starts[-1])
    return Block(
        rng.integers(0, 4, (2, n)).astype(np.uint8),
        np.empty((0, n), np.uint16),
        rng.normal(size=(1, n)),
        rng.random(n),
        starts,
        classes,
        None,
        0,
    )


BLOCKS = [random_block(seed) for seed in range(3)]


def test_labels_follow_the_segments():
    block = BLOCKS[0]
    rows = rows_of_block(block)
    np.testing.assert_array_equal(rows.label, np.repeat([0, 0, 1], np.diff(block.starts)))
    assert rows.codes is block.codes8


def test_classes_take_their_places_among_those_told_apart():
    block = BLOCKS[0]
    rows = rows_of_block(block, places=np.array([1, 0]))
    np.testing.assert_array_equal(rows.label, np.repeat([1, 1, 0], np.diff(block.starts)))


@pytest.mark.parametrize("n_jobs", [1, 2])
def test_sums_over_blocks_are_those_over_their_rows(n_jobs):
    blocks = MemoryBlocks(tuple(BLOCKS))

    def dense(block):
        return np.stack([block.values, -block.values])

    rows = [rows_of_block(block, dense) for block in BLOCKS]
    design = table_design(np.zeros(2), np.random.default_rng(0).normal(size=(2, 8)), np.array([0, 4, 8]))
    design = type(design)(design.offset, design.tables, 3, design.lookup, dense_place=np.array([2]))
    total = sum(part.total for part in rows)
    weights = np.linspace(-1, 1, 6)
    here = WeightedEvidence(design, in_memory(rows), total).sums(weights)
    there = WeightedEvidence(design, over_blocks(blocks, dense, n_jobs=n_jobs), total).sums(weights)
    np.testing.assert_array_equal(here.hessian, there.hessian)
    assert here.value == there.value
