"""MIC against frozen values and against its definition, tried over every grid."""

import itertools
import json
import math
import pickle
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.datasets import load_iris

from seminaive.statistics.mic import group_features, mic, mic_matrix
from seminaive.statistics.mic_null import TABLE, null_point, simulate_null

FROZEN = json.loads((Path(__file__).parent / "mic.json").read_text())
IRIS, SPECIES = load_iris(return_X_y=True)
NAMES = ["SL", "SW", "PL", "PW"]


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


def test_permutation_p_value_is_small_for_dependence_and_seeded():
    rng = np.random.default_rng(0)
    x = rng.uniform(size=80)
    y = np.sin(9 * x) + 0.1 * rng.normal(size=80)
    found = mic(x, y, n_permutations=99, random_state=5)
    assert found == mic(x, y)
    assert found.p_value == 0.01
    again = [mic(x, rng.normal(size=80), n_permutations=49, random_state=s).p_value for s in (1, 2)]
    assert all(p > 0.02 for p in again)
    noise = rng.normal(size=80)
    first, second = (mic(x, noise, n_permutations=49, random_state=8).p_value for _ in range(2))
    assert first == second


def test_p_values_of_independent_columns_are_uniform():
    rng = np.random.default_rng(1)
    p = np.array([mic(*rng.normal(size=(2, 30)), n_permutations=19, random_state=i).p_value for i in range(400)])
    assert abs((p <= 0.05).mean() - 0.05) < 0.035
    assert abs((p <= 0.5).mean() - 0.5) < 0.08


def test_without_permutations_there_is_no_p_value():
    assert mic([1, 2, 3], [1, 2, 3]).p_value is None


def test_a_value_with_its_p_value_survives_a_pickle():
    found = mic(range(20), range(20), n_permutations=9, random_state=0)
    copy = pickle.loads(pickle.dumps(found))
    assert (copy, copy.p_value) == (found, found.p_value)


def test_iris_matrices_are_symmetric_with_the_frozen_entries():
    matrices = mic_matrix(IRIS, SPECIES)
    assert matrices.classes == (0, 1, 2)
    assert matrices.rows == (50, 50, 50)
    np.testing.assert_array_equal(matrices.values, matrices.values.transpose(0, 2, 1))
    for label, i, j, expected in FROZEN["iris"]:
        assert matrices.values[label, i, j] == pytest.approx(expected, rel=0, abs=1e-12)


def test_iris_matrices_agree_with_the_printed_ones():
    """Setosa, versicolor, virginica as printed in the 2016 thesis (one misprint, .40 for .39, corrected)."""
    printed = [
        [[0.99, 0.66, 0.23, 0.19], [0.66, 1, 0.3, 0.22], [0.23, 0.3, 1, 0.14], [0.19, 0.22, 0.14, 0.9]],
        [[0.99, 0.36, 0.6, 0.5], [0.36, 1, 0.39, 0.38], [0.6, 0.39, 1, 0.52], [0.5, 0.38, 0.52, 0.99]],
        [[0.99, 0.4, 0.62, 0.29], [0.4, 0.99, 0.22, 0.3], [0.62, 0.22, 1, 0.28], [0.29, 0.3, 0.28, 1]],
    ]
    np.testing.assert_allclose(mic_matrix(IRIS, SPECIES).values, printed, rtol=0, atol=0.011)


def test_without_classes_there_is_one_matrix_of_all_rows():
    matrices = mic_matrix(IRIS)
    assert matrices.classes == (None,)
    assert matrices.values[0, 1, 2] == mic(IRIS[:, 1], IRIS[:, 2])


def test_matrix_pairs_use_the_rows_where_both_are_present():
    X = IRIS.copy()
    X[::3, 0] = np.nan
    X[::7, 1] = np.nan
    values = mic_matrix(X).values[0]
    assert values[0, 1] == mic(X[:, 0], X[:, 1])
    assert values[0, 2] == mic(X[:, 0], X[:, 2])
    assert values[2, 3] == mic(X[:, 2], X[:, 3])


def test_threads_change_nothing():
    one, two = (mic_matrix(IRIS, SPECIES, n_jobs=n).values for n in (1, 2))
    np.testing.assert_array_equal(one, two)


def test_large_classes_are_sampled_with_the_seed():
    first, second = (mic_matrix(IRIS, SPECIES, max_rows=20, random_state=4) for _ in range(2))
    assert first.rows == (20, 20, 20)
    np.testing.assert_array_equal(first.values, second.values)
    assert not np.array_equal(first.values, mic_matrix(IRIS, SPECIES, max_rows=20, random_state=5).values)


@pytest.mark.parametrize(("n", "mean_point"), [(20, 0.54), (35, 0.45), (50, 0.41), (100, 0.30), (200, 0.25)])
def test_null_points_are_the_published_ones(n, mean_point):
    assert null_point(n) == pytest.approx(mean_point, abs=0.02)


def test_null_table_continues_the_simulation_and_falls():
    assert TABLE[500] == pytest.approx(simulate_null(500, 200), abs=0.004)
    assert null_point(900) == pytest.approx(simulate_null(900, 100), abs=0.005)
    values = list(TABLE.values())
    assert values == sorted(values, reverse=True)


def test_other_grids_have_their_own_null_point():
    assert null_point(600, alpha=0.5) < null_point(600) - 0.02


def test_independent_columns_exceed_the_null_point_in_one_case_of_twenty():
    rng = np.random.default_rng(2)
    values = np.array([mic(*rng.normal(size=(2, 50))) for _ in range(1000)])
    assert abs((values > null_point(50)).mean() - 0.05) < 0.025


@pytest.mark.parametrize(
    ("threshold", "groups"),
    [
        (0.45, [["SL", "SW"], ["PL", "PW"]]),
        (0.5, [["SL", "SW"], ["PL", "PW"]]),
        (0.55, [["SL", "SW"], ["PL"], ["PW"]]),
        (0.6, [["SL", "SW"], ["PL"], ["PW"]]),
        (0.65, [["SL", "SW"], ["PL"], ["PW"]]),
        (0.7, [["SL"], ["SW"], ["PL"], ["PW"]]),
        ("null", [["SL", "SW"], ["PL", "PW"]]),
    ],
)
def test_iris_groups(threshold, groups):
    assert group_features(IRIS, SPECIES, threshold, names=NAMES) == groups


def test_a_class_of_few_rows_does_not_join_columns():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(103, 3))
    y = np.repeat([0, 1], [100, 3])
    X[100:] = np.arange(3)[:, None]
    assert mic_matrix(X, y).values[1, 0, 1] > 0.9
    assert group_features(X, y, 0.5) == [[0], [1], [2]]
    assert group_features(X[100:], threshold=0.5) == [[0], [1], [2]]


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: mic([1, 2], [1, 2, 3]), "same number of rows, got 2 and 3"),
        (lambda: mic([[1, 2]], [1, 2]), "x must have 1 dimension"),
        (lambda: mic(["a", "b"], [1, 2]), "x must hold numbers only"),
        (lambda: mic([1, 2], [1, 2], alpha=1.5), "alpha must be above 0 and at most 1, got 1.5"),
        (lambda: mic([1, 2], [1, 2], c=0), "c must be above 0, got 0"),
        (lambda: mic([1, 2], [1, 2], n_permutations=-1), "n_permutations must be 0 or more, got -1"),
        (lambda: mic_matrix(IRIS, SPECIES[:9]), "one label per row"),
        (lambda: mic_matrix(IRIS[:3], [0.0, np.nan, 1.0]), "missing labels, got one in row 1"),
        (lambda: mic_matrix(IRIS[:3], np.array(["a", "b", None])), "missing labels, got one in row 2"),
        (lambda: mic_matrix(IRIS, names=["a"]), "got 1 for 4 columns"),
        (lambda: mic_matrix(IRIS, n_jobs=0), "n_jobs must be 1 or more"),
        (lambda: group_features(IRIS, SPECIES, "high"), "threshold must be a number or"),
    ],
)
def test_mistakes_are_named(call, message):
    with pytest.raises(ValueError, match=message):
        call()
