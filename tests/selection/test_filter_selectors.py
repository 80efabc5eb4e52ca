import json
from pathlib import Path

import numpy as np
import pandas as pd
import polars as pl
import pytest
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.utils.estimator_checks import parametrize_with_checks

import seminaive
from seminaive import NaiveBayes, encode
from seminaive.selection.filter_selectors import CFSFilter, MRMRFilter, MutualInformationFilter
from seminaive.selection.table_information import (
    information_of_pairs,
    information_with_class,
    uncertainty_of_pairs,
    uncertainty_with_class,
)
from seminaive.statistics.information import pairwise_information
from seminaive.table.block import plan_rows
from seminaive.table.discretize import binned
from seminaive.table.encode import make_block, prepare_all
from seminaive.table.exact_quantiles import quantile_bins
from seminaive.table.facts import Facts, Wishes, frame_facts
from seminaive.table.fold import MemoryBlocks
from seminaive.table.mdl_bins import mdl_bins
from seminaive.table.table import LabelledRows, Table

FOLDER = Path(__file__).parent.parent / "reference"
CASES = json.loads((FOLDER / "selection.json").read_text())
SELECTIVE = json.loads((FOLDER / "selective.json").read_text())
FILTERS = [MutualInformationFilter, MRMRFilter, CFSFilter]

every_filter = pytest.mark.parametrize("make", FILTERS)
quiet = pytest.mark.filterwarnings("ignore:no number of columns", "ignore:no column tells")


def mixed(n=300, seed=0):
    rng = np.random.default_rng(seed)
    k = rng.integers(0, 3, n)
    kind = np.array(["u", "v", "w"], dtype=object)[(k + (rng.random(n) < 0.3)) % 3]
    X = pd.DataFrame(
        {
            "size": np.where(rng.random(n) < 0.1, np.nan, rng.normal(size=n) + k),
            "kind": np.where(rng.random(n) < 0.1, None, kind),
            "flag": rng.random(n) < 0.2 + 0.3 * (k == 1),
            "noise": rng.normal(size=n),
        }
    )
    return X, k


def random_halves(estimator):
    """Weights mean copies unless the number of columns is chosen on a random half."""
    checks = ["check_sample_weight_equivalence_on_dense_data", "check_sample_weight_equivalence_on_sparse_data"]
    random = getattr(estimator, "n_features_to_select", 1) == "best"
    return dict.fromkeys(checks, "rows are split at random") if random else {}


@parametrize_with_checks(
    [
        *(make() for make in FILTERS),
        MutualInformationFilter(n_features_to_select=1),
        MRMRFilter(n_features_to_select=1),
    ],
    expected_failed_checks=random_halves,
)
@quiet
def test_scikit_learn_finds_no_fault(estimator, check):
    check(estimator)


# --- the figures ------------------------------------------------------------------------------------------------------


def frozen(name):
    case = CASES[name]
    y = np.array(case["y"]) if "y" in case else np.repeat(range(len(case["y_counts"])), case["y_counts"])
    X = np.array([[int(c) for c in column] for column in case["columns"]]).T
    rows = np.array(case.get("fit_rows", range(len(y))))
    return X[rows], y[rows], case


@pytest.mark.parametrize("name", ["tiny", "nested"])
def test_rankings_are_the_frozen_ones(name):
    X, y, case = frozen(name)
    n = X.shape[1]
    mi = MutualInformationFilter(n_features_to_select=n, nominal=range(n)).fit(X, y)
    np.testing.assert_allclose(mi.scores_, case["mi"] if "mi" in case else case["filters"]["mi"], atol=1e-9)
    assert mi.ranking_.tolist() == case["filters"]["mi_ranking"]
    mrmr = MRMRFilter(n_features_to_select=n, nominal=range(n)).fit(X, y)
    assert mrmr.ranking_.tolist() == case["filters"]["mrmr_ranking"]


@pytest.mark.parametrize("case", SELECTIVE, ids=[case["name"] for case in SELECTIVE])
def test_cfs_subsets_are_the_frozen_ones_from_the_rows_on(case):
    nominal = np.flatnonzero(case["is_discrete"]).tolist()
    table = encode(np.array(case["X"], dtype=float), case["y"], nominal=nominal)
    cuts = mdl_bins(table)
    table = binned(table, cuts)
    np.testing.assert_allclose(uncertainty_with_class(table), case["cfs"]["su_with_class"], atol=1e-9)
    np.testing.assert_allclose(uncertainty_of_pairs(table), case["cfs"]["su_between"], atol=1e-9)
    selector = CFSFilter(nominal=nominal).fit(np.array(case["X"], dtype=float), case["y"])
    assert selector.get_support(indices=True).tolist() == case["cfs"]["subset_su"]


def table_in_blocks(X, y, weights=None, block_rows=64):
    """The rows as a table of many small blocks."""
    rows = LabelledRows.open(X, y, weights)
    columns, sources = frame_facts(rows.frame, Wishes(None, None, None))
    schema = Facts(tuple(columns), rows.classes, rows.frame.n_rows).schema(Wishes(None, None, None))
    fillers = prepare_all(schema, rows.frame, sources)
    plans = plan_rows(rows.frame.n_rows, rows.codes, block_rows=block_rows)
    return Table(
        schema, MemoryBlocks(tuple(make_block(schema, rows.frame, plan, fillers, rows.weights) for plan in plans))
    )


@pytest.mark.parametrize("weighted", [False, True])
def test_information_of_pairs_adds_up_over_blocks_to_that_of_all_rows(weighted):
    X, y = mixed()
    weights = np.arange(300) % 4 + 0.5 if weighted else None
    table = table_in_blocks(X, y, weights)
    table = binned(table, quantile_bins(table, 5))
    assert len(table.blocks.blocks) > 3
    codes = np.concatenate([block.codes8 for block in table.blocks.blocks], axis=1)
    own = np.concatenate([block.weights for block in table.blocks.blocks]) if weighted else None
    np.testing.assert_allclose(information_of_pairs(table), pairwise_information(codes, own), atol=1e-12)


def test_a_missing_value_is_a_level_where_it_occurs():
    X = pd.DataFrame({"gap": [None, "a"] * 20, "full": ["b", "c"] * 20})
    y = [0, 1] * 20
    table = encode(X, y)
    np.testing.assert_allclose(information_with_class(table), np.log(2))
    np.testing.assert_allclose(information_of_pairs(table), np.log(2))


# --- the selectors ----------------------------------------------------------------------------------------------------


@every_filter
def test_useful_columns_of_every_kind_are_kept_and_noise_is_not(make):
    X, y = mixed()
    selector = make().fit(X, y)
    names = set(selector.get_feature_names_out())
    assert {"kind", "size"} <= names
    assert "noise" not in names


@every_filter
@pytest.mark.parametrize("hold", [lambda X: X, pl.from_pandas, lambda X: pl.from_pandas(X).to_arrow()])
def test_frames_keep_their_kind(make, hold):
    X, y = mixed()
    held = hold(X)
    kept = make().fit(held, y).transform(held)
    assert type(kept) is type(held)
    np.testing.assert_array_equal(make().fit(held, y).support_, make().fit(X, y).support_)


@every_filter
def test_whole_weights_are_copies(make):
    X, y = mixed(120)
    weights = np.arange(120) % 3
    often = np.repeat(np.arange(120), weights)
    fixed = {} if make is CFSFilter else {"n_features_to_select": 2}
    weighted, copied = make(**fixed).fit(X, y, weights), make(**fixed).fit(X.iloc[often], y[often])
    np.testing.assert_allclose(weighted.scores_, copied.scores_, atol=1e-12)
    np.testing.assert_array_equal(weighted.support_, copied.support_)


@every_filter
def test_an_encoded_table_and_small_blocks_give_the_same(make):
    X, y = mixed()
    here = make().fit(X, y)
    fixed = {} if make is CFSFilter else {"n_features_to_select": int(here.support_.sum())}
    for other in (make().fit(encode(X, y)), make(**fixed).fit(table_in_blocks(X, y))):
        np.testing.assert_array_equal(other.support_, here.support_)
        np.testing.assert_allclose(other.scores_, here.scores_, atol=1e-12)


@every_filter
def test_it_is_saved_and_loaded(make, tmp_path):
    from seminaive.evidence.storage import save

    X, y = mixed()
    selector = make().fit(X, y)
    save(selector, tmp_path / "filter.snb")
    loaded = seminaive.load(tmp_path / "filter.snb")
    pd.testing.assert_frame_equal(loaded.transform(X), selector.transform(X))


def test_the_size_is_the_best_on_the_other_half():
    X, y = mixed()
    selector = MutualInformationFilter().fit(X, y)
    errors = np.array([selector.path_.start_error, *selector.path_.errors])
    assert selector.support_.sum() == np.flatnonzero(errors <= errors.min() + 1e-12)[0]
    fewer = MutualInformationFilter(n_features_to_select="one-se").fit(X, y)
    assert fewer.support_.sum() <= selector.support_.sum()


def test_filters_work_in_pipelines_and_grid_search():
    X, y = mixed()
    pipeline = make_pipeline(MRMRFilter(), NaiveBayes())
    search = GridSearchCV(pipeline, {"mrmrfilter__n_features_to_select": [1, 2, "best"]}, cv=3).fit(X, y)
    assert search.best_score_ > 0.6
    numbers = np.nan_to_num(X[["size", "flag", "noise"]].to_numpy(dtype=float))
    assert make_pipeline(CFSFilter(), LogisticRegression()).fit(numbers, y).score(numbers, y) > 0.4


@every_filter
@quiet
def test_constant_empty_and_single_columns_work(make):
    X = pd.DataFrame({"one": [1.0] * 40, "none": [None] * 40, "word": ["a"] * 40})
    selector = make().fit(X, [0, 1] * 20)
    np.testing.assert_allclose(selector.scores_, 0, atol=1e-12)
    assert selector.support_.sum() == 1
    assert make().fit(mixed()[0][["kind"]], mixed()[1]).support_.tolist() == [True]


def test_cfs_may_keep_nothing_if_allowed():
    with pytest.warns(UserWarning, match="none is kept"):
        selector = CFSFilter(allow_empty=True).fit([[1.0], [2.0], [1.0], [2.0]], [0, 0, 1, 1])
    assert selector.transform([[1.0], [2.0]]).shape == (2, 0)


@pytest.mark.parametrize(
    ("selector", "message"),
    [
        (MutualInformationFilter(n_features_to_select=0), "n_features_to_select must be"),
        (MRMRFilter(n_features_to_select=9), "but X has 4 columns"),
        (MRMRFilter(numeric="gaussian"), "numeric must be one of"),
        (CFSFilter(n_bins=0), "n_bins must be"),
    ],
)
def test_a_wrong_parameter_is_named(selector, message):
    X, y = mixed()
    with pytest.raises(ValueError, match=message):
        selector.fit(X, y)


def test_one_class_is_refused_where_a_size_must_be_found():
    X, _ = mixed()
    with pytest.raises(ValueError, match="at least 2 classes"):
        MutualInformationFilter().fit(X, np.zeros(300, dtype=int))
