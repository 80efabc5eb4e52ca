import joblib
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
import scipy.sparse
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.datasets import load_iris, load_wine
from sklearn.dummy import DummyClassifier
from sklearn.linear_model import LogisticRegression, RidgeClassifier
from sklearn.model_selection import StratifiedKFold, cross_val_score
from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from seminaive.evaluate.compare import compare

IRIS = load_iris(return_X_y=True)
WINE = load_wine(return_X_y=True)


class Fragile(ClassifierMixin, BaseEstimator):
    """Gaussian naive Bayes that refuses data with a row whose first value is `refused`."""

    def __init__(self, refused=None):
        self.refused = refused

    def fit(self, X, y):
        if (X[:, 0] == self.refused).any():
            raise RuntimeError(f"cannot learn\nfrom {self.refused}")
        self.model_ = GaussianNB().fit(X, y)
        self.classes_ = self.model_.classes_
        return self

    def predict(self, X):
        return self.model_.predict(X)

    def predict_proba(self, X):
        return self.model_.predict_proba(X)


class Remembers(ClassifierMixin, BaseEstimator):
    """Says what it was fitted on."""

    seen: list = []  # noqa: RUF012 - clones share it on purpose

    def fit(self, X, y):
        self.seen.append(X)
        self.classes_ = np.unique(y)
        return self

    def predict(self, X):
        return np.repeat(self.classes_[:1], X.shape[0])


@pytest.fixture(scope="module")
def result():
    models = {"bayes": GaussianNB(), "logistic": make_pipeline(StandardScaler(), LogisticRegression())}
    models["majority"] = DummyClassifier()
    return compare(models, {"iris": IRIS, "wine": WINE}, cv=5, repeats=2)


@pytest.mark.parametrize(("metric", "scorer", "sign"), [("error", "accuracy", None), ("log_loss", "neg_log_loss", -1)])
def test_scores_are_those_of_stratified_folds_with_seeds_in_a_row(result, metric, scorer, sign):
    for repeat in range(2):
        folds = StratifiedKFold(5, shuffle=True, random_state=repeat)
        expected = cross_val_score(GaussianNB(), *IRIS, cv=folds, scoring=scorer)
        ours = result.scores[0, 0, result.metrics.index(metric), repeat * 5 : repeat * 5 + 5]
        np.testing.assert_allclose(ours, 1 - expected if sign is None else sign * expected, atol=1e-12)


@pytest.mark.parametrize("backend", ["threading", pytest.param("loky", marks=pytest.mark.slow)])
def test_two_workers_give_the_same_scores(result, backend):
    models = {"bayes": GaussianNB(), "majority": DummyClassifier()}
    with joblib.parallel_config(backend=backend):
        again = compare(models, {"iris": IRIS, "wine": WINE}, cv=5, repeats=2, n_jobs=2)
    np.testing.assert_array_equal(again.scores, result.scores[:, [0, 2]])


def test_another_seed_gives_other_folds(result):
    other = compare(GaussianNB(), IRIS, cv=5, repeats=2, random_state=7)
    assert (other.scores[0, 0] != result.scores[0, 0]).any()


def test_the_models_given_stay_unfitted():
    model = GaussianNB()
    compare(model, IRIS, cv=2, repeats=1)
    assert not hasattr(model, "classes_")


@pytest.mark.parametrize(
    "given",
    [
        pd.DataFrame({"a": IRIS[0][:, 0], "b": pd.Categorical(IRIS[1])}, index=np.arange(150) + 1000),
        pl.DataFrame({"a": IRIS[0][:, 0], "b": [str(v) for v in IRIS[1]]}),
        pa.table({"a": IRIS[0][:, 0], "b": [str(v) for v in IRIS[1]]}),
        scipy.sparse.coo_array(IRIS[0]),
        IRIS[0],
    ],
    ids=["pandas", "polars", "arrow", "sparse", "array"],
)
def test_tables_reach_the_models_unharmed(given):
    Remembers.seen.clear()
    result = compare(Remembers(), (given, IRIS[1]), cv=3, repeats=1, metrics="error")
    assert result.failures == ()
    assert len(Remembers.seen) == 3
    for seen in Remembers.seen:
        assert seen.shape == (100, given.shape[1])
        if scipy.sparse.issparse(given):
            assert scipy.sparse.issparse(seen)
        else:
            assert type(seen) is type(given)
    if isinstance(given, pd.DataFrame):
        assert list(Remembers.seen[0].dtypes) == list(given.dtypes)
        assert set(Remembers.seen[0].index) <= set(given.index)


def test_labels_keep_their_type():
    labels = np.array(["setosa", "versicolor", "virginica"])[IRIS[1]]
    by_name, by_number = (compare(GaussianNB(), (IRIS[0], y), cv=3, repeats=1) for y in (labels, IRIS[1]))
    np.testing.assert_array_equal(by_name.scores, by_number.scores)


def test_a_failure_is_reported_by_name_and_costs_nothing_else(result):
    value = WINE[0][3, 0]
    tried = compare({"bayes": GaussianNB(), "fragile": Fragile(value)}, {"iris": IRIS, "wine": WINE}, cv=5, repeats=2)
    np.testing.assert_array_equal(tried.scores[:, 0], result.scores[:, 0])
    np.testing.assert_array_equal(tried.scores[0, 1], result.scores[0, 0])
    assert {(f.dataset, f.model) for f in tried.failures} == {("wine", "fragile")}
    assert tried.failures[0].message == f"RuntimeError: cannot learn from {value}"
    assert f"fragile failed on wine in {len(tried.failures)} of 10 folds: RuntimeError" in str(tried)
    assert tried.to_frame()["failures"].tolist() == [0, 0, 0, len(tried.failures)]


def test_a_model_that_always_fails_is_left_out_of_the_ranks():
    models = {
        "bayes": GaussianNB(),
        "majority": DummyClassifier(),
        "broken": Fragile(None).set_params(refused=0.5),
    }
    sets = {name: (np.column_stack([np.full(len(y), 0.5), X]), y) for name, (X, y) in (("iris", IRIS), ("wine", WINE))}
    tried = compare(models, sets, cv=3, repeats=1, metrics=["error"])
    assert tried.ranked() == (("bayes", "majority"), ("iris", "wine"))
    assert tried.average_ranks() == {"bayes": 1.0, "majority": 2.0}
    assert np.isnan(tried.means()[:, 2]).all()
    assert "Not ranked, for want of complete scores: model broken." in str(tried)


def test_a_model_without_probabilities_gets_its_error():
    tried = compare(RidgeClassifier(), IRIS, cv=3, repeats=1)
    assert not np.isnan(tried.means("error")).any()
    for metric in ("log_loss", "auc", "brier"):
        assert np.isnan(tried.means(metric)).all()


def test_a_class_too_rare_for_every_fold_is_no_failure():
    y = IRIS[1].copy()
    y[:2] = 3
    tried = compare(GaussianNB(), (IRIS[0], y), cv=5, repeats=1)
    assert tried.failures == ()
    assert not np.isnan(tried.scores).any()


def test_a_class_of_one_row_is_no_failure():
    y = IRIS[1].copy()
    y[0] = 3
    tried = compare(DummyClassifier(strategy="prior"), (IRIS[0], y), cv=5, repeats=1)
    assert tried.failures == ()
    assert not np.isnan(tried.scores).any()


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"cv": 1}, "cv is 1"),
        ({"cv": 51}, "no class has more than 50 rows"),
        ({"repeats": 0}, "repeats is 0"),
        ({"metrics": ["f1"]}, r"metrics is \['f1'\]"),
    ],
)
def test_an_option_that_cannot_be_met_is_named(options, message):
    with pytest.raises(ValueError, match=message):
        compare(GaussianNB(), IRIS, **options)
