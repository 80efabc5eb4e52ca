"""Bad input is one clear sentence, and leaves what was learned before exactly as it was."""

from __future__ import annotations

import datetime
import decimal

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from estimators import every_estimator
from tables import messy

X, Y = messy(12)
NESTED = [[1], [2]] * 6
RAGGED = [[1, 2]] * 11 + [[1]]

BAD_ROWS = {
    "duplicate names": (X[["size", "word", "size"]], ["'size'", "more than once"]),
    "duplicate names in arrow": (
        pa.Table.from_arrays([pa.array(range(12))] * 2, ["a", "a"]),
        ["'a'", "more than once"],
    ),
    "lists in cells": (X.assign(word=NESTED), ["'word'", "row 0"]),
    "dicts in cells": (X.assign(word=["a"] * 11 + [{}]), ["'word'", "row 11"]),
    "polars lists": (pl.DataFrame({"word": NESTED}), ["'word'", "nested"]),
    "polars structs": (pl.DataFrame({"word": [{"a": 1}] * 12}), ["'word'", "nested"]),
    "infinity": (X.assign(size=[1.0] * 11 + [np.inf]), ["'size'", "row 11", "infinity"]),
    "negative infinity": (X.assign(size=[-np.inf] + [1.0] * 11), ["'size'", "row 0", "infinity"]),
    "infinity in an array": (np.array([[1.0]] * 11 + [[np.inf]]), ["column 0", "row 11", "infinity"]),
    "huge": (X.assign(size=[1e308] * 12), ["'size'", "row 0", "1e+308", "too large"]),
    "huge in an array": (np.array([[1.0]] * 11 + [[1e308]]), ["column 0", "row 11", "too large"]),
    "huge whole number": (
        X.assign(size=pd.Series([10**400] + [1] * 11, dtype=object)),
        ["'size'", "row 0", "too large"],
    ),
    "complex": (np.ones((12, 1), dtype=complex), ["Complex data not supported"]),
    "complex in a frame": (X.assign(size=1j), ["'size'", "complex"]),
    "times of day": (X.assign(word=[datetime.time(1)] * 12), ["'word'", "row 0", "time"]),
    "objects": (X.assign(word=[object()] * 12), ["'word'", "row 0", "object"]),
    "no rows": (X[:0], ["0 sample"]),
    "no columns": (X[[]], ["0 feature"]),
    "one dimension": (np.zeros(12), ["Expected 2D array"]),
    "three dimensions": (np.zeros((12, 1, 1)), ["Expected 2D array"]),
    "a series": (X["size"], ["Expected 2D array"]),
    "ragged": (RAGGED, ["ragged"]),
    "text": ("a table", ["str"]),
    "nothing": (None, ["NoneType"]),
    "a dict": ({"a": [1] * 12}, ["dict"]),
}

GAP = ["missing", "row 3"]
BAD_LABELS = {
    "none": (None, ["y"]),
    "missing": ([*Y[:3], None, *Y[4:]], GAP),
    "float with gaps": ([0.0, 1.0, 0.0, np.nan] * 3, GAP),
    "nullable boolean with a gap": (pd.array([True, False, True, None] * 3, dtype="boolean"), GAP),
    "nullable integers with a gap": (pd.Series([1, 2, 1, None] * 3, dtype="Int64"), GAP),
    "categories with a gap": (pd.Series(pd.Categorical(["a", "b", "a", None] * 3)), GAP),
    "polars with a gap": (pl.Series(["a", "b", "a", None] * 3), GAP),
    "arrow with a gap": (pa.array(["a", "b", "a", None] * 3), GAP),
    "dates with a gap": (np.array(["2024-01-01", "2024-01-02", "2024-01-01", "NaT"] * 3, dtype="M8[D]"), GAP),
    "masked": (np.ma.masked_array([1, 2, 1, 2] * 3, [False, False, False, True] * 3), GAP),
    "infinity": ([0.0, 1.0, np.inf, 1.0] * 3, ["infinity", "row 2"]),
    "measurements": (np.linspace(0.1, 0.9, 12), ["Unknown label type"]),
    "mixed types": (["a", 1] * 6, ["'a'", "row 0", "1", "row 1"]),
    "dates as objects": ([datetime.date(2024, 1, 1)] * 12, ["row 0", "date"]),
    "decimals": ([decimal.Decimal(1)] * 12, ["row 0", "Decimal"]),
    "complex": ([1j] * 12, ["Complex data not supported"]),
    "too few": (Y[:5], ["12", "5"]),
    "two columns": (np.zeros((12, 2)), ["1d array"]),
    "ragged": (RAGGED, ["ragged"]),
    "a scalar": (5, ["1d array"]),
    "beyond 64 bits": ([2**70, 1] * 6, ["64 bits"]),
}

BAD_WEIGHTS = {
    "negative": ([1.0] * 11 + [-1.0], ["row 11", "-1"]),
    "missing": ([1.0] * 11 + [None], ["row 11", "nan"]),
    "infinite": ([np.inf] + [1.0] * 11, ["row 0", "inf"]),
    "huge": ([1e200] + [1.0] * 11, ["row 0", "1e+200"]),
    "all zero": ([0.0] * 12, ["zero"]),
    "too few": ([1.0], ["12"]),
    "two dimensions": (np.ones((12, 1)), ["1D"]),
    "text": (["a"] * 12, ["numbers"]),
    "complex": ([1j] * 12, ["numbers"]),
}

BAD_PARAMETERS = {
    "nominal": ("nobody", ["nominal", "'nobody'"]),
    "levels": ({"word": ["a", "a"]}, ["levels", "'word'", "twice"]),
    "max_levels": (0, ["max_levels", "0"]),
    "n_jobs": (0, ["n_jobs", "0"]),
}


def check_refused(model, action, words):
    """One sentence with the words in it, and a model that is what it was."""
    before, answer = dict(vars(model)), model.predict_joint_log_proba(X)
    with pytest.raises((ValueError, TypeError)) as caught:
        action(model)
    sentence = str(caught.value)
    assert "\n" not in sentence
    assert all(word in sentence for word in words), sentence
    assert vars(model).keys() == before.keys()
    assert all(vars(model)[name] is before[name] for name in before)
    np.testing.assert_array_equal(model.predict_joint_log_proba(X), answer)


@every_estimator
@pytest.mark.parametrize("what", BAD_ROWS)
def test_bad_rows_are_one_sentence(make, what):
    rows, words = BAD_ROWS[what]
    check_refused(make().fit(X, Y), lambda model: model.fit(rows, Y), words)


@every_estimator
@pytest.mark.parametrize("what", BAD_LABELS)
def test_bad_labels_are_one_sentence(make, what):
    labels, words = BAD_LABELS[what]
    check_refused(make().fit(X, Y), lambda model: model.fit(X, labels), words)


@every_estimator
@pytest.mark.parametrize("what", BAD_WEIGHTS)
def test_bad_weights_are_one_sentence(make, what):
    weights, words = BAD_WEIGHTS[what]
    check_refused(make().fit(X, Y), lambda model: model.fit(X, Y, weights), words)


@every_estimator
@pytest.mark.parametrize("name", BAD_PARAMETERS)
def test_bad_parameters_are_one_sentence(make, name):
    value, words = BAD_PARAMETERS[name]
    model = make().fit(X, Y).set_params(**{name: value})
    before = dict(vars(model))
    with pytest.raises(ValueError, match=r"^[^\n]*$") as caught:
        model.fit(X, Y)
    assert all(word in str(caught.value) for word in words)
    assert vars(model) == before


@every_estimator
@pytest.mark.parametrize(
    ("rows", "words"),
    [
        (X.assign(size="big"), ["'size'", "row 0", "'big'", "numeric"]),
        (X.assign(size=np.inf), ["'size'", "row 0", "infinity"]),
        (X.assign(word=NESTED), ["'word'", "row 0"]),
        (X[:0], ["0 sample"]),
        (np.zeros((2, 3)), ["3 features", "8"]),
    ],
)
def test_bad_rows_at_predict_are_one_sentence(make, rows, words):
    for method in ("predict", "predict_proba", "contributions", "explain"):
        check_refused(make().fit(X, Y), lambda model, name=method: _without_name_warning(model, name, rows), words)


def _without_name_warning(model, method, rows):
    import warnings

    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="X does not have valid feature names")
        getattr(model, method)(rows)


@every_estimator
@pytest.mark.parametrize(
    ("rows", "named"),
    [
        (X.drop(columns="word"), "- word"),
        (X.assign(extra=1), "- extra"),
        (X.rename(columns={"word": "term"}), "- term"),
        (X[X.columns[::-1]], "same order"),
        (pl.from_pandas(X).drop("word"), "- word"),
    ],
)
def test_wrong_columns_at_predict_are_named(make, rows, named):
    model = make().fit(X, Y)
    for method in ("predict", "contributions", "explain"):
        with pytest.raises(ValueError, match="feature names should match") as caught:
            getattr(model, method)(rows)
        assert named in str(caught.value)


@every_estimator
def test_an_unfitted_model_says_so(make):
    for method in ("predict", "predict_proba", "contributions", "explain"):
        with pytest.raises(ValueError, match="not fitted yet"):
            getattr(make(), method)(X)
    with pytest.raises(ValueError, match="not fitted yet"):
        make().summary()


@every_estimator
def test_an_interrupted_fit_leaves_the_model_as_it_was(make, monkeypatch):
    model = make().fit(X, Y)
    before = dict(vars(model))

    def interrupted(self, table):
        self.evidence_ = None
        raise KeyboardInterrupt

    monkeypatch.setattr(type(model), "_learn", interrupted)
    with pytest.raises(KeyboardInterrupt):
        model.fit(X[:6], Y[:6])
    assert all(vars(model)[name] is before[name] for name in before)
    assert vars(model).keys() == before.keys()


@every_estimator
def test_a_column_of_distinct_whole_numbers_draws_a_warning(make):
    frame = pd.DataFrame({"id": np.arange(30), "size": np.linspace(0, 1, 30)})
    with pytest.warns(UserWarning, match="column 'id' may be an identifier"):
        make().fit(frame, ["a", "b"] * 15)
