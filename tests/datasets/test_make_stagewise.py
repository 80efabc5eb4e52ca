import numpy as np
import pytest

from seminaive.datasets import make_stagewise, make_stagewise_example

# Sums of the training and test rows, counts of the classes, and the noisy columns, for seed 120000.
FROZEN = {
    "DI": (6432, 64578, [88, 109, 103], [989, 982, 1029], [1, 2, 4, 5, 7, 9, 11, 13, 15, 16]),
    "CI": (-478.922782501, -7546.63644477, [93, 107, 100], [1001, 983, 1016], [1, 4, 6, 9, 13, 14, 15, 16, 17, 19]),
    "DR": (5975, 59066, [88, 109, 103], [974, 1022, 1004], [2, 5, 6, 7, 9, 12, 15, 16, 17, 19]),
    "CR": (1472.47114373, 9911.07931133, [93, 107, 100], [990, 966, 1044], [1, 2, 4, 6, 8, 9, 16, 17, 18, 19]),
}


@pytest.mark.parametrize("kind", FROZEN)
def test_the_rows_are_the_frozen_ones(kind):
    data = make_stagewise(kind, 120000)
    total, total_test, counts, counts_test, noisy = FROZEN[kind]
    assert data.X.sum() == pytest.approx(total, rel=1e-11)
    assert data.X_test.sum() == pytest.approx(total_test, rel=1e-11)
    assert np.bincount(data.y).tolist() == counts
    assert np.bincount(data.y_test).tolist() == counts_test
    assert np.flatnonzero(data.noisy).tolist() == noisy


def test_the_first_row_is_the_frozen_one():
    assert make_stagewise("DR", 120000).X[0].tolist() == [0, 1, 0, 1, 1, 0, 0, 0, 1, 0, 1, 1, 0, 0, 1, 0, 2, 0, 1, 0]


@pytest.mark.parametrize("kind", ["DI", "DR"])
def test_discrete_noise_is_independent_of_the_class_or_a_copy_of_a_good_column(kind):
    data = make_stagewise(kind, 5, n_test=20_000)
    agrees = np.array([[np.mean(a == b) for b in data.X_test[:, ~data.noisy].T] for a in data.X_test[:, data.noisy].T])
    best = agrees.max(axis=1)
    assert (best > 0.88).all() if kind == "DR" else (best < 0.8).all()
    shares = np.array([[np.mean(column[data.y_test == k] == 0) for k in range(3)] for column in data.X_test.T])
    varies = np.ptp(shares, axis=1)
    assert (varies[data.noisy] > 0.05).all() if kind == "DR" else (varies[data.noisy] < 0.03).all()


def test_continuous_copies_are_near_the_good_column_nine_times_in_ten():
    data = make_stagewise("CR", 5)
    near = [
        max(np.mean(np.abs(a - b) < 0.4) for b in data.X_test[:, ~data.noisy].T) for a in data.X_test[:, data.noisy].T
    ]
    assert np.min(near) > 0.88


def test_neighbours_of_tied_columns_are_often_equal():
    data = make_stagewise("CI", 5)
    good = data.X_test[:, ~data.noisy]
    equal = [np.mean(good[:, i] == good[:, j]) for i in range(10) for j in range(i)]
    assert sum(share > 0.2 for share in equal) >= 5


def test_the_small_data_sets_have_the_tables_of_the_paper():
    data = make_stagewise_example(0, n_train=100_000)
    shares = [[np.mean(data.X[data.y == k, 0] == v) for v in range(3)] for k in range(3)]
    np.testing.assert_allclose(shares, [[0.8, 0.1, 0.1], [1 / 3] * 3, [1 / 3] * 3], atol=0.01)
    shares = [[np.mean(data.X[data.y == k, 2] == v) for v in range(3)] for k in range(3)]
    np.testing.assert_allclose(shares, [[1 / 3] * 3, [0.3, 0.1, 0.6], [0.3, 0.6, 0.1]], atol=0.01)


@pytest.mark.parametrize("continuous", [False, True])
def test_small_data_sets_get_copies_irrelevant_columns_and_equal_rows_as_asked(continuous):
    copies = make_stagewise_example(1, n_noisy=3, redundant=True, continuous=continuous)
    assert (copies.X[:, 3:] == copies.X[:, :1]).all()
    irrelevant = make_stagewise_example(1, n_noisy=3, continuous=continuous)
    assert irrelevant.X.shape == (1000, 6)
    assert irrelevant.noisy.tolist() == [False] * 3 + [True] * 3
    means = [irrelevant.X_test[irrelevant.y_test == k, 3].mean() for k in range(3)]
    assert np.ptp(means) < 0.1
    equal = make_stagewise_example(1, equal=0.5, continuous=continuous)
    assert np.mean(equal.X[:, 1] == equal.X[:, 2]) > 0.45
    assert np.mean(equal.X[:, 1] == equal.X[:, 2]) < (0.55 if continuous else 0.8)


def test_the_same_seed_gives_the_same_rows_and_another_one_others():
    first, again, other = (make_stagewise_example(seed) for seed in (0, 0, 1))
    np.testing.assert_array_equal(first.X, again.X)
    assert not np.array_equal(first.X, other.X)


def test_an_unknown_kind_is_named():
    with pytest.raises(ValueError, match="kind must be one of 'DI', 'CI', 'DR', 'CR'; got 'XX'"):
        make_stagewise("XX", 0)
