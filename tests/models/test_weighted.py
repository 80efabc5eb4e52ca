import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from seminaive import NaiveBayes, encode
from seminaive.models.weighted import WeightedNB

REFERENCE = Path(__file__).parent.parent / "reference"
ROWS = {case["name"]: case for case in json.loads((REFERENCE / "selective.json").read_text())}
FROZEN = json.loads((REFERENCE / "weighting.json").read_text())["cases"]


def frame(rows):
    return pd.DataFrame({f"x{j}": column for j, column in enumerate(np.array(rows, dtype=float).T)})


def levels_of(case):
    return {f"x{j}": list(map(float, range(m))) for j, m in enumerate(case["n_states"]) if case["is_discrete"][j]}


@pytest.mark.parametrize("name", ROWS)
@pytest.mark.parametrize("smoothing", [0, 1])
@pytest.mark.parametrize("formula", ["tau", "deviation"])
def test_weights_and_scores_are_the_frozen_ones(name, smoothing, formula):
    case, expected = ROWS[name], FROZEN[name]["weighted"][str(smoothing)][formula]
    model = WeightedNB(weights=formula, smoothing=smoothing, levels=levels_of(case) or None, variance_prior=None)
    model.fit(frame(case["X"]), case["y"])
    np.testing.assert_allclose(model.weights_, expected["weights"], rtol=1e-10)
    # The frozen scores leave out the constant of the normal density.
    numeric = ~np.array(case["is_discrete"])
    constant = -0.5 * np.log(2 * np.pi) * model.weights_[numeric].sum()
    scores = model.predict_joint_log_proba(frame(FROZEN[name]["X_query"])) - constant
    np.testing.assert_allclose(scores, expected["joint_log_likelihood"], rtol=1e-10)


def table_of_counts(counts):
    """A nominal column with so many rows of each (class, level)."""
    k, v = np.indices(np.shape(counts)).reshape(2, -1)
    rows = np.repeat(np.arange(len(k)), np.ravel(counts))
    return pd.DataFrame({"x": v[rows].astype(str)}), k[rows]


def test_tau_is_the_share_of_wrong_guesses_that_a_column_saves():
    """Goodman and Kruskal: guess the class in proportion to its probability, without and with the column."""
    counts = np.array([[8, 2, 5], [1, 6, 3]])
    share, given = counts.sum(axis=1) / counts.sum(), counts / counts.sum(axis=0)
    wrong_without = 1 - (share**2).sum()
    wrong_with = (counts.sum(axis=0) / counts.sum()) @ (1 - (given**2).sum(axis=0))
    X, y = table_of_counts(counts)
    model = WeightedNB(smoothing_kind="none").fit(X, y)
    assert model.weights_[0] == pytest.approx(np.sqrt((wrong_without - wrong_with) / wrong_without), rel=1e-12)


def test_a_column_that_decides_the_class_has_weight_one_and_the_original_rule_gives_more():
    X, y = table_of_counts([[9, 0, 0], [0, 9, 0], [0, 0, 9]])
    assert WeightedNB(smoothing_kind="none").fit(X, y).weights_[0] == pytest.approx(1)
    assert WeightedNB(weights="deviation", smoothing_kind="none").fit(X, y).weights_[0] == pytest.approx(np.sqrt(2))


def test_a_weight_multiplies_what_naive_bayes_says():
    X, y = table_of_counts([[8, 2, 5], [1, 6, 3]])
    X["number"] = np.random.default_rng(0).normal(size=len(y)) + y
    model = WeightedNB().fit(X, y)
    parts, plain = model.contributions(X), NaiveBayes(smoothing_kind="pooled").fit(X, y).contributions(X)
    np.testing.assert_allclose(parts.values, plain.values * model.weights_[:, None], atol=1e-12)


@pytest.mark.parametrize("numeric", ["gaussian", "bins", "mdl"])
@pytest.mark.parametrize("formula", ["tau", "deviation"])
def test_columns_that_are_the_same_in_all_rows_have_weight_zero_and_say_nothing(numeric, formula):
    y = np.tile([0, 1, 1], 20)
    X = pd.DataFrame({"same": 3.0, "one": "a", "blank": None, "declared": "k", "useful": 3 * y + np.arange(60) % 5})
    model = WeightedNB(weights=formula, numeric=numeric, levels={"declared": ["j", "k"]}, smoothing_kind="level").fit(
        X, y
    )
    assert (model.weights_ > 0).tolist() == [False, False, False, False, True]
    assert not model.contributions(X).values[:, :4].any()


def test_gaps_say_nothing_unless_they_are_values():
    y = np.tile([0, 1], 30)
    X = pd.DataFrame(
        {
            "seen": np.where(y == 1, 3.0, np.nan),
            "part": np.where(np.arange(60) < 20, np.nan, y + 0.5 * (np.arange(60) % 4)),
        }
    )
    skip, value = WeightedNB().fit(X, y), WeightedNB(missing="value").fit(X, y)
    assert skip.weights_[0] == 0
    assert value.weights_[0] > 0.5
    whole = WeightedNB().fit(X.iloc[20:], y[20:])
    assert skip.weights_[1] == pytest.approx(whole.weights_[1])
    np.testing.assert_array_equal(skip.contributions(X).values[:20, 1], 0)


def test_weights_do_not_depend_on_the_prior_of_the_model():
    X, y = table_of_counts([[8, 2, 5], [1, 6, 3]])
    X["number"] = np.random.default_rng(0).normal(size=len(y)) + y
    np.testing.assert_array_equal(WeightedNB(prior="uniform").fit(X, y).weights_, WeightedNB().fit(X, y).weights_)


def test_weights_are_invariant_to_the_unit_and_the_order_of_columns():
    rng = np.random.default_rng(0)
    y = rng.integers(0, 3, 200)
    X = rng.normal(size=(200, 3)) + y[:, None] * [1, 0.5, 0]
    weights = WeightedNB().fit(X, y).weights_
    np.testing.assert_allclose(WeightedNB().fit(1e6 * X - 3, y).weights_, weights, rtol=1e-9)
    np.testing.assert_array_equal(WeightedNB().fit(X[:, ::-1], y).weights_, weights[::-1])


def test_one_class_is_a_constant_prediction_with_weights_of_zero():
    model = WeightedNB().fit([[1.0], [2.0]], ["a", "a"])
    assert model.weights_.tolist() == [0]
    assert model.predict_proba([[5.0]]).tolist() == [[1.0]]


def test_the_summary_names_the_largest_weights():
    X, y = table_of_counts([[9, 0, 0], [0, 9, 0], [0, 0, 9]])
    assert "largest weights: x 1.00" in WeightedNB(smoothing=0).fit(X, y).summary()


def test_an_encoded_table_gives_the_same_weights():
    X, y = table_of_counts([[8, 2, 5], [1, 6, 3]])
    np.testing.assert_array_equal(WeightedNB().fit(encode(X, y)).weights_, WeightedNB().fit(X, y).weights_)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"weights": "gini"}, "weights must be one of 'tau', 'deviation'"),
        ({"numeric": "kde"}, "numeric must be one of"),
        ({"smoothing": -1}, "smoothing must be"),
    ],
)
def test_a_wrong_parameter_is_named(change, message):
    with pytest.raises(ValueError, match=message):
        WeightedNB(**change).fit([[1.0], [2.0]], [0, 1])
