"""Naive Bayes equals scikit-learn where the model is the same, and the literature where it is not."""

import os
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import norm
from sklearn.naive_bayes import CategoricalNB, GaussianNB

from seminaive import NaiveBayes

needs_data = pytest.mark.skipif("SEMINAIVE_DATA" not in os.environ, reason="SEMINAIVE_DATA names no folder of data")


def levels_table(n=2000):
    rng = np.random.default_rng(0)
    y = rng.integers(0, 3, n)
    return np.column_stack([(y + rng.integers(0, size, n)) % size for size in (2, 3, 7, 300)]), y


@pytest.mark.parametrize("alpha", [1.0, 0.1, 10.0])
@pytest.mark.parametrize("weighted", [False, True])
def test_nominal_columns_have_the_log_probabilities_of_scikit_learn(alpha, weighted):
    X, y = levels_table()
    weights = np.random.default_rng(1).integers(1, 5, len(y)) / 2 if weighted else None
    theirs = CategoricalNB(alpha=alpha).fit(X, y, weights)
    ours = NaiveBayes(smoothing=alpha, nominal=[0, 1, 2, 3]).fit(X, y, weights)
    assert [len(c.levels) for c in ours.evidence_.schema.columns] == theirs.n_categories_.tolist()
    for term, expected in zip(ours.evidence_.terms, theirs.feature_log_prob_, strict=True):
        np.testing.assert_allclose(term.table[:, 2:], expected, rtol=0, atol=1e-12)
    np.testing.assert_allclose(ours.evidence_.prior, theirs.class_log_prior_, atol=1e-12)
    np.testing.assert_allclose(ours.predict_joint_log_proba(X), theirs.predict_joint_log_proba(X), atol=1e-11)


@pytest.mark.parametrize("weighted", [False, True])
def test_numeric_columns_have_the_means_and_variances_of_scikit_learn(weighted):
    rng = np.random.default_rng(0)
    y = rng.integers(0, 3, 400)
    X = rng.normal(size=(400, 3)) * [1.0, 100.0, 10.0] + y[:, None] * [1.0, 50.0, 0.1]
    weights = rng.random(400) if weighted else None
    theirs = GaussianNB().fit(X, y, weights)
    ours = NaiveBayes(variance_prior=None).fit(X, y, weights)
    mean = np.column_stack([term.mean for term in ours.evidence_.terms])
    variance = np.column_stack([1 / term.precision for term in ours.evidence_.terms])
    np.testing.assert_allclose(mean, theirs.theta_, rtol=1e-12)
    np.testing.assert_allclose(variance, theirs.var_ - theirs.epsilon_, rtol=1e-12)


def test_maximum_likelihood_refuses_a_class_without_variance():
    X, y = pd.DataFrame({"size": [1.0, 1.0, 2.0, 3.0]}), ["a", "a", "b", "b"]
    with pytest.raises(ValueError, match="The variance of column 'size' in class 'a' is zero"):
        NaiveBayes(variance_prior=None).fit(X, y)
    tiny = pd.DataFrame({"size": [0.0, 1e-152, 2.0, 3.0]})
    with pytest.raises(ValueError, match="variance of column 'size' in class 'a' is too small"):
        NaiveBayes(variance_prior=None).fit(tiny, y)
    assert NaiveBayes().fit(X, y).score(X, y) == 1.0
    assert NaiveBayes().fit(tiny, y).score(tiny, y) == 1.0


def test_a_narrow_column_is_not_drowned_by_a_wide_one():
    rng = np.random.default_rng(0)

    def draw(n):
        y = rng.integers(0, 2, n)
        return np.column_stack([(rng.normal(size=n) + 2 * y) * 1e-6, rng.normal(0, 1000, n)]), y

    X, y = draw(5_000)
    X_test, y_test = draw(100_000)
    assert NaiveBayes().fit(X, y).score(X_test, y_test) >= 0.835  # the best possible is .841
    assert GaussianNB().fit(X, y).score(X_test, y_test) < 0.6


@settings(deadline=None, max_examples=30)
@given(st.integers(-6, 6), st.sampled_from(["gaussian", "bins", "kde"]), st.integers(0, 3))
def test_rescaling_a_column_changes_nothing(power, numeric, seed):
    rng = np.random.default_rng(seed)
    y = rng.integers(0, 2, 60)
    X = rng.normal(size=(60, 2)) + y[:, None]
    scaled = X * [10.0**power, 1.0]
    here, there = NaiveBayes(numeric=numeric).fit(X, y), NaiveBayes(numeric=numeric).fit(scaled, y)
    np.testing.assert_allclose(there.predict_proba(scaled), here.predict_proba(X), rtol=1e-8, atol=1e-12)


def test_shifting_a_column_changes_nothing():
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, 60)
    X = np.round(rng.normal(size=(60, 1)) + y[:, None], 3)
    here, there = NaiveBayes().fit(X, y), NaiveBayes().fit(X + 1024, y)
    np.testing.assert_allclose(there.predict_proba(X + 1024), here.predict_proba(X), rtol=1e-9)


# Twenty rows of the reference values of adjusted probability models.
KDE_X = [0.3, 1.1, 1.1, 2.0, 2.4, 2.5, 3.3, 3.9, 4.0, 4.1, 5.2, 5.2, 6.0, 6.6, 7.1, 7.7, 8.0, 8.8, 9.5, 12.0]
KDE_Y = [0, 0, 0, 0, 1, 0, 0, 0, 1, 0, 1, 0, 1, 1, 1, 1, 1, 1, 0, 1]
KDE_TEST = [0.0, 3.3, 6.0, 20.0]
KDE_EVIDENCE = [-2.50069436713, -0.827040798633, 1.06031637254, 8.13873413108e-11]


def test_kernel_densities_have_the_reference_values_within_their_stated_error():
    model = NaiveBayes(numeric="kde").fit(np.array(KDE_X)[:, None], KDE_Y)
    values = model.contributions(np.array(KDE_TEST)[:, None]).values[:, 0]
    (term,) = model.evidence_.terms
    assert term.error < 1e-3
    np.testing.assert_allclose(values[:, 1] - values[:, 0], KDE_EVIDENCE, atol=2 * term.error)


@pytest.mark.parametrize("numeric", ["gaussian", "kde"])
def test_missing_as_a_value_adds_what_being_missing_says(numeric):
    x = np.array([np.nan] * 6 + [0.0, 1.0] + [np.nan] * 2 + [0.2, 1.2] * 3)[:, None]
    y = [0] * 8 + [1] * 8
    skip = NaiveBayes(numeric=numeric).fit(x, y).contributions(x).values[:, 0]
    value = NaiveBayes(numeric=numeric, missing="value").fit(x, y).contributions(x).values[:, 0]
    np.testing.assert_allclose(skip[0], 0)
    np.testing.assert_allclose(value[0], np.log([7 / 10, 3 / 10]))
    np.testing.assert_allclose(value[6] - skip[6], np.log([3 / 10, 7 / 10]))


def test_a_missing_level_is_learned_only_if_so_wished():
    X, y = pd.DataFrame({"a": ["x", None, None, "x", "x", None]}), [0, 0, 0, 1, 1, 1]
    skip, value = (NaiveBayes(missing=how).fit(X, y).contributions(X).values[1, 0] for how in ("skip", "value"))
    assert skip.tolist() == [0, 0]
    np.testing.assert_allclose(value, np.log([3 / 5, 2 / 5]))


def test_smoothing_adds_the_same_mass_to_every_level_or_none():
    X, y = pd.DataFrame({"a": ["x", "x", "y", "z", "z", "z"]}), [0, 0, 0, 1, 1, 0]
    none = NaiveBayes(smoothing_kind="none").fit(X, y).evidence_.terms[0].table[:, 2:]
    level = NaiveBayes(smoothing=2.0).fit(X, y).evidence_.terms[0].table[:, 2:]
    np.testing.assert_allclose(none, [np.log([2 / 4, 1 / 4, 1 / 4]), [-700, -700, 0]])
    np.testing.assert_allclose(level, np.log([[4 / 10, 3 / 10, 3 / 10], [2 / 8, 2 / 8, 4 / 8]]))


def test_priors_are_empirical_uniform_or_given():
    X, y = [[0.0], [1.0], [2.0], [3.0]], ["a", "a", "a", "b"]
    for prior, expected in (("empirical", [0.75, 0.25]), ("uniform", [0.5, 0.5]), ([0.1, 0.9], [0.1, 0.9])):
        np.testing.assert_allclose(np.exp(NaiveBayes(prior=prior).fit(X, y).evidence_.prior), expected)
    assert NaiveBayes(prior=[1.0, 0.0]).fit(X, y).predict(X).tolist() == ["a"] * 4
    with pytest.raises(ValueError, match="prior must be 'empirical', 'uniform' or 2 probabilities that sum to 1"):
        NaiveBayes(prior=[0.5, 0.6]).fit(X, y)


def test_counts_are_what_was_counted():
    X, y = pd.DataFrame({"a": ["x", "y", None, "x"], "size": [1.0, 2.0, 3.0, 4.0]}), [0, 1, 1, 1]
    model = NaiveBayes().fit(X, y, sample_weight=[2, 1, 1, 1])
    assert model.counts_["a"].tolist() == [[2, 0], [1, 1]]
    assert model.class_count_.tolist() == [2, 3]
    assert list(model.counts_) == ["a"]
    assert NaiveBayes(numeric="bins", n_bins=2).fit(X, y).counts_["size"].tolist() == [[1, 0], [1, 2]]


def test_gaussian_evidence_is_the_log_density_at_the_mode():
    rng = np.random.default_rng(0)
    x, y = rng.normal(size=(50, 1)), np.arange(50) % 2
    model = NaiveBayes().fit(x, y)
    (term,) = model.evidence_.terms
    expected = norm.logpdf(x, term.mean, term.precision**-0.5)
    np.testing.assert_allclose(model.contributions(x).values[:, 0], expected, rtol=1e-12)


@needs_data
def test_dna_without_smoothing_errs_on_64_of_1186_rows():
    rows = pd.read_parquet(Path(os.environ["SEMINAIVE_DATA"]) / "dna.parquet")
    X, train = rows.drop(columns=["class", "split"]), rows["split"] == "train"
    model = NaiveBayes(smoothing_kind="none").fit(X[train], rows["class"][train])
    wrong = model.predict(X[~train]) != rows["class"][~train]
    assert (int(wrong.sum()), len(wrong)) == (64, 1186)  # 5.40 %
