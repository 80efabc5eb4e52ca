"""MIC against frozen values and against its definition, tried over every grid."""

import itertools
import json
import math
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.datasets import load_iris

from seminaive.statistics.mic import LEAST_ROWS, chance_limits, mic_of_pairs, strongest
from seminaive.statistics.mic import mic_of_columns as mic_of_floats
from seminaive.statistics.mic_null import MOMENTS, null_point, simulate_null

FROZEN = json.loads((Path(__file__).parent / "mic.json").read_text())
IRIS, SPECIES = load_iris(return_X_y=True)


def mic(x, y, **grid):
    return mic_of_floats(np.asarray(x, dtype=float), np.asarray(y, dtype=float), **grid)


def fill(sizes, n_bins):
    """Bin of every group: filled evenly and in order, groups stay whole."""
    bins, inside, target, left = [0], 0, sum(sizes) / n_bins, sum(sizes)
    for size in sizes:
        if inside > 0 and abs(inside + size - target) >= abs(inside - target):
            bins.append(bins[-1] + 1)
            inside, target = 0, left / (n_bins - bins[-1])
        else:
            bins.append(bins[-1])
        inside += size
        left -= size
    return np.array(bins[1:])


def information(row, column):
    table = np.histogram2d(row, column, [np.unique(row).size, np.unique(column).size])[0] / len(row)
    independent = table.sum(1, keepdims=True) * table.sum(0)
    seen = table > 0
    return float((table[seen] * np.log(table[seen] / independent[seen])).sum())


def mic_by_definition(x, y, alpha, c):
    """Every set of column cuts between (super)clumps, one by one."""
    n = len(x)
    cells, highest = max(n**alpha, 4), 0.0
    for a, b in ((x, y), (y, x)):
        if len(set(a)) < 2 or len(set(b)) < 2:
            return 0.0
        b_rank, b_size = np.unique(b, return_inverse=True, return_counts=True)[1:]
        a_rank = np.unique(a, return_inverse=True)[1]
        for rows in range(2, int(cells / 2) + 1):
            columns = int(cells / rows)
            if columns < 2:
                break
            row = fill(b_size, rows)[b_rank]
            # clumps: a mark per a-value, a new clump wherever the mark changes
            rows_at = [set(row[a_rank == g]) for g in range(a_rank.max() + 1)]
            marks = [min(there) if len(there) == 1 else -1 - g for g, there in enumerate(rows_at)]
            clump = np.cumsum([g > 0 and marks[g] != marks[g - 1] for g in range(len(marks))])[a_rank]
            most = max(int(c * columns), 1)
            if clump.max() + 1 > most:
                clump = fill(np.bincount(clump), most)[clump]
            for cuts in range(1, min(columns, clump.max() + 1)):
                for chosen in itertools.combinations(range(1, clump.max() + 1), cuts):
                    column = np.searchsorted(chosen, clump, side="right")
                    for allowed in range(cuts + 1, columns + 1):
                        highest = max(highest, information(row, column) / math.log(min(allowed, rows)))
    return highest


def synthetic_pairs():
    """(n, f) -> x and y of the frozen recipe: one stream, four shapes drawn each time, the f-th kept."""
    rng = np.random.default_rng(0)
    pairs = {}
    for n in (20, 60, 200, 500, 1000):
        for f in range(4):
            x = rng.uniform(size=n)
            shapes = [
                x + 0.2 * rng.normal(size=n),
                np.sin(9 * x) + 0.3 * rng.normal(size=n),
                rng.normal(size=n),
                np.round((x - 0.5) ** 2 * 8 + 0.5 * rng.normal(size=n)),
            ]
            pairs[n, f] = x, shapes[f]
    return pairs


@pytest.mark.parametrize("case", FROZEN["small"], ids=str)
def test_hand_sized_pairs_have_the_frozen_value(case):
    assert mic(case["x"], case["y"]) == pytest.approx(case["mic"], rel=0, abs=1e-12)


def test_thirty_iris_pairs_have_the_frozen_value():
    for label, i, j, expected in FROZEN["iris"]:
        flowers = IRIS[label == SPECIES]
        assert mic(flowers[:, i], flowers[:, j]) == pytest.approx(expected, rel=0, abs=1e-12)


def test_twenty_synthetic_pairs_have_the_frozen_value():
    pairs = synthetic_pairs()
    for n, f, expected, x_head, y_head in FROZEN["synthetic"]:
        x, y = pairs[n, f]
        np.testing.assert_allclose([*x[:2], *y[:2]], [*x_head, *y_head], rtol=1e-11)
        assert mic(x, y) == pytest.approx(expected, rel=0, abs=1e-12)


@given(
    st.integers(2, 12),
    st.integers(0, 10_000),
    st.sampled_from([2, 5, 20]),
    st.sampled_from([0.6, 0.8, 1.0]),
    st.sampled_from([0.3, 1, 2, 15]),
)
@settings(max_examples=60, deadline=None)
def test_mic_is_the_best_over_all_grids(n, seed, distinct, alpha, c):
    x, y = np.random.default_rng(seed).integers(0, distinct, (2, n))
    assert mic(x, y, alpha=alpha, c=c) == pytest.approx(mic_by_definition(x, y, alpha, c), rel=0, abs=1e-12)


def test_rows_that_never_open_count_in_the_denominator():
    x = [5, 4, 5, 4, 3, 4, 4, 6, 0, 3, 5, 5, 5, 5, 4, 2]
    y = [4, 4, 4, 2, 3, 4, 4, 4, 0, 3, 4, 3, 4, 4, 4, 2]
    expected = mic_by_definition(x, y, 1.0, 15)
    assert expected == pytest.approx(0.5140976555739)
    assert mic(x, y, alpha=1.0) == pytest.approx(expected, rel=0, abs=1e-12)


@given(st.integers(2, 150), st.integers(0, 10_000), st.sampled_from([3, 20, 10**9]))
@settings(max_examples=60, deadline=None)
def test_swapping_the_columns_keeps_every_bit(n, seed, distinct):
    x, y = np.random.default_rng(seed).integers(0, distinct, (2, n))
    assert mic(x, y) == mic(y, x)


@given(st.integers(2, 150), st.integers(0, 10_000), st.sampled_from([3, 20, 1000]))
@settings(max_examples=60, deadline=None)
def test_only_the_order_of_values_counts(n, seed, distinct):
    x, y = np.random.default_rng(seed).integers(0, distinct, (2, n))
    assert mic(np.exp(x / 100) - 7, y**3) == mic(x, y)


@given(st.integers(2, 100), st.integers(0, 10_000), st.sampled_from([3, 20, 1000]))
@settings(max_examples=60, deadline=None)
def test_mic_lies_between_0_and_1_and_ignores_the_order_of_rows(n, seed, distinct):
    rng = np.random.default_rng(seed)
    x, y = rng.integers(0, distinct, (2, n))
    order = rng.permutation(n)
    assert 0 <= mic(x, y) <= 1
    assert mic(x[order], y[order]) == mic(x, y)


@pytest.mark.parametrize(
    ("x", "y", "value"),
    [
        ([], [], 0.0),
        ([1.0], [2.0], 0.0),
        ([1.0, 1.0, 1.0, 1.0], [1.0, 2.0, 3.0, 4.0], 0.0),
        ([1.0, 1.0, 1.0, 1.0], [2.0, 2.0, 2.0, 2.0], 0.0),
        ([1.0, 2.0], [5.0, 3.0], 1.0),
        ([np.nan, np.nan], [1.0, 2.0], 0.0),
    ],
    ids=["no rows", "one row", "constant", "all tied", "two rows", "all missing"],
)
def test_edge_cases(x, y, value):
    assert mic(x, y) == value


def test_three_rows_are_computed_with_four_cells():
    assert mic([0, 1, 2], [2, 0, 1]) == pytest.approx(mic_by_definition([0, 1, 2], [2, 0, 1], 0.6, 15))


def test_rows_where_either_value_is_missing_are_left_out():
    x, y = np.random.default_rng(3).normal(size=(2, 60))
    x_gaps, y_gaps = x.copy(), y.copy()
    x_gaps[:10] = np.nan
    y_gaps[5:20] = np.nan
    assert mic(x_gaps, y_gaps) == mic(x[20:], y[20:])


def test_infinite_values_are_just_the_largest():
    assert mic([0, 1, 2, 3, np.inf], [4, 3, 2, 1, -np.inf]) == mic(range(5), range(5))


@given(st.integers(2, 100), st.integers(0, 10_000))
@settings(max_examples=40, deadline=None)
def test_turning_two_values_around_changes_nothing(n, seed):
    x, y = np.random.default_rng(seed).integers(0, 2, (2, n))
    z = np.random.default_rng(seed).normal(size=n)
    assert mic(1 - x, y) == pytest.approx(mic(x, y), abs=1e-12)
    assert mic(1 - x, z) == pytest.approx(mic(x, z), abs=1e-12)


def test_a_pair_with_gaps_uses_the_rows_where_both_are_present_and_others_all():
    columns = [column.copy() for column in IRIS.T]
    columns[0][::3] = np.nan
    columns[1][::7] = np.nan
    values = mic_of_pairs(columns)
    np.testing.assert_array_equal(values, values.T)
    for i in range(4):
        for j in range(4):
            assert values[i, j] == mic(columns[i], columns[j])
    np.testing.assert_array_equal(mic_of_pairs(columns, workers=2), values)


@pytest.mark.parametrize(("n", "point"), [(20, 0.54), (35, 0.45), (50, 0.41), (100, 0.30), (200, 0.25)])
def test_null_points_are_the_published_ones(n, point):
    assert null_point(n) == pytest.approx(point, abs=0.02)


def test_the_null_table_continues_the_simulation_and_falls():
    assert MOMENTS[500] == pytest.approx(simulate_null(500, 200), abs=0.003)
    assert null_point(900) == pytest.approx(null_point(900, c=15.0 + 1e-9), abs=0.004)  # simulated for this very n
    points = [null_point(n) for n in MOMENTS]
    assert points == sorted(points, reverse=True)


def test_other_grids_have_their_own_null_point():
    assert null_point(600, alpha=0.5) < null_point(600) - 0.02


@pytest.mark.parametrize("n", [20, 50, 100])
def test_independent_columns_exceed_the_null_point_as_often_as_it_says(n):
    rng = np.random.default_rng(2)
    values = np.array([mic(*rng.normal(size=(2, n))) for _ in range(2000)])
    for share in (0.2, 0.05, 0.01):
        assert (values > null_point(n, share=share)).mean() == pytest.approx(share, abs=0.3 * share + 0.004)
    assert (values > null_point(n, share=0.001)).mean() <= 0.002  # a rare value is never called rarer than it is


def test_chance_passes_its_limits_in_at_most_one_table_of_twenty():
    rng = np.random.default_rng(0)
    rows = [40, 20]
    limits = chance_limits(rows, 6)
    tables = [np.array([mic_of_pairs(list(rng.normal(size=(6, n)))) for n in rows]) for _ in range(200)]
    above = [np.triu(strongest(table, rows, limits), 1).any() for table in tables]
    assert 0 < np.mean(above) <= 0.08


def test_each_class_has_its_own_limit():
    matrices = np.array([np.full((2, 2), 0.5), np.full((2, 2), 0.55)])
    assert strongest(matrices, [400, 12])[0, 1] == 0.55
    limits = chance_limits([400, 12], 2)
    assert limits[0] < 0.5 < 0.55 < limits[1]
    assert strongest(matrices, [400, 12], limits)[0, 1] == 0.5


def test_classes_of_few_rows_tell_nothing():
    few = LEAST_ROWS - 1
    assert not strongest(np.ones((1, 2, 2)), [few]).any()
    assert np.isinf(chance_limits([few, few], 5)).all()
    assert chance_limits([50, few], 2)[0] == chance_limits([50], 2)[0]
