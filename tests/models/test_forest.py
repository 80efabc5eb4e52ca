"""The Bayesian forest as users meet it: the frozen posterior, its averages, and odd data."""

import os
import warnings
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from dependence_definition import theta
from sklearn.exceptions import ConvergenceWarning
from sklearn.model_selection import StratifiedKFold, cross_val_score

from forest_data import reference
from seminaive import BayesianForest

FOLDER = os.environ.get("SEMINAIVE_DATA", "")
needs_data = pytest.mark.skipif(not FOLDER, reason="SEMINAIVE_DATA names no folder of data")


def rows_of(name):
    """Levels as nominal columns, labels and frozen values of a reference data set."""
    codes, classes, values = reference(name)
    return pd.DataFrame(codes.T).astype("category"), classes, values


def rows_in(name):
    """Columns, labels and split of a set of the data folder."""
    data = pd.read_parquet(Path(FOLDER) / f"{name}.parquet")
    return data.drop(columns=["class", "split"], errors="ignore"), data["class"], data["split"]


def noisy_pairs(n, d, seed=0):
    """Binary columns of which the first two matter, and only together."""
    rng = np.random.default_rng(seed)
    X = rng.integers(0, 2, (n, d)).astype(bool)
    return X, X[:, 0] == X[:, 1]


# --- the frozen posterior ---------------------------------------------------------------------------------------------


def test_corral_has_its_five_relevant_columns_and_two_interactions():
    X, y, values = rows_of("corral")
    model = BayesianForest().fit(X, y)
    assert model.exact_
    np.testing.assert_allclose(model.inclusion_, values["exact"]["inclusion"], atol=1e-9)
    assert np.all(model.inclusion_[[0, 1, 2, 3, 5]] >= 0.99)
    assert model.inclusion_[4] == pytest.approx(0.065, abs=0.03)
    found = model.edges(0.98)
    assert sorted(zip(found["feature"], found["with"], strict=True)) == [("0", "1"), ("2", "3")]


def test_corral_is_learned_without_error():
    X, y, _ = rows_of("corral")
    folds = StratifiedKFold(5, shuffle=True, random_state=0)
    assert cross_val_score(BayesianForest(), X, y, cv=folds).mean() == 1.0


def test_heart_needs_all_columns_but_those_that_never_vary():
    X, y, values = rows_of("heart_mdl")
    model = BayesianForest(n_iter="exact").fit(X, y)
    constant = np.flatnonzero(X.nunique() == 1)
    assert len(constant) == 4
    assert model.constant_features_ == constant.tolist()
    np.testing.assert_allclose(model.inclusion_, values["exact"]["inclusion"], atol=1e-9)
    assert np.all(np.delete(model.inclusion_, constant) > 0.99)
    assert np.all(model.inclusion_[constant] == pytest.approx(0.232, abs=0.001))  # the prior, no evidence
    assert model.get_support(0.0)[constant].sum() == 0
    assert model.feature_importances_[constant].sum() == 0
    assert not set(model.graph(0.0).nodes) & set(constant)
    assert model.posterior_.best_log_posterior == pytest.approx(-1414.976, abs=0.001)


@needs_data
def test_chains_meet_on_chess():
    X, y, _ = rows_in("chess")
    model = BayesianForest(n_iter=10_000).fit(X, y)
    posterior = model.posterior_
    assert model.diagnostics_["R-hat"]["log posterior"] <= 1.05
    means = posterior.trace[:, posterior.n_burnt :, 0].mean(axis=1)
    np.testing.assert_allclose(means, -37525, atol=0.5)
    assert posterior.best_log_posterior == pytest.approx(-37524.467, abs=0.01)


@needs_data
@pytest.mark.parametrize("seed", range(4))
def test_all_twenty_relevant_columns_of_madelon_are_found_and_no_other(seed):
    from forest_data import REFERENCE

    X, y, split = rows_in("madelon_binary")
    train = split == "train"
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)  # some edges among noise need longer chains
        model = BayesianForest(n_iter=10_000, random_state=seed).fit(X[train], y[train])
    relevant = REFERENCE["madelon_binary"]["signal_features_0based"]
    assert np.flatnonzero(model.inclusion_ >= 0.99).tolist() == sorted(relevant)
    assert np.delete(model.inclusion_, relevant).max() <= 0.5
    assert model.diagnostics_["R-hat"]["log posterior"] <= 1.05
    assert model.posterior_.best_log_posterior == pytest.approx(-588872.7, abs=0.1)


# --- averages ---------------------------------------------------------------------------------------------------------


def by_definition(X, y, row, model):
    """The average over all draws of the classes' shares, each a product over the signal columns of the draw."""
    average = np.zeros(len(np.unique(y)))
    for parent, group, weight in zip(model.samples_.parent, model.samples_.group, model.samples_.weight, strict=True):
        joint = np.array([np.mean(y == k) for k in np.unique(y)])
        for j in np.flatnonzero(group):
            above = [parent[j]] if parent[j] >= 0 else []
            if all(np.any(X[:, i] == row[i]) for i in (j, *above)):
                joint *= [theta(X, y, j, above, row, k) for k in np.unique(y)]
        average += weight * joint / joint.sum()
    return average


@pytest.mark.parametrize("weights", ["uniform", "posterior"])
def test_probabilities_are_averages_over_the_drawn_forests(weights):
    rng = np.random.default_rng(3)
    y = rng.integers(0, 3, 80)
    X = rng.integers(0, 3, (80, 4))
    X[:, 1] = np.where(rng.random(80) < 0.6, (X[:, 0] + y) % 3, X[:, 1])
    queries = X[:8].copy()
    queries[2:4, 0] = 7  # never seen
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        model = BayesianForest(n_iter=2000, thin=20, chains=2, weights=weights, nominal=range(4)).fit(X, y)
    expected = [by_definition(X, y, row, model) for row in queries]
    np.testing.assert_allclose(model.predict_proba(queries), expected, atol=1e-12)


def test_the_number_of_threads_changes_nothing():
    X, y = noisy_pairs(300, 20)
    one, two = (BayesianForest(n_iter=10_000, n_jobs=n).fit(X, y) for n in (1, 2))
    np.testing.assert_array_equal(one.samples_.parent, two.samples_.parent)
    np.testing.assert_array_equal(one.samples_.packed, two.samples_.packed)
    np.testing.assert_array_equal(one.predict_proba(X), two.predict_proba(X))


def test_forests_are_kept_in_little_room():
    X, y = noisy_pairs(200, 20)
    samples = BayesianForest(n_iter=10_000).fit(X, y).samples_
    assert samples.parent.dtype == np.int32
    assert samples.packed.shape == (len(samples), 3)  # a bit per column


# --- odd data ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("n_iter", ["exact", 4000])
def test_a_column_given_twice_is_joined_to_itself(n_iter):
    X, y = noisy_pairs(400, 3)
    X = np.column_stack([X, X[:, 2]])
    model = BayesianForest(n_iter=n_iter).fit(X, y)
    found = model.edges(0.0).groupby(["feature", "with"])["probability"].sum()  # among noise or among signal columns
    assert found["2", "3"] > 0.99
    assert np.isfinite(model.predict_joint_log_proba(X)).all()


def test_levels_and_classes_that_hardly_occur_are_legal():
    X = pd.DataFrame({"a": list("xxyyxz"), "b": list("uuvvvw")})
    y = np.array(["p", "p", "q", "q", "q", "once"])
    probabilities = BayesianForest().fit(X, y).predict_proba(X)
    np.testing.assert_allclose(probabilities.sum(axis=1), 1)


@pytest.mark.parametrize("d", [1, 2])
@pytest.mark.parametrize("n", [1, 3])
def test_one_column_and_one_row_are_enough(n, d):
    X = pd.DataFrame(np.arange(n * d).reshape(n, d) % 2 == 0)
    y = np.arange(n) % 2
    assert BayesianForest().fit(X, y).predict_proba(X).shape == (n, min(n, 2))


def test_a_column_with_a_level_for_every_other_row_may_be_an_identifier():
    rng = np.random.default_rng(0)
    X = pd.DataFrame({"customer": rng.permutation(200) // 1.5, "a": rng.integers(0, 2, 200)}).astype(str)
    with pytest.warns(UserWarning, match="customer.*133 values in 200 rows"):
        BayesianForest().fit(X, rng.integers(0, 2, 200))


def test_more_rows_than_sixteen_bits_can_count_make_no_noise_a_signal():
    X, y = noisy_pairs(70_000, 6)
    model = BayesianForest().fit(X, y)
    assert np.all(model.inclusion_[:2] > 0.999)
    assert model.inclusion_[2:].max() < 0.1


@pytest.mark.slow
def test_more_rows_than_single_precision_can_count_are_counted():
    from seminaive.statistics.pair_counts import pack_rows, pair_counts

    n = 2**24 + 3
    codes = np.ones((2, n), dtype=np.uint8)
    codes[:, 0] = 0
    rows = pack_rows(codes, [0, n], [0], np.array([2, 2]))
    np.testing.assert_array_equal(pair_counts([rows], 0, 1, n_classes=1), [[[1, 0], [0, n - 1]]])


@pytest.mark.slow
def test_ten_thousand_columns_fit_into_memory():
    import tracemalloc

    X, y = noisy_pairs(128, 10_000)
    tracemalloc.start()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        model = BayesianForest(n_iter=5000, chains=1).fit(X, y)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 1.1e9
    assert model.predict_proba(X[:3]).shape == (3, 2)


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_chains_out_of_time_are_used_as_far_as_they_came():
    X, y = noisy_pairs(200, 30)
    with pytest.warns(UserWarning, match="the chains were stopped before 100000000 iterations; the [0-9]+ forests"):
        model = BayesianForest(n_iter=10**8, burn_in=0, thin=10, max_time=0.3, chains=2).fit(X, y)
    assert len(np.unique(model.samples_.chain)) == 2  # on one thread, too, each had its share of the time
    assert np.isfinite(model.predict_proba(X)).all()


def test_chains_that_have_not_met_are_told_of_with_what_to_do():
    rng = np.random.default_rng(0)
    hidden = rng.random((500, 1)) < 0.5
    X = hidden ^ (rng.random((500, 40)) < 0.05)
    with pytest.warns(ConvergenceWarning, match=r"use moves='joint', take more iterations \(n_iter=4000\)"):
        model = BayesianForest(n_iter=1000, thin=10, moves="paper").fit(X, hidden[:, 0])
    assert not model.converged_
    assert "THE CHAINS HAVE NOT MET" in model.summary()
