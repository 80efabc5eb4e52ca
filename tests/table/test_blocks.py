"""Blocks hold rows sorted by class; nothing is lost and everything finds its way back."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from seminaive import encode
from seminaive.table.block import BLOCK_ROWS, plan_rows
from seminaive.table.fold import MemoryBlocks, map_in_order
from seminaive.table.sums import class_counts, class_moments, class_weights


@given(
    classes=st.lists(st.integers(0, 3), min_size=1, max_size=60),
    block_rows=st.integers(1, 20),
)
def test_segments_hold_one_class_each_in_the_original_order(classes, block_rows):
    classes = np.array(classes)
    rows_seen = []
    for plan in plan_rows(len(classes), classes, block_rows):
        assert plan.n_rows <= block_rows
        assert plan.starts[0] == 0
        assert plan.starts[-1] == plan.n_rows
        assert len(set(plan.classes.tolist())) == len(plan.classes)
        for s, label in enumerate(plan.classes):
            rows = plan.first_row + plan.order[plan.starts[s] : plan.starts[s + 1]].astype(int)
            assert len(rows) > 0
            assert (np.diff(rows) > 0).all()
            assert (classes[rows] == label).all()
            rows_seen += rows.tolist()
    assert sorted(rows_seen) == list(range(len(classes)))


def test_unlabelled_rows_keep_their_order_in_one_segment_of_unknown_class():
    first, second = plan_rows(5, None, block_rows=3)
    assert (first.first_row, first.n_rows, second.first_row, second.n_rows) == (0, 3, 3, 2)
    assert first.order is None
    assert first.classes.tolist() == [-1]
    assert first.positions.tolist() == [0, 1, 2]


def test_a_block_has_at_most_65536_rows():
    assert BLOCK_ROWS == 65_536
    assert [plan.n_rows for plan in plan_rows(70_000, np.zeros(70_000, dtype=int))] == [65_536, 4_464]
    with pytest.raises(ValueError, match="block_rows must be between 1 and 65536"):
        plan_rows(3, None, block_rows=65_537)


def test_many_classes_are_sorted_too():
    classes = np.arange(400)[::-1]
    (plan,) = plan_rows(400, classes)
    assert plan.classes.tolist() == list(range(400))
    assert plan.order.tolist() == list(range(399, -1, -1))


def test_row_order_undoes_the_sorting():
    table = encode(np.arange(6.0)[:, None], [1, 0, 1, 0, 0, 1])
    (block,) = table.blocks.blocks
    assert block.values.tolist() == [[1, 3, 4, 0, 2, 5]]
    assert block.in_row_order(block.values).tolist() == [[0, 1, 2, 3, 4, 5]]
    assert block.nbytes == 6 * 8 + 6 * 2


def test_weights_follow_their_rows_and_weights_of_one_are_dropped():
    X, y = np.arange(4.0)[:, None], [1, 0, 1, 0]
    (block,) = encode(X, y, sample_weight=[1, 2, 3, 4]).blocks.blocks
    assert block.weights.tolist() == [2, 4, 1, 3]
    assert encode(X, y, sample_weight=[1, 1, 1, 1]).blocks.blocks[0].weights is None
    (kept,) = encode(X, y, sample_weight=[1, 0, 1, 1]).blocks.blocks
    assert kept.values.tolist() == [[3, 0, 2]]
    assert kept.weights is None


def some_table(weighted):
    rng = np.random.default_rng(0)
    n = 300
    X = np.column_stack([rng.integers(0, 4, n), rng.integers(0, 400, n), rng.normal(size=n)])
    y = rng.integers(0, 3, n)
    weights = rng.integers(1, 4, n) / 2 if weighted else None
    return X, y, weights, encode(X, y, sample_weight=weights, nominal=[0, 1])


@pytest.mark.parametrize("weighted", [False, True])
def test_sums_of_blocks_are_the_sums_of_the_rows(weighted):
    X, y, weights, table = some_table(weighted)
    share = np.ones(len(y)) if weights is None else weights
    np.testing.assert_array_equal(table.class_weights(), np.bincount(y, share))
    counts, layout = table.counts(), table.schema.layout
    assert counts.dtype == (float if weighted else int)
    for j in (0, 1):
        for level, code in table.schema.columns[j].code_of.items():
            expected = [share[(y == k) & (X[:, j] == level)].sum() for k in range(3)]
            assert counts[:, layout.starts[j] + code].tolist() == expected
    moments = table.moments()
    for k in range(3):
        rows = y == k
        mean = np.average(X[rows, 2], weights=share[rows])
        np.testing.assert_allclose(moments.mean[k, 0], mean, rtol=1e-13)
        np.testing.assert_allclose(moments.m2[k, 0], share[rows] @ (X[rows, 2] - mean) ** 2, rtol=1e-13)


def weights_twice(block, n_classes):
    return class_weights(block, n_classes), 2.0 * class_weights(block, n_classes)


def test_fold_adds_tuples_piece_by_piece_in_block_order():
    _, y, _, table = some_table(False)
    (block,) = table.blocks.blocks
    blocks = MemoryBlocks((block, block))
    once, twice = blocks.fold(weights_twice, 3)
    np.testing.assert_array_equal(once, 2 * np.bincount(y))
    np.testing.assert_array_equal(twice, 4 * np.bincount(y))
    assert blocks.n_rows == 600
    assert list(blocks.transform(lambda b: b).blocks) == [block, block]
    np.testing.assert_array_equal(blocks.fold(class_counts, table.schema.layout, 3), 2 * table.counts())
    np.testing.assert_array_equal(blocks.fold(class_moments, 3).count, 2 * table.moments().count)


@settings(deadline=None, max_examples=20)
@given(st.lists(st.integers(), max_size=30), st.sampled_from([None, 1, 2, 3]))
def test_threads_give_results_in_order(items, n_jobs):
    assert list(map_in_order(lambda i: -i, iter(items), n_jobs)) == [-i for i in items]


def test_an_error_in_a_thread_arrives():
    with pytest.raises(ZeroDivisionError):
        list(map_in_order(lambda i: 1 // i, [1, 0, 1], 2))
