import numpy as np
import pandas as pd
import pytest

from seminaive import NaiveBayes, PenalizedNB, SelectiveNB, StagewiseNB, WeightedNB, encode
from seminaive.datasets import make_stagewise
from seminaive.models import search_rows

PAPER = {"criterion": "error", "lookahead": 20, "ties": "last", "smoothing_kind": "none"}
FAMILY = [
    WeightedNB,
    SelectiveNB,
    PenalizedNB,
    StagewiseNB,
    lambda **how: StagewiseNB(**{**PAPER, "patience": 5, **how}),
    lambda **how: StagewiseNB(criterion="error_log_loss", lookahead=5, **how),
    lambda **how: StagewiseNB(mix="exponent", **how),
]
every_model = pytest.mark.parametrize(
    "make", FAMILY, ids=["weighted", "selective", "penalized", "default", "paper", "ties by loss", "exponent"]
)


def mixed(n=300, seed=0):
    """A number, its noisy copy, a word, and noise of both kinds."""
    rng = np.random.default_rng(seed)
    y = rng.integers(0, 3, n)
    number = y + rng.normal(size=n)
    X = pd.DataFrame(
        {
            "number": number,
            "noise": rng.normal(size=n),
            "word": np.where(rng.random(n) < 0.6, y, rng.integers(0, 3, n)).astype(str),
            "near": number + 0.2 * rng.normal(size=n),
            "idle": rng.integers(0, 3, n).astype(str),
        }
    )
    return X, y


def repeating(n=400):
    """Two noisy readings of one number."""
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, n)
    number = y + rng.normal(size=n)
    return pd.DataFrame({name: number + 0.5 * rng.normal(size=n) for name in "ab"}), y


def gaps(X, seed=1):
    return X.mask(np.random.default_rng(seed).random(X.shape) < 0.15)


def said(model, X, name):
    """What a column says of every row, (rows, classes); nothing if it has no term."""
    parts = model.contributions(X)
    silent = np.zeros((len(X), len(model.classes_)))
    return parts.values[:, parts.terms.index(name)] if name in parts.terms else silent


# --- what a dose is ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("mix", ["parameters", "exponent"])
@pytest.mark.parametrize("missing", ["skip", "value"])
def test_with_all_doses_full_it_is_naive_bayes(mix, missing):
    X, y = mixed()
    X = gaps(X)
    model = StagewiseNB(mix=mix, missing=missing, step=0.5, patience=100).fit(X, y)
    assert (model.path_.doses[-1] == 1).all()
    plain = NaiveBayes(smoothing_kind="pooled", missing=missing).fit(X, y)
    losses = -plain.predict_log_proba(X)[np.arange(len(y)), y]
    assert model.path_.log_losses[-1] == pytest.approx(losses.mean(), rel=1e-10)
    assert model.path_.errors[-1] == np.mean(plain.predict(X) != y)


def test_the_first_model_gives_the_class_shares_and_the_kept_one_is_that_of_least_aic():
    X, y = mixed()
    model = StagewiseNB().fit(X, y)
    shares = np.bincount(y) / len(y)
    assert model.path_.log_losses[0] == pytest.approx(-(shares * np.log(shares)).sum())
    assert model.path_.aic[model.path_.chosen] == model.path_.aic.min()
    losses = -model.predict_log_proba(X)[np.arange(len(y)), y]
    assert losses.mean() == pytest.approx(model.path_.log_losses[model.path_.chosen], rel=1e-10)


def test_between_nothing_and_all_parameters_are_mixed_and_exponents_multiply():
    X, y = repeating()
    plain = NaiveBayes(smoothing_kind="pooled").fit(X, y)
    model = StagewiseNB().fit(X, y)
    dose = model.alpha_[0]
    assert 0 < dose < 1
    term, own = (m.evidence_.by_column[0] for m in (model, plain))
    np.testing.assert_allclose(term.mean, dose * own.mean + (1 - dose) * X["a"].mean(), rtol=1e-12)
    deviation = dose * own.precision**-0.5 + (1 - dose) * X["a"].std(ddof=0)
    np.testing.assert_allclose(term.precision**-0.5, deviation, rtol=1e-12)
    weighted = StagewiseNB(mix="exponent").fit(X, y)
    for j, name in enumerate(X):
        np.testing.assert_allclose(said(weighted, X, name), weighted.alpha_[j] * said(plain, X, name), atol=1e-12)


def test_noise_and_a_near_copy_stay_silent():
    X, y = mixed()
    model = StagewiseNB().fit(X, y)
    assert model.alpha_.tolist() == [1, 0, 1, 0, 0]
    assert model.get_support(indices=True).tolist() == [0, 2]
    assert "2 of 5 columns speak: number in full, word in full" in model.summary()


def test_columns_that_repeat_each_other_in_part_share_what_there_is_to_say():
    X, y = repeating()
    model = StagewiseNB().fit(X, y)
    assert (model.alpha_ > 0.1).all()
    assert (model.alpha_ < 0.9).all()


# --- ties and order ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", ["DI", "CI", "DR", "CR"])
@pytest.mark.parametrize("criterion", ["log_loss", "error_log_loss"])
def test_the_order_of_the_columns_does_not_change_the_model(kind, criterion):
    data = make_stagewise(kind, 7)
    how = {"criterion": criterion, "lookahead": 20 if criterion != "log_loss" else 1, "step": 0.1, "patience": 2}
    how["nominal"] = range(20) if kind[0] == "D" else None
    model = StagewiseNB(**how).fit(data.X, data.y)
    order = np.random.default_rng(0).permutation(20)
    other = StagewiseNB(**how).fit(data.X[:, order], data.y)
    np.testing.assert_array_equal(other.path_.doses, model.path_.doses[:, order])
    np.testing.assert_array_equal(other.alpha_, model.alpha_[order])
    np.testing.assert_array_equal(other.predict(data.X_test[:, order]), model.predict(data.X_test))


def test_the_papers_mode_depends_on_the_order_as_documented():
    data = make_stagewise("DI", 120000)
    turned = StagewiseNB(**PAPER, nominal=range(20)).fit(data.X[:, ::-1], data.y)
    model = StagewiseNB(**PAPER, nominal=range(20)).fit(data.X, data.y)
    assert turned.alpha_[::-1].tolist() != model.alpha_.tolist()


@pytest.mark.parametrize(("ties", "kept"), [("first", 0), ("last", 2)])
@pytest.mark.parametrize("criterion", ["log_loss", "error", "error_log_loss"])
def test_of_identical_columns_the_rule_of_ties_decides(ties, kept, criterion):
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, 200)
    word = np.where(rng.random(200) < 0.8, y, 1 - y)
    X = pd.DataFrame({"a": word, "b": word, "c": word}).astype(str)
    model = StagewiseNB(criterion=criterion, lookahead=20, ties=ties).fit(X, y)
    assert model.path_.features[1] == kept
    assert model.alpha_[kept] == model.alpha_.max() > 0


def test_of_equal_errors_the_first_rule_takes_the_fewest_steps_and_the_last_the_most():
    y = np.repeat([0, 1], 20)
    X = pd.DataFrame({"x": np.repeat(["u", "v"], 20)})
    first, last = (StagewiseNB(criterion="error", lookahead=20, ties=ties).fit(X, y) for ties in ("first", "last"))
    assert first.path_.doses[1, 0] == 0.025
    assert last.path_.doses[1, 0] == 0.5


def test_identical_columns_are_legal_everywhere_and_the_first_is_the_one_selected():
    X, y = mixed()
    X = X[["number"]].assign(again=X["number"])
    assert SelectiveNB().fit(X, y).get_support().tolist() == [True, False]
    weights = WeightedNB().fit(X, y).weights_
    assert weights[0] == weights[1] > 0
    doses = PenalizedNB().fit(X, y).alpha_
    assert doses[0] == doses[1] > 0


# --- where the walk ends ----------------------------------------------------------------------------------------------


def test_it_walks_on_for_as_many_models_without_gain_as_patience_says():
    X, y = mixed()
    short, long = (StagewiseNB(criterion="error", lookahead=20, patience=p).fit(X, y).path_ for p in (1, 6))
    assert np.argmin(short.errors) == len(short) - 2
    assert np.argmin(long.errors) == len(long) - 7
    np.testing.assert_array_equal(long.doses[: len(short)], short.doses)


@pytest.mark.parametrize("select", ["cv", "validation"])
def test_rows_held_out_can_choose_the_number_of_steps(select):
    X, y = mixed(600)
    model = StagewiseNB(select=select, step=0.1).fit(X, y)
    path = model.path_
    assert path.select == select
    assert len(path.held_out) == len(path)
    assert path.chosen == path.held_out.argmin()
    assert model.alpha_.tolist() == path.doses[path.chosen].tolist()
    again = StagewiseNB(select=select, step=0.1, random_state=5).fit(X, y)
    assert not np.array_equal(again.path_.held_out, path.held_out)


# --- edges of the family ----------------------------------------------------------------------------------------------


@every_model
def test_constant_columns_have_no_part_in_it(make):
    X, y = mixed()
    X = X.assign(one=1.0, blank=None, word2="w")
    model = make().fit(X, y)
    amounts = getattr(model, "alpha_", getattr(model, "weights_", getattr(model, "support_", None)))
    assert not amounts[5:].any()
    assert not any(said(model, X, name).any() for name in X.columns[5:])


@every_model
def test_a_gap_in_a_row_to_predict_says_nothing(make):
    X, y = mixed()
    model = make().fit(gaps(X), y)
    holes = gaps(X, seed=2)
    for name in X:
        assert not said(model, holes, name)[holes[name].isna()].any()


@every_model
def test_levels_never_seen_say_nothing_without_a_warning(make):
    X, y = mixed()
    model = make().fit(X, y)
    assert said(model, X, "word").any()
    assert not said(model, X.assign(word="new"), "word").any()


@every_model
def test_whole_weights_are_repeated_rows_and_weight_zero_is_none(make):
    X, y = mixed(120)
    X = gaps(X)
    weights = np.random.default_rng(3).integers(0, 3, len(y))
    rows = np.repeat(np.arange(len(y)), weights)
    model, copied = make().fit(X, y, sample_weight=weights), make().fit(X.iloc[rows], y[rows])
    np.testing.assert_allclose(
        model.predict_joint_log_proba(X), copied.predict_joint_log_proba(X), rtol=1e-9, atol=1e-9
    )
    if hasattr(model, "path_") and hasattr(model.path_, "aic"):
        np.testing.assert_allclose(model.path_.aic, copied.path_.aic, rtol=1e-9)


@every_model
def test_a_class_without_weight_keeps_its_place_at_the_floor_of_the_prior(make):
    X, y = mixed(150)
    model = make().fit(X, y, sample_weight=(y != 1).astype(float))
    assert model.classes_.tolist() == [0, 1, 2]
    assert model.evidence_.prior[1] == -700
    assert set(model.predict(X)) <= {0, 2}
    two = make().fit(X[y != 1], y[y != 1])
    np.testing.assert_allclose(model.predict_proba(X)[:, [0, 2]], two.predict_proba(X), atol=1e-9)


@every_model
def test_one_class_is_a_constant_prediction(make):
    X, _ = mixed(30)
    model = make().fit(X, ["a"] * 30)
    assert model.predict_proba(X).tolist() == [[1.0]] * 30


def test_one_class_leaves_a_path_without_steps():
    model = StagewiseNB().fit([[1.0], [2.0]], ["a", "a"])
    assert len(model.path_) == 1
    assert model.alpha_.tolist() == [0.0]


@every_model
def test_a_column_that_tells_nothing_leaves_the_most_frequent_class(make):
    X = pd.DataFrame({"a": ["x", "y"] * 20})
    y = np.array([0, 0, 1, 1, 1, 1, 1, 1, 0, 0] * 4)
    assert make().fit(X, y).predict(X).tolist() == [1] * 40


@every_model
def test_equal_scores_go_to_the_lower_class(make):
    X, y = pd.DataFrame({"a": ["u", "u", "v", "v"]}), [0, 1, 0, 1]
    assert make().fit(X, y).predict(X).tolist() == [0] * 4


@every_model
def test_more_columns_than_rows_are_legal(make):
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(10, 20)), np.arange(10) % 2
    probabilities = make().fit(X, y).predict_proba(X)
    np.testing.assert_allclose(probabilities.sum(axis=1), 1)


@pytest.mark.parametrize("value", [np.inf, -np.inf])
@every_model
def test_infinite_values_are_refused(make, value):
    with pytest.raises(ValueError, match="infinit"):
        make().fit([[1.0], [value], [2.0]], [0, 1, 0])


@every_model
def test_negative_weights_are_refused(make):
    with pytest.raises(ValueError, match="weight"):
        make().fit([[1.0], [0.5], [2.0]], [0, 1, 0], sample_weight=[1, -1, 1])


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"step": 0.3}, "step must be 1 divided by a whole number, such as 0.025; got 0.3"),
        ({"step": 0}, "step must be"),
        ({"step": True}, "step must be"),
        ({"lookahead": 0}, "lookahead must be"),
        ({"patience": 0}, "patience must be"),
        ({"criterion": "gini"}, "criterion must be one of 'log_loss', 'error', 'error_log_loss'"),
        ({"ties": "random"}, "ties must be one of 'first', 'last'"),
        ({"mix": "both"}, "mix must be one of"),
        ({"select": "bic"}, "select must be one of 'aic', 'cv', 'validation'"),
        ({"smoothing": -1}, "smoothing must be"),
    ],
)
def test_a_wrong_parameter_is_named(change, message):
    with pytest.raises(ValueError, match=message):
        StagewiseNB(**change).fit([[1.0], [2.0]], [0, 1])


# --- large tables -----------------------------------------------------------------------------------------------------


def test_a_table_too_large_is_walked_on_a_sample_and_learned_from_all_rows(monkeypatch):
    X, y = mixed(4000)
    monkeypatch.setattr(search_rows, "SEARCH_ROWS", 1000)
    model = StagewiseNB(step=0.1, random_state=3).fit(X, y)
    assert 800 < model.n_search_rows_ < 1200
    assert model.class_count_.sum() == 4000
    again = StagewiseNB(step=0.1, random_state=3).fit(encode(X, y))
    np.testing.assert_array_equal(again.path_.doses, model.path_.doses)
    plain = NaiveBayes(smoothing_kind="pooled").fit(X, y)
    full = X.columns[model.alpha_ == 1]
    assert len(full)
    for name in full:
        np.testing.assert_allclose(said(model, X[:50], name), said(plain, X[:50], name), atol=1e-12)
