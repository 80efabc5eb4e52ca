"""Every estimator is a good citizen of scikit-learn."""

from __future__ import annotations

import pickle

import numpy as np
import pandas as pd
import pytest
import sklearn
from estimators import ESTIMATORS, every_estimator
from sklearn.base import clone, is_classifier
from sklearn.calibration import CalibratedClassifierCV
from sklearn.compose import make_column_transformer
from sklearn.ensemble import VotingClassifier
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils import estimator_html_repr, get_tags
from sklearn.utils.estimator_checks import parametrize_with_checks
from tables import COLUMNS, messy, numbers


@parametrize_with_checks([make() for _, make in ESTIMATORS])
def test_scikit_learn_finds_no_fault(estimator, check):
    check(estimator)


@every_estimator
def test_a_clone_learns_the_same(make):
    X, y = messy()
    model = make().fit(X, y)
    twin = clone(model)
    assert not hasattr(twin, "evidence_")
    assert repr(twin) == repr(make())
    np.testing.assert_array_equal(twin.fit(X, y).predict_proba(X), model.predict_proba(X))


@every_estimator
def test_set_params_changes_what_get_params_says(make):
    model = make()
    model.set_params(n_jobs=2)
    assert model.get_params()["n_jobs"] == 2
    with pytest.raises(ValueError, match="n_threads"):
        model.set_params(n_threads=2)


@every_estimator
def test_a_pickle_gives_the_same_bits(make):
    X, y = messy()
    model = make().fit(X, y)
    twin = pickle.loads(pickle.dumps(model))
    np.testing.assert_array_equal(twin.predict_proba(X), model.predict_proba(X))


@every_estimator
def test_it_works_at_the_end_of_a_pipeline_that_hands_over_frames(make):
    X, y = messy()
    prepare = make_column_transformer((StandardScaler(), ["size", "count"]), remainder="passthrough")
    pipeline = make_pipeline(prepare, make()).set_output(transform="pandas")
    probabilities = pipeline.fit(X, y).predict_proba(X)
    assert pipeline[-1].feature_names_in_[0] == "standardscaler__size"
    assert probabilities.shape == (len(X), 3)
    assert pipeline.score(X, y) > 0.5


@every_estimator
def test_grid_search_and_cross_validation_take_messy_frames(make):
    X, y = messy()
    search = GridSearchCV(make(), {"n_jobs": [None, 1]}, cv=3).fit(X, y)
    assert search.best_score_ == pytest.approx(cross_val_score(make(), X, y, cv=3).mean())
    assert search.best_score_ > 0.4


@every_estimator
def test_weights_are_routed(make):
    X, y = numbers()
    weights = np.arange(1.0, len(y) + 1)
    with sklearn.config_context(enable_metadata_routing=True):
        model = make().set_fit_request(sample_weight=True).set_score_request(sample_weight=True)
        scores = cross_val_score(model, X, y, cv=3, params={"sample_weight": weights})
    assert np.isfinite(scores).all()


@every_estimator
def test_it_can_be_calibrated_and_can_vote(make):
    X, y = messy()
    assert CalibratedClassifierCV(make(), cv=2).fit(X, y).predict_proba(X).shape == (len(X), 3)
    voters = VotingClassifier([("a", make()), ("b", make())], voting="soft").fit(X, y)
    np.testing.assert_allclose(voters.predict_proba(X), make().fit(X, y).predict_proba(X), atol=1e-12)


@every_estimator
def test_it_draws_itself_in_a_notebook(make):
    assert type(make()).__name__ in estimator_html_repr(make())
    assert type(make()).__name__ in repr(make())


@every_estimator
def test_it_remembers_feature_names(make):
    X, y = messy()
    model = make().fit(X, y)
    assert list(model.feature_names_in_) == COLUMNS
    assert model.n_features_in_ == len(COLUMNS)
    assert not hasattr(model.fit(X.to_numpy(dtype=object), y), "feature_names_in_")


@every_estimator
def test_tags_say_what_it_takes(make):
    tags = get_tags(make())
    assert is_classifier(make())
    assert tags.input_tags.allow_nan
    assert tags.input_tags.sparse
    assert tags.input_tags.categorical
    assert tags.target_tags.required
    assert tags.classifier_tags.multi_class


@every_estimator
def test_its_docstring_shows_an_example(make):
    text = type(make()).__doc__
    assert ">>> " in text
    assert "Parameters\n" in text
    assert all(f"\n    {name} : " in text for name in make().get_params())


@every_estimator
def test_fitting_leaves_the_rows_untouched(make):
    X, y = messy()
    before, labels = X.copy(deep=True), y.copy()
    make().fit(X, y).predict(X)
    pd.testing.assert_frame_equal(X, before)
    np.testing.assert_array_equal(y, labels)
