"""Every counting kernel equals its plain NumPy twin, which is its definition."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from seminaive.kernels.count import bin_values, count_codes, mark_used, place_codes, weigh_codes

seeds = st.integers(0, 2**32 - 1)


def counted(codes, column_starts, segment_starts, slots, shape, weights=None):
    """Twin of `count_codes` and `weigh_codes`: every row of every segment adds its weight to its code's cell."""
    out = np.zeros(shape)
    for column, row in enumerate(codes):
        for s, slot in enumerate(slots):
            part = slice(segment_starts[s], segment_starts[s + 1])
            share = np.ones(len(row)) if weights is None else weights
            np.add.at(out[slot], column_starts[column] + row[part].astype(int), share[part])
    return out


def some_codes(seed, dtype):
    """Codes of three columns in four segments, two of them of one slot, one empty."""
    rng = np.random.default_rng(seed)
    n = int(rng.integers(0, 200))
    sizes = rng.integers(1, 200, 3) if dtype == np.uint8 else rng.integers(1, 2000, 3)
    codes = np.stack([rng.integers(0, size, n) for size in sizes]).astype(dtype)
    starts = np.concatenate([[0], np.sort(rng.integers(0, n + 1, 3)), [n]])
    column_starts = np.concatenate([[0], np.cumsum(sizes)])
    return codes, column_starts[:-1], starts, np.array([2, 0, 2, 1]), (3, int(column_starts[-1])), rng.random(n)


@settings(deadline=None, max_examples=30)
@given(seeds, st.sampled_from([np.uint8, np.uint16]))
def test_counts_equal_counting_one_by_one(seed, dtype):
    codes, column_starts, starts, slots, shape, _ = some_codes(seed, dtype)
    out = np.zeros(shape, dtype=np.int64)
    count_codes(codes, column_starts, starts, slots, out)
    np.testing.assert_array_equal(out, counted(codes, column_starts, starts, slots, shape))


@settings(deadline=None, max_examples=30)
@given(seeds, st.sampled_from([np.uint8, np.uint16]))
def test_weighted_counts_equal_adding_one_by_one(seed, dtype):
    codes, column_starts, starts, slots, shape, weights = some_codes(seed, dtype)
    out = np.zeros(shape)
    weigh_codes(codes, weights, column_starts, starts, slots, out)
    np.testing.assert_allclose(out, counted(codes, column_starts, starts, slots, shape, weights), rtol=1e-13)


def test_counts_are_added_to_what_is_there():
    out = np.full((1, 3), 5)
    count_codes(np.array([[1, 1, 2]], dtype=np.uint8), np.array([0]), np.array([0, 3]), np.array([0]), out)
    assert out.tolist() == [[5, 7, 6]]


@pytest.mark.parametrize("dtype", [np.uint8, np.uint16])
def test_used_codes_are_marked(dtype):
    used = np.zeros(256, dtype=np.uint8)
    mark_used(np.array([3, 3, 250, 0], dtype=dtype), used)
    assert np.flatnonzero(used).tolist() == [0, 3, 250]


@settings(deadline=None, max_examples=30)
@given(seeds)
def test_placing_codes_is_translating_in_order(seed):
    rng = np.random.default_rng(seed)
    n = int(rng.integers(1, 300))
    raw, translate = rng.integers(0, 256, n).astype(np.uint8), rng.integers(0, 300, 256).astype(np.uint16)
    order, out = rng.permutation(n).astype(np.uint16), np.empty(n, dtype=np.uint16)
    place_codes(raw, translate, order, out)
    np.testing.assert_array_equal(out, translate[raw[order]])


@settings(deadline=None, max_examples=30)
@given(seeds)
def test_binning_is_a_search_among_the_cuts(seed):
    rng = np.random.default_rng(seed)
    cuts = np.unique(rng.integers(-5, 5, int(rng.integers(0, 8)))).astype(float)
    values = rng.choice(np.append(np.arange(-6.0, 7.0, 0.5), [np.nan, -0.0, 1e300]), 3000)
    out = np.empty(len(values), dtype=np.uint8)
    bin_values(values, cuts, 1, 2, out)
    expected = np.where(np.isnan(values), 1, 2 + np.searchsorted(cuts, values, side="right"))
    np.testing.assert_array_equal(out, expected)
