import numpy as np
import pandas as pd
import polars as pl
import pytest
from scipy import sparse
from sklearn.base import clone
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.utils.estimator_checks import parametrize_with_checks

import seminaive
from seminaive import NaiveBayes, encode
from seminaive.models import search_rows
from seminaive.selection.selector import NBSelector

DIRECTIONS = ["forward", "backward", "forward-backward", "backward-forward"]
SEARCH_ON = ["cv", "fit", "holdout"]


def mixed(n=300, seed=0, classes=("a", "b", "c")):
    """Columns of every kind, useful ones, copies and noise, with gaps."""
    rng = np.random.default_rng(seed)
    k = rng.integers(0, len(classes), n)
    size = np.where(rng.random(n) < 0.1, np.nan, rng.normal(size=n) + k)
    kind = np.where(rng.random(n) < 0.1, None, np.array(["u", "v", "w"], dtype=object)[(k + (rng.random(n) < 0.3)) % 3])
    X = pd.DataFrame(
        {
            "size": size,
            "kind": kind,
            "flag": rng.random(n) < 0.2 + 0.3 * (k == 1),
            "copy": size,
            "noise": rng.normal(size=n),
            "coin": rng.random(n) < 0.5,
        }
    )
    return X, np.array(classes, dtype=object)[k]


@parametrize_with_checks(
    [NBSelector()],
    expected_failed_checks=lambda _: dict.fromkeys(
        ["check_sample_weight_equivalence_on_dense_data", "check_sample_weight_equivalence_on_sparse_data"],
        "rows are split at random",
    ),
)
@pytest.mark.filterwarnings("ignore:no set of columns")
def test_scikit_learn_finds_no_fault(estimator, check):
    check(estimator)


# --- the search -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("direction", DIRECTIONS)
@pytest.mark.parametrize("search_on", SEARCH_ON)
@pytest.mark.parametrize("criterion", ["probability", "error", "log_loss"])
def test_every_search_keeps_useful_columns_of_every_kind(direction, search_on, criterion):
    X, y = mixed()
    selector = NBSelector(direction=direction, search_on=search_on, criterion=criterion).fit(X, y)
    names = set(selector.get_feature_names_out())
    assert "kind" in names
    assert names & {"size", "copy"}
    frame = selector.path_.to_frame()
    assert {"step", "feature", "action", "criterion", "error", "size"} <= set(frame.columns)
    assert frame["phase"].max() == selector.n_phases_
    assert selector.selection_error_ < 0.35


@pytest.mark.parametrize("numeric", ["gaussian", "mdl"])
def test_the_criteria_along_the_path_are_those_of_naive_bayes_fitted_out_of_fold(numeric):
    X, y = mixed()
    selector = NBSelector(direction="forward", criterion="error", cv=3, numeric=numeric).fit(X, y)
    frame = selector.path_.to_frame()
    block = search_rows.rows_to_search(encode(X, y), 0)
    from seminaive.table.block import row_classes
    from seminaive.table.folds import stratified_folds

    folds = stratified_folds(row_classes(block), 3, 0)
    by_class = np.argsort(y, kind="stable")
    X, y = X.iloc[by_class], y[by_class]
    for step in (1, 3, 6):
        columns = X.columns[frame["feature"][:step]]
        wrong = 0
        for fold in range(3):
            model = NaiveBayes(numeric=numeric).fit(X.loc[folds != fold, columns], y[folds != fold])
            wrong += np.sum(model.predict(X.loc[folds == fold, columns]) != y[folds == fold])
        assert wrong / len(y) == pytest.approx(frame["error"][step - 1])


@pytest.mark.parametrize("numeric", ["gaussian", "mdl"])
@pytest.mark.parametrize("search_on", ["fit", "holdout"])
def test_halves_teach_and_judge_as_they_should(search_on, numeric):
    X, y = mixed()
    rng = np.random.default_rng(4)
    fit = np.concatenate([(rows := rng.permutation(np.flatnonzero(y == k)))[: len(rows) // 2] for k in "abc"])
    taught = np.isin(np.arange(len(y)), fit)
    wishes = {"search_on": search_on, "criterion": "error", "numeric": numeric}
    selector = NBSelector(random_state=4, refit=False, **wishes).fit(X, y)
    frame = selector.path_.to_frame()
    judged = taught if search_on == "fit" else ~taught
    for step in (1, 4):
        columns = X.columns[frame["feature"][:step]]
        model = NaiveBayes(numeric=numeric).fit(X.loc[taught, columns], y[taught])
        assert np.mean(model.predict(X.loc[judged, columns]) != y[judged]) == pytest.approx(frame["error"][step - 1])
        wrong = np.mean(model.predict(X.loc[~taught, columns]) != y[~taught])
        assert wrong == pytest.approx(frame["selection_error"][step - 1])
    chosen = X.loc[:, selector.support_]
    alone = NaiveBayes(numeric=numeric).fit(chosen[taught], y[taught])
    np.testing.assert_allclose(selector.predict_proba(X), alone.predict_proba(chosen), atol=1e-12)
    assert hasattr(selector, "optimism_note_") == (search_on == "holdout")


def test_with_refit_it_is_naive_bayes_on_the_chosen_columns():
    X, y = mixed()
    selector = NBSelector().fit(X, y)
    chosen = selector.transform(X)
    alone = NaiveBayes().fit(chosen, y)
    np.testing.assert_allclose(selector.predict_proba(X), alone.predict_proba(chosen), atol=1e-12)
    assert selector.contributions(X).terms == list(chosen.columns)
    assert "chosen by forward search" in selector.summary()


@pytest.mark.parametrize("size", [1, 3, 6])
@pytest.mark.parametrize("direction", DIRECTIONS)
def test_so_many_columns_are_kept(size, direction):
    X, y = mixed()
    selector = NBSelector(direction=direction, n_features_to_select=size).fit(X, y)
    if "-" in direction:
        assert selector.support_.sum() <= size
    else:
        assert selector.support_.sum() == size


def test_one_standard_error_keeps_no_more_than_the_best():
    X, y = mixed()
    best, fewer = NBSelector().fit(X, y), NBSelector(n_features_to_select="one-se").fit(X, y)
    assert 0 < fewer.support_.sum() <= best.support_.sum()
    assert not (fewer.support_ & ~best.support_).any()


def test_the_seed_decides_the_split_and_nothing_else_does():
    X, y = mixed()
    one, same = NBSelector(random_state=1).fit(X, y), NBSelector(random_state=1, n_jobs=2).fit(X, y)
    pd.testing.assert_frame_equal(one.path_.to_frame(), same.path_.to_frame())
    others = [NBSelector(random_state=seed).fit(X, y).path_.to_frame() for seed in (2, 3)]
    assert not all(other.equals(one.path_.to_frame()) for other in others)


def test_weights_count_in_the_evidence_and_in_the_criterion():
    X, y = mixed(120)
    weights = np.arange(120) % 3 + 0.5
    rng = np.random.default_rng(0)
    fit = np.concatenate([(rows := rng.permutation(np.flatnonzero(y == k)))[: len(rows) // 2] for k in "abc"])
    selector = NBSelector(search_on="fit", criterion="error").fit(X, y, weights)
    assert selector.class_count_.sum() == weights.sum()
    frame = selector.path_.to_frame()
    for step in (1, 4):
        columns = X.columns[frame["feature"][:step]]
        model = NaiveBayes().fit(X.loc[fit, columns], y[fit], weights[fit])
        wrong = model.predict(X.loc[fit, columns]) != y[fit]
        assert frame["error"][step - 1] == pytest.approx(weights[fit] @ wrong / weights[fit].sum())


# --- in and out -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("hold", [lambda X: X, pl.from_pandas, lambda X: pl.from_pandas(X).to_arrow()])
def test_frames_keep_their_kind(hold):
    X, y = mixed()
    held = hold(X)
    selector = NBSelector(n_features_to_select=2).fit(held, y)
    kept = selector.transform(held)
    assert type(kept) is type(held)
    names = kept.column_names if hasattr(kept, "column_names") else list(kept.columns)
    assert names == selector.get_feature_names_out().tolist()
    assert selector.get_support(indices=True).tolist() == [X.columns.get_loc(name) for name in names]
    assert len(kept) == len(X)


def test_arrays_and_sparse_matrices_keep_their_kind():
    X, y = mixed()
    numbers = np.nan_to_num(X[["size", "flag", "noise"]].to_numpy(dtype=float))
    selector = NBSelector(n_features_to_select=2).fit(numbers, y)
    np.testing.assert_array_equal(selector.transform(numbers), numbers[:, selector.support_])
    for kind in (sparse.csr_array, sparse.csc_matrix):
        held = kind(numbers)
        other = NBSelector(n_features_to_select=2).fit(held, y)
        np.testing.assert_array_equal(other.support_, selector.support_)
        kept = other.transform(held)
        assert kept.format == held.format
        np.testing.assert_array_equal(kept.toarray(), numbers[:, selector.support_])
        pd.testing.assert_frame_equal(other.path_.to_frame(), selector.path_.to_frame())


@pytest.mark.parametrize("nominal", [None, range(6)])
@pytest.mark.parametrize("kind", [float, np.uint8, np.int64])
def test_zeros_and_ones_are_indicators_like_booleans(kind, nominal):
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, 200)
    bits = rng.random((200, 6)) < 0.2 + 0.5 * y[:, None] * (np.arange(6) % 2)
    selector = NBSelector(nominal=nominal).fit(bits.astype(kind), y)
    booleans = NBSelector().fit(bits, y)
    pd.testing.assert_frame_equal(selector.path_.to_frame(), booleans.path_.to_frame())
    np.testing.assert_allclose(selector.predict_proba(bits.astype(kind)), booleans.predict_proba(bits), atol=1e-12)


def test_zeros_and_ones_with_gaps_are_indicators_too():
    X = np.array([[0.0, 1.0], [np.nan, 1.0], [1.0, 1.0], [1.0, np.nan]] * 5)
    selector = NBSelector(n_features_to_select=1, nominal=None).fit(X, [0, 0, 1, 1] * 5)
    assert selector.support_.tolist() == [True, False]
    np.testing.assert_allclose(
        np.exp(selector.evidence_.terms[0].table[:, 2:]), [[6 / 7, 1 / 7], [1 / 12, 11 / 12]], atol=1e-12
    )


def test_the_output_can_be_set():
    X, y = mixed()
    numbers = X[["size", "noise", "flag"]].to_numpy(dtype=float)
    kept = NBSelector(n_features_to_select=1).set_output(transform="pandas").fit(numbers, y).transform(numbers)
    assert isinstance(kept, pd.DataFrame)


def test_it_works_in_pipelines_and_grid_search():
    X, y = mixed()
    pipeline = make_pipeline(NBSelector(), NaiveBayes())
    search = GridSearchCV(pipeline, {"nbselector__n_features_to_select": [1, "best"]}, cv=3).fit(X, y)
    assert search.best_score_ > 0.6
    assert search.best_estimator_[:-1].get_feature_names_out().tolist()
    numbers = np.nan_to_num(X[["size", "flag", "noise"]].to_numpy(dtype=float))
    assert make_pipeline(NBSelector(), LogisticRegression()).fit(numbers, y).score(numbers, y) > 0.4


def test_a_selector_is_cloned_saved_and_loaded(tmp_path):
    X, y = mixed()
    selector = NBSelector(direction="forward-backward").fit(X, y)
    selector.save(tmp_path / "selector.snb")
    loaded = seminaive.load(tmp_path / "selector.snb")
    pd.testing.assert_frame_equal(loaded.path_.to_frame(), selector.path_.to_frame())
    pd.testing.assert_frame_equal(loaded.transform(X), selector.transform(X))
    np.testing.assert_array_equal(loaded.predict_proba(X), selector.predict_proba(X))
    assert repr(clone(selector)) == repr(selector)


def test_other_columns_are_refused():
    X, y = mixed()
    selector = NBSelector().fit(X, y)
    with pytest.raises(ValueError, match="feature names"):
        selector.transform(X.rename(columns={"size": "length"}))
    with pytest.raises(ValueError, match="transform needs rows"):
        selector.transform(encode(X, y))


def test_an_encoded_table_gives_the_same_path():
    X, y = mixed()
    here, there = NBSelector().fit(X, y), NBSelector().fit(encode(X, y))
    pd.testing.assert_frame_equal(here.path_.to_frame(), there.path_.to_frame())


def test_a_table_too_large_is_searched_on_a_sample(monkeypatch):
    monkeypatch.setattr(search_rows, "SEARCH_ROWS", 500)
    X, y = mixed(3000)
    selector = NBSelector().fit(X, y)
    assert 350 < selector.n_search_rows_ < 650
    assert selector.class_count_.sum() == 3000


# --- while it runs ----------------------------------------------------------------------------------------------------


def test_progress_is_shown_on_one_line(capsys):
    X, y = mixed()
    NBSelector(verbose=1).fit(X, y)
    shown = capsys.readouterr().err
    assert "forward search: probability 0." in shown
    assert shown.endswith("step 6 of 6\n")


def interrupting(monkeypatch, at):
    from seminaive.selection import selector as module

    def line(what, verbose):
        def stop(step, most, value):
            if step == at:
                raise KeyboardInterrupt

        return stop

    monkeypatch.setattr(module, "progress_line", line)


@pytest.mark.parametrize("direction", DIRECTIONS)
def test_an_interrupted_search_leaves_a_usable_path(monkeypatch, direction):
    X, y = mixed()
    whole = NBSelector(direction=direction).fit(X, y).path_.to_frame()
    interrupting(monkeypatch, at=3)
    with pytest.warns(UserWarning, match="stopped after 3 steps"):
        selector = NBSelector(direction=direction).fit(X, y)
    assert selector.interrupted_
    pd.testing.assert_frame_equal(selector.path_.to_frame(), whole[:3])
    assert selector.support_.any()
    assert selector.score(X, y) > 0.5


def test_interrupted_before_the_first_step_nothing_is_left(monkeypatch):
    from seminaive.search import greedy

    def stop(*_):
        raise KeyboardInterrupt

    monkeypatch.setattr(greedy, "_best_move", stop)
    X, y = mixed()
    selector = NBSelector()
    with pytest.raises(KeyboardInterrupt, match="before the first step"):
        selector.fit(X, y)
    assert not hasattr(selector, "support_")


# --- edges ------------------------------------------------------------------------------------------------------------


def coin_columns():
    rng = np.random.default_rng(2)
    return pd.DataFrame({f"c{j}": rng.random(60) < 0.5 for j in range(4)}), np.repeat([0, 0, 0, 1], 15)


def test_where_the_prior_is_best_the_best_single_column_is_kept_unless_none_may_be():
    X, y = coin_columns()
    with pytest.warns(UserWarning, match="the best single one is kept"):
        selector = NBSelector(criterion="error").fit(X, y)
    assert selector.transform(X).shape == (60, 1)
    with pytest.warns(UserWarning, match="none is kept"):
        empty = NBSelector(criterion="error", allow_empty=True).fit(X, y)
    assert empty.transform(X).shape == (60, 0)
    assert empty.predict(X).tolist() == [0] * 60


@pytest.mark.filterwarnings("ignore:no set of columns")
@pytest.mark.parametrize("direction", ["forward", "backward"])
def test_constant_identical_and_empty_columns_make_a_whole_path(direction):
    X = pd.DataFrame({"a": ["k"] * 40, "b": ["k"] * 40, "none": [None] * 40, "gap": [np.nan] * 40, "one": [1.0] * 40})
    frame = NBSelector(direction=direction).fit(X, [0, 1] * 20).path_.to_frame()
    assert sorted(frame["feature"]) == [0, 1, 2, 3, 4]
    assert frame["criterion"].tolist() == pytest.approx([0.5] * 5)


def test_one_column_is_a_path_of_one_step():
    X, y = mixed()
    selector = NBSelector().fit(X[["kind"]], y)
    assert selector.path_.to_frame()["feature"].tolist() == [0]
    assert selector.support_.tolist() == [True]


@pytest.mark.filterwarnings("ignore:no set of columns")
def test_more_columns_than_rows_and_twenty_six_classes_work():
    rng = np.random.default_rng(0)
    wide = rng.random((30, 200)) < 0.5
    assert NBSelector().fit(wide, [0, 1] * 15).path_.to_frame()["feature"].nunique() == 200
    letters = np.repeat(np.array(list("abcdefghijklmnopqrstuvwxyz"), dtype=object), 8)
    codes = np.repeat(np.arange(26), 8)
    X = pd.DataFrame({f"bit{j}": (codes >> j & 1).astype(bool) ^ (rng.random(208) < 0.02) for j in range(5)})
    selector = NBSelector().fit(X, letters)
    assert selector.support_.all()
    assert selector.score(X, letters) > 0.7


def test_missing_values_say_nothing_in_the_search_too():
    X, y = mixed()
    gone = X.assign(kind=None)
    frame = NBSelector().fit(gone, y).path_.to_frame()
    without = NBSelector().fit(X.drop(columns="kind"), y).path_.to_frame()
    at = frame.index[frame["feature"] == 1][0]
    before = frame["criterion"][at - 1] if at else frame["criterion"][at]
    assert frame["criterion"][at] == pytest.approx(before)
    assert without["criterion"].min() == pytest.approx(frame["criterion"].min())


def test_a_single_row_of_a_class_decides_nothing_by_default():
    X, y = mixed()
    y[0] = "rare"
    selector = NBSelector().fit(X, y)
    assert selector.classes_.tolist() == ["a", "b", "c", "rare"]
    assert selector.support_.any()


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"search_on": "fit"}, r"class 'rare' has 1 row\(s\), too few for two halves"),
        ({"search_on": "holdout"}, r"class 'rare' has 1 row\(s\), too few for two halves"),
        ({"cv": 3}, r"class 'rare' has 1 row\(s\), too few for 3 folds"),
    ],
)
def test_a_class_too_small_to_split_is_named(parameters, message):
    X, y = mixed()
    y[0] = "rare"
    with pytest.raises(ValueError, match=message):
        NBSelector(**parameters).fit(X, y)


def test_one_class_is_refused():
    X, _ = mixed()
    with pytest.raises(ValueError, match="at least 2 classes; y holds 1 class, 'only'"):
        NBSelector().fit(X, ["only"] * len(X))


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"direction": "sideways"}, "direction must be one of"),
        ({"criterion": "accuracy"}, "criterion must be one of"),
        ({"search_on": "train"}, "search_on must be one of"),
        ({"ties": "last"}, "ties must be one of"),
        ({"smoothing": 0}, "smoothing must be above 0"),
        ({"smoothing": -1}, "smoothing must be"),
        ({"patience": 0}, "patience must be"),
        ({"cv": 1}, "cv must be"),
        ({"n_features_to_select": 0}, "n_features_to_select must be"),
        ({"n_features_to_select": "most"}, "n_features_to_select must be one of"),
        ({"n_features_to_select": 7}, "n_features_to_select=7, but X has 6 columns"),
        ({"refit": False}, "refit=False needs"),
    ],
)
def test_a_wrong_parameter_is_named(change, message):
    X, y = mixed()
    with pytest.raises(ValueError, match=message):
        NBSelector(**change).fit(X, y)
