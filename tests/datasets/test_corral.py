import os
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from seminaive import BayesianForest
from seminaive.datasets import make_corral

DATA = os.environ.get("SEMINAIVE_DATA")
needs_data = pytest.mark.skipif(not DATA, reason="SEMINAIVE_DATA names no folder of data")
SIX = ["a0", "a1", "b0", "b1", "irrelevant", "correlated"]


def make_up(X, y):
    """What distinguishes corral: the rule, the balance of the free columns, and how often the sixth is the class."""
    free = X[SIX[:5]].astype(int).value_counts().sort_index()
    rule = bool((y == (X["a0"] & X["a1"] | X["b0"] & X["b1"])).all())
    return rule, set(free.tolist()), len(free), float((X["correlated"] == y).mean())


def test_the_rows_have_the_rule_the_balance_and_the_copy_that_errs_in_a_quarter():
    for n in (32, 128, 1024):
        assert make_up(*make_corral(n, seed=n)) == (True, {n // 32}, 32, 0.75)


@needs_data
def test_the_published_rows_are_made_alike():
    data = pd.read_parquet(Path(DATA) / "corral.parquet")
    published = make_up(data.drop(columns="class").astype(bool), data["class"].to_numpy() == "1")
    assert make_up(*make_corral()) == published
    assert list(make_corral()[0]) == list(data)[:-1]


@needs_data
def test_the_published_noise_too_is_made_of_the_six_columns_in_another_order():
    for X in (pd.read_parquet(Path(DATA) / "corral_noise1000.parquet").drop(columns="class"), make_corral(128, 994)[0]):
        shares = X.astype(bool).mean()
        assert set(shares[6:]) == set(shares[:6])
        assert X.shape == (128, 1000)


def test_noise_is_independent_of_the_class_and_of_its_source():
    X, y = make_corral(20_000, n_noise=30)
    agrees = np.array([[np.mean(X[name] == X[six]) for six in SIX] for name in list(X)[6:]])
    assert np.abs(agrees - 0.5).max() < 0.05
    assert max(abs(X[name][y == 1].mean() - X[name][y == 0].mean()) for name in list(X)[6:]) < 0.03


def test_any_number_of_rows_is_possible_and_nearly_balanced():
    X, y = make_corral(50)
    counts = X[SIX[:5]].value_counts()
    assert len(X) == len(y) == 50
    assert counts.max() - counts.min() <= 1


def test_the_same_seed_gives_the_same_rows_and_another_one_others():
    (first, y), (again, _), (other, _) = (make_corral(n_noise=3, seed=seed) for seed in (0, 0, 1))
    pd.testing.assert_frame_equal(first, again)
    assert not first.equals(other)
    assert y.dtype == np.int64


@pytest.mark.parametrize("seed", range(3))
def test_a_forest_finds_the_pairs_that_decide_the_class(seed):
    X, y = make_corral(n_noise=3, seed=seed)
    model = BayesianForest().fit(X, y)
    inclusion = dict(zip(X, model.inclusion_, strict=True))
    assert min(inclusion[name] for name in ("a0", "a1", "b0", "b1", "correlated")) > 0.99
    assert set(zip(*model.edges(0.5)[["feature", "with"]].to_numpy().T, strict=True)) == {("a0", "a1"), ("b0", "b1")}


def test_no_rows_are_refused():
    with pytest.raises(ValueError, match="n_rows must be at least 1"):
        make_corral(0)
