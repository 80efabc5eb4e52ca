"""Moments merge and come apart as exact arithmetic says, or refuse."""

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from seminaive.statistics.moments import (
    arrays,
    check_digits,
    empty_moments,
    merge,
    moments_of,
    pooled,
    reclass,
    subtract,
)


def one_column(values, weights=None):
    column = np.asarray(values, dtype=np.float64).reshape(-1, 1)
    return moments_of(column, np.zeros(len(column), dtype=int), 1, weights)


def exact(values, weights=None):
    rows = [Fraction(x) for x in values]
    shares = [Fraction(1)] * len(rows) if weights is None else [Fraction(float(w)) for w in weights]
    n = sum(shares)
    mean = sum(w * x for x, w in zip(rows, shares, strict=True)) / n
    return mean, sum(w * (x - mean) ** 2 for x, w in zip(rows, shares, strict=True)) / n


def assert_right_or_refused(moments, values, weights=None):
    """The promise: mean and variance to 1e-9, or a ValueError. Returns whether an answer was given."""
    mean, variance = exact(values, weights)
    # The stated bounds hold whether the digits suffice or not.
    n = Fraction(float(moments.count[0, 0]))
    got = Fraction(float(moments.mean[0, 0])) + Fraction(float(moments.mean_low[0, 0]))
    m2 = Fraction(float(moments.m2[0, 0])) + Fraction(float(moments.m2_low[0, 0]))
    weight = n if weights is None else sum(Fraction(float(w)) for w in weights)
    assert abs(n - weight) <= Fraction(float(moments.count_error[0, 0]))
    assert abs(m2 - variance * weight) <= Fraction(float(moments.error[0, 0]))
    assert abs(got - mean) <= Fraction(float(moments.mean_error[0, 0]))
    try:
        check_digits(moments)
    except ValueError:
        return False
    assert abs(got - mean) <= Fraction(1e-9) * max(abs(mean), Fraction(float(variance) ** 0.5))
    assert abs(Fraction(float(moments.variance()[0, 0])) - variance) <= Fraction(1e-9) * variance
    return True


# Offsets up to 1e9 and spreads down to 1e-6, whole numbers, and plain numbers; sizes as in real tables.
def rows(minimum):
    plain = st.floats(-1e3, 1e3).map(lambda x: round(x, 6))
    shifted = st.integers(0, 1000).map(lambda i: 1e9 + i * 1e-6)
    whole = st.integers(-2, 2).map(float)
    return st.one_of(*(st.lists(kind, min_size=minimum, max_size=40) for kind in (plain, shifted, whole)))


@settings(deadline=None)
@given(st.lists(rows(0), min_size=1, max_size=6).filter(lambda parts: any(parts)))
def test_merged_parts_equal_the_whole(parts):
    total = empty_moments(1, 1)
    for part in parts:
        total = total + one_column(part)
    assert assert_right_or_refused(total, [x for part in parts for x in part])


@settings(deadline=None)
@given(rows(3), st.data())
def test_forgetting_all_but_a_few_rows_is_right_or_refused(values, data):
    size = data.draw(st.integers(1, len(values) - 1))
    left = subtract(one_column(values), one_column(values[size:]))
    assert_right_or_refused(left, values[:size])


@settings(deadline=None)
@given(st.lists(rows(2), min_size=2, max_size=5), st.data())
def test_forgetting_parts_in_any_order_is_right_or_refused(parts, data):
    total = empty_moments(1, 1)
    for part in parts:
        total = merge(total, one_column(part))
    for part in data.draw(st.permutations(parts[1:])):
        total = subtract(total, one_column(part))
    assert_right_or_refused(total, parts[0])


@settings(deadline=None)
@given(st.lists(st.tuples(st.floats(-100, 100).map(lambda x: round(x, 6)), st.floats(0.01, 9)), min_size=3))
def test_weighted_rows_are_right_or_refused(table):
    values, weights = np.array(table).T
    left = subtract(one_column(values, weights), one_column(values[2:], weights[2:]))
    assume(left.count[0, 0] > 0)
    assert_right_or_refused(left, values[:2], weights[:2])


@pytest.mark.parametrize("offset", [0.0, 1e9])
def test_two_rows_out_of_ten_thousand_keep_nine_digits(offset):
    rng = np.random.default_rng(0)
    values = offset + rng.normal(size=10_000)
    total = one_column(values[:5_000]) + one_column(values[5_000:])
    left = subtract(subtract(total, one_column(values[2:3_000])), one_column(values[3_000:]))
    assert assert_right_or_refused(left, values[:2])


def test_a_small_spread_left_by_a_huge_outlier_is_refused_with_its_column_and_class():
    total = one_column([1.0, 1.1, 1e9])
    left = subtract(total, one_column([1e9]))
    with pytest.raises(ValueError, match=r"column 'height' in class 'tall'.*2 rows are left"):
        check_digits(left, ["height"], ["tall"])


def test_what_a_prior_adds_counts_towards_the_digits():
    left = subtract(one_column([0.0, 0.0, 1.0]), one_column([1.0]))
    with pytest.raises(ValueError, match="nine digits"):
        check_digits(left)
    check_digits(left, added=0.1)


def test_a_constant_column_stays_exact_through_merging_and_forgetting():
    total = one_column([0.1] * 7) + one_column([0.1] * 30) + one_column([0.1])
    left = subtract(total, one_column([0.1] * 36))
    check_digits(left)
    assert (left.count[0, 0], left.mean[0, 0], left.m2[0, 0], left.error[0, 0]) == (2.0, 0.1, 0.0, 0.0)


def test_a_group_that_became_empty_is_zero_exactly():
    values = [0.3, 1e9, -2.0]
    for weights in (None, np.array([0.1, 0.2, 0.3])):
        whole = one_column(values, weights)
        parts = one_column(values[:2], None if weights is None else weights[:2])
        last = one_column(values[2:], None if weights is None else weights[2:])
        left = subtract(subtract(whole, parts), last)
        assert all(array[0, 0] == 0.0 for array in arrays(left))
        check_digits(left)


def test_a_single_row_left_has_no_spread():
    left = subtract(one_column([0.3, 5.0, 7.7]), one_column([0.3, 7.7]))
    check_digits(left)
    assert left.mean[0, 0] == 5.0
    assert left.variance()[0, 0] == 0.0


def test_forgetting_more_rows_than_were_learned_is_an_error():
    with pytest.raises(ValueError, match="Cannot forget 3 rows of class number 0 in column number 0: only 2"):
        subtract(one_column([1.0, 2.0]), one_column([1.0, 2.0, 3.0]))


def test_missing_values_are_left_out():
    moments = one_column([1.0, np.nan, 3.0])
    assert (moments.count[0, 0], moments.mean[0, 0], moments.variance()[0, 0]) == (2.0, 2.0, 1.0)


def test_variance_divides_by_n_or_n_minus_one_and_is_nan_without_rows():
    moments = one_column([1.0, 2.0, 3.0, 4.0])
    assert moments.variance()[0, 0] == 1.25
    assert moments.variance(ddof=1)[0, 0] == pytest.approx(5 / 3, rel=1e-15)
    assert np.isnan(empty_moments(1, 1).variance()[0, 0])


def test_pooled_moments_are_those_of_all_rows():
    rng = np.random.default_rng(1)
    values = rng.normal([5.0, -1.0], [1.0, 30.0], size=(200, 2))
    classes = rng.integers(0, 3, size=200)
    together = pooled(moments_of(values, classes, 3))
    np.testing.assert_allclose(together.mean, values.mean(axis=0)[None], rtol=1e-12)
    np.testing.assert_allclose(together.variance(), values.var(axis=0)[None], rtol=1e-12)


def test_classes_find_their_place_among_more_classes_and_equal_places_merge():
    values = np.array([[1.0], [2.0], [4.0]])
    moments = moments_of(values, [0, 1, 2], 3)
    spread = reclass(moments, [3, 0, 3], 4)
    np.testing.assert_array_equal(spread.count[:, 0], [1, 0, 0, 2])
    np.testing.assert_array_equal(spread.mean[:, 0], [2, 0, 0, 2.5])
    np.testing.assert_array_equal(reclass(moments, [0, -1, -1], 1).mean, [[1.0]])


def test_columns_and_classes_do_not_mix():
    rng = np.random.default_rng(2)
    values = rng.normal(size=(60, 3))
    values[rng.random((60, 3)) < 0.2] = np.nan
    classes = rng.integers(0, 2, size=60)
    half = np.arange(60) < 30
    total = moments_of(values[half], classes[half], 2) + moments_of(values[~half], classes[~half], 2)
    for k in range(2):
        np.testing.assert_allclose(total.mean[k], np.nanmean(values[classes == k], axis=0), rtol=1e-13)
        np.testing.assert_allclose(total.variance()[k], np.nanvar(values[classes == k], axis=0), rtol=1e-13)
