"""Pair kernels equal their definition, one row and one pair at a time."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.special import gammaln

from forest_data import blocks_of, count_pair, random_rows
from seminaive.kernels.pair import conditional_information, dirichlet_edges, pack_planes
from seminaive.statistics.pair_counts import MOST_CELLS, count_tile, each_tile, occurring_codes, pair_counts


def all_pairs_equal(codes, classes, blocks, weights=None):
    n_classes = int(classes.max()) + 1
    for j in range(len(codes)):
        for k in range(len(codes)):
            if j != k:
                expected = count_pair(codes, classes, j, k, weights)
                np.testing.assert_allclose(pair_counts(blocks, j, k, n_classes), expected, rtol=1e-12)


@settings(max_examples=30, deadline=None)
@given(st.integers(0, 1000), st.integers(1, 300), st.integers(1, 3))
def test_popcounts_equal_counting_row_by_row(seed, n, n_classes):
    rng = np.random.default_rng(seed)
    codes = rng.integers(0, rng.integers(1, 6, (4, 1)), (4, n)).astype(np.uint8)
    classes = rng.integers(0, n_classes, n)
    all_pairs_equal(codes, classes, blocks_of(codes, classes))


def test_counts_add_up_over_blocks():
    codes, classes = random_rows(0)
    all_pairs_equal(codes, classes, blocks_of(codes, classes, n_blocks=3))


def test_weighted_rows_count_by_their_weight():
    codes, classes = random_rows(1)
    weights = np.random.default_rng(0).uniform(0, 3, len(classes))
    all_pairs_equal(codes, classes, blocks_of(codes, classes, weights=weights), weights)


def test_weight_two_counts_like_the_row_twice():
    codes, classes = random_rows(2)
    weights = np.random.default_rng(0).integers(0, 3, len(classes))
    weights[:5] = 2  # every level and class still occurs
    repeated = np.repeat(codes, weights, axis=1)
    twice = blocks_of(repeated, np.repeat(classes, weights))
    weighted = blocks_of(codes, classes, weights=weights.astype(float))
    for j, k in [(0, 1), (1, 4), (4, 0)]:
        np.testing.assert_array_equal(pair_counts(twice, j, k, 3), pair_counts(weighted, j, k, 3))


def test_pairs_with_many_levels_take_the_direct_loop_and_count_the_same():
    codes, classes = random_rows(3, n=400, levels=(2, 20, 30, 200))
    assert MOST_CELLS < 20 * 30
    all_pairs_equal(codes, classes, blocks_of(codes, classes))


def test_wide_codes_count_like_narrow_ones():
    codes, classes = random_rows(4)
    all_pairs_equal(codes, classes, blocks_of(codes.astype(np.uint16), classes))


def test_counts_beyond_sixteen_bits_are_exact():
    n = 70_000
    codes = np.zeros((2, n), dtype=np.uint8)
    codes[:, 0] = 1
    cells = pair_counts(blocks_of(codes, np.zeros(n, dtype=np.int64)), 0, 1, 1)
    assert cells.tolist() == [[[n - 1, 0], [0, 1]]]


def test_a_plane_has_one_bit_per_row_with_its_level_and_each_segment_a_fresh_word():
    rng = np.random.default_rng(0)
    codes = rng.integers(0, 3, (1, 100)).astype(np.uint8)
    segments, words = np.array([0, 70, 100]), np.array([0, 2, 3])
    planes, margins = np.zeros((2, 3), dtype=np.uint64), np.zeros((2, 3))
    pack_planes(codes, np.empty(0), np.array([0, 3]), np.array([0, 2]), segments, words, planes, margins)
    for level in (0, 1):
        for segment in (0, 1):
            part = codes[0, segments[segment] : segments[segment + 1]] == level
            bits = np.unpackbits(planes[level, words[segment] : words[segment + 1]].view(np.uint8), bitorder="little")
            np.testing.assert_array_equal(bits[: part.size], part)
            assert bits.sum() == part.sum() == margins[segment, level]


@pytest.mark.parametrize("threads", [1, 2])
def test_every_pair_is_in_exactly_one_tile(threads):
    codes, classes = random_rows(5, levels=(2, 3) * 120)
    seen = np.zeros((240, 240), dtype=int)

    def read(cells, left, right):
        assert cells.nbytes < 1 << 20
        seen[slice(*left), slice(*right)] += 1

    each_tile(blocks_of(codes, classes), 3, read, threads)
    assert (seen[np.triu_indices(240, 1)] == 1).all()


def test_missing_becomes_a_level_only_where_it_occurs():
    codes = np.array([[2, 3, 2], [1, 2, 4]], dtype=np.uint8)
    used = np.zeros((2, 5), dtype=bool)
    used[0, [2, 3]] = used[1, [1, 2, 4]] = True
    dense, n_levels = occurring_codes(codes, used)
    assert dense.tolist() == [[0, 1, 0], [0, 1, 2]]
    assert n_levels.tolist() == [2, 3]


def ratio(counts, q, concentration=5.0):
    return np.sum(gammaln(counts + concentration / q) - gammaln(concentration / q))


def lookup_twin(cells):
    k, v, w = cells.shape
    joint = ratio(cells.sum(axis=0), v * w), ratio(cells, v * w * k)
    left = ratio(cells.sum(axis=(0, 2)), v), ratio(cells.sum(axis=2), v * k)
    right = ratio(cells.sum(axis=(0, 1)), w), ratio(cells.sum(axis=1), w * k)
    whole = ratio(cells.sum(), 1), ratio(cells.sum(axis=(1, 2)), k)
    return np.array(joint), np.array(left), np.array(right), np.array(whole)


@pytest.mark.parametrize("tabled", [True, False])
def test_an_edge_score_is_the_sum_of_log_gamma_ratios(tabled):
    codes, classes = random_rows(6, levels=(2, 3))
    blocks = blocks_of(codes, classes)
    cells = count_tile(blocks, (0, 1), (1, 2), 3)
    joint, left, right, whole = lookup_twin(cells)
    counts = np.arange(201.0)
    tables = np.stack([gammaln(counts + 5 / q) - gammaln(5 / q) for q in (6, 18)])
    table_of = np.zeros((2, 2, 2), dtype=np.int64)
    table_of[1] = 1
    edge = np.zeros((2, 2, 2))
    dirichlet_edges(
        cells,
        blocks[0].level_starts,
        np.array([0, 1]),
        tables if tabled else np.empty((2, 0)),
        table_of,
        np.stack([left, right], axis=1),
        whole,
        5.0,
        (0, 1),
        (1, 2),
        edge,
    )
    np.testing.assert_allclose(edge[:, 0, 1], joint - left - right + whole, rtol=1e-11)
    np.testing.assert_array_equal(edge[:, 0, 1], edge[:, 1, 0])


def test_conditional_information_is_the_mean_log_ratio_of_joint_to_independent():
    codes, classes = random_rows(7, levels=(2, 3))
    blocks = blocks_of(codes, classes)
    cells = count_tile(blocks, (0, 1), (1, 2), 3)
    expected = 0.0
    for table in cells:
        independent = np.outer(table.sum(axis=1), table.sum(axis=0)) / table.sum()
        seen = table > 0
        expected += np.sum(table[seen] * np.log(table[seen] / independent[seen])) / cells.sum()
    out = np.zeros((1, 1))
    conditional_information(cells, 200.0, blocks[0].level_starts, (0, 1), (1, 2), out)
    assert out[0, 0] == pytest.approx(expected, rel=1e-12)
