"""Numeric columns of any table become bins, and everything else stays as it is."""

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from scipy import sparse
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.model_selection import cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder
from sklearn.utils.estimator_checks import parametrize_with_checks

from seminaive import Discretizer, NaiveBayes, encode
from seminaive.statistics.mdl import mdl_cuts


@parametrize_with_checks([Discretizer(), Discretizer("quantile", 3), Discretizer("width", output="codes")])
def test_it_keeps_scikit_learns_promises(estimator, check):
    check(estimator)


def mixed(n=200, seed=0):
    rng = np.random.default_rng(seed)
    y = rng.integers(0, 2, n)
    X = pd.DataFrame(
        {
            "size": np.where(rng.random(n) < 0.1, np.nan, rng.normal(size=n) + 2 * y),
            "word": rng.choice(["a", "b"], n),
            "count": rng.poisson(2 + 3 * y),
            "flag": rng.random(n) < 0.5,
        }
    )
    return X, y


def test_mdl_cuts_are_those_of_the_rule():
    X, y = mixed()
    cuts = Discretizer().fit(X, y).cuts_
    assert list(cuts) == ["size", "count"]
    for name in cuts:
        assert len(cuts[name]) > 0
        np.testing.assert_array_equal(cuts[name], mdl_cuts(X[name].to_numpy(dtype=float), y, 2))


def test_limits_of_mdl_are_passed_on():
    X, y = mixed()
    limited = Discretizer(max_bins=2, min_bin=60).fit(X, y).cuts_["size"]
    np.testing.assert_array_equal(limited, mdl_cuts(X["size"].to_numpy(), y, 2, max_bins=2, min_bin=60))


def test_quantile_bins_hold_equal_numbers_and_two_of_them_meet_at_the_median():
    x = np.arange(20.0)[:, None]
    assert Discretizer("quantile", n_bins=2).fit(x).cuts_[0].tolist() == [np.median(x)]
    codes = Discretizer("quantile", n_bins=4).fit_transform(x)
    assert np.bincount(codes[:, 0].astype(int)).tolist() == [5, 5, 5, 5]


def test_width_bins_are_equally_wide():
    x = np.array([[0.0], [1.0], [8.0], [np.nan]])
    bins = Discretizer("width", n_bins=4).fit(x)
    assert bins.cuts_[0].tolist() == [2, 4, 6]
    np.testing.assert_array_equal(bins.transform(x), [[0], [0], [3], [np.nan]])


@pytest.mark.parametrize("strategy", ["mdl", "quantile", "width"])
@pytest.mark.parametrize("values", [[5.0, 5.0, 5.0, 5.0], [np.nan] * 4], ids=["constant", "all missing"])
def test_a_column_with_nothing_to_cut_is_one_bin(strategy, values):
    bins = Discretizer(strategy).fit(pd.DataFrame({"x": values}), [0, 1, 0, 1])
    assert bins.cuts_["x"].tolist() == []
    assert bins.transform(pd.DataFrame({"x": [-1e9, 7.0]}))["x"].tolist() == ["any value", "any value"]


def test_a_bin_begins_at_its_cut_and_the_ends_are_open():
    bins = Discretizer("width", n_bins=2).fit([[0.0], [2.0]])
    assert bins.transform([[-100.0], [0.999], [1.0], [100.0]])[:, 0].tolist() == [0, 0, 1, 1]


def test_a_frame_keeps_its_names_its_other_columns_and_its_gaps():
    X, y = mixed()
    bins = Discretizer().fit(X, y)
    out = bins.transform(X)
    assert list(out.columns) == list(X.columns) == bins.get_feature_names_out().tolist()
    pd.testing.assert_frame_equal(out[["word", "flag"]], X[["word", "flag"]])
    assert out["size"].isna().tolist() == X["size"].isna().tolist()
    assert out["size"].cat.ordered
    cuts = bins.cuts_["size"]
    row = int(np.flatnonzero(X["size"] >= cuts[-1])[0])
    assert out["size"][row] == f">= {cuts[-1]:.6g}"
    assert X["size"].dtype == float  # the rows given stay as they were


@pytest.mark.parametrize("output", ["intervals", "codes"])
def test_every_kind_of_frame_gets_the_same_bins(output):
    X, y = mixed()
    bins = Discretizer(output=output).fit(X, y)
    pandas = bins.transform(X)["size"].tolist()
    polars = bins.transform(pl.from_pandas(X))
    arrow = bins.transform(pa.Table.from_pandas(X))
    expected = [None if isinstance(cell, float) and np.isnan(cell) else cell for cell in pandas]
    assert polars["size"].to_list() == arrow["size"].to_pylist() == expected
    assert polars["word"].to_list() == arrow["word"].to_pylist() == X["word"].tolist()
    array = Discretizer(output=output).fit_transform(X.to_numpy(dtype=object), y)
    assert [None if pd.isna(cell) else cell for cell in array[:, 0]] == expected
    assert array[:, 1].tolist() == X["word"].tolist()


def test_arrays_become_codes_unless_intervals_are_asked_for():
    X, y = mixed()
    x = X[["size", "count"]].to_numpy(dtype=float)
    codes = Discretizer().fit_transform(x, y)
    assert codes.dtype == np.float64
    assert np.isnan(codes[:, 0]).tolist() == np.isnan(x[:, 0]).tolist()
    words = Discretizer(output="intervals").fit_transform(x, y)
    assert set(words[:, 1]) == set(pd.unique(Discretizer().fit_transform(X, y)["count"]))
    dense = Discretizer(nominal=[1]).fit_transform(sparse.csr_matrix(np.nan_to_num(x)), y)
    np.testing.assert_array_equal(dense[:, 1], x[:, 1])


def test_set_output_gives_the_wanted_frame():
    X, y = mixed()
    out = Discretizer(output="codes").set_output(transform="polars").fit_transform(X[["size", "count"]], y)
    assert isinstance(out, pl.DataFrame)
    assert out.columns == ["size", "count"]


def test_cuts_that_look_alike_are_written_with_more_digits():
    x = np.repeat([1000000.25, 1000000.75, 1000001.25], 99)[:, None]
    labels = Discretizer(output="intervals").fit_transform(x, np.repeat([0, 1, 0], 99))[:, 0]
    assert labels[[0, 99, 198]].tolist() == ["< 1000000.5", "1000000.5 to 1000001", ">= 1000001"]


def test_weights_are_copies():
    X, y = mixed()
    weights = np.random.default_rng(1).integers(0, 3, len(y))
    for strategy in ("mdl", "quantile", "width"):
        ours = Discretizer(strategy, 4).fit(X, y, sample_weight=weights).cuts_
        copies = Discretizer(strategy, 4).fit(X.loc[X.index.repeat(weights)], np.repeat(y, weights)).cuts_
        assert {name: cuts.tolist() for name, cuts in ours.items()} == {n: c.tolist() for n, c in copies.items()}


def test_cuts_are_those_that_models_learn_inside():
    X, y = mixed()
    for strategy, numeric in (("mdl", "mdl"), ("quantile", "bins")):
        schema = NaiveBayes(numeric=numeric).fit(X, y).evidence_.schema
        cuts = Discretizer(strategy).fit(X, y).cuts_
        for column in schema.columns:
            if column.name in cuts:
                np.testing.assert_array_equal(column.cuts, cuts[column.name])


def test_in_a_pipeline_noise_promises_nothing():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(60, 300)), rng.integers(0, 2, 60)
    honest = make_pipeline(Discretizer(output="codes"), LogisticRegression())
    leaky = Discretizer(output="codes").fit_transform(X, y)
    assert cross_val_score(LogisticRegression(), leaky, y, cv=5).mean() > 0.7
    assert cross_val_score(honest, X, y, cv=5).mean() < 0.65


def test_only_mdl_looks_at_the_target():
    X, _ = mixed()
    target = np.random.default_rng(0).normal(size=len(X))
    make_pipeline(Discretizer("quantile"), OneHotEncoder(), Ridge()).fit(X, target)
    with pytest.raises(ValueError, match="requires y"):
        Discretizer().fit(X)


def test_encoded_rows_can_teach_but_not_be_transformed():
    X, y = mixed()
    bins = Discretizer().fit(encode(X, y))
    assert bins.cuts_["size"].tolist() == Discretizer().fit(X, y).cuts_["size"].tolist()
    with pytest.raises(ValueError, match="transform needs a frame or an array, not a Table"):
        bins.transform(encode(X, y))


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"strategy": "entropy"}, "strategy must be one of 'mdl', 'quantile', 'width'"),
        ({"n_bins": 0}, "n_bins must be a whole number >= 1"),
        ({"output": "onehot"}, "output must be one of"),
        ({"max_bins": 0}, "max_bins must be a whole number >= 1"),
        ({"min_bin": -1}, "min_bin must be a number >= 0"),
    ],
)
def test_parameters_that_make_no_sense_are_refused(change, message):
    with pytest.raises(ValueError, match=message):
        Discretizer(**change).fit(*mixed())


def test_a_dask_frame_is_transformed_where_it_is():
    dd = pytest.importorskip("dask.dataframe")
    X, y = mixed()
    bins = Discretizer().fit(X, y)
    lazy = bins.transform(dd.from_pandas(X, npartitions=3))
    assert lazy.compute()["size"].astype(object).tolist()[:5] == bins.transform(X)["size"].astype(object).tolist()[:5]
