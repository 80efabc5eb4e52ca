import json
import pickle
import warnings
from pathlib import Path

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
import scipy.stats
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer

from seminaive.selection.indicators import Score, ScoreIndicators, WindowScores
from seminaive.selection.series import read_series
from seminaive.selection.windows import confirmed, window_counts, window_p_values

CASE = json.loads((Path(__file__).parent.parent / "reference" / "selection.json").read_text())["scores"]
SERIES = [np.array(series) for series in CASE["series"]]
SMALL = [WindowScores(windows=[20], tests=["U", "F"], confirmations=[(1, 1), (2, 3)], levels=[0.05, 0.1])]


def rule(name):
    kind, *numbers = name.split()
    return float(numbers[0]) if kind == "fraction" else (int(numbers[0]), int(numbers[1]))


@pytest.mark.parametrize("number", [0, 1])
@pytest.mark.parametrize("test", ["U", "KS", "F"])
def test_p_values_of_windows_are_the_frozen_ones(number, test):
    p = window_p_values(read_series([SERIES[number]]), [test], CASE["window"], CASE["stride"])[test]
    np.testing.assert_allclose(p, CASE[f"series{number}"][f"p_{test}"], atol=1e-9)


@pytest.mark.parametrize("test", ["U", "KS", "F"])
def test_confirmatory_scores_are_the_frozen_ones(test):
    series = read_series(SERIES)
    p = window_p_values(series, [test], CASE["window"], CASE["stride"])[test]
    counts = window_counts(series, CASE["window"], CASE["stride"])
    for name, expected in CASE["scores"][test].items():
        np.testing.assert_allclose(confirmed(p, counts, rule(name)), expected, atol=1e-9)


def test_p_values_of_tied_samples_are_the_frozen_ones():
    tied = CASE["tied"]
    p = window_p_values(read_series([tied["a"] + tied["b"]]), ["U", "KS"], 10, 1)
    np.testing.assert_allclose([p["U"][0], p["KS"][0]], [tied["u_pvalue"], tied["ks_pvalue"]], atol=1e-9)


@given(st.integers(0, 100_000))
@settings(deadline=None)
def test_p_values_equal_scipys(seed):
    rng = np.random.default_rng(seed)
    half = int(rng.integers(2, 45))
    a, b = rng.normal(size=half), rng.normal(rng.uniform(0, 2), rng.uniform(0.5, 3), size=half)
    if seed % 2:
        a, b = np.round(a, seed % 3), np.round(b, seed % 3)
    p = window_p_values(read_series([np.concatenate([a, b])]), ["U", "KS", "F"], 2 * half, 1)
    u = scipy.stats.mannwhitneyu(a, b, method="asymptotic").pvalue
    try:
        ks = scipy.stats.ks_2samp(a, b, method="exact").pvalue
    except RuntimeWarning:  # given up where rounding takes it above 1
        ks = 1.0
    assert p["U"][0] == pytest.approx(1.0 if np.isnan(u) else u, abs=1e-12)
    assert p["KS"][0] == pytest.approx(ks, abs=1e-12)
    if a.var() > 0 and b.var() > 0:
        c = scipy.stats.f.cdf(a.var(ddof=1) / b.var(ddof=1), half - 1, half - 1)
        assert p["F"][0] == pytest.approx(2 * min(c, 1 - c), abs=1e-12)


def test_a_constant_series_raises_no_alarm_and_one_constant_half_does():
    p = window_p_values(read_series([np.ones(20), [1.0] * 10 + [0.0, 2.0] * 5]), ["U", "KS", "F", "min"], 20, 1)
    assert [p[test][0] for test in ("U", "KS", "F", "min")] == pytest.approx([1.0, 1.0, 1.0, 1.0], abs=1e-12)
    assert p["F"][1] == 0.0
    assert p["min"][1] == 0.0


def test_short_empty_and_missing_series_raise_no_alarm():
    indicators = ScoreIndicators([WindowScores(windows=[20], levels=[0.05, 0.9])]).fit(SERIES)
    assert indicators.transform([np.zeros(3), np.array([]), np.full(30, np.nan)]).sum() == 0


@given(st.integers(0, 10_000))
@settings(deadline=None)
def test_a_confirmed_alarm_is_what_counting_windows_says(seed):
    rng = np.random.default_rng(seed)
    counts = rng.integers(1, 12, 4)
    p = rng.random(counts.sum()).round(1)
    b, g, share = 2, 3, 0.3
    starts = np.concatenate([[0], np.cumsum(counts)])
    by_run, by_share = confirmed(p, counts, (b, g)), confirmed(p, counts, share)
    for s, level in enumerate(rng.random(4).round(1)):
        hits = p[starts[s] : starts[s + 1]] <= level
        length = min(g, counts[s])
        runs = [hits[i : i + length].sum() for i in range(counts[s] - length + 1)]
        assert (by_run[s] <= level) == (max(runs) >= min(b, counts[s]))
        assert (by_share[s] <= level) == (hits.sum() >= max(1, np.ceil(share * counts[s] - 1e-9)))


def test_names_are_readable_and_in_the_order_of_the_columns():
    grid = [WindowScores(windows=[50], tests=["U", "KS"], confirmations=[(3, 5), 0.3], levels=[1e-6, 0.01])]
    assert ScoreIndicators(grid).fit(SERIES).get_feature_names_out().tolist() == [
        "U(w=50,stride=5)|3of5<=1e-06",
        "U(w=50,stride=5)|3of5<=0.01",
        "U(w=50,stride=5)|share0.3<=1e-06",
        "U(w=50,stride=5)|share0.3<=0.01",
        "KS(w=50,stride=5)|3of5<=1e-06",
        "KS(w=50,stride=5)|3of5<=0.01",
        "KS(w=50,stride=5)|share0.3<=1e-06",
        "KS(w=50,stride=5)|share0.3<=0.01",
    ]


def test_indicators_compare_scores_with_levels():
    X = ScoreIndicators(SMALL).fit_transform(SERIES)
    assert X.dtype == np.uint8
    scores = [CASE["scores"][test][name] for test in ("U", "F") for name in ("at_least 1 1", "at_least 2 3")]
    expected = [[score[i] <= level for score in scores for level in (0.05, 0.1)] for i in range(3)]
    np.testing.assert_array_equal(X, expected)


def padded():
    return np.array([np.pad(series, (0, 40 - len(series)), constant_values=np.nan) for series in SERIES])


@pytest.mark.parametrize(
    "make",
    [
        padded,
        lambda: pd.DataFrame(padded()),
        lambda: [series.tolist() for series in SERIES],
        lambda: pd.Series(SERIES),
        lambda: pd.DataFrame({"signal": [series.tolist() for series in SERIES]}),
        lambda: pl.Series([series.tolist() for series in SERIES]),
        lambda: pl.DataFrame({"signal": [series.tolist() for series in SERIES]}),
        lambda: np.array([*SERIES, None], dtype=object)[:3],
        lambda: pa.table({"signal": [series.tolist() for series in SERIES]}),
    ],
    ids=["padded", "padded frame", "lists", "pandas", "pandas frame", "polars", "polars frame", "objects", "arrow"],
)
def test_every_form_of_series_gives_the_same_indicators(make):
    expected = ScoreIndicators(SMALL).fit_transform(SERIES)
    np.testing.assert_array_equal(ScoreIndicators(SMALL).fit(make()).transform(make()), expected)


def test_a_missing_list_is_an_empty_series():
    assert np.diff(read_series(pl.Series([[1.0, 2.0], None])).starts).tolist() == [2, 0]
    assert np.diff(read_series(pd.Series([None, [1.0, 2.0]])).starts).tolist() == [0, 2]
    for first in (None, np.nan):
        assert np.diff(read_series(pd.DataFrame({"signal": [first, [1.0, 2.0]]})).starts).tolist() == [0, 2]
    assert np.diff(read_series(pl.DataFrame({"signal": [None, [1.0, 2.0]]})).starts).tolist() == [0, 2]


def test_the_series_on_which_a_score_of_ones_own_fails_is_named():
    with pytest.raises(IndexError) as failure:
        ScoreIndicators([Score("tenth", lambda x: x[9])]).fit([np.zeros(12), np.zeros(3)])
    assert failure.value.__notes__ == ["Score 'tenth' failed on series 1, which has 3 points."]


def test_own_scores_run_over_their_grid():
    def below(x, quantile, factor):
        return factor * np.quantile(x, quantile)

    score = Score("below", below, {"quantile": [0.1, 0.5], "factor": [1, 2]}, levels=[0.0])
    indicators = ScoreIndicators([score])
    X = indicators.fit_transform(SERIES)
    assert indicators.scores_[1] == "below(quantile=0.1,factor=2)"
    np.testing.assert_array_equal(X[:, 2], [np.quantile(series, 0.5) <= 0 for series in SERIES])


def test_own_window_scores_are_confirmed_like_p_values():
    def jumps(x, w):
        return np.array([-abs(x[i + w] - x[i]) for i in range(len(x) - w)])

    score = Score("jump", jumps, {"w": [16]}, confirmations=[(1, 1), (2, 2)], levels=[-1.0])
    indicators = ScoreIndicators([score])
    X = indicators.fit_transform(SERIES)
    assert indicators.get_feature_names_out().tolist() == ["jump(w=16)|1of1<=-1", "jump(w=16)|2of2<=-1"]
    hits = jumps(SERIES[0], 16) <= -1
    assert X[0].tolist() == [hits.any(), (hits[1:] & hits[:-1]).any()]
    assert X[2].tolist() == [0, 0]


def test_scores_that_are_not_numbers_or_infinite():
    values = iter([np.nan, np.inf, -np.inf] * 2)
    indicators = ScoreIndicators([Score("odd", lambda x: next(values), levels=[0.0])])
    with pytest.warns(UserWarning, match="Score odd is not a number for 1 object"):
        indicators.fit(SERIES)
    with pytest.warns(UserWarning, match="not a number"):
        assert indicators.transform(SERIES).ravel().tolist() == [0, 0, 1]


def test_thresholds_may_be_quantiles_of_the_training_scores():
    series = [[float(i)] for i in [0, 1, 2, 3, 4, 4, 4, 4, 4]]
    indicators = ScoreIndicators([Score("value", lambda x: x[0])], n_quantiles=3).fit(series)
    assert indicators.thresholds_[0].tolist() == [2.0, 4.0]
    assert indicators.transform([[3.0], [9.0]]).tolist() == [[0, 1], [0, 0]]


def test_thresholds_of_all_scores_may_be_given_at_once():
    indicators = ScoreIndicators([WindowScores(windows=[20], tests=["U"])], levels=[0.3]).fit(SERIES)
    assert {tuple(t) for t in indicators.thresholds_} == {(0.3,)}


def test_constant_and_duplicate_columns_are_kept_unless_dropped():
    grid = [WindowScores(windows=[20], tests=["U"], confirmations=[(1, 1)], levels=[0.0, 0.06, 0.07, 0.98, 1.0])]
    assert ScoreIndicators(grid).fit_transform(SERIES).shape[1] == 5
    no_constant = ScoreIndicators(grid, drop_constant=True).fit(SERIES)
    assert [name.split("<=")[1] for name in no_constant.get_feature_names_out()] == ["0.06", "0.07", "0.98"]
    distinct = ScoreIndicators(grid, drop_constant=True, drop_duplicates=True).fit(SERIES)
    assert [name.split("<=")[1] for name in distinct.get_feature_names_out()] == ["0.06", "0.98"]
    assert distinct.transform(SERIES).shape == (3, 2)


def test_it_is_cloned_pickled_piped_and_given_pandas_output():
    indicators = clone(ScoreIndicators(SMALL, drop_constant=True))
    assert indicators.get_params()["drop_constant"] is True
    X = indicators.fit(SERIES).transform(SERIES)
    again = pickle.loads(pickle.dumps(indicators))
    np.testing.assert_array_equal(again.transform(SERIES), X)
    assert again.get_feature_names_out().tolist() == indicators.get_feature_names_out().tolist()
    piped = make_pipeline(ScoreIndicators(SMALL), FunctionTransformer(lambda x: x * 2))
    assert piped.fit_transform(SERIES).max() == 2
    frame = ScoreIndicators(SMALL).set_output(transform="pandas").fit_transform(SERIES)
    assert frame.columns[0] == "U(w=20,stride=5)|1of1<=0.05"
    assert "ScoreIndicators" in indicators._repr_html_()


def test_an_unfitted_transformer_says_so():
    for method in (lambda i: i.transform(SERIES), lambda i: i.get_feature_names_out()):
        with pytest.raises(NotFittedError):
            method(ScoreIndicators())


@pytest.mark.parametrize(
    ("scores", "message"),
    [
        ([WindowScores(windows=[21])], "even number of at least 4 points, not 21"),
        ([WindowScores(strides=[0])], "stride must be at least 1, not 0"),
        ([WindowScores(tests=["t"])], "test must be one of U, KS, F, min, not 't'"),
        ([WindowScores(confirmations=[(3, 2)])], r"1 <= b <= g, not \(3, 2\)"),
        ([WindowScores(confirmations=[1.5])], "a share of at most 1, not 1.5"),
        ([WindowScores(confirmations=(3, 5))], r"a pair such as \(3, 5\).* not 3; confirmations is a list"),
        ([WindowScores(confirmations=[[3, 5]])], r"a pair such as \(3, 5\)"),
        ([WindowScores(confirmations=[0.0])], "above 0 and at most 1, not 0.0"),
        ([WindowScores(windows=50)], r"windows must be a list, such as \[50\], not 50"),
        ([WindowScores(windows=[20.0])], "even number of at least 4 points, not 20.0"),
        ([WindowScores(windows=["wide"])], "even number of at least 4 points, not 'wide'"),
        ([WindowScores(tests="KS")], r"tests must be a list, such as \['KS'\]"),
        ([WindowScores(levels=[0.1, np.nan])], "nothing is at most NaN"),
        ([WindowScores(levels=["low"])], "levels must be numbers or 'quantiles'"),
        ([np.ptp], r"Scores are WindowScores or Score\(name, function\)"),
        ([Score("a", np.ptp, {"axis": 0})], "a list of values for 'axis', not 0"),
        ([Score("first", lambda x: x[:2])], "'first' must give one number, or have confirmations; of series 0"),
        ([Score("nothing", lambda x: None)], "'nothing' must give one number"),
        ([Score("word", lambda x: "a")], "'word' must give numbers; of series 0 it gave 'a'"),
        ([WindowScores(levels="many")], "levels must be numbers or 'quantiles', not 'many'"),
        ([Score("a", 3)], "function of score 'a' cannot be called"),
        ([WindowScores(), WindowScores()], "Two indicators have the name"),
        ([], "make no indicator"),
    ],
)
def test_a_wrong_grid_is_explained(scores, message):
    with warnings.catch_warnings(), pytest.raises(ValueError, match=message):
        ScoreIndicators(scores).fit(SERIES)


@pytest.mark.parametrize(
    ("X", "message"),
    [
        ([[1.0, 2.0], [1.0, np.nan, 2.0]], "Series 1 holds nan at position 1"),
        ([[1.0, np.inf]], "Series 0 holds inf at position 1"),
        ([["a", "b"]], "Series 0 does not consist of numbers"),
        ([[[1.0], [2.0]]], "Series 0 has 2 dimensions"),
        (np.ones(3), "not 1 dimensions"),
        (pd.DataFrame({"a": [[1.0]], "b": [[2.0]]}), "one column of series, not 2"),
        (pl.DataFrame({"a": [[1.0]], "b": [[2.0]]}), "one column of series, not 2"),
        ([], "at least one series"),
        (None, "Series come as a list of 1-D arrays, a padded array or a column of lists, not None"),
        (pa.table({"a": [[1.0]], "b": [[2.0]]}), "one column of series, not 2"),
    ],
)
def test_a_wrong_series_is_named(X, message):
    with pytest.raises(ValueError, match=message):
        ScoreIndicators(SMALL).fit(X)
