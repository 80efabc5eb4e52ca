"""Parameters pulled towards what all classes share: against frozen values, generic optimisers and the identities."""

import json
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import minimize, minimize_scalar
from scipy.stats import chi2_contingency

from seminaive.statistics.pull_gaussians import Gaussians, gaussians_on_line, pull_gaussians
from seminaive.statistics.pull_levels import Levels, levels_on_line, pull_levels
from seminaive.statistics.roots import rising_roots

BLOCKS = json.loads((Path(__file__).parent.parent / "reference" / "weighting.json").read_text())["blocks"]
OF_LEVELS = [block for block in BLOCKS if block["type"] == "discrete"]
OF_GAUSSIANS = [block for block in BLOCKS if block["type"] != "discrete"]
every_seed = given(seed=st.integers(0, 10**6))


def one_column(counts):
    """Counts (classes, levels) of one column, pooled without smoothing."""
    counts = np.asarray(counts, dtype=float)
    return Levels(counts, counts.sum(axis=0) / counts.sum(), np.array([0, counts.shape[1]]))


def loss_of_levels(levels, theta):
    return -(levels.counts * np.log(np.where(levels.counts > 0, theta, 1.0))).sum()


def random_counts(seed, classes=3, levels=4):
    rng = np.random.default_rng(seed)
    counts = rng.integers(0, 12, (classes, levels)) + np.eye(classes, levels)
    counts[0] += counts.sum(axis=0) == 0  # every level occurs
    return counts


def random_gaussians(seed, classes=3, columns=1):
    rng = np.random.default_rng(seed)
    shape = (classes, columns)
    rows = rng.uniform(5, 60, shape)
    return Gaussians(rng.normal(size=shape), rng.uniform(0.05, 1.3, shape), rows, rows * rng.uniform(0.9, 1, shape))


@pytest.mark.parametrize("block", OF_LEVELS)
def test_levels_are_the_frozen_ones(block):
    levels, penalty = one_column(np.transpose(block["counts"])), np.array([block["lam"]])
    theta = pull_levels(levels, penalty)
    np.testing.assert_allclose(theta.T, block["theta"], atol=1e-7)
    objective = loss_of_levels(levels, theta) + penalty[0] * levels.distance_of(theta)[0]
    assert objective == pytest.approx(block["objective"], abs=1e-6)
    assert (penalty[0] >= levels.threshold[0]) == block["dropped"]
    assert levels.chi_square[0] == pytest.approx(block["pearson_chi2"], rel=1e-10)
    assert levels.distance[0] == pytest.approx(block["distance"], rel=1e-10)
    assert levels_on_line(levels, penalty)[0] == pytest.approx(block["adaptive_line_alpha"], abs=1e-10)


@pytest.mark.parametrize("block", OF_GAUSSIANS)
def test_means_and_deviations_are_the_frozen_ones(block):
    parts = [np.array(block[name])[:, None] for name in ("mean", "sd", "n", "n")]
    columns, penalty = Gaussians(*parts), np.array([block["lam"]])
    x = pull_gaussians(columns, penalty)
    np.testing.assert_allclose(x[0, :, 0], block["mu"], atol=1e-5)
    np.testing.assert_allclose(x[1, :, 0], block["sigma"], atol=1e-5)
    objective = (columns.loss(x) + penalty * columns.distance_of(x))[0]
    assert objective == pytest.approx(block["objective"], abs=1e-6)
    assert (columns.distance_of(x)[0] == 0) == block["dropped"]


@every_seed
@settings(max_examples=15, deadline=None)
def test_no_generic_optimiser_finds_better_levels(seed):
    levels = one_column(random_counts(seed))
    penalty = float(np.random.default_rng(seed).uniform(0.02, 1.05)) * levels.threshold[0]
    shape = levels.counts.shape

    def objective(flat):
        theta = np.maximum(flat.reshape(shape), 1e-12)
        return loss_of_levels(levels, theta) + penalty * levels.distance_of(theta)[0]

    sums = [{"type": "eq", "fun": lambda flat, k=k: flat.reshape(shape)[k].sum() - 1} for k in range(shape[0])]
    start = 0.5 * (levels.own + levels.pooled)
    theirs = minimize(objective, start.ravel(), method="SLSQP", bounds=[(0, 1)] * start.size, constraints=sums)
    ours = pull_levels(levels, np.array([penalty]))
    assert ours.min() >= 0
    np.testing.assert_allclose(ours.sum(axis=1), 1, atol=1e-12)
    assert objective(ours.ravel()) <= theirs.fun + 1e-5


@every_seed
@settings(max_examples=8, deadline=None)
def test_no_generic_optimiser_finds_better_means_and_deviations(seed):
    columns = random_gaussians(seed)
    rng = np.random.default_rng(seed)
    penalty = float(rng.uniform(0.02, 1.3)) * columns.threshold

    def objective(flat):
        x = flat.reshape(2, -1, 1)
        return float((columns.loss(x) + penalty * columns.distance_of(x))[0])

    def gradient(flat):
        x = flat.reshape(2, -1, 1)
        return (columns.slope(x) + penalty * (x - columns.pooled) / columns.distance_of(x)).ravel()

    bounds = [(-9, 9)] * 3 + [(1e-3, 9)] * 3
    starts = [0.999 * columns.own + 0.001 * columns.pooled, 0.5 * (columns.own + columns.pooled)]
    starts += [columns.pooled + 0.1 * rng.normal(size=(2, 3, 1))]
    theirs = min(
        minimize(objective, start.ravel(), jac=gradient, method="L-BFGS-B", bounds=bounds).fun for start in starts
    )
    assert objective(pull_gaussians(columns, penalty)) <= min(theirs, objective(columns.pooled)) + 1e-6


@every_seed
@settings(max_examples=25, deadline=None)
def test_a_nominal_column_is_dropped_exactly_from_its_threshold_on(seed):
    levels = one_column(random_counts(seed))
    for share, dropped in ((1 - 1e-6, False), (1.0, True), (1 + 1e-6, True)):
        distance = levels.distance_of(pull_levels(levels, share * levels.threshold))[0]
        assert (distance == 0) == dropped


@every_seed
@settings(max_examples=50, deadline=None)
def test_on_the_line_a_nominal_column_is_dropped_exactly_if_its_chi_square_is_at_most_the_penalty(seed):
    counts = random_counts(seed)
    counts = counts[:, counts.sum(axis=0) > 0]
    levels, chi_square = one_column(counts), chi2_contingency(counts, correction=False).statistic
    assert levels.chi_square[0] == pytest.approx(chi_square, rel=1e-9)
    assert levels_on_line(levels, np.array([chi_square * (1 + 1e-6)]))[0] == 0
    assert levels_on_line(levels, np.array([chi_square * (1 - 1e-6)]))[0] > 0


@every_seed
@settings(max_examples=25, deadline=None)
def test_the_slope_where_the_line_of_a_numeric_column_begins_is_minus_its_chi_square(seed):
    columns = random_gaussians(seed)
    way, step = columns.own - columns.pooled, 1e-6
    ahead, behind = columns.loss(columns.pooled + step * way), columns.loss(columns.pooled - step * way)
    assert (ahead - behind)[0] / (2 * step) == pytest.approx(-columns.chi_square[0], rel=1e-4, abs=1e-3)


@every_seed
@settings(max_examples=25, deadline=None)
def test_alpha_on_the_line_is_the_lowest_point(seed):
    levels, columns = one_column(random_counts(seed)), random_gaussians(seed)
    share = np.random.default_rng(seed).uniform(0.02, 1.2)
    penalty = share * levels.chi_square

    def of_levels(alpha):
        return loss_of_levels(levels, levels.pooled + alpha * (levels.own - levels.pooled)) + penalty[0] * alpha

    best = minimize_scalar(of_levels, bounds=(0, 1), method="bounded", options={"xatol": 1e-9})
    assert of_levels(levels_on_line(levels, penalty)[0]) <= best.fun + 1e-9
    price = share * np.abs(columns.chi_square)

    def of_gaussians(alpha):
        return float((columns.loss(columns.pooled + alpha * (columns.own - columns.pooled)) + price * alpha)[0])

    lowest = min(of_gaussians(alpha) for alpha in np.linspace(0, 1, 1001))
    assert of_gaussians(gaussians_on_line(columns, price)[0]) <= lowest + 1e-9


def test_the_exact_solution_is_never_above_the_line():
    levels, columns = one_column(random_counts(3)), random_gaussians(3)
    for share in (0.05, 0.3, 0.8):
        penalty = share * levels.threshold
        at = levels_on_line(levels, penalty * levels.distance)
        on_line = levels.pooled + at * (levels.own - levels.pooled)
        exact = pull_levels(levels, penalty)
        best, line = (loss_of_levels(levels, t) + penalty * levels.distance_of(t) for t in (exact, on_line))
        assert best[0] <= line[0] + 1e-9
        price = share * columns.threshold
        at = gaussians_on_line(columns, price * columns.distance)
        points = pull_gaussians(columns, price), columns.pooled + at * (columns.own - columns.pooled)
        best, line = (columns.loss(x) + price * columns.distance_of(x) for x in points)
        assert best[0] <= line[0] + 1e-9


def test_a_penalty_of_zero_leaves_everything_as_it_is():
    levels, columns = one_column(random_counts(1)), random_gaussians(1, columns=2)
    np.testing.assert_array_equal(pull_levels(levels, np.zeros(1)), levels.own)
    np.testing.assert_array_equal(pull_gaussians(columns, np.zeros(2)), columns.own)
    np.testing.assert_array_equal(levels_on_line(levels, np.zeros(1)), [1])
    np.testing.assert_array_equal(gaussians_on_line(columns, np.zeros(2)), [1, 1])


def test_columns_do_not_know_of_each_other():
    tables = [random_counts(seed, levels=width) for seed, width in enumerate((2, 5, 3))]
    alone = [one_column(table) for table in tables]
    starts = np.concatenate([[0], np.cumsum([table.shape[1] for table in tables])])
    together = Levels(np.hstack([t.counts for t in alone]), np.hstack([t.pooled for t in alone]), starts)
    penalty = np.array([2.0, 0.0, 1e9])
    expected = np.hstack([pull_levels(t, penalty[[i]]) for i, t in enumerate(alone)])
    np.testing.assert_allclose(pull_levels(together, penalty), expected, atol=1e-12)
    columns, penalty = random_gaussians(0, columns=4), np.array([3.0, 0.0, 1e9, 20.0])
    apart = np.concatenate([pull_gaussians(columns.where(np.array([i])), penalty[[i]]) for i in range(4)], axis=2)
    np.testing.assert_allclose(pull_gaussians(columns, penalty), apart, atol=1e-12)


def test_twice_the_rows_and_twice_the_penalty_change_nothing():
    levels, columns = one_column(random_counts(2)), random_gaussians(2)
    twice = Levels(2 * levels.counts, levels.pooled, levels.starts)
    penalty = 0.3 * levels.threshold
    np.testing.assert_allclose(pull_levels(twice, 2 * penalty), pull_levels(levels, penalty), atol=1e-12)
    twice = Gaussians(columns.mean, columns.deviation, 2 * columns.rows, 2 * columns.strength)
    penalty = 0.3 * columns.threshold
    np.testing.assert_allclose(pull_gaussians(twice, 2 * penalty), pull_gaussians(columns, penalty), atol=1e-9)


def test_a_class_of_which_nothing_is_known_stays_with_the_pooled_parameters():
    levels = one_column([[4.0, 1, 5], [1, 4, 0]])
    levels = Levels(np.vstack([levels.counts, np.zeros(3)]), levels.pooled, levels.starts)
    for penalty in (0.0, 1.0, 3.0):
        np.testing.assert_allclose(pull_levels(levels, np.array([penalty]))[2], levels.pooled, atol=1e-14)


def test_a_numeric_column_can_keep_a_difference_though_its_threshold_says_drop():
    """One class is so narrow that its narrowness pays, though the first step towards it does not."""
    columns = Gaussians(*np.array([[[0.0], [0.0]], [[0.01], [1.0]], [[10.0], [10.0]], [[10.0], [10.0]]]))
    penalty = 1.5 * columns.threshold
    x = pull_gaussians(columns, penalty)
    assert columns.distance_of(x)[0] > 0.5
    assert (columns.loss(x) + penalty * columns.distance_of(x))[0] < columns.loss(columns.pooled)[0]


def test_roots_of_steep_flat_and_shifted_functions_are_found():
    shift = np.array([-3.0, 0.0, 2.5])
    low, high = np.full(3, -5.0), np.full(3, 5.0)
    for function in (np.sinh, np.cbrt, lambda x: np.sign(x) * x**8):
        np.testing.assert_allclose(rising_roots(lambda x, f=function: f(x - shift), low, high), shift, atol=1e-2)
    np.testing.assert_allclose(rising_roots(lambda x: np.expm1(x - shift), low, high), shift, atol=1e-15)
    assert rising_roots(lambda x: x - 1.0, np.zeros(1), np.ones(1))[0] == 1
