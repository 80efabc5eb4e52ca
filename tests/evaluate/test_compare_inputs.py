import numpy as np
import pandas as pd
import polars as pl
import pytest
from sklearn.linear_model import LinearRegression, LogisticRegression
from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from seminaive.evaluate.inputs import named_models, named_sets

X = np.arange(8.0).reshape(4, 2)
y = ["a", "b", "a", "b"]


def test_a_pipeline_goes_by_its_last_step():
    assert list(named_models([GaussianNB(), make_pipeline(StandardScaler(), LogisticRegression())])) == [
        "GaussianNB",
        "LogisticRegression",
    ]


def test_equal_models_are_numbered():
    assert list(named_models([GaussianNB(), GaussianNB(), GaussianNB()])) == [
        "GaussianNB()",
        "GaussianNB() (2)",
        "GaussianNB() (3)",
    ]


def test_a_single_model_and_a_dict_of_models_are_taken():
    model = GaussianNB()
    assert named_models(model) == {"GaussianNB": model}
    assert named_models({"mine": model}) == {"mine": model}


@pytest.mark.parametrize("wrong", [LinearRegression(), GaussianNB, "GaussianNB"])
def test_what_is_no_classifier_is_named(wrong):
    with pytest.raises(ValueError, match=r"model 'mine' .* must be a scikit-learn classifier"):
        named_models({"mine": wrong})


@pytest.mark.parametrize(
    ("given", "names"),
    [
        ((X, y), ["data"]),
        (("one", X, y), ["one"]),
        ([("one", X, y), ("two", X, y)], ["one", "two"]),
        ((("one", X, y), ("two", X, y)), ["one", "two"]),
        ({"one": (X, y), 2: (X, y)}, ["one", "2"]),
    ],
)
def test_every_form_of_data_sets_is_understood(given, names):
    assert list(named_sets(given)) == names


@pytest.mark.parametrize(
    "labels",
    [
        np.array(["no", "yes", "no", "yes"]),
        pd.Series(["no", "yes", "no", "yes"], dtype="category"),
        pl.Series(["no", "yes", "no", "yes"]),
        np.array([0, 1, 0, 1]),
        np.array([False, True, False, True]),
        np.array([0.0, 1.0, 0.0, 1.0]),
    ],
    ids=lambda labels: f"{type(labels).__module__.split('.')[0]}-{labels.dtype}",
)
def test_labels_of_every_kind_are_numbered(labels):
    _, classes, positions = named_sets((X, labels))["data"]
    assert positions.tolist() == [0, 1, 0, 1]
    assert classes[positions].tolist() == list(np.asarray(labels).tolist())


@pytest.mark.parametrize(
    ("datasets", "message"),
    [
        ({}, "datasets is empty"),
        ({"one": X}, "'one' is not a pair"),
        (X, "unknown form"),
        ([("one", X, y), ("one", X, y)], "two data sets are called 'one'"),
        ((X, y[:3]), r"y has shape \(3,\) and X has 4 rows"),
        ((X, ["a", None, "a", "b"]), "y has 1 missing values"),
        ((X, [0.0, np.nan, 1.0, np.nan]), "y has 2 missing values"),
        ((X, [0.5, 1.25, 0.1, 3.7]), "continuous"),
        ((X, ["a"] * 4), "every label is 'a'"),
        ((X, np.array(["a", 1, "a", 1], dtype=object)), "mixes labels of types int, str"),
    ],
)
def test_data_that_cannot_be_used_is_named(datasets, message):
    with pytest.raises(ValueError, match=message):
        named_sets(datasets)


@pytest.mark.parametrize("kind", [pd.DataFrame, pl.DataFrame])
def test_the_classes_can_be_a_column_of_the_table(kind):
    frame = kind({"a": [1.0, 2.0, 3.0, 4.0], "outcome": y, "b": [1, 1, 2, 2]})
    left, classes, positions = named_sets({"loans": (frame, "outcome")})["loans"]
    assert list(left.columns) == ["a", "b"]
    assert (classes.tolist(), positions.tolist()) == (["a", "b"], [0, 1, 0, 1])
    with pytest.raises(ValueError, match=r"data set 'loans': there is no column 'out'; the columns are a, outcome, b"):
        named_sets({"loans": (frame, "out")})
    with pytest.raises(ValueError, match="X is no table"):
        named_sets({"loans": (X, "outcome")})
