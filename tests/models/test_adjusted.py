"""Fitted weights per predictor: what the user of `AdjustedNB` is promised, on tables small enough to think through."""

import warnings

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from seminaive import AdjustedNB, NaiveBayes
from seminaive.metrics import log_loss_bits
from seminaive.models import adjusted_choice
from seminaive.reproduce.adjusted_choice import eight_levels
from seminaive.reproduce.adjusted_sets import AllOnes

RAW = {"smoothing": 0.0, "smoothing_kind": "none"}


def frame(seed, rows=200, columns=4, classes=2, levels=4):
    """Nominal columns that know something of the class, and the class."""
    rng = np.random.default_rng(seed)
    y = rng.integers(0, classes, rows)
    drawn = (rng.integers(0, levels, (rows, columns)) + y[:, None] * (rng.random((rows, columns)) < 0.4)) % levels
    return pd.DataFrame(drawn.astype(str), columns=[f"c{j}" for j in range(columns)]), y


def objective(model, X, y, weights):
    """The penalised loss of two classes, from the evidence of naive Bayes: sum of nats + penalty |w - centre|^2."""
    plain = AllOnes(**{**model.get_params(), "select": None}).fit(X, y)
    said = plain.contributions(X)
    z = said.prior[1] + said.values[:, :, 1] @ weights
    loss = np.logaddexp(0, z) - (y == model.classes_[1]) * z
    return float(loss.sum() + model.penalty_ * ((weights - model.centre_) ** 2).sum())


# --- what is fitted ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("wishes", [{}, {"centre": 1}, {"nonnegative": True}, {"m": 0.5}])
def test_no_weights_nearby_have_a_lower_penalised_loss(wishes):
    X, y = frame(0)
    model = AdjustedNB(**wishes).fit(X, y)
    least = objective(model, X, y, model.weights_)
    for j in range(4):
        for step in (-0.01, 0.01):
            moved = model.weights_ + step * (np.arange(4) == j)
            if not wishes.get("nonnegative") or moved[j] >= 0:
                assert objective(model, X, y, moved) > least


def test_errors_of_the_weights_are_the_inverse_of_the_second_derivatives():
    X, y = frame(1)
    model = AdjustedNB().fit(X, y)
    q = AllOnes().fit(X, y).contributions(X).values[:, :, 1]
    p = model.predict_proba(X)[:, 1]
    hessian = (q * (p * (1 - p))[:, None]).T @ q + 2 * model.penalty_ * np.eye(4)
    np.testing.assert_allclose(model.weight_errors_, np.sqrt(np.diag(np.linalg.inv(hessian))), rtol=1e-6)
    table = model.weights_frame()
    np.testing.assert_allclose(table["high"] - table["low"], 2 * 1.959964 * model.weight_errors_, rtol=1e-6)


@settings(max_examples=25, deadline=None)
@given(data=st.data(), rows=st.integers(2, 30), columns=st.integers(1, 4), wishes=st.sampled_from([{}, {"centre": 1}]))
def test_any_table_gives_finite_weights_no_worse_than_naive_bayes(data, rows, columns, wishes):
    cells = st.sampled_from(["a", "b", "c", None])
    X = pd.DataFrame({
        f"c{j}": pd.Series(data.draw(st.lists(cells, min_size=rows, max_size=rows)), dtype=object)
        for j in range(columns)
    })  # fmt: skip
    y = np.array(data.draw(st.lists(st.booleans(), min_size=rows, max_size=rows)))
    y[:2] = [False, True]
    model = AdjustedNB(**wishes).fit(X, y)
    assert np.isfinite(model.weights_).all()
    assert np.isfinite(model.weight_errors_).all()
    ones, weights = (objective(model, X, y, w) for w in (np.ones(columns), model.weights_))
    assert weights <= ones + 1e-8 * max(1.0, abs(ones))


def test_a_single_column_without_smoothing_is_believed_as_it_stands():
    X, y = frame(2, columns=1)
    np.testing.assert_allclose(AdjustedNB(select=None, **RAW).fit(X, y).weights_, 1.0, atol=1e-8)


def test_two_copies_share_one_weight_and_their_order_does_not_matter():
    X, y = frame(3)
    X["copy"] = X["c1"]
    model = AdjustedNB(select="alo").fit(X, y)
    assert model.weights_[1] == pytest.approx(model.weights_[4], abs=1e-9)
    order = [4, 2, 0, 3, 1]
    turned = AdjustedNB(select="alo").fit(X.iloc[::-1, order], y[::-1])
    np.testing.assert_allclose(turned.weights_, model.weights_[order], atol=1e-9)


def test_swapping_two_classes_keeps_every_weight():
    X, y = frame(4)
    there, back = (AdjustedNB(select="alo").fit(X, labels) for labels in (y, 1 - y))
    np.testing.assert_allclose(there.weights_, back.weights_, atol=1e-9)
    np.testing.assert_allclose(there.predict_proba(X), back.predict_proba(X)[:, ::-1], atol=1e-9)


@pytest.mark.parametrize("wishes", [{}, {"coupling": "ovr"}, {"nonnegative": True}, {"select": None}])
def test_more_columns_than_rows_have_an_answer(wishes):
    X, y = frame(5, rows=12, columns=30, classes=3)
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="the classes are separable", category=UserWarning)
        model = AdjustedNB(**wishes).fit(X, y)
    assert np.isfinite(model.predict_proba(X)).all()


def test_a_given_sum_of_squares_is_met_and_one_too_large_is_no_restraint():
    X, y = frame(6)
    free = AdjustedNB(select=None).fit(X, y)
    assert AdjustedNB(m=0.3 * free.m_).fit(X, y).m_ == pytest.approx(0.3 * free.m_, rel=1e-7)
    beyond = AdjustedNB(m=2 * free.m_).fit(X, y)
    assert beyond.penalty_ == 0
    np.testing.assert_allclose(beyond.weights_, free.weights_, rtol=1e-8)


# --- what chooses the penalty -----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("classes", "wishes", "judge"),
    [
        (2, {}, "left out one by one"),
        (3, {}, "held out in 10 folds"),
        (3, {"coupling": "ovr"}, "left out one by one"),
        (3, {"select": "alo"}, "left out one by one"),
        (3, {"select": "cv"}, "held out in 5 folds"),
        (2, {"select": "paper"}, "held out in 5 folds"),
    ],
)
def test_left_out_rows_choose_except_for_softmax_on_few_rows(classes, wishes, judge):
    X, y = frame(7, rows=300, classes=classes)
    model = AdjustedNB(**wishes).fit(X, y)
    assert judge in model.path_.criterion
    assert judge in model.summary()


def test_softmax_on_many_rows_is_chosen_by_leaving_out(monkeypatch):
    monkeypatch.setitem(adjusted_choice.FEW_ROWS, "softmax", 100)
    X, y = frame(7, classes=3)
    assert "one by one" in AdjustedNB().fit(X, y).path_.criterion


@pytest.mark.parametrize("coupling", ["softmax", "ovr"])
def test_on_few_rows_folds_choose_because_leaving_out_takes_thin_tables_for_certain(coupling):
    draws = [np.random.default_rng(seed) for seed in range(5)]
    losses = []
    for rng in draws:
        (X, y), (news, truth) = (eight_levels(rng, n) for n in (60, 4000))
        row = []
        for select in ("auto", "alo"):
            model = AdjustedNB(select=select, coupling=coupling, nominal=range(12)).fit(X, y)
            row.append(log_loss_bits(truth, model.predict_proba(news)))
        losses.append(row)
    by_folds, left_out = np.mean(losses, axis=0)
    assert by_folds < 1.1
    assert left_out > by_folds + 0.1


@pytest.mark.filterwarnings("ignore:column 'id' may be an identifier")
def test_folds_learn_their_own_tables():
    """An identifier fits its own rows perfectly; a fold that has never seen its levels learns nothing from it."""
    X, y = frame(8)
    X["id"] = [f"row {i}" for i in range(len(X))]
    chosen = AdjustedNB(select="cv").fit(X, y).path_.to_frame().query("chosen")["criterion"].item()
    without = AdjustedNB(select="cv").fit(X.drop(columns="id"), y).path_.to_frame().query("chosen")["criterion"].item()
    assert chosen > 0.95 * without


def test_without_second_derivatives_the_same_weights_are_found(monkeypatch):
    X, y = frame(9, classes=3)
    newton = AdjustedNB(select="cv").fit(X, y)
    monkeypatch.setattr(adjusted_choice, "MANY", 1)
    monkeypatch.setattr(adjusted_choice, "KNOWN", 1)
    model = AdjustedNB(select="cv").fit(X, y)
    np.testing.assert_allclose(model.weights_, newton.weights_, atol=1e-4)
    assert np.isinf(model.weight_errors_).all()


# --- classes that are rare, alone, or told apart by one value ---------------------------------------------------------


def test_a_column_that_gives_the_class_away_is_named_and_no_interval_is_claimed():
    X, y = frame(3)
    honest = AdjustedNB().fit(X, y).summary()
    assert "±" in honest
    assert "without error" not in honest
    told = AdjustedNB().fit(X.assign(leak=np.where(y == y[0], "so", "not so")), y).summary()
    assert "classes are told apart without error" in told
    assert "largest weights: leak" in told
    assert "±" not in told


def test_separable_classes_are_held_by_a_penalty_and_only_no_penalty_is_told_so():
    X = pd.DataFrame({"sure": ["yes", "no"] * 20, "noise": list("abba") * 10})
    y = np.array([1, 0] * 20)
    with pytest.warns(UserWarning, match="classes are separable, so no finite weights are best") as heard:
        model = AdjustedNB(select=None).fit(X, y)
    assert len(heard) == 1
    assert np.isfinite(model.weights_).all()
    assert (AdjustedNB().fit(X, y).predict(X) == y).all()  # and no warning


@pytest.mark.parametrize("wishes", [{}, {"coupling": "ovr"}, {"coupling": "ovr", "select": "cv"}, {"shared": True}])
def test_a_class_with_one_row_and_so_absent_from_a_fold_has_finite_probabilities(wishes):
    X, y = frame(10, classes=3)
    y[y == 2] = 0
    y[5] = 2
    p = AdjustedNB(**wishes).fit(X, y).predict_proba(X)
    assert np.isfinite(p).all()
    np.testing.assert_allclose(p.sum(axis=1), 1.0)
    assert (p[:, 2] > 0).all()


@pytest.mark.parametrize("centre", [0, 1])
def test_columns_that_say_nothing_leave_the_prior_and_the_centres_weight(centre):
    X, y = frame(11, classes=3)
    X = pd.DataFrame({"same": "x", "gap": np.full(len(X), np.nan)})
    model = AdjustedNB(centre=centre).fit(X, y)
    np.testing.assert_array_equal(model.weights_, np.full((3, 2), float(centre)))
    np.testing.assert_allclose(model.predict_proba(X[:1])[0], np.bincount(y) / len(y))
    assert "columns that say nothing: same, gap" in model.summary()


def test_a_gap_says_something_only_if_training_had_some():
    X, y = frame(12)
    X.loc[y == 1, "c0"] = X.loc[y == 1, "c0"].where(np.arange((y == 1).sum()) % 3 > 0, None)
    model = AdjustedNB().fit(X, y)
    news = pd.DataFrame({"c0": [None, "new"], "c1": [None, "new"], "c2": ["0", "0"], "c3": ["0", "0"]})
    said = model.contributions(news).values[:, :, 1]
    assert said[0, 0] > 1
    assert said[1, 0] == said[0, 1] == said[1, 1] == 0


def test_densities_say_no_more_than_eight_nats_before_they_are_weighted():
    rng = np.random.default_rng(13)
    y = np.arange(200) % 2
    X = (rng.normal(size=200) + 100 * y)[:, None]
    model = AdjustedNB(numeric="gaussian").fit(X, y)
    assert np.abs(model.contributions(X).values[:, 0, 1]).max() <= 8 * model.weights_[0] + 1e-9


def test_another_prior_takes_the_place_of_the_shares():
    X, y = frame(14)
    own, even = AdjustedNB().fit(X, y), AdjustedNB(prior=[0.9, 0.1]).fit(X, y)
    np.testing.assert_array_equal(own.weights_, even.weights_)
    shift = even.predict_joint_log_proba(X) - own.predict_joint_log_proba(X)
    share = np.bincount(y) / len(y)
    np.testing.assert_allclose(shift[:, 1] - shift[:, 0], np.log(1 / 9) - np.log(share[1] / share[0]))


def test_repeated_columns_make_naive_bayes_sure_and_the_adjusted_one_right():
    X, y = frame(15, rows=2000, columns=2)
    X = pd.concat([X] * 5, axis=1, ignore_index=True).rename(columns=str)
    news, truth = frame(16, rows=5000, columns=2)
    news = pd.concat([news] * 5, axis=1, ignore_index=True).rename(columns=str)
    sureness = {}
    for model in (NaiveBayes(), AdjustedNB()):
        p = model.fit(X, y).predict_proba(news).max(axis=1)
        right = model.predict(news) == truth
        sureness[type(model).__name__] = p.mean() - right.mean()
    assert sureness["NaiveBayes"] > 0.08
    assert abs(sureness["AdjustedNB"]) < 0.02


# --- what it says -----------------------------------------------------------------------------------------------------


def simpson():
    """80 patients: a treatment that helps women and men, and does worse over all."""
    counts = {("m", "treated", 1): 18, ("m", "treated", 0): 12, ("m", "not", 1): 7, ("m", "not", 0): 3,
              ("f", "treated", 1): 2, ("f", "treated", 0): 8, ("f", "not", 1): 9, ("f", "not", 0): 21}  # fmt: skip
    rows = [key for key, n in counts.items() for _ in range(n)]
    table = pd.DataFrame(rows, columns=["sex", "treatment", "recovered"])
    return table[["sex", "treatment"]], table["recovered"].to_numpy()


def test_a_reversed_column_is_pointed_out_by_name():
    X, y = simpson()
    treated = X["treatment"] == "treated"
    assert y[treated].mean() > y[~treated].mean()  # alone, it seems to help ...
    for sex in ("m", "f"):
        assert y[treated & (X["sex"] == sex)].mean() < y[~treated & (X["sex"] == sex)].mean()  # ... and it harms both
    model = AdjustedNB(select=None, **RAW).fit(X, y)
    assert model.weights_[1] < 0
    assert "reversed given the other columns (negative weight, 95 % interval): treatment (-" in model.summary()
    assert model.weights_frame()["reversed"].tolist() == [False, True]


def test_columns_that_say_the_same_are_named():
    X, y = frame(17)
    X["copy"] = X["c1"]
    model = AdjustedNB().fit(X, y)
    assert "say nearly the same, and share their weight (correlation): c1 ~ copy (1.00)" in model.summary()
    assert model.weights_frame()["most like"].tolist()[1] == "copy"


def test_the_summary_tells_the_weights_and_where_they_come_from():
    X, y = frame(18)
    model = AdjustedNB().fit(X, y)
    half = 1.959964 * model.weight_errors_[0]
    assert f"c0 {model.weights_[0]:.2f} ± {half:.2f}" in model.summary()
    assert "weights without a penalty: m = " in AdjustedNB(select=None).fit(X, y).summary()
    assert "weights of a given size: m = 0.5" in AdjustedNB(m=0.5).fit(X, y).summary()
    assert "weights without a penalty: m = " in AdjustedNB(m=1e9).fit(X, y).summary()


@pytest.mark.parametrize(
    ("wrong", "sentence"),
    [
        ({"m": 0}, "m must be positive"),
        ({"m": -1}, "m must be a number >= 0"),
        ({"smoothing": -1}, "smoothing must be a number >= 0"),
        ({"smoothing": "1/N"}, "smoothing must be"),
        ({"select": "aic"}, "select must be one of"),
        ({"centre": 1, "m": 2}, "centre must be 0"),
        ({"shared": True, "coupling": "ovr"}, "shared=True needs coupling='softmax'"),
        ({"shared": True, "residual": True}, "cannot be had with shared=True"),
        ({"residual": -1}, "residual must be"),
    ],
)
def test_parameters_that_make_no_sense_are_refused(wrong, sentence):
    X, y = frame(19)
    with pytest.raises(ValueError, match=sentence):
        AdjustedNB(**wrong).fit(X, y)
