"""What is shown adds up to what is decided, and can be shown as text, table and picture."""

from __future__ import annotations

import re

import numpy as np
import pandas as pd
import pytest
from estimators import every_estimator, fitted
from matplotlib.axes import Axes
from tables import COLUMNS, messy, own_terms, said, with_unseen


@every_estimator
def test_contributions_and_prior_add_up_to_the_scores(make):
    X, model = messy()[0], fitted(make)
    for rows in (X, with_unseen(X)):
        parts, scores = model.contributions(rows), model.predict_joint_log_proba(rows)
        assert parts.values.shape == (len(X), len(parts.terms), 3)
        summed = parts.prior + parts.values.sum(axis=1)
        np.testing.assert_allclose(summed, scores, atol=1e-10, rtol=1e-14)
        np.testing.assert_array_equal(parts.scores, summed)
        assert np.isfinite(parts.values).all()
        assert (parts.variances >= 0).all()


@every_estimator
def test_ten_thousand_random_rows_add_up_to_the_tenth_digit(make):
    rng = np.random.default_rng(3)
    X, y = messy(500)
    model = make().fit(X, y)
    rows = messy(10_000, seed=9)[0]
    rows["word"] = rng.choice(np.array(["a", "b", "new", "", None], dtype=object), 10_000)
    rows["size"] = np.where(rng.random(10_000) < 0.2, np.nan, 3 * rng.normal(size=10_000))
    parts = model.contributions(rows)
    np.testing.assert_allclose(parts.scores, model.predict_joint_log_proba(rows), atol=1e-10, rtol=0)


@every_estimator
def test_a_value_never_seen_says_nothing(make):
    X, model = messy()[0], fitted(make)
    strange = with_unseen(X).iloc[:1]
    parts = model.contributions(strange)
    assert strange["colour"].tolist() == ["pink"]
    np.testing.assert_array_equal(said(parts, "colour"), 0)
    np.testing.assert_array_equal(said(parts, "word"), 0)


@every_estimator
@pytest.mark.parametrize("classes", [("only",), ("no", "yes"), ("no", "perhaps", "yes")])
def test_rows_are_explained_as_text_table_and_picture(make, classes):
    X, y = messy(classes=classes)
    model = make().fit(X, y)
    rows = with_unseen(X).iloc[:6]
    explanation = model.explain(rows)
    text = str(explanation)
    terms = set(own_terms(model.contributions(rows)))  # a model may choose among columns
    assert "pink (never seen)" in text or "colour" not in terms
    assert "missing" in text or not terms
    assert "days" in text or not terms & {"when", "took"}
    assert f"row 5: {model.predict(rows)[5]} with probability" in text
    table = explanation.to_frame()
    assert list(table.columns) == ["row", "class", "term", "value", "evidence", "low", "high"]
    assert set(table["row"]) == set(range(6))
    assert (table["low"] <= table["evidence"]).all()
    assert (table["evidence"] <= table["high"]).all()
    assert isinstance(explanation.plot(row=2), Axes)


@every_estimator
@pytest.mark.parametrize("classes", [("only",), ("no", "yes"), ("no", "perhaps", "yes")])
def test_the_model_is_explained_as_text_table_and_picture(make, classes):
    X, y = messy(classes=classes)
    model = make().fit(X, y)
    explanation = model.explain()
    terms = own_terms(model.contributions(X))
    assert all(term in str(explanation) for term in terms)
    assert terms or len(classes) == 1
    table = explanation.to_frame()
    assert {term.partition(" | ")[0] for term in table["term"]} <= set(COLUMNS)
    assert np.isfinite(table[["evidence"]].to_numpy(dtype=float)).all()
    assert explanation.plot() is not None


@every_estimator
def test_the_shown_evidence_of_two_classes_adds_up_to_the_log_odds(make):
    X, y = messy(classes=("no", "yes"))
    model = make().fit(X, y)
    table = model.explain(X.iloc[:9]).to_frame()
    log_odds = np.diff(model.predict_log_proba(X.iloc[:9]), axis=1)[:, 0]
    np.testing.assert_allclose(table.groupby("row")["evidence"].sum(), log_odds, atol=1e-9)


@every_estimator
def test_a_reference_class_can_be_chosen(make):
    X, model = messy()[0], fitted(make)
    if model.evidence_.link == "ovr":
        with pytest.raises(ValueError, match="every class is shown against the rest"):
            model.explain(X, reference="perhaps")
        return
    table = model.explain(X.iloc[:2], reference="perhaps").to_frame()
    assert set(table["class"]) == {"no", "yes"}
    assert "perhaps" not in set(model.explain(reference="perhaps").to_frame()["class"])
    with pytest.raises(ValueError, match="reference must be one of the classes"):
        model.explain(X, reference="maybe")


@every_estimator
def test_the_summary_names_what_was_read_as_days(make):
    X, y = messy()
    text = make().fit(X, y).summary()
    assert "80 rows, 3 classes" in text
    assert "3 nominal columns; 5 numeric columns" in text
    assert "read as numbers of days: when, took" in text
    assert re.search(r"say nothing: .*\bsame\b", text)


@every_estimator
def test_a_date_is_the_number_of_its_day(make):
    days = pd.DataFrame({"when": pd.to_datetime(["2024-01-01", "2024-01-02", "2024-02-01", None] * 3)})
    numbers = pd.DataFrame({"when": [19723.0, 19724.0, 19754.0, np.nan] * 3})
    y = [0, 0, 1, 1] * 3
    np.testing.assert_array_equal(
        make().fit(days, y).predict_proba(days), make().fit(numbers, y).predict_proba(numbers)
    )
