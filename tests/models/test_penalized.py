import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from scipy.stats import chi2_contingency

from seminaive import NaiveBayes, encode
from seminaive.datasets import make_stagewise
from seminaive.models.penalized import PenalizedNB

REFERENCE = Path(__file__).parent.parent / "reference"
ROWS = {case["name"]: case for case in json.loads((REFERENCE / "selective.json").read_text())}
FROZEN = {name: case["l1l2"] for name, case in json.loads((REFERENCE / "weighting.json").read_text())["cases"].items()}
POINTS = [
    (name, scheme, at)
    for name, of in FROZEN.items()
    for scheme in ("weights_one", "weights_inverse_distance")
    for at in range(len(of[scheme]["path"]))
]
PLAIN = {"smoothing": 0, "variance_prior": None}
"""The model of the paper: frequencies, means and deviations as they are."""


def frame(rows):
    return pd.DataFrame({f"x{j}": column for j, column in enumerate(np.array(rows, dtype=float).T)})


def levels_of(case):
    return {f"x{j}": list(map(float, range(m))) for j, m in enumerate(case["n_states"]) if case["is_discrete"][j]}


def fitted(name, **parameters):
    case = ROWS[name]
    model = PenalizedNB(levels=levels_of(case) or None, **{**PLAIN, **parameters})
    return model.fit(frame(case["X"]), case["y"])


def parameters_of(model, column):
    """Level probabilities (levels, classes), or means and deviations, as the reference writes them."""
    term = model.evidence_.by_column[column]
    if hasattr(term, "table"):
        return np.where(term.table[:, 2:] > -700, np.exp(term.table[:, 2:]), 0.0).T
    return np.stack([term.mean, term.precision**-0.5])


@pytest.mark.parametrize(("name", "scheme", "at"), POINTS)
def test_the_model_under_a_penalty_is_the_frozen_one(name, scheme, at):
    point = FROZEN[name][scheme]["path"][at]
    model = fitted(name, penalty=point["lam"], adaptive=scheme != "weights_one")
    assert model.get_support().tolist() == point["kept"]
    for column in np.flatnonzero(point["kept"]).tolist():
        tolerance = 1e-7 if ROWS[name]["is_discrete"][column] else 1e-5
        np.testing.assert_allclose(parameters_of(model, column), point["parameters"][column], atol=tolerance)
    assert 2 * model.path_.log_losses[0] == pytest.approx(point["deviance"], abs=1e-6)
    assert model.path_.aic[0] == pytest.approx(point["aic"], abs=1e-6)


@pytest.mark.parametrize("name", FROZEN)
@pytest.mark.parametrize("scheme", ["weights_one", "weights_inverse_distance"])
def test_the_largest_penalty_is_the_frozen_one_and_says_nothing(name, scheme):
    path = fitted(name, adaptive=scheme != "weights_one").path_
    assert path.penalties[0] == pytest.approx(FROZEN[name][scheme]["lambda_max"], rel=1e-8)
    assert path.penalties[-1] == 0
    np.testing.assert_allclose(path.penalties[:-1], path.penalties[0] * np.geomspace(1, 0.003, 14))
    assert not path.doses[0].any()
    np.testing.assert_array_equal(path.doses[-1], 1)


@pytest.mark.parametrize("name", FROZEN)
def test_on_the_adaptive_line_the_penalty_is_a_threshold_of_the_frozen_drop_statistic(name):
    statistic = np.array(FROZEN[name]["line_drop_statistic"])
    for threshold in np.sort(statistic):
        model = fitted(name, solver="line", penalty=threshold * (1 + 1e-6))
        assert model.get_support().tolist() == (statistic > threshold * (1 + 1e-6)).tolist()
        assert fitted(name, solver="line", penalty=threshold * (1 - 1e-4)).get_support()[statistic == threshold].all()


def tables(seed):
    rng = np.random.default_rng(seed)
    y = rng.integers(0, 3, 120)
    return pd.DataFrame({f"x{j}": np.where(rng.random(120) < j / 8, y, rng.integers(0, 3, 120)) for j in range(5)}), y


@pytest.mark.parametrize("seed", range(5))
def test_a_nominal_column_is_dropped_from_the_line_exactly_if_pearsons_chi_square_is_at_most_the_penalty(seed):
    X, y = tables(seed)
    chi_square = np.array([chi2_contingency(pd.crosstab(X[name], y), correction=False)[0] for name in X])
    for penalty in (2.0, 6.0, 20.0, chi_square[1] * 1.001, chi_square[1] * 0.999):
        model = PenalizedNB(solver="line", penalty=penalty, nominal=list(X), **PLAIN).fit(X, y)
        assert model.get_support().tolist() == (chi_square > penalty).tolist()


@pytest.mark.parametrize(
    ("kind", "dropped", "errors"),
    [
        ("DI", [1, 2, 4, 5, 7, 9, 11, 13, 15, 16], 110),
        ("CI", [1, 4, 6, 9, 12, 13, 14, 15, 16, 17, 19], 368),
        ("DR", [], 112),
        ("CR", [12, 14], 641),
    ],
)
def test_the_columns_and_errors_on_generated_data_are_the_frozen_ones(kind, dropped, errors):
    data = make_stagewise(kind, 120000)
    model = PenalizedNB(nominal=range(20) if kind[0] == "D" else None, **PLAIN).fit(data.X, data.y)
    assert np.flatnonzero(~model.get_support()).tolist() == dropped
    assert (model.predict(data.X_test) != data.y_test).sum() == errors


def mixed(n=300, seed=0):
    rng = np.random.default_rng(seed)
    y = rng.integers(0, 3, n)
    X = pd.DataFrame(
        {
            "number": y + rng.normal(size=n),
            "noise": rng.normal(size=n),
            "level": np.where(rng.random(n) < 0.6, y, rng.integers(0, 3, n)).astype(str),
            "idle": rng.integers(0, 3, n).astype(str),
        }
    )
    return X, y


@pytest.mark.parametrize("solver", ["exact", "line"])
@pytest.mark.parametrize("adaptive", [True, False])
@pytest.mark.parametrize(
    "others", [{}, {"numeric": "bins"}, {"numeric": "mdl"}, {"smoothing_kind": "level"}, {"missing": "value"}], ids=str
)
def test_without_a_penalty_it_is_naive_bayes(solver, adaptive, others):
    X, y = mixed()
    X = X.mask(np.random.default_rng(1).random(X.shape) < 0.2)
    others = {"smoothing_kind": "pooled"} | others
    model = PenalizedNB(penalty=0.0, solver=solver, adaptive=adaptive, **others).fit(X, y)
    plain = NaiveBayes(**others).fit(X, y)
    np.testing.assert_allclose(model.predict_joint_log_proba(X), plain.predict_joint_log_proba(X), rtol=1e-10)
    assert set(model.alpha_[[0, 2, 3]]) == {1.0}


@pytest.mark.parametrize("solver", ["exact", "line"])
@pytest.mark.parametrize("others", [{}, {"adaptive": False}, {"missing": "value"}, {"numeric": "mdl"}], ids=str)
def test_doses_rise_as_the_penalty_falls_and_noise_comes_last(solver, others):
    X, y = mixed()
    model = PenalizedNB(solver=solver, **others).fit(X.mask(np.random.default_rng(1).random(X.shape) < 0.2), y)
    doses = model.path_.doses
    assert np.all(np.diff(doses, axis=0) >= -1e-9)
    assert np.all((doses >= 0) & (doses <= 1 + 1e-12))
    first = (doses > 0).argmax(axis=0)
    assert max(first[0], first[2]) < len(doses) / 2
    assert min(first[0], first[2]) < first[3]
    assert model.path_.chosen == model.path_.aic.argmin()
    np.testing.assert_array_equal(model.alpha_, doses[model.path_.chosen])
    assert model.penalty_ == model.path_.penalties[model.path_.chosen]


def test_the_losses_of_the_path_are_those_of_its_models():
    X, y = mixed()
    path = PenalizedNB().fit(X, y).path_
    for step in (0, 3, 9, 14):
        model = PenalizedNB(penalty=path.penalties[step]).fit(X, y)
        loss = -np.log(model.predict_proba(X)[np.arange(len(y)), y]).mean()
        assert path.log_losses[step] == pytest.approx(loss, rel=1e-10)
        assert path.errors[step] == pytest.approx(np.mean(model.predict(X) != y), abs=1e-12)
        np.testing.assert_allclose(path.doses[step], model.alpha_, atol=1e-12)


def test_the_exact_solution_fits_no_worse_than_the_line():
    X, y = mixed()
    for penalty in (3.0, 10.0, 40.0):
        objective = {}
        for solver in ("exact", "line"):
            model = PenalizedNB(penalty=penalty, adaptive=False, solver=solver, nominal=list(X), **PLAIN)
            model.fit(X[["level", "idle"]].assign(number="a", noise="b"), y)
            says = model.contributions(X[["level", "idle"]].assign(number="a", noise="b")).values[:, :2]
            shared = [np.log(X[name].map(X[name].value_counts(normalize=True))) for name in ("level", "idle")]
            kept = model.get_support()[:2]
            likelihood = sum(says[np.arange(len(y)), j, y].sum() if kept[j] else shared[j].sum() for j in range(2))
            distance = sum(
                np.linalg.norm(parameters_of(model, j).T - X[name].value_counts(normalize=True).sort_index().to_numpy())
                for j, name in enumerate(("level", "idle"))
                if kept[j]
            )
            objective[solver] = penalty * distance - likelihood
        assert objective["exact"] <= objective["line"] + 1e-8


def test_cross_validation_chooses_the_penalty_with_the_least_loss_on_rows_held_out():
    X, y = mixed()
    model = PenalizedNB(select="cv").fit(X, y)
    path = model.path_
    assert path.chosen == path.held_out.argmin()
    assert path.select == "cv"
    assert model.alpha_[3] < 0.5 < model.alpha_[0]
    np.testing.assert_allclose(path.penalties, PenalizedNB().fit(X, y).path_.penalties)


@pytest.mark.parametrize("numeric", ["gaussian", "bins", "mdl"])
@pytest.mark.parametrize("missing", ["skip", "value"])
@pytest.mark.parametrize("penalty", ["auto", 0.0])
def test_columns_that_are_the_same_in_all_rows_are_dropped(numeric, missing, penalty):
    y = np.tile([0, 1, 1], 20)
    X = pd.DataFrame({"same": 3.0, "one": "a", "blank": None, "declared": "k", "useful": 3 * y + np.arange(60) % 5})
    model = PenalizedNB(penalty=penalty, numeric=numeric, missing=missing, levels={"declared": ["j", "k"]}).fit(X, y)
    assert model.get_support().tolist() == [False, False, False, False, True]
    assert "columns that say nothing: same, one, blank, declared" in model.summary()
    assert "1 of 5 columns kept" in model.summary()


def test_gaps_say_nothing_unless_they_are_values():
    y = np.tile([0, 1], 30)
    X = pd.DataFrame({"seen": np.where(y == 1, 3.0, np.nan), "part": y + 0.5 * (np.arange(60) % 4)})
    assert PenalizedNB().fit(X, y).get_support().tolist() == [False, True]
    value = PenalizedNB(missing="value").fit(X, y)
    assert value.alpha_[0] > 0.9
    assert value.predict(pd.DataFrame({"seen": [np.nan, 3.0], "part": [np.nan, np.nan]})).tolist() == [0, 1]


def test_a_class_without_weight_differs_from_the_heaviest_by_its_prior_only():
    X, y = mixed()
    weight = (y != 1).astype(float)
    model = PenalizedNB().fit(X, y, sample_weight=weight)
    assert model.classes_.tolist() == [0, 1, 2]
    heaviest = 0 if (y == 0).sum() >= (y == 2).sum() else 2
    scores = model.predict_joint_log_proba(X) - model.evidence_.prior
    np.testing.assert_allclose(scores[:, 1], scores[:, heaviest], rtol=1e-12)
    two = PenalizedNB().fit(X[y != 1], y[y != 1])
    np.testing.assert_allclose(model.alpha_, two.alpha_)


def test_one_class_is_a_constant_prediction_with_an_empty_path():
    model = PenalizedNB().fit([[1.0], [2.0]], ["a", "a"])
    assert model.alpha_.tolist() == [0]
    assert len(model.path_) == 1
    assert model.predict_proba([[5.0]]).tolist() == [[1.0]]


def test_the_model_does_not_depend_on_the_unit_or_the_order_of_columns():
    X, y = mixed()
    model = PenalizedNB().fit(X, y)
    other = PenalizedNB().fit(X.assign(number=1e6 * X["number"] - 3)[X.columns[::-1]], y)
    np.testing.assert_allclose(other.alpha_[::-1], model.alpha_, rtol=1e-7)


def test_an_encoded_table_gives_the_same_model():
    X, y = mixed()
    np.testing.assert_array_equal(PenalizedNB().fit(encode(X, y)).alpha_, PenalizedNB().fit(X, y).alpha_)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"penalty": -1.0}, "penalty must be a number >= 0"),
        ({"penalty": "aic"}, "penalty must be one of 'auto'"),
        ({"solver": "newton"}, "solver must be one of 'exact', 'line'"),
        ({"select": "validation"}, "select must be one of 'aic', 'cv'"),
        ({"adaptive": 2}, "adaptive must be one of True, False"),
        ({"smoothing": -1}, "smoothing must be"),
    ],
)
def test_a_wrong_parameter_is_named(change, message):
    with pytest.raises(ValueError, match=message):
        PenalizedNB(**change).fit([[1.0], [2.0]], [0, 1])
