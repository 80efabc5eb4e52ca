"""The kernels of moments equal exact arithmetic."""

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from seminaive.kernels.moments import segment_moments, segment_moments_weighted


def measure(values, starts, weights=None, classes=None):
    starts = np.asarray(starts, dtype=np.int64)
    size = len(starts) - 1
    classes = np.zeros(size, dtype=np.int64) if classes is None else np.asarray(classes, dtype=np.int64)
    out = [np.full(size, -7.0) for _ in range(4)]
    values = np.asarray(values, dtype=np.float64)
    if weights is None:
        segment_moments(values, starts, classes, *out)
    else:
        segment_moments_weighted(values, np.asarray(weights, dtype=np.float64), starts, classes, *out)
    return out


def definition(values, weights=None):
    """Count, mean and M2 in exact arithmetic: what the kernels must equal."""
    weights = np.ones(len(values)) if weights is None else weights
    rows = [(Fraction(x), Fraction(w)) for x, w in zip(values, weights, strict=True) if x == x]
    n = sum((w for _, w in rows), Fraction(0))
    if n == 0:
        return Fraction(0), Fraction(0), Fraction(0)
    mean = sum(w * x for x, w in rows) / n
    return n, mean, sum(w * (x - mean) ** 2 for x, w in rows)


numbers = st.one_of(
    st.floats(-1e6, 1e6).map(lambda x: 0.0 if abs(x) < 1e-30 else x),
    st.integers(-3, 3).map(float),
    st.integers(0, 9).map(lambda i: 1e9 + i * 1e-6),
    st.just(float("nan")),
)


@settings(deadline=None)
@given(st.lists(numbers, max_size=150))
def test_one_segment_equals_exact_arithmetic(values):
    count, mean, mean_low, m2 = (Fraction(float(out[0])) for out in measure(values, [0, len(values)]))
    n, exact_mean, exact_m2 = definition(values)
    known = [abs(Fraction(x)) for x in values if x == x]
    assert count == n
    assert abs(mean + mean_low - exact_mean) <= Fraction(1e-28) * sum(known, Fraction(0))
    assert abs(m2 - exact_m2) <= Fraction(5e-16) * exact_m2


@settings(deadline=None)
@given(st.lists(st.tuples(numbers, st.floats(0.01, 10)), max_size=150))
def test_one_weighted_segment_equals_exact_arithmetic(rows):
    values, weights = [x for x, _ in rows], [w for _, w in rows]
    count, mean, mean_low, m2 = (Fraction(float(out[0])) for out in measure(values, [0, len(values)], weights))
    n, exact_mean, exact_m2 = definition(values, weights)
    assert abs(count - n) <= Fraction(2e-16) * n
    spread = Fraction(float(np.sqrt(float(exact_m2 / n)))) if n else Fraction(0)
    assert abs(mean + mean_low - exact_mean) <= Fraction(8e-16) * spread + Fraction(1e-28) * abs(exact_mean)
    assert abs(m2 - exact_m2) <= Fraction(9e-16) * exact_m2


@pytest.mark.parametrize("value", [0.1, -1e150, 1e-300, 7.0, 1 / 3])
@pytest.mark.parametrize("weights", [None, np.linspace(0.1, 0.9, 1000)])
def test_equal_values_have_their_value_as_mean_and_no_spread_at_all(value, weights):
    _, mean, mean_low, m2 = measure(np.full(1000, value), [0, 1000], weights)
    assert (mean[0], mean_low[0], m2[0]) == (value, 0.0, 0.0)


def test_segments_do_not_see_each_other():
    rng = np.random.default_rng(3)
    values = rng.normal(size=700)
    values[rng.random(700) < 0.2] = np.nan
    starts = [0, 0, 130, 131, 700]
    together = np.array(measure(values, starts))
    for s in range(4):
        alone = np.array(measure(values[starts[s] : starts[s + 1]], [0, starts[s + 1] - starts[s]]))
        np.testing.assert_array_equal(together[:, s], alone[:, 0])


def test_an_empty_an_all_missing_and_an_unknown_segment_are_zero():
    values = [np.nan, np.nan, 1.0, 2.0]
    for weights in (None, np.ones(4)):
        out = np.array(measure(values, [0, 0, 2, 4], weights, classes=[0, 1, -1]))
        np.testing.assert_array_equal(out, np.zeros((4, 3)))


def test_weight_two_equals_the_row_twice_and_weight_zero_the_row_left_out():
    rng = np.random.default_rng(5)
    values = 1e6 + rng.normal(size=300)
    weights = rng.integers(0, 4, size=300).astype(float)
    rows = np.repeat(values, weights.astype(int))
    weighted = np.array(measure(values, [0, 300], weights))
    repeated = np.array(measure(rows, [0, len(rows)]))
    assert weighted[0, 0] == repeated[0, 0]
    assert weighted[1, 0] == pytest.approx(repeated[1, 0], rel=2e-16)
    assert weighted[3, 0] == pytest.approx(repeated[3, 0], rel=1e-15)


def test_values_as_large_as_1e150_do_not_overflow():
    for weights in (None, np.ones(4)):
        out = np.array(measure([1e150, -1e150, 1e150, -1e150], [0, 4], weights))
        np.testing.assert_allclose(out[:, 0], [4, 0, 0, 4e300], rtol=1e-15)
