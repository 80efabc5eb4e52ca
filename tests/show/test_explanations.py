"""Explanations read as people would say it, and pictures show the same numbers."""

import matplotlib as mpl
import numpy as np
import pandas as pd
import pytest

from seminaive import NaiveBayes

mpl.use("Agg")

X = pd.DataFrame(
    {
        "sky": ["sun", "rain", "sun", None, "rain", "sun", "", "rain"],
        "wind": [3.0, 9.0, 2.5, 3.5, 8.0, np.nan, 4.0, 7.5],
        "day": pd.to_datetime(["2024-01-01", "2024-01-05"] * 4),
        "same": 1.0,
    }
)
Y = ["play", "stay", "play", "play", "stay", "play", "play", "stay"]
NEW = pd.DataFrame({"sky": ["snow", None, "rain"], "wind": [np.nan, 3.0, 1e6], "day": pd.NaT, "same": 2.0})
NEW["day"] = NEW["day"].astype(X["day"].dtype)


@pytest.fixture(autouse=True)
def _close_pictures():
    yield
    from matplotlib import pyplot

    pyplot.close("all")


def lines(explanation):
    return str(explanation).splitlines()


def test_a_row_reads_as_decision_evidence_and_sum():
    model = NaiveBayes().fit(X, Y)
    text = lines(model.explain(X.iloc[:1]))
    probability = model.predict_proba(X.iloc[:1])[0, 0]
    log_odds = np.diff(model.predict_log_proba(X.iloc[:1]))[0, 0]
    assert text[0] == f"row 0: play with probability {probability:.3f}"
    assert text[1] == "evidence for stay against play (nats, 95 % interval):"
    assert text[2].split() == ["(prior)", f"{np.log(3 / 5):+.2f}"]
    assert text[-1].split() == ["sum", f"{log_odds:+.2f}"]
    assert {line.split()[0] for line in text[3:-1]} == {"sky", "wind", "day", "same"}
    strengths = [abs(float(line.split("[")[0].split()[-1])) for line in text[3:-1]]
    assert strengths == sorted(strengths, reverse=True)


def test_missing_and_never_seen_values_are_shown_as_what_they_are():
    text = str(NaiveBayes().fit(X, Y).explain(NEW))
    assert "snow (never seen)" in text
    assert "missing" in text
    assert "1e+06" in text


def test_dates_carry_their_unit_and_empty_text_is_visible():
    explanation = NaiveBayes().fit(X, Y).explain(X)
    assert explanation.texts[0] == ["sun", "3", "19723 days", "1"]
    assert explanation.texts[6][0] == "''"


def test_bins_and_folded_levels_are_shown_beside_the_value():
    binned = NaiveBayes(numeric="bins", n_bins=2).fit(X, Y).explain(X)
    assert binned.texts[1][1] == "9 (>= 4)"
    assert binned.texts[5][1] == "missing"
    folded = NaiveBayes(max_levels=2).fit(X, Y).explain(X)
    assert [row[0] for row in folded.texts[:2]] == ["sun (rare levels)", "rain"]


def test_the_table_of_a_row_has_the_numbers_of_the_contributions():
    model = NaiveBayes().fit(X, Y)
    table, parts = model.explain(X).to_frame(), model.contributions(X)
    relative = parts.values[:, :, 1] - parts.values[:, :, 0]
    shown = table[table["term"] != "(prior)"]["evidence"].to_numpy().reshape(len(X), 4)
    np.testing.assert_allclose(shown, relative)
    half = 1.959963984540054 * np.sqrt(parts.variances.sum(axis=2))
    np.testing.assert_allclose(table[table["term"] != "(prior)"]["high"].to_numpy().reshape(len(X), 4), relative + half)


def test_three_classes_are_shown_against_their_average():
    y = ["play", "stay", "swim"] * 2 + ["play", "stay"]
    explanation = NaiveBayes().fit(X, y).explain(X)
    assert "against the average class" in str(explanation)
    sums = explanation.to_frame().groupby(["row", "term"])["evidence"].sum()
    np.testing.assert_allclose(sums, 0, atol=1e-9)


def test_the_model_shows_every_level_and_the_range_of_every_number():
    explanation = NaiveBayes().fit(X, Y).explain()
    table = explanation.to_frame()
    assert table[table["term"] == "sky"]["value"].tolist() == ["''", "rain", "sun"]
    at = dict(zip(explanation.terms, explanation.positions, strict=True))
    assert at["sky"] is None
    assert at["wind"][0] < 2.5
    assert at["wind"][-1] > 9
    assert lines(explanation)[0].startswith("terms by how much they can say")
    assert lines(explanation)[-1].split() == ["0.00", "same"]


def test_the_picture_of_a_row_has_a_bar_per_term_as_long_as_its_evidence():
    explanation = NaiveBayes().fit(X, Y).explain(X)
    axes = explanation.plot(row=1)
    evidence = np.append(np.log(3 / 5), explanation.relative[0][1, :, 1])
    assert sorted(bar.get_width() for bar in axes.patches) == pytest.approx(sorted(evidence))
    names = [label.get_text() for label in axes.get_yticklabels()]
    assert names[0] == "(prior)"
    assert "sky = rain" in names
    assert "stay: probability" in axes.get_title()


def test_small_terms_share_a_bar():
    rng = np.random.default_rng(0)
    rows, y = rng.normal(size=(40, 30)), rng.integers(0, 2, 40)
    explanation = NaiveBayes().fit(rows, y).explain(rows)
    axes = explanation.plot(max_terms=5)
    assert axes.get_yticklabels()[-1].get_text() == "25 smaller terms"
    assert sum(bar.get_width() for bar in axes.patches) == pytest.approx(
        np.log(y.mean() / (1 - y.mean())) + explanation.relative[0][0, :, 1].sum()
    )


def test_the_picture_of_a_model_has_a_panel_per_term_strongest_first():
    explanation = NaiveBayes().fit(X, Y).explain()
    panels = [ax.get_title() for ax in np.ravel(explanation.plot()) if ax.get_visible()]
    assert panels == [explanation.terms[t] for t in np.argsort(-explanation.spread(), kind="stable")]


def test_a_picture_can_be_drawn_into_given_axes():
    from matplotlib import pyplot

    figure, (left, right) = pyplot.subplots(1, 2)
    model = NaiveBayes().fit(X, Y)
    assert model.explain(X).plot(ax=left) is left
    model.explain().plot(axes=right)
    figure.canvas.draw()
    assert right.lines or right.patches


def test_a_value_with_a_line_break_stays_on_its_line():
    rows = pd.DataFrame({"word": ["a\nb", "c"] * 2})
    explanation = NaiveBayes().fit(rows, [0, 1, 0, 1]).explain(rows[:1])
    assert r"'a\nb'" in str(explanation)
    assert len(lines(explanation)) == 5


def test_a_row_that_does_not_exist_is_named():
    with pytest.raises(ValueError, match="row must be between 0 and 7, got 8"):
        NaiveBayes().fit(X, Y).explain(X).plot(row=8)


def test_the_summary_says_what_was_learned():
    text = NaiveBayes(max_levels=2).fit(X, Y).summary().splitlines()
    assert text[0] == "Naive Bayes: 8 rows, 2 classes (play 62.5%, stay 37.5%)"
    assert text[1] == "1 nominal column; 3 numeric columns, each a Gaussian per class"
    assert text[2] == "dates and durations read as numbers of days: day"
    assert text[3] == "columns with rare levels folded together: sky (2)"
    assert text[4] == "columns that say nothing: same"


def test_very_long_names_are_cut_in_pictures():
    rows = pd.DataFrame({"w" * 300: ["x" * 300, "y"] * 3})
    axes = NaiveBayes().fit(rows, ["z" * 300, "short"] * 3).explain(rows).plot()
    axes.figure.canvas.draw()
    assert len(axes.get_yticklabels()[1].get_text()) == 24 + 3 + 24


def test_text_with_dollar_signs_and_line_breaks_can_be_drawn():
    rows = pd.DataFrame({"price $": ["$\\frac$", "a\nb", "$_{$", "\\frac"] * 3})
    model = NaiveBayes().fit(rows, ["$\\frac$", "_b_{$"] * 6)
    for axes in (model.explain(rows).plot(), np.ravel(model.explain().plot())[0]):
        axes.figure.canvas.draw()


def test_an_interval_that_says_nothing_does_not_flatten_the_bars():
    rare = pd.DataFrame({"x": ["a", "b"] * 20 + ["c"]})
    model = NaiveBayes(smoothing=1e-3).fit(rare, [0, 1] * 20 + [1])
    axes = model.explain(rare.tail(1)).plot()
    longest = max(abs(bar.get_width()) for bar in axes.patches)
    assert np.ptp(axes.get_xlim()) <= 5 * longest


def test_a_long_value_shows_that_it_was_cut():
    label = "a very long label that no line of a terminal has room for"
    text = str(NaiveBayes().fit(pd.DataFrame({"x": [label, "b"]}), [0, 1]).explain(pd.DataFrame({"x": [label]})))
    assert f"{label[:29]}... " in text
    assert label[:30] not in text


def test_the_legend_of_a_model_hides_no_panel():
    X = pd.DataFrame({"x": ["a", "b", "c"] * 4})
    axes = NaiveBayes().fit(X, ["one", "two", "three"] * 4).explain().plot()
    figure = axes.ravel()[0].figure
    figure.draw_without_rendering()
    legend = figure.legends[0].get_window_extent()
    assert [text.get_text() for text in figure.legends[0].get_texts()] == ["one", "three", "two"]
    assert not any(legend.overlaps(ax.get_window_extent()) for ax in axes.ravel() if ax.get_visible())
