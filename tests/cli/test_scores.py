"""Cross-validated scores are those of rows that were not learned."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.dummy import DummyClassifier
from sklearn.naive_bayes import GaussianNB

from seminaive.cli.scores import cross_validated, deal


class Parrot(ClassifierMixin, BaseEstimator):
    """Knows the rows it was shown by heart, and nothing else."""

    def fit(self, X, y):
        self.known_ = dict(zip(X[:, 0].tolist(), y.tolist(), strict=True))
        self.classes_ = np.unique(y)
        return self

    def predict_log_proba(self, X):
        right = [[self.known_.get(x, self.classes_[0]) == c for c in self.classes_] for x in X[:, 0].tolist()]
        return np.where(right, np.log(0.9), np.log(0.1))


def test_a_model_that_only_remembers_is_seen_through():
    y = np.array(["a"] * 6 + ["b"] * 6)
    scores = cross_validated(Parrot(), np.arange(12.0)[:, None], y)
    assert scores.accuracy == 0.5
    assert scores.log_loss == pytest.approx(-(np.log(0.9) + np.log(0.1)) / 2)


def test_scores_equal_the_same_folds_done_by_hand():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(50, 2)), rng.integers(0, 3, 50)
    fold = deal(y, 5, seed=0)
    losses, right = [], []
    for f in range(5):
        model = GaussianNB().fit(X[fold != f], y[fold != f])
        losses += (-model.predict_log_proba(X[fold == f])[np.arange((fold == f).sum()), y[fold == f]]).tolist()
        right += (model.predict(X[fold == f]) == y[fold == f]).tolist()
    scores = cross_validated(GaussianNB(), X, y)
    assert scores.accuracy == np.mean(right)
    assert scores.log_loss == pytest.approx(np.mean(losses), rel=1e-12)


def test_every_fold_has_its_share_of_every_class():
    codes = np.repeat([0, 1, 2], [52, 11, 2])
    fold = deal(codes, 5, seed=3)
    for code in range(3):
        shares = np.bincount(fold[codes == code], minlength=5)
        assert shares.max() - shares.min() <= 1
    assert np.bincount(fold).tolist() == [13] * 5


def test_a_single_row_of_its_label_is_an_error_and_outside_the_log_loss():
    y = np.array(["a"] * 19 + ["b"])
    scores = cross_validated(DummyClassifier(strategy="prior"), np.zeros((20, 1)), y)
    assert (scores.accuracy, scores.lonely) == (0.95, ["b"])
    assert 0 < scores.log_loss < 0.1
