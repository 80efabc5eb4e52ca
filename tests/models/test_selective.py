import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from seminaive import NaiveBayes, encode, scan_parquet
from seminaive.models import search_rows
from seminaive.models.selective import SelectiveNB

CASES = json.loads((Path(__file__).parent.parent / "reference" / "selective.json").read_text())


def frame_of(case):
    """The frozen rows, and the levels that discrete columns can have."""
    columns = np.array(case["X"], dtype=float).T
    X = pd.DataFrame({f"x{j}": column for j, column in enumerate(columns)})
    levels = {f"x{j}": list(map(float, range(m))) for j, m in enumerate(case["n_states"]) if case["is_discrete"][j]}
    return X, levels or None


@pytest.mark.parametrize("case", CASES, ids=[case["name"] for case in CASES])
@pytest.mark.parametrize("smoothing", [0, 1])
@pytest.mark.parametrize("strict", [True, False])
def test_the_order_of_inclusion_is_the_frozen_one(case, smoothing, strict):
    X, levels = frame_of(case)
    model = SelectiveNB(smoothing=smoothing, strict=strict, levels=levels, variance_prior=None).fit(X, case["y"])
    expected = case["snb"][str(smoothing)]["snb" if strict else "snb_nonstrict"]
    assert model.path_.features.tolist() == expected["order"]
    assert model.path_.evaluations == expected["evaluations"]
    assert np.sum(model.predict(X) != np.array(case["y"])) == expected["train_error_count"]
    assert model.path_.errors[-1] * len(X) == pytest.approx(expected["train_error_count"])


def redundant(n=400, seed=0):
    rng = np.random.default_rng(seed)
    y = rng.integers(0, 2, n)
    useful = y + rng.normal(size=n)
    word = np.where(rng.random(n) < 0.2 + 0.5 * y, "a", "b")
    return pd.DataFrame({"one": useful, "copy": useful, "word": word, "same": 1.0}), y


def test_predictions_are_those_of_naive_bayes_on_the_chosen_columns():
    X, y = redundant()
    model = SelectiveNB().fit(X, y)
    chosen = X.loc[:, model.get_support()]
    alone = NaiveBayes(smoothing_kind="pooled").fit(chosen, y)
    np.testing.assert_allclose(model.predict_proba(X), alone.predict_proba(chosen), atol=1e-12)
    assert model.contributions(X).terms == list(chosen.columns)


def test_the_error_of_every_step_is_that_of_the_columns_so_far():
    X, y = redundant()
    model = SelectiveNB(strict=False).fit(X, y)
    frame = model.path_.to_frame()
    for step in range(1, len(frame) + 1):
        columns = X.columns[frame["feature"][:step]]
        fitted = NaiveBayes(smoothing_kind="pooled").fit(X[columns], y)
        assert np.mean(fitted.predict(X[columns]) != y) == pytest.approx(frame["error"][step - 1])


def test_errors_fall_at_every_step_unless_not_strict():
    X, y = redundant()
    strict, loose = SelectiveNB().fit(X, y), SelectiveNB(strict=False).fit(X, y)
    assert (np.diff([strict.path_.start_error, *strict.path_.errors]) < 0).all()
    assert (np.diff([loose.path_.start_error, *loose.path_.errors]) <= 0).all()
    assert loose.support_.sum() >= strict.support_.sum()


@pytest.mark.parametrize("criterion", ["error", "probability", "log_loss"])
@pytest.mark.parametrize("numeric", ["gaussian", "bins", "mdl"])
def test_constant_columns_are_never_chosen(criterion, numeric):
    X, y = redundant()
    X = X.assign(blank=None, declared="k")
    model = SelectiveNB(
        criterion=criterion, numeric=numeric, strict=False, levels={"declared": ["j", "k"]}, smoothing_kind="level"
    ).fit(X, y)
    assert not set(X.columns[model.get_support(indices=True)]) & {"same", "blank", "declared"}


def test_a_column_that_is_only_sometimes_missing_counts_where_missing_is_a_value():
    y = np.array([0, 1, 1, 1] * 10)
    X = pd.DataFrame({"seen": np.where(y == 1, 3.0, np.nan), "noise": np.arange(40) % 3 + 0.5})
    assert SelectiveNB(missing="value").fit(X, y).get_support(indices=True).tolist() == [0]
    assert not SelectiveNB(missing="skip").fit(X, y).support_[0]


def test_no_informative_column_leaves_the_most_frequent_class():
    X = pd.DataFrame({"a": ["x", "y"] * 20})
    model = SelectiveNB().fit(X, [0, 0, 1, 1, 1, 1, 1, 1, 0, 0] * 4)
    assert not model.support_.any()
    assert model.predict(X).tolist() == [1] * 40
    assert model.path_.to_frame().empty
    assert "0 of 1 columns chosen" in model.summary()


@pytest.fixture
def threads_as_cluster():
    """A Dask cluster inside this process."""
    distributed = pytest.importorskip("distributed")
    with distributed.Client(processes=False, n_workers=1, threads_per_worker=1, dashboard_address=":0"):
        yield


def test_it_is_the_same_in_memory_on_disk_and_on_a_cluster(tmp_path, threads_as_cluster):
    dd = pytest.importorskip("dask.dataframe")
    rng = np.random.default_rng(0)
    n = 3000
    y = rng.integers(0, 3, n)
    X = pd.DataFrame({f"w{j}": np.where(rng.random(n) < 0.4, y % (j + 2), rng.integers(0, 3, n)) for j in range(4)})
    X = X.astype(str).assign(size=np.round(rng.normal(size=n) + 0.3 * y, 2))
    whole = X.assign(target=y)
    for part in range(3):
        whole[part * 1000 : (part + 1) * 1000].to_parquet(tmp_path / f"{part}.parquet", row_group_size=300)
    here = SelectiveNB().fit(X, y)
    disk = SelectiveNB().fit(scan_parquet(str(tmp_path / "*.parquet"), target="target"))
    cluster = SelectiveNB().fit(dd.from_pandas(X, npartitions=4), dd.from_pandas(pd.Series(y), npartitions=4))
    assert here.path_.features.tolist() == disk.path_.features.tolist() == cluster.path_.features.tolist()
    for other in (disk, cluster):
        np.testing.assert_array_equal(other.path_.errors, here.path_.errors)
        np.testing.assert_allclose(other.predict_joint_log_proba(X), here.predict_joint_log_proba(X), atol=1e-12)


def test_a_table_too_large_is_searched_on_a_sample_and_learned_from_all_rows(monkeypatch):
    X, y = redundant(4000)
    monkeypatch.setattr(search_rows, "SEARCH_ROWS", 1000)
    model = SelectiveNB(random_state=3).fit(X, y)
    assert 800 < model.n_search_rows_ < 1200
    assert model.class_count_.sum() == 4000
    chosen = X.loc[:, model.get_support()]
    alone = NaiveBayes(smoothing_kind="pooled").fit(chosen, y)
    np.testing.assert_allclose(model.predict_proba(X), alone.predict_proba(chosen), atol=1e-12)
    again = SelectiveNB(random_state=3).fit(encode(X, y))
    np.testing.assert_array_equal(again.path_.errors, model.path_.errors)


def test_wide_codes_are_searched_like_narrow_ones():
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, 900)
    few = np.char.add("v", (y * 2 + rng.integers(0, 3, 900)).astype(str))
    many = few.astype(object)
    X = pd.DataFrame({"few": few, "noise": rng.integers(0, 4, 900).astype(str)})
    levels = {"few": sorted(set(few)), "wide": sorted(set(few)) + [f"u{i}" for i in range(400)]}
    wide = X.assign(few=many).rename(columns={"few": "wide"})
    narrow_model = SelectiveNB(smoothing=0, levels={"few": levels["few"]}).fit(X, y)
    wide_model = SelectiveNB(smoothing=0, levels={"wide": levels["wide"]}).fit(wide, y)
    assert wide_model.path_.features.tolist() == narrow_model.path_.features.tolist()
    np.testing.assert_allclose(wide_model.path_.errors, narrow_model.path_.errors)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"criterion": "accuracy"}, "criterion must be one of"),
        ({"numeric": "kde"}, "numeric must be one of"),
        ({"smoothing": -1}, "smoothing must be"),
        ({"random_state": None}, "random_state must be"),
    ],
)
def test_a_wrong_parameter_is_named(change, message):
    with pytest.raises(ValueError, match=message):
        SelectiveNB(**change).fit([[1.0], [2.0]], [0, 1])
