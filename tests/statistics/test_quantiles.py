"""Quantiles equal NumPy's, and weights are copies."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from seminaive.statistics.quantiles import quantile_cuts, weighted_quantiles

values = st.lists(st.one_of(st.integers(-3, 3).map(float), st.floats(-1e6, 1e6)), min_size=1, max_size=60)
tenths = np.linspace(0, 1, 11)


def numpy_quantiles(rows, probabilities):
    return np.quantile(rows, probabilities, method="averaged_inverted_cdf")


@settings(deadline=None)
@given(values, st.lists(st.floats(0, 1), max_size=5))
def test_without_weights_they_are_those_of_numpy(rows, probabilities):
    asked = np.concatenate([tenths, np.array(probabilities)])
    np.testing.assert_array_equal(weighted_quantiles(rows, asked), numpy_quantiles(rows, asked))


@settings(deadline=None)
@given(values, st.data())
def test_whole_weights_are_repeated_rows_exactly(rows, data):
    size = len(rows)
    weights = data.draw(st.lists(st.integers(0, 3), min_size=size, max_size=size).filter(any))
    repeated = np.repeat(rows, weights)
    np.testing.assert_array_equal(weighted_quantiles(rows, tenths, weights), numpy_quantiles(repeated, tenths))


@settings(deadline=None)
@given(values, st.data())
def test_the_unit_of_the_weights_does_not_matter(rows, data):
    size = len(rows)
    weights = np.array(data.draw(st.lists(st.integers(1, 3), min_size=size, max_size=size)))
    eighths = np.arange(9) / 8
    expected = weighted_quantiles(rows, eighths, weights)
    np.testing.assert_array_equal(weighted_quantiles(rows, eighths, 0.1 * weights), expected)


def test_missing_values_are_ignored_and_nothing_gives_nan():
    np.testing.assert_array_equal(weighted_quantiles([np.nan, 3.0, 1.0], [0.5]), [2.0])
    np.testing.assert_array_equal(weighted_quantiles([np.nan], [0.5]), [np.nan])
    np.testing.assert_array_equal(weighted_quantiles([1.0], [0.5], [0.0]), [np.nan])


@settings(deadline=None)
@given(values, st.integers(1, 12))
def test_cuts_are_distinct_quantiles_and_neither_end_bin_is_empty(rows, n_bins):
    cuts = quantile_cuts(rows, n_bins)
    codes = np.searchsorted(cuts, rows, side="right")
    assert (np.diff(cuts) > 0).all()
    assert codes.min() == 0
    assert codes.max() == len(cuts) < n_bins
    expected = np.unique(numpy_quantiles(rows, np.arange(1, n_bins) / n_bins)) if n_bins > 1 else np.array([])
    np.testing.assert_array_equal(cuts, expected[expected > min(rows)])


def test_ten_values_in_five_bins_have_two_each():
    cuts = quantile_cuts(np.arange(10.0), 5)
    np.testing.assert_array_equal(cuts, [1.5, 3.5, 5.5, 7.5])


def test_constant_and_all_missing_columns_have_no_cuts():
    assert len(quantile_cuts([2.0, 2.0, np.nan], 10)) == 0
    assert len(quantile_cuts([np.nan, np.nan], 10)) == 0


def test_no_bins_is_an_error():
    with pytest.raises(ValueError, match="n_bins=0 must be at least 1"):
        quantile_cuts([1.0], 0)
