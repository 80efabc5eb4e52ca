"""Every estimator answers: mixed columns, gaps, new values, constants, one row, one class, many columns."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from estimators import (
    every_estimator,
    every_estimator_that_ignores_idle_columns,
    every_estimator_without_a_first_column,
    fitted,
)
from tables import is_answer, messy, numbers, own_terms, said, with_unseen

from seminaive import encode
from seminaive.table.encode import stream_blocks


@every_estimator
def test_mixed_columns_with_gaps_and_unseen_values_have_an_answer(make):
    (X, y), model = messy(), fitted(make)
    assert is_answer(model.predict_proba(X))
    assert is_answer(model.predict_proba(with_unseen(X)))
    assert model.score(X, y) > 0.5


@every_estimator
def test_all_four_ways_to_predict_agree(make):
    X, model = messy()[0], fitted(make)
    scores, log_probabilities = model.predict_joint_log_proba(X), model.predict_log_proba(X)
    np.testing.assert_allclose(np.exp(log_probabilities), model.predict_proba(X), atol=1e-15)
    if model.evidence_.link == "ovr":
        scores = -np.logaddexp(0, -scores)
    normalised = scores - np.logaddexp.reduce(scores, axis=1)[:, None]
    np.testing.assert_allclose(log_probabilities, normalised, atol=1e-10)
    np.testing.assert_array_equal(model.predict(X), model.classes_[scores.argmax(axis=1)])


def with_idle_columns():
    """A frame of four columns, the same with six more that are the same in all rows, and labels."""
    X, y = numbers()
    frame = pd.DataFrame(X, columns=list("abcd"))
    idle = frame.assign(one=1.0, word="w", none=np.nan, nothing=None, flag=True, kind=pd.Categorical([None] * len(y)))
    return frame, idle, y


@every_estimator_that_ignores_idle_columns
def test_constant_and_empty_columns_change_nothing(make):
    frame, idle, y = with_idle_columns()
    model = make().fit(idle, y)
    np.testing.assert_allclose(model.predict_proba(idle), make().fit(frame, y).predict_proba(frame), atol=1e-12)


@every_estimator
def test_constant_and_empty_columns_say_nothing(make):
    _, idle, y = with_idle_columns()
    model = make().fit(idle, y)
    parts = model.contributions(idle)
    assert max(np.ptp(said(parts, name), axis=1).max() for name in idle.columns[4:]) < 1e-12


@every_estimator
def test_one_class_is_a_constant_prediction(make):
    X, _ = messy()
    model = make().fit(X, ["only"] * len(X))
    assert model.classes_.tolist() == ["only"]
    assert model.predict(X).tolist() == ["only"] * len(X)
    np.testing.assert_array_equal(model.predict_proba(X), np.ones((len(X), 1)))


@every_estimator
def test_one_row_is_enough_to_answer(make):
    X, y = messy()
    model = make().fit(X[:1], y[:1])
    assert model.predict(X[:5]).tolist() == [y[0]] * 5


@every_estimator
def test_a_class_with_one_row_has_an_answer(make):
    X, y = messy()
    y[:] = "common"
    y[0] = "rare"
    assert is_answer(make().fit(X, y).predict_proba(X))


@every_estimator
def test_more_columns_than_rows_have_an_answer(make):
    X, y = numbers(n=12, p=300)
    assert is_answer(make().fit(X, y).predict_proba(X))


@every_estimator
def test_rows_without_any_value_get_the_prior(make):
    X, model = messy()[0], fitted(make)
    if getattr(model, "missing", "skip") == "value":
        pytest.skip("missing values say something")
    empty = X.iloc[:2].copy()
    for name in empty.columns:
        empty[name] = None
    np.testing.assert_allclose(model.predict_joint_log_proba(empty), [model.evidence_.prior] * 2, atol=1e-12)


@every_estimator
@pytest.mark.parametrize(
    ("labels", "kind"),
    [
        ([2, 1, 2, 1], int),
        (["b", "", "b", ""], str),
        ([True, False, True, False], bool),
        ([2.0, 1.0, 2.0, 1.0], float),
        (pd.Series([True, False, True, False], dtype="boolean"), bool),
        (pd.Series([2, 1, 2, 1], dtype="Int64"), int),
        (np.array([2, 1, 2, 1], dtype=object), int),
        (pd.Categorical(["b", "a", "b", "a"], categories=["z", "b", "a"]), str),
    ],
)
def test_labels_keep_their_type(make, labels, kind):
    model = make().fit([[0.0], [1.0], [0.1], [1.1]], labels)
    predicted = model.predict([[0.0], [1.0]])
    assert [type(label) for label in predicted.tolist()] == [kind, kind]
    assert predicted.tolist() == [labels[0], labels[1]]
    assert model.classes_.tolist() == sorted([labels[0], labels[1]])


@every_estimator
def test_an_empty_string_is_a_level(make):
    X = pd.DataFrame({"word": ["", "a", "", "a", None] * 4})
    y = ["p", "q", "p", "q", "p"] * 4
    probabilities = make().fit(X, y).predict_proba(X[:2])
    assert probabilities[0, 0] > 0.8
    assert probabilities[1, 1] > 0.8


@every_estimator
def test_the_order_of_the_rows_does_not_matter(make):
    X, y = messy()
    shuffled = np.random.default_rng(1).permutation(len(y))
    model, other = fitted(make), make().fit(X.iloc[shuffled], y[shuffled])
    np.testing.assert_allclose(model.predict_joint_log_proba(X), other.predict_joint_log_proba(X), rtol=1e-9, atol=1e-9)


@every_estimator_without_a_first_column
def test_the_order_of_the_columns_only_permutes_the_evidence(make):
    X, y = messy()
    turned = X[X.columns[::-1]]
    model, other = fitted(make), make().fit(turned, y)
    here, there = model.contributions(X), other.contributions(turned)
    assert own_terms(there) == own_terms(here)[::-1]
    for term in here.terms:
        np.testing.assert_allclose(said(there, term), said(here, term), atol=1e-12)
    np.testing.assert_allclose(other.predict_proba(turned), model.predict_proba(X), atol=1e-12)


@every_estimator
def test_one_thread_and_two_give_the_same_bits(make, monkeypatch):
    monkeypatch.setitem(stream_blocks.__kwdefaults__, "block_rows", 1000)  # five blocks of few rows
    rng = np.random.default_rng(0)
    n = 5000
    y = rng.integers(0, 3, n)
    X = pd.DataFrame(
        {"size": np.round(rng.normal(size=n) + y, 2), "kind": pd.Categorical((y + rng.integers(0, 3, n)) % 5)}
    )
    assert len(encode(X, y).blocks.blocks) == 5
    alone, together = make().set_params(n_jobs=1).fit(X, y), make().set_params(n_jobs=2).fit(X, y)
    np.testing.assert_array_equal(alone.predict_joint_log_proba(X), together.predict_joint_log_proba(X))


@every_estimator
def test_an_encoded_table_is_as_good_as_the_frame(make):
    X, y = messy()
    weights = np.arange(len(y)) % 3
    model, other = make().fit(X, y, weights), make().fit(encode(X, y, sample_weight=weights))
    np.testing.assert_array_equal(model.predict_joint_log_proba(X), other.predict_joint_log_proba(X))
    assert list(other.feature_names_in_) == list(X.columns)
    with pytest.raises(ValueError, match="labels and weights are inside"):
        make().fit(encode(X, y), y)
