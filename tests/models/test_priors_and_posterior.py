"""Priors of one's own for levels and numbers, and posterior intervals that hold what they promise."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest
from scipy.stats import beta

from seminaive import ConstrainedNB, NaiveBayes, NormalGamma, load

WORDS = pd.DataFrame({"word": list("aabbbcaacc"), "size": [1.0, 2, 3, 4, 5, 6, 7, 8, 9, 10]})
Y = ["no"] * 5 + ["yes"] * 5


def shares(model: Any) -> Any:
    """P(level | class) of the first column."""
    return np.exp(model.evidence_.terms[0].table[:, 2:])


@pytest.mark.parametrize("make", [NaiveBayes, ConstrainedNB])
def test_a_prior_by_class_and_level_is_so_many_more_rows(make: Any) -> None:
    prior = [[1.0, 2, 3], [0.5, 0, 4]]
    model = make(smoothing={"word": prior}).fit(WORDS, Y)
    counts = np.array([[2, 3, 0], [2, 0, 3]]) + np.array(prior)
    assert shares(model)[0] == pytest.approx(counts[0] / counts[0].sum())
    assert shares(model)[1] == pytest.approx(np.maximum(counts[1] / counts[1].sum(), np.exp(-700)))


@pytest.mark.parametrize("same", [{"word": 1.0}, {"word": [1.0, 1, 1]}, {"word": np.ones((2, 3))}, {}])
def test_a_dict_that_says_one_is_the_default(same: Any) -> None:
    plain = NaiveBayes().fit(WORDS, Y)
    model = NaiveBayes(smoothing=same).fit(WORDS, Y)
    assert np.array_equal(shares(model), shares(plain))
    assert np.array_equal(model.evidence_.terms[0].table_variance, plain.evidence_.terms[0].table_variance)


def test_a_missing_value_that_counts_as_a_level_gets_the_mean_strength() -> None:
    frame = WORDS.assign(word=["a", None, *"bbbcaacc"])
    by_level = NaiveBayes(smoothing={"word": [1.0, 2, 3]}, missing="value").fit(frame, Y)
    table = np.exp(by_level.evidence_.terms[0].table[:, 1:])
    assert table[0] == pytest.approx(np.array([1 + 2, 1 + 1, 3 + 2, 0 + 3]) / 13)


@pytest.mark.parametrize(
    ("smoothing", "message"),
    [
        ({"colour": 1.0}, "smoothing names 'colour', which is not one of the columns"),
        ({"word": [1.0, 2]}, r"smoothing\['word'\] must be a number >= 0, 3 \(one per level\) or 2 x 3"),
        ({"word": -1}, "must be a number >= 0"),
        ({"word": "much"}, "must be a number >= 0"),
    ],
)
def test_a_prior_that_does_not_fit_is_refused(smoothing: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        NaiveBayes(smoothing=smoothing).fit(WORDS, Y)


def test_a_prior_by_column_needs_smoothing_by_level() -> None:
    with pytest.raises(ValueError, match="smoothing by column needs smoothing_kind='level'"):
        NaiveBayes(smoothing={"word": 1.0}, smoothing_kind="class").fit(WORDS, Y)
    gaps = WORDS.assign(size=[None, *WORDS["size"][1:]])
    with pytest.raises(ValueError, match=r"smoothing\['size'\] must be a number: the column has no levels"):
        NaiveBayes(smoothing={"size": [1.0, 2]}, missing="value").fit(gaps, Y)


def test_priors_of_ones_own_survive_saving(tmp_path: Any) -> None:
    model = NaiveBayes(smoothing={"word": np.ones((2, 3))}, variance_prior=NormalGamma(5.0, 1.0, 2.0, 3.0))
    model.fit(WORDS, Y).save(tmp_path / "model.snb")
    again = load(tmp_path / "model.snb")
    assert again.variance_prior == model.variance_prior
    assert np.array_equal(again.predict_proba(WORDS), model.predict_proba(WORDS))
    assert again.posterior().equals(model.posterior())


# --- the two limits ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("prior", "ddof"), [(None, 0), (NormalGamma(k0=0, alpha0=0.5, beta0=0), 0)])
def test_without_a_prior_the_variance_is_that_of_the_rows(prior: Any, ddof: int) -> None:
    model = NaiveBayes(variance_prior=prior).fit(WORDS[["size"]], Y)
    assert 1 / model.evidence_.terms[0].precision == pytest.approx(np.var([1, 2, 3, 4, 5], ddof=ddof), rel=1e-12)


def test_the_other_limit_is_the_sample_variance() -> None:
    model = NaiveBayes(variance_prior=NormalGamma(k0=0, alpha0=0, beta0=0)).fit(WORDS[["size"]], Y)
    assert 1 / model.evidence_.terms[0].precision == pytest.approx(2.5, rel=1e-12)
    with pytest.raises(ValueError, match=r"column 'size' in class 'yes' is undefined \(too few rows\)"):
        NaiveBayes(variance_prior=NormalGamma(k0=0, alpha0=0, beta0=0)).fit(WORDS[["size"]][:6], Y[:6])


# --- posterior intervals ----------------------------------------------------------------------------------------------


def test_every_parameter_has_an_estimate_inside_its_interval() -> None:
    frame = NaiveBayes().fit(WORDS, Y).posterior()
    assert list(frame.columns) == ["column", "class", "parameter", "estimate", "low", "high"]
    assert frame["parameter"].tolist() == ["a", "a", "b", "b", "c", "c", "mean", "mean", "variance", "variance"]
    assert (frame["low"] <= frame["estimate"]).all()
    assert (frame["estimate"] <= frame["high"]).all()
    row = frame.iloc[0]
    assert (row["low"], row["high"]) == pytest.approx(beta(3, 5).ppf([0.025, 0.975]))
    narrow = NaiveBayes().fit(WORDS, Y).posterior(0.5)
    assert (narrow["high"] - narrow["low"] < frame["high"] - frame["low"]).all()
    with pytest.raises(ValueError, match="level must lie between 0 and 1"):
        NaiveBayes().fit(WORDS, Y).posterior(95)


def test_intervals_hold_the_truth_as_often_as_they_say() -> None:
    rng = np.random.default_rng(0)
    inside = []
    for _ in range(150):
        share = rng.dirichlet([1, 1, 1], 2)
        mean, spread = rng.normal(size=2), np.sqrt(1 / rng.gamma(3, 1 / 3, 2))
        word = np.concatenate([rng.choice(list("abc"), 30, p=share[k]) for k in (0, 1)])
        size = np.concatenate([rng.normal(mean[k], spread[k], 30) for k in (0, 1)])
        X = pd.DataFrame({"word": pd.Categorical(word, list("abc")), "size": size})
        prior = NormalGamma(0.0, 1.0, 3.0, 3.0)
        model = NaiveBayes(variance_prior=prior, levels={"word": list("abc")}).fit(X, np.repeat([0, 1], 30))
        truth = np.concatenate([share.T.ravel(), mean, spread**2])
        frame = model.posterior(0.9)
        inside.append((frame["low"] <= truth) & (truth <= frame["high"]))
    by_parameter = np.mean(inside, axis=0)
    assert by_parameter[:6].mean() == pytest.approx(0.9, abs=0.035)
    assert by_parameter[8:].mean() == pytest.approx(0.9, abs=0.05)


def test_moved_parameters_stand_beside_what_the_rows_say() -> None:
    rng = np.random.default_rng(0)
    y = np.arange(200) % 2
    X = pd.DataFrame({"x": rng.normal(size=200) + y, "w": rng.random(200) < 0.3 + 0.3 * y})
    how: Any = {"method": "density", "evaluate_on": "train", "confidence": None, "random_state": 0}
    moved = ConstrainedNB(constraints={1: {"recall": 0.97}}, **how).fit(X, y).posterior()
    plain = NaiveBayes().fit(X, y).posterior()
    assert moved[["column", "class", "parameter", "low", "high"]].equals(
        plain[["column", "class", "parameter", "low", "high"]]
    )
    assert (moved["estimate"] - plain["estimate"]).abs().max() > 0.01


def test_tables_that_are_no_probabilities_of_levels_have_no_intervals() -> None:
    frame = NaiveBayes(smoothing_kind="class").fit(WORDS, Y).posterior()
    assert set(frame["column"]) == {"size"}
    assert NaiveBayes(numeric="kde").fit(WORDS[["size"]], Y).posterior().empty
