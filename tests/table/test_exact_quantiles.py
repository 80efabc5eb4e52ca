"""Quantiles from histograms over bit patterns are exactly the quantiles of the whole column."""

from __future__ import annotations

import statistics

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from seminaive import encode
from seminaive.statistics.quantiles import quantile_cuts
from seminaive.table import exact_quantiles
from seminaive.table.block import plan_rows
from seminaive.table.encode import make_block
from seminaive.table.exact_quantiles import from_keys, quantile_bins, to_keys
from seminaive.table.fold import MemoryBlocks
from seminaive.table.frames import open_frame
from seminaive.table.schema import Column, Schema
from seminaive.table.table import Table

ODD = [0.0, -0.0, 5e-324, -5e-324, 2.2e-308, 1e140, -1e140, np.nextafter(1, 2), 1.0, np.nextafter(1, 0), np.nan]
values = st.lists(
    st.one_of(
        st.sampled_from(ODD),
        st.integers(-3, 3).map(float),
        st.floats(-1e140, 1e140, allow_nan=False),
    ),
    min_size=1,
    max_size=60,
)


def as_table(columns, weights=None, block_rows=65_536):
    """Columns of numbers in blocks of so many rows, of two classes."""
    X = np.column_stack(columns).astype(np.float64)
    frame = open_frame(X)
    schema = Schema(tuple(Column(j, "numeric") for j in range(X.shape[1])), np.array([0, 1]))
    plans = plan_rows(len(X), np.arange(len(X)) % 2, block_rows=block_rows)
    return Table(schema, MemoryBlocks(tuple(make_block(schema, frame, plan, [], weights) for plan in plans)))


def inner_quantiles(column, n_bins, weights=None):
    """By NumPy: the distinct quantiles above the smallest value, whole-number weights being repeated rows."""
    rows = column if weights is None else np.repeat(column, weights)
    rows = rows[~np.isnan(rows)]
    if len(rows) == 0:
        return np.zeros(0)
    found = np.quantile(rows, np.arange(1, n_bins) / n_bins, method="averaged_inverted_cdf") if n_bins > 1 else []
    return np.unique([cut for cut in found if cut > rows.min()])


@pytest.fixture(params=[500_000, 3, 0], ids="collect {}".format)
def collect(request, monkeypatch):
    """How many values may be collected: with few or none, cells are split down to single values."""
    monkeypatch.setattr(exact_quantiles, "COLLECT", request.param)
    monkeypatch.setattr(exact_quantiles, "SPLIT_CELLS", 1 << 12)


@given(column=values, n_bins=st.integers(1, 12), block_rows=st.sampled_from([1, 7, 65_536]))
@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_the_cuts_are_numpys_quantiles(collect, column, n_bins, block_rows):
    column = np.array(column)
    [cuts] = quantile_bins(as_table([column], block_rows=block_rows), n_bins).values()
    np.testing.assert_array_equal(cuts, inner_quantiles(column, n_bins))


@given(
    rows=st.lists(st.tuples(st.sampled_from([*ODD, 2.0, 3.0, 4.0]), st.integers(1, 4)), min_size=1, max_size=40),
    n_bins=st.integers(2, 9),
    block_rows=st.sampled_from([1, 5, 65_536]),
)
@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_whole_weights_are_repeated_rows(collect, rows, n_bins, block_rows):
    column, weights = np.array([r[0] for r in rows]), np.array([r[1] for r in rows])
    [cuts] = quantile_bins(as_table([column], weights.astype(float), block_rows), n_bins).values()
    np.testing.assert_array_equal(cuts, inner_quantiles(column, n_bins, weights))


@given(
    rows=st.lists(st.tuples(st.floats(-9, 9), st.sampled_from([0.1, 0.3, 1e-9, 2.5])), min_size=1, max_size=40),
    n_bins=st.integers(2, 9),
    block_rows=st.sampled_from([1, 5, 65_536]),
)
@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_any_weights_give_the_cuts_of_the_whole_column(collect, rows, n_bins, block_rows):
    column, weights = np.array([r[0] for r in rows]), np.array([r[1] for r in rows])
    [cuts] = quantile_bins(as_table([column], weights, block_rows), n_bins).values()
    np.testing.assert_array_equal(cuts, quantile_cuts(column, n_bins, weights))


def test_the_median_is_the_statistics_modules():
    column = np.random.default_rng(0).normal(size=10_001)
    [cuts] = quantile_bins(as_table([column], block_rows=999), 2).values()
    assert cuts.tolist() == [statistics.median(column.tolist())]


def test_many_values_need_several_splits_and_still_agree(monkeypatch):
    monkeypatch.setattr(exact_quantiles, "COLLECT", 20)
    rng = np.random.default_rng(1)
    columns = [1 + rng.random(20_000) * 1e-9, rng.normal(size=20_000), np.round(rng.normal(size=20_000), 1)]
    for column, cuts in zip(columns, quantile_bins(as_table(columns, block_rows=3_000), 10).values(), strict=True):
        np.testing.assert_array_equal(cuts, inner_quantiles(column, 10))


def test_more_columns_than_one_fold_takes(monkeypatch):
    monkeypatch.setattr(exact_quantiles, "COLUMNS", 2)
    columns = np.random.default_rng(2).normal(size=(5, 100))
    cuts = quantile_bins(as_table(list(columns)), 4)
    assert list(cuts) == [0, 1, 2, 3, 4]
    for column, found in zip(columns, cuts.values(), strict=True):
        np.testing.assert_array_equal(found, inner_quantiles(column, 4))


def test_infinite_values_are_refused_before():
    with pytest.raises(ValueError, match="column 0, row 1: the value inf contains infinity"):
        encode(np.array([[1.0], [np.inf], [2.0]]), [0, 1, 0])


@given(st.lists(st.floats(allow_nan=False), min_size=1))
def test_keys_sort_like_their_numbers(numbers):
    numbers = np.array(numbers)
    keys = to_keys(numbers)
    np.testing.assert_array_equal(from_keys(keys), numbers)
    np.testing.assert_array_equal(numbers[np.argsort(keys, kind="stable")], np.sort(numbers))
    assert to_keys(np.array([-0.0])) == to_keys(np.array([0.0]))
