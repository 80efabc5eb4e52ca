"""Kernel densities equal their formula, and the curve stays within its stated error."""

import numpy as np
import pytest
from scipy.special import polygamma
from scipy.stats import norm

from seminaive.statistics.kernel_density import density_curve, density_support, kernel_density

# Twenty rows of the reference values of adjusted probability models.
X = np.array([0.3, 1.1, 1.1, 2.0, 2.4, 2.5, 3.3, 3.9, 4.0, 4.1, 5.2, 5.2, 6.0, 6.6, 7.1, 7.7, 8.0, 8.8, 9.5, 12.0])
Y = np.array([0, 0, 0, 0, 1, 0, 0, 0, 1, 0, 1, 0, 1, 1, 1, 1, 1, 1, 0, 1])
X_TEST = np.array([0.0, 3.3, 6.0, 20.0])
DIFFERENCE = np.array([-2.50069436713, -0.827040798633, 1.06031637254, 8.13873413108e-11])


def counted(values, classes, n_classes, weights=None, limit=1024):
    support = density_support(values, weights, limit)
    binned = len(np.unique(values[~np.isnan(values)])) > limit
    edges = np.append(support[:-1], np.inf) if binned else np.append(support, np.inf)
    weights = np.ones(len(values)) if weights is None else weights
    counts = [np.histogram(values, edges, weights=weights * (classes == k))[0] for k in range(n_classes)]
    return kernel_density(support, counts)


def spread(rows):
    return min(rows.std(), np.subtract(*np.quantile(rows, [0.75, 0.25])) / 1.34)


def definition(x, values, classes, k):
    """The formula of the module, row by row."""
    rows = values[classes == k]
    n = len(rows)
    spreads = [spread(values[classes == j]) for j in np.unique(classes)]
    own = spread(rows) if all(spreads) else spread(values) or values.std()
    h = max(0.9 * own * n**-0.2, 1e-3 * values.std())
    kernels = norm.pdf(x[:, None], rows, h).sum(axis=1)
    return np.log((kernels + norm.pdf(x, values.mean(), 2 * values.std())) / (n + 1))


def test_the_difference_of_two_classes_has_the_reference_values():
    log_density = counted(X, Y, 2).log_density(X_TEST)
    np.testing.assert_allclose(log_density[1] - log_density[0], DIFFERENCE, rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("seed", range(3))
def test_distinct_values_give_the_formula_exactly(seed):
    rng = np.random.default_rng(seed)
    values, classes = np.round(rng.normal(size=80), 1), rng.integers(0, 3, size=80)
    x = np.linspace(-4, 4, 50)
    log_density = counted(values, classes, 3).log_density(x)
    for k in range(3):
        np.testing.assert_allclose(log_density[k], definition(x, values, classes, k), rtol=1e-9)


@pytest.mark.parametrize("common", [0.45, 0.6, 0.8])
def test_a_value_that_half_of_a_class_shares_leaves_all_classes_one_spread(common):
    """One class has no spread between its quartiles; with .8 not even the whole column has one."""
    rng = np.random.default_rng(0)
    values, classes = np.round(rng.normal(size=200), 1), np.arange(200) % 2
    values[rng.random(200) < np.where(classes == 0, common, 0.8)] = 0.0
    x = np.linspace(-4, 4, 50)
    log_density = counted(values, classes, 2).log_density(x)
    for k in range(2):
        np.testing.assert_allclose(log_density[k], definition(x, values, classes, k), rtol=1e-9)


def test_a_value_common_in_both_classes_is_no_proof_of_either():
    zeros_and_ones = np.repeat([0.0, 1.0, 0.0, 1.0], [80, 20, 70, 30])
    classes = np.repeat([0, 1], 100)
    said = counted(zeros_and_ones, classes, 2).log_density([0.0, 1.0])
    np.testing.assert_allclose(said[1] - said[0], np.log([70 / 80, 30 / 20]), atol=0.05)


def test_bins_come_close_to_the_rows_themselves():
    rng = np.random.default_rng(4)
    values, classes = rng.gamma(2.0, size=5000), rng.integers(0, 2, size=5000)
    x = np.linspace(0.0, 8.0, 100)
    density = counted(values, classes, 2)
    assert density.counts.shape[1] == 1024
    for k in range(2):
        expected = definition(x, values, classes, k)
        np.testing.assert_allclose(np.exp(density.log_density(x)[k]), np.exp(expected), atol=1e-3)


@pytest.mark.parametrize("limit", [10, 1024])
def test_every_density_integrates_to_one(limit):
    x = np.linspace(-60, 60, 40_001)
    density = counted(X, Y, 2, limit=limit)
    np.testing.assert_allclose(np.exp(density.log_density(x)).sum(axis=1) * (x[1] - x[0]), 1.0, rtol=1e-6)


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("limit", [30, 1024])
def test_the_curve_is_as_close_as_it_says(seed, limit):
    rng = np.random.default_rng(seed)
    values = np.concatenate([rng.normal(size=300), 5 + 0.05 * rng.normal(size=100), np.zeros(50)])
    classes = rng.integers(0, 3, size=len(values))
    density = counted(values, classes, 3, limit=limit)
    curve = density_curve(density)
    x = np.linspace(curve.knots[0], curve.knots[-1], 3001)
    exact = density.log_density(x)
    off = max(np.abs(np.interp(x, curve.knots, curve.log_density[k]) - exact[k]).max() for k in range(3))
    assert len(curve.knots) <= 256
    assert curve.error < 0.05
    assert off <= 2 * curve.error + 1e-4


def test_more_knots_make_the_curve_closer():
    density = counted(X, Y, 2)
    errors = [density_curve(density, size).error for size in (4, 16, 64, 256)]
    assert errors == sorted(errors, reverse=True)
    assert errors[0] > 10 * errors[-1]


def test_the_knots_cover_the_data_and_six_bandwidths_beyond():
    density = counted(X, Y, 2)
    margin = 6 * density.bandwidth.max() * density.sd
    curve = density_curve(density)
    np.testing.assert_allclose([curve.knots[0], curve.knots[-1]], [X.min() - margin, X.max() + margin])
    assert (np.diff(curve.knots) > 0).all()


def test_shift_and_scale_of_the_column_only_shift_and_scale_the_curve():
    curve = density_curve(counted(X, Y, 2))
    for shift, scale in ((100.0, 1e6), (-3.0, 1e-100), (0.0, 1e149)):
        moved = density_curve(counted(scale * (X + shift), Y, 2))
        np.testing.assert_allclose(moved.knots / scale - shift, curve.knots, rtol=1e-9, atol=1e-10)
        np.testing.assert_allclose(moved.log_density + np.log(scale), curve.log_density, rtol=1e-7, atol=1e-9)
        np.testing.assert_allclose(moved.variance, curve.variance, rtol=1e-7)


def test_the_variance_follows_from_rows_bandwidth_and_density():
    density = counted(X, Y, 2)
    curve = density_curve(density)
    rows = np.array([[10.0], [10.0]])
    h = density.bandwidth[:, None] * density.sd
    near = 2 * np.sqrt(np.pi) * rows * h * np.exp(curve.log_density)
    np.testing.assert_allclose(curve.variance, polygamma(1, near + 0.5), rtol=1e-12)


def test_intervals_stay_of_a_readable_width_far_from_all_rows():
    rng = np.random.default_rng(0)
    for n in (20, 500):
        curve = density_curve(counted(rng.normal(size=n), np.zeros(n, dtype=int), 1))
        half = 1.96 * np.sqrt(curve.variance[0])
        assert half.max() < 4.4
        true = norm.logpdf(curve.knots)
        around = np.abs(curve.knots) < 2.5
        assert np.mean(np.abs(curve.log_density[0] - true)[around] < half[around]) > 0.8


def test_weight_two_equals_the_row_twice():
    weights = np.arange(len(X)) % 3
    plain = counted(np.repeat(X, weights), np.repeat(Y, weights), 2)
    weighted = counted(X, Y, 2, weights.astype(float))
    np.testing.assert_allclose(weighted.log_density(X_TEST), plain.log_density(X_TEST), rtol=1e-12)


def test_a_class_without_rows_is_the_wide_normal_and_its_variance_infinite():
    density = counted(X, Y, 3)
    expected = norm.logpdf(X_TEST, X.mean(), 2 * X.std())
    np.testing.assert_allclose(density.log_density(X_TEST)[2], expected, rtol=1e-12)
    curve = density_curve(density)
    assert np.isinf(curve.variance[2]).all()
    assert np.isfinite(curve.variance[:2]).all()
    assert np.isfinite(curve.log_density).all()


def test_a_class_of_one_row_has_a_finite_curve():
    curve = density_curve(counted(np.append(X, 30.0), np.append(Y, 2), 3))
    assert np.isfinite(curve.log_density).all()
    assert np.isfinite(curve.variance).all()


@pytest.mark.parametrize("values", [np.full(5, 3.0), np.full(5, np.nan)])
def test_a_constant_or_missing_column_says_nothing(values):
    density = counted(values, np.array([0, 0, 0, 1, 1]), 2)
    curve = density_curve(density)
    assert len(curve.knots) == 2
    assert not curve.log_density.any()
    assert not density.log_density([3.0, 4.0]).any()


def test_missing_and_weightless_values_do_not_enter_the_support():
    np.testing.assert_array_equal(density_support([3.0, np.nan, 1.0, 3.0, 9.0], [1, 1, 1, 1, 0]), [1.0, 3.0])


def test_more_distinct_values_than_the_limit_become_quantile_bins():
    support = density_support(np.arange(1000.0), limit=10)
    np.testing.assert_array_equal(support, [0.0, *(100.0 * np.arange(1, 10) - 0.5), 999.0])


def test_counts_that_fit_neither_points_nor_edges_are_an_error():
    with pytest.raises(ValueError, match="3 points need as many and 3 edges one fewer"):
        kernel_density([1.0, 2.0, 3.0], np.ones((2, 5)))
