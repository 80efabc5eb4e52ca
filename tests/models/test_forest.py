"""The Bayesian forest at the edges of what tables hold (specification, section 8), and its acceptance figures."""

import itertools
import os
import pickle
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
from scipy.special import expit
from sklearn.model_selection import StratifiedKFold, cross_val_score

import seminaive.search.forest_sampler as sampler
from forest_data import REFERENCE, count_pair, family_score
from seminaive import BayesianForest
from seminaive.datasets import make_corral

FOLDER = os.environ.get("SEMINAIVE_DATA", "")
needs_data = pytest.mark.skipif(not FOLDER, reason="SEMINAIVE_DATA names no folder of data")
unconverged = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
PAIRS = {("a0", "a1"), ("b0", "b1")}


def published(name):
    """Columns and classes, training rows only where there is a split."""
    data = pd.read_parquet(Path(FOLDER) / f"{name}.parquet")
    if "split" in data:
        data = data[data["split"] == "train"]
    return data.drop(columns=["class", "split"], errors="ignore"), data["class"].astype(str).to_numpy()


def yes_and_no(n, d, seed=0):
    """Yes/no columns, each nearer to the class than the next, and classes."""
    rng = np.random.default_rng(seed)
    y = rng.integers(0, 2, n)
    return rng.random((n, d)) < 0.5 + (y[:, None] - 0.5) * np.linspace(0.5, 0, d), y


def likelihood_ratio(x, y):
    """How much better signal explains one column than noise: the family scores' difference."""
    codes, classes = np.unique(x, return_inverse=True)[1][None], np.unique(y, return_inverse=True)[1]
    cells = count_pair(np.concatenate([codes, codes]), classes, 0, 1)
    by_class = cells.sum(axis=2)
    return family_score(by_class, 5.0) - family_score(by_class.sum(axis=0, keepdims=True), 5.0)


# --- the edges --------------------------------------------------------------------------------------------------------


def test_a_constant_column_is_named_and_kept_out_of_rankings_graphs_and_choices():
    X, y = make_corral()
    model = BayesianForest().fit(X.assign(same="x"), y)
    assert model.constant_features_ == ["same"]
    assert model.feature_importances_[6] == 0
    assert not model.get_support(threshold=0)[6]
    assert 6 not in model.graph(0.0).nodes
    assert 6 not in model.map_graph_.nodes
    assert "same" not in set(model.edges_[["feature", "with"]].to_numpy().ravel())
    assert "same in all rows: same" in model.summary()


def test_the_inclusion_of_a_constant_column_is_prior_alone():
    """The price of a signal column, and of an edge, 7^-2: rooted trees of s columns become s + 1 times as many."""
    X, y = make_corral()
    odds = 7 ** (-1 / 2) * (1 + (3 + 3 + 2) * 7**-2)
    assert BayesianForest().fit(X.assign(same=1), y).inclusion_[6] == pytest.approx(odds / (1 + odds), abs=0.005)


def test_levels_that_some_class_never_shows_and_a_class_of_one_row_are_legal():
    y = np.array(["a"] * 20 + ["b"] * 20 + ["alone"])
    X = pd.DataFrame({"c": ["p", "q"] * 10 + ["q", "r"] * 10 + ["s"], "d": [*"uv" * 20, "u"]})
    model = BayesianForest().fit(X, y)
    assert np.isfinite(model.inclusion_).all()
    assert model.inclusion_[0] > 0.9
    np.testing.assert_allclose(model.predict_proba(X).sum(axis=1), 1)
    assert model.predict(X.iloc[[40]])[0] == "alone"


def test_one_class_is_a_constant_prediction():
    X, _ = make_corral()
    model = BayesianForest().fit(X, np.ones(len(X), dtype=int))
    assert model.predict_proba(X).tolist() == [[1.0]] * len(X)


@pytest.mark.parametrize("n_iter", ["exact", 4000])
def test_duplicated_columns_are_joined_for_sure_and_nothing_overflows(n_iter):
    X, y = yes_and_no(5000, 3)
    X = np.hstack([X, X[:, [1]]])
    model = BayesianForest(n_iter=n_iter).fit(X, y)
    twins = model.edges_.set_index(["feature", "with"]).loc[("1", "3"), "probability"]
    assert np.sum(twins) == pytest.approx(1, abs=0.02)
    assert np.isfinite(model.inclusion_).all()
    assert np.isfinite(model.predict_log_proba(X)).all()


def test_with_one_column_the_prior_is_flat():
    X, y = yes_and_no(60, 1, seed=4)
    model = BayesianForest().fit(X, y)
    assert model.inclusion_[0] == pytest.approx(expit(likelihood_ratio(X[:, 0], y)), abs=1e-9)


def test_with_two_columns_the_answer_is_the_sum_over_their_four_splits():
    X, y = yes_and_no(60, 2, seed=5)
    model = BayesianForest(edge_weight=200).fit(X, y)  # edges too dear to matter: columns decide alone
    price = np.log(2) / 2
    alone = [expit(likelihood_ratio(X[:, j], y) - price) for j in range(2)]
    np.testing.assert_allclose(model.inclusion_, alone, atol=1e-9)


@pytest.mark.parametrize("d", [1, 2, 20])
def test_one_row_is_enough(d):
    model = BayesianForest(nominal=range(d)).fit(np.ones((1, d)), ["only"])
    assert model.predict(np.zeros((2, d))).tolist() == ["only", "only"]


@pytest.mark.parametrize("n", [70_000, pytest.param(36_000_000, marks=pytest.mark.slow)])
def test_counts_of_any_number_of_rows_are_exact(n):
    """70,000 does not fit into 16 bits, 18 million per class not into the digits of single precision."""
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, n, dtype=np.int8)
    X = np.column_stack([rng.integers(0, 2, n, dtype=np.int8) == 1, y ^ rng.integers(0, 2, n, dtype=np.int8) == 1])
    cells, counts = np.unique(y * 4 + X[:, 0] * 2 + X[:, 1], return_counts=True)
    few = np.column_stack([cells // 2 % 2, cells % 2]).astype(bool)
    model = BayesianForest().fit(X, y)
    by_weight = BayesianForest().fit(few, cells // 4, sample_weight=counts)
    np.testing.assert_array_equal(model.class_count_, by_weight.class_count_)
    assert model.posterior_.best_log_posterior == pytest.approx(by_weight.posterior_.best_log_posterior, rel=1e-12)
    np.testing.assert_allclose(model.inclusion_, by_weight.inclusion_, atol=1e-6)
    assert model.inclusion_.max() < 0.1  # neither says anything of the class


@unconverged
def test_1006_columns_and_iterations_that_thinning_does_not_divide_work():
    X, y = yes_and_no(60, 1006)
    model = BayesianForest(n_iter=1033, thin=49, burn_in=0.31, chains=2).fit(X, y)
    kept = [i for i in range(1033) if i >= int(0.31 * 1033) and i % 49 == 0]
    assert len(model.samples_) == 2 * len(kept)
    assert model.inclusion_.shape == (1006,)


@pytest.mark.slow
@unconverged
def test_ten_thousand_columns_of_128_rows_have_an_answer():
    X, y = make_corral(n_noise=9994)
    model = BayesianForest(n_iter=100_000, thin=500).fit(X, y)
    relevant = np.isin(list(X), ["a0", "a1", "b0", "b1", "correlated"])
    assert model.inclusion_[relevant].min() > 0.87
    assert (model.predict(X) == y).mean() > 0.9


def test_a_column_with_a_level_for_every_other_row_draws_a_warning_and_still_fits():
    X, y = make_corral()
    names = [f"customer {i * 2 // 3}" for i in range(len(X))]
    with pytest.warns(UserWarning, match="customer"):
        model = BayesianForest().fit(X.assign(customer=names), y)
    assert set(model.edges(0.9)[["feature", "with"]].itertuples(index=False, name=None)) == PAIRS


def test_columns_in_another_order_or_number_are_never_taken_for_others():
    """As scikit-learn demands: another order of names is an error, not a guess."""
    X, y = make_corral()
    model = BayesianForest().fit(X, y)
    with pytest.raises(ValueError, match="order"):
        model.predict(X[list(X)[::-1]])
    with pytest.raises(ValueError, match="b1"):
        model.predict(X.drop(columns="b1"))
    with pytest.raises(ValueError, match="6"):
        BayesianForest(nominal=range(6)).fit(X.to_numpy(), y).predict(X.to_numpy()[:, :5])


def test_numbers_are_cut_where_classes_change_and_all_else_is_nominal():
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, 200)
    X = pd.DataFrame(
        {
            "float": rng.normal(size=200) + 3 * y,
            "count": rng.poisson(2 + 6 * y),
            "yes": rng.random(200) < 0.3 + 0.4 * y,
            "text": np.array(["u", "v"])[y ^ (rng.random(200) < 0.3)],
            "kind": pd.Categorical.from_codes(y ^ (rng.random(200) < 0.3), ["late", "early"]),
        }
    )
    columns = BayesianForest().fit(X, y).evidence_.schema.columns
    kinds = {column.name: (column.kind, column.cuts is not None) for column in columns}
    assert kinds == {
        "float": ("numeric", True),
        "count": ("numeric", True),
        "yes": ("nominal", False),
        "text": ("nominal", False),
        "kind": ("nominal", False),
    }
    assert [columns[j].levels for j in (2, 3, 4)] == [(False, True), ("u", "v"), ("early", "late")]  # sorted


def test_polars_and_pandas_give_the_same_forest():
    polars = pytest.importorskip("polars")
    X, y = make_corral()
    one, other = BayesianForest().fit(X, y), BayesianForest().fit(polars.from_pandas(X), y)
    np.testing.assert_array_equal(one.inclusion_, other.inclusion_)
    np.testing.assert_array_equal(one.predict_proba(X), other.predict_proba(polars.from_pandas(X)))


@unconverged
def test_draws_are_kept_in_four_bytes_and_a_bit_per_column():
    X, y = make_corral(n_noise=34)
    samples = BayesianForest(n_iter=4000).fit(X, y).samples_
    assert samples.parent.nbytes == 4 * 40 * len(samples)
    assert samples.packed.nbytes == 5 * len(samples)
    again = pickle.loads(pickle.dumps(samples))
    np.testing.assert_array_equal(again.group, samples.group)


@unconverged
def test_a_time_limit_returns_the_draws_so_far_with_a_warning(monkeypatch):
    ticks = itertools.count()
    clock = SimpleNamespace(monotonic=lambda: next(ticks) / 100)  # the same on a busy machine
    monkeypatch.setattr(sampler, "time", clock)
    X, y = yes_and_no(100, 30)
    with pytest.warns(UserWarning, match="stopped before 10000000 iterations"):
        model = BayesianForest(n_iter=10_000_000, thin=100, burn_in=0, max_time=0.8).fit(X, y)
    assert 4 <= len(model.samples_) < 400_000
    assert set(model.samples_.chain) == {0, 1, 2, 3}  # one thread: each chain has had its part of the time
    assert not model.posterior_.complete
    assert np.isfinite(model.predict_proba(X)).all()


def test_an_interrupt_returns_the_draws_so_far_with_a_warning(monkeypatch):
    steps = sampler.run_chain
    calls = []

    def interrupted(*arguments):
        calls.append(1)
        if len(calls) == 12:
            raise KeyboardInterrupt
        return steps(*arguments)

    monkeypatch.setattr(sampler, "run_chain", interrupted)
    X, y = yes_and_no(100, 30)
    with pytest.warns(UserWarning, match="stopped before"):
        model = BayesianForest(n_iter=10_000_000, thin=100, burn_in=0).fit(X, y)
    assert len(model.samples_) > 0
    assert set(model.samples_.chain) == {0}  # the others had not begun


def test_unseen_and_missing_values_say_nothing_and_rows_without_any_get_the_prior():
    X, y = make_corral()
    frame = X.astype(object)
    model = BayesianForest(missing="skip").fit(frame.replace({True: "yes", False: "no"}), y)
    nothing = pd.DataFrame({name: ["perhaps", None] for name in X})
    np.testing.assert_allclose(model.predict_proba(nothing), [[72 / 128, 56 / 128]] * 2, atol=1e-12)


# --- acceptance figures (specification, section 11) -------------------------------------------------------------------


def inclusions(model):
    return dict(zip([column.name for column in model.evidence_.schema.columns], model.inclusion_, strict=True))


def test_corral_has_the_frozen_inclusions_and_edges_and_no_errors():
    codes = np.array([list(row) for row in REFERENCE["corral"]["codes"]]).astype(int)
    y = np.array(list(REFERENCE["corral"]["classes"]))
    X = pd.DataFrame(codes.T, columns=["a0", "a1", "b0", "b1", "irrelevant", "correlated"]).astype(bool)
    model = BayesianForest().fit(X, y)
    found = inclusions(model)
    assert min(found[name] for name in ("a0", "a1", "b0", "b1", "correlated")) >= 0.99
    assert found["irrelevant"] == pytest.approx(0.065, abs=0.03)
    sure = model.edges(0.98)
    assert set(sure[["feature", "with"]].itertuples(index=False, name=None)) == PAIRS
    folds = StratifiedKFold(5, shuffle=True, random_state=0)
    assert cross_val_score(BayesianForest(), X, y, cv=folds).tolist() == [1.0] * 5


def test_the_most_probable_forest_of_heart_is_the_frozen_one():
    codes = np.array([list(row) for row in REFERENCE["heart_mdl"]["codes"]])
    model = BayesianForest(n_iter="exact").fit(pd.DataFrame(codes.T), list(REFERENCE["heart_mdl"]["classes"]))
    assert model.posterior_.best_log_posterior == pytest.approx(-1414.976, abs=0.001)
    varies = model.levels_ > 1
    assert varies.sum() == 9
    assert model.inclusion_[varies].min() > 0.995


@needs_data
@pytest.mark.slow
@pytest.mark.parametrize("moves", ["joint", "paper"])
@pytest.mark.parametrize("name", ["corral", "heart_mdl"])
def test_the_estimator_s_chains_are_within_five_thousandths_of_its_exact_answer(name, moves):
    X, y = published(name)
    exact = BayesianForest(n_iter="exact").fit(X, y)
    chains = BayesianForest(n_iter=1_000_000, thin=10, chains=1, burn_in=0.01, moves=moves).fit(X, y)
    np.testing.assert_allclose(chains.inclusion_, exact.inclusion_, atol=0.005)
    key = ["feature", "with", "group"]
    both = exact.edges_.merge(chains.edges_, on=key, how="outer", suffixes=("", "_sampled")).fillna(0.0)
    np.testing.assert_allclose(both["probability_sampled"], both["probability"], atol=0.005)


@needs_data
@unconverged  # of an edge or two; the log posterior has converged
@pytest.mark.parametrize("seed", range(4))
def test_madelon_s_twenty_columns_are_found_in_one_tree_and_no_others(seed):
    X, y = published("madelon_binary")
    model = BayesianForest(n_iter=10_000, thin=50, random_state=seed).fit(X, y)
    relevant = np.zeros(500, dtype=bool)
    relevant[REFERENCE["madelon_binary"]["signal_features_0based"]] = True
    assert model.inclusion_[relevant].min() >= 0.99
    assert model.inclusion_[~relevant].max() <= 0.5
    assert len(model.graph(0.2, noise=False).only(np.flatnonzero(relevant)).first) >= 19
    assert model.posterior_.best_log_posterior == pytest.approx(-588872.7, abs=0.1)
    assert model.diagnostics_.loc["log posterior", "R-hat"] <= 1.05


@needs_data
def test_chess_converges():
    data = pd.read_parquet(Path(FOLDER) / "chess.parquet")
    model = BayesianForest(n_iter=10_000, thin=50).fit(data.drop(columns=["class", "split"]), data["class"])
    posterior = model.posterior_
    assert posterior.overall[0, 0] <= 1.05
    np.testing.assert_allclose(posterior.trace[:, posterior.n_burnt :, 0].mean(axis=1), -37525, atol=0.5)
    assert posterior.best_log_posterior == pytest.approx(-37524.467, abs=0.01)
