"""Groups of columns that repeat each other, and the selector that keeps one of each."""

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import load_breast_cancer, load_iris
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.utils.estimator_checks import parametrize_with_checks

from seminaive import NaiveBayes, RedundancyFilter, encode, group_features, mic_matrix

IRIS, SPECIES = load_iris(return_X_y=True)
NAMES = ["SL", "SW", "PL", "PW"]


def repeated(n=200, seed=0):
    """A size measured twice, a word, and noise."""
    rng = np.random.default_rng(seed)
    y = rng.integers(0, 2, n)
    size = rng.normal(size=n) + y
    X = pd.DataFrame({"noise": rng.normal(size=n), "size": size, "area": np.exp(size)})
    X["word"] = rng.choice(["a", "b", "c"], n)
    X["tall"] = rng.random(n) < 0.3 + 0.4 * y
    return X, np.where(y, "sick", "well")


@pytest.mark.parametrize(
    ("threshold", "groups"),
    [
        (0.45, [["SL", "SW"], ["PL", "PW"]]),
        (0.5, [["SL", "SW"], ["PL", "PW"]]),
        (0.55, [["SL", "SW"], ["PL"], ["PW"]]),
        (0.6, [["SL", "SW"], ["PL"], ["PW"]]),
        (0.65, [["SL", "SW"], ["PL"], ["PW"]]),
        (0.7, [["SL"], ["SW"], ["PL"], ["PW"]]),
    ],
)
def test_iris_groups_are_the_frozen_ones(threshold, groups):
    assert group_features(IRIS, SPECIES, threshold, names=NAMES) == groups


def test_chance_alone_joins_no_columns_in_nineteen_tables_of_twenty():
    rng = np.random.default_rng(0)
    joined = [len(group_features(rng.normal(size=(60, 8)), [0, 1] * 30)) < 8 for _ in range(60)]
    assert np.mean(joined) <= 0.1
    pointwise = [mic_matrix(rng.normal(size=(60, 8)), [0, 1] * 30) for _ in range(10)]
    assert np.mean([len(m.to_frame().query("mic > null")) > 0 for m in pointwise]) > 0.8  # 56 looks at one in twenty


def test_the_null_threshold_falls_with_the_number_of_rows():
    X, y = repeated(400)
    weak = X["size"] + 2 * np.random.default_rng(1).normal(size=400)
    frame = pd.DataFrame({"size": X["size"], "weak": weak})
    assert len(group_features(frame[:40], y[:40])) == 2
    assert len(group_features(frame, y)) == 1


def test_a_class_of_few_rows_does_not_join_columns():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(103, 3))
    y = np.repeat([0, 1], [100, 3])
    X[100:] = np.arange(3)[:, None]
    assert mic_matrix(X, y).values[1, 0, 1] > 0.9
    assert group_features(X, y, 0.5) == [[0], [1], [2]]
    assert group_features(X[100:], threshold=0.5) == [[0], [1], [2]]


def test_text_of_many_values_is_a_group_of_its_own():
    X, y = repeated()
    assert group_features(X, y, 0.9) == [["noise"], ["size", "area"], ["word"], ["tall"]]
    assert group_features(X[["word"]], y) == [["word"]]
    X["large"] = np.where(X["size"] > 1, "yes", "no")  # of two values: what it says, the size says
    assert group_features(X, y, 0.9) == [["noise"], ["size", "area", "large"], ["word"], ["tall"]]


def test_a_column_that_is_all_missing_or_constant_repeats_nothing():
    X, y = repeated()
    X["empty"], X["constant"] = np.nan, 1.0
    groups = group_features(X, y)
    assert ["empty"] in groups
    assert ["constant"] in groups


@pytest.mark.parametrize("threshold", ["high", 0, 1.5, True, -1])
def test_a_threshold_that_makes_no_sense_is_refused(threshold):
    with pytest.raises(ValueError, match=r"threshold must be a number above 0 and at most 1, or \"null\""):
        group_features(IRIS, SPECIES, threshold)
    with pytest.raises(ValueError, match="threshold must be"):
        RedundancyFilter(threshold=threshold).fit(IRIS, SPECIES)


# --- the selector -----------------------------------------------------------------------------------------------------


def test_one_of_each_group_is_kept_the_one_that_tells_most():
    X, y = repeated()
    selector = RedundancyFilter().fit(X, y)
    assert selector.groups_ == [["noise"], ["size", "area"], ["word"], ["tall"]]
    assert selector.get_feature_names_out().tolist() == ["noise", "size", "word", "tall"]
    assert selector.transform(X).equals(X[["noise", "size", "word", "tall"]])
    X["area"] = np.where(y == "sick", 5, 0) + X["area"] / 100
    better = RedundancyFilter().fit(X, y)
    assert better.get_feature_names_out().tolist() == ["noise", "area", "word", "tall"]
    frame = better.to_frame()
    assert frame.set_index("column")["kept"].to_dict() == {
        "noise": True, "size": False, "area": True, "word": True, "tall": True,
    }  # fmt: skip
    assert "area, for size" in better.summary()


def test_only_what_is_more_than_chance_joins_columns():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(24, 20)), [0, 1] * 12
    assert len(group_features(X, y, 0.5)) < 20
    assert RedundancyFilter(threshold=0.5).fit(X, y).support_.all()
    assert RedundancyFilter(threshold=0.5).fit(X[:10], y[:10]).support_.all()


def test_a_small_class_does_not_hide_what_a_large_one_shows():
    X, y = repeated()
    y[:9] = "odd"
    assert ["size", "area"] in group_features(X, y)


def test_the_same_columns_are_kept_from_any_table():
    polars = pytest.importorskip("polars")
    X, y = repeated()
    expected = RedundancyFilter().fit(X, y)
    for table in (polars.from_pandas(X), X.astype({"word": "category"})):
        assert np.array_equal(RedundancyFilter().fit(table, y).support_, expected.support_)
    assert np.array_equal(RedundancyFilter().fit(encode(X, y)).support_, expected.support_)
    assert RedundancyFilter().fit(encode(X, y)).groups_ == expected.groups_
    numbers = X[["noise", "size", "area"]].to_numpy()
    assert RedundancyFilter().fit(numbers, y).groups_ == [[0], [1, 2]]


def test_threads_and_seeds_repeat():
    X, y = load_breast_cancer(return_X_y=True)
    one = RedundancyFilter(max_rows=60, random_state=3).fit(X[:, :10], y)
    two = RedundancyFilter(max_rows=60, random_state=3, n_jobs=2).fit(X[:, :10], y)
    assert one.groups_ == two.groups_


def test_it_works_in_a_pipeline_and_a_grid_search():
    X, y = load_breast_cancer(return_X_y=True, as_frame=True)
    X = X.iloc[:, :8]
    pipeline = make_pipeline(RedundancyFilter(max_rows=60), NaiveBayes())
    search = GridSearchCV(pipeline, {"redundancyfilter__threshold": ["null", 0.9]}, cv=2).fit(X, y)
    chosen = search.best_estimator_[0]
    assert 1 <= chosen.support_.sum() < 8
    assert search.best_estimator_[1].n_features_in_ == chosen.support_.sum()


@parametrize_with_checks([RedundancyFilter()])
def test_scikit_learn_finds_no_fault(estimator, check):
    check(estimator)
