"""Whatever a table holds: an answer without NaN and without warnings, or one sentence that names column and value."""

from __future__ import annotations

import datetime
import re

import numpy as np
import pandas as pd
import pytest
from estimators import every_estimator
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from tables import is_answer

NUMBERS = st.one_of(
    st.floats(),
    st.floats(-10, 10),
    st.sampled_from([0.0, -0.0, 1e308, -1e308, 1e140, 1e-140, 1e-160, 1e-300, 5e-324, np.inf, -np.inf, np.nan]),
)
WORDS = st.one_of(st.sampled_from(["", " ", "a", "b", "nan", "None", "é"]), st.text(max_size=3))
DATES = st.datetimes(datetime.datetime(1700, 1, 1), datetime.datetime(2200, 1, 1))
SPANS = st.timedeltas(datetime.timedelta(-10_000), datetime.timedelta(10_000))
GAPS = st.sampled_from([None, np.nan])

CELLS = {
    "numbers": (NUMBERS, "float64"),
    "tiny numbers": (st.floats(-1e-150, 1e-150), "float64"),
    "large numbers": (st.floats(-1e140, 1e140), "float64"),
    "small numbers": (st.floats(width=16, allow_infinity=False), "float16"),
    "whole numbers": (st.integers(-(2**63), 2**63 - 1), "int64"),
    "nullable numbers": (st.one_of(st.none(), st.integers(-5, 5)), "Int64"),
    "words": (st.one_of(WORDS, GAPS), object),
    "strings": (st.one_of(st.none(), WORDS), "string"),
    "flags": (st.booleans(), bool),
    "flags with gaps": (st.one_of(st.booleans(), GAPS), object),
    "nullable flags": (st.one_of(st.none(), st.booleans()), "boolean"),
    "categories": (st.sampled_from(["a", "", "b", None]), pd.CategoricalDtype(["unused", "a", "", "b"])),
    "number categories": (st.sampled_from([1, 2.5, None]), pd.CategoricalDtype([7, 2.5, 1])),
    "dates": (st.one_of(st.none(), DATES), "datetime64[us]"),
    "dates with zone": (st.one_of(st.none(), DATES), "datetime64[us, Asia/Tokyo]"),
    "durations": (st.one_of(st.none(), SPANS), "timedelta64[us]"),
    "anything": (st.one_of(st.integers(), st.floats(-5, 5), WORDS, st.booleans(), GAPS), object),
    "numbers as objects": (st.one_of(st.integers(), st.floats(-5, 5), GAPS, st.decimals(-5, 5)), object),
    "nothing": (GAPS, object),
    "no numbers": (st.just(np.nan), "float64"),
    "constant": (st.just(0.1), "float64"),
    "huge constant": (st.just(1e140), "float64"),
}


@st.composite
def tables(draw, max_columns=4, max_rows=10):
    """Rows to learn from, their labels and weights, and rows of the same columns to predict."""
    kinds = draw(st.lists(st.sampled_from(sorted(CELLS)), min_size=1, max_size=max_columns))
    n, m = draw(st.integers(1, max_rows)), draw(st.integers(1, 3))
    train, test = {}, {}
    for j, kind in enumerate(kinds):
        cells, dtype = CELLS[kind]
        name = f"{kind} {j}"
        values = draw(st.lists(cells, min_size=n + m, max_size=n + m))
        column = pd.Series(values, dtype=dtype)
        train[name], test[name] = column[:n].reset_index(drop=True), column[n:].reset_index(drop=True)
    labels = draw(st.lists(st.sampled_from(["p", "q", "r"]), min_size=n, max_size=n))
    weight = st.one_of(st.none(), st.lists(st.sampled_from([0, 1, 1.5, 1e-30, 1e20]), min_size=n, max_size=n))
    return pd.DataFrame(train), labels, draw(weight), pd.DataFrame(test)


def check_sentence(error, frame):
    """The error is one line that names a column of the frame and a row, or is about the weights."""
    sentence = str(error)
    assert "\n" not in sentence
    if "sample weights" not in sentence:
        assert any(f"column {name!r}, row " in sentence for name in frame.columns), sentence
        assert re.search(r"row \d+(:| holds)", sentence), sentence


@every_estimator
@given(table=tables())
@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large])
def test_any_table_has_an_answer_or_one_sentence(make, table):
    check_any_table(make, *table)


@pytest.mark.slow
@every_estimator
@given(table=tables(max_columns=8, max_rows=30))
@settings(max_examples=500, deadline=None, suppress_health_check=list(HealthCheck))
@pytest.mark.filterwarnings("ignore:column .* may be an identifier")
def test_thousands_of_tables_have_an_answer_or_one_sentence(make, table):
    check_any_table(make, *table)


def check_any_table(make, train, labels, weights, test):
    try:
        model = make().fit(train, labels, weights)
        answers = [model.predict_proba(rows) for rows in (test, train)]  # rows of weight 0 are read here only
    except ValueError as error:
        check_sentence(error, train)
        return
    assert all(is_answer(answer) for answer in answers)
    parts, scores = model.contributions(test), model.predict_joint_log_proba(test)
    assert np.isfinite(parts.values).all()
    size = 1 + np.abs(parts.values).sum(axis=1)
    assert (np.abs(parts.scores - scores) <= 1e-10 * size).all()
    assert isinstance(str(model.explain(test)), str)
    assert isinstance(str(model.explain()), str)
    assert isinstance(model.summary(), str)
    assert not model.explain(test).to_frame()["evidence"].isna().any()
    assert not model.explain().to_frame()["evidence"].isna().any()
