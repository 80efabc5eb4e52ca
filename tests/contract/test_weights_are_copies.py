"""A weight of two is the row twice, a weight of zero the row removed."""

from __future__ import annotations

import numpy as np
from estimators import every_estimator
from hypothesis import given, settings
from hypothesis import strategies as st
from tables import is_answer, messy, numbers


@every_estimator
@given(weights=st.lists(st.integers(0, 3), min_size=40, max_size=40).filter(any), seed=st.integers(0, 5))
@settings(max_examples=15, deadline=None)
def test_weights_are_copies(make, weights, seed):
    X, y = messy(40, seed)
    rows = np.repeat(np.arange(40), weights)
    weighted, copied = make().fit(X, y, sample_weight=weights), make().fit(X.iloc[rows], y[rows])
    assert weighted.classes_.tolist() == sorted(set(y))
    kept = np.isin(weighted.classes_, copied.classes_)
    scores = weighted.predict_joint_log_proba(X)[:, kept]
    np.testing.assert_allclose(scores, copied.predict_joint_log_proba(X), rtol=1e-9, atol=1e-9)


@every_estimator
def test_a_class_of_weight_zero_keeps_its_place_and_is_not_predicted(make):
    X, y = messy()
    model = make().fit(X, y, sample_weight=(y != "perhaps").astype(float))
    assert model.classes_.tolist() == ["no", "perhaps", "yes"]
    probabilities = model.predict_proba(X)
    assert is_answer(probabilities)
    assert probabilities[:, 1].max() < 1e-100


@every_estimator
def test_not_even_a_strange_row_is_given_to_a_class_of_weight_zero(make):
    X, y = numbers(40, p=30)
    y = np.where(np.arange(40) < 20, y, 2)
    model = make().fit(X, y, sample_weight=(y < 2).astype(float))
    strange = np.concatenate([1e5 * X, X - 1e6])  # beyond, scores are too large to tell classes apart
    assert model.predict_proba(strange)[:, 2].max() < 1e-100


@every_estimator
def test_equal_weights_of_one_are_no_weights(make):
    X, y = messy()
    plain, weighted = make().fit(X, y), make().fit(X, y, np.ones(len(y)))
    np.testing.assert_array_equal(plain.predict_joint_log_proba(X), weighted.predict_joint_log_proba(X))
