"""The frozen values of the stagewise paper's methods: parameters, scores, every path, and models of generated data.

`tests/reference` holds them: rows in selective.json, query rows and edge cases in weighting.json, the rest in
stagewise.json. Weights, greedy subsets, penalties and filters have tests beside their models. The paper's model has
frequencies, means and deviations as they are; frozen scores leave out the constant of the normal density.
"""

import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from seminaive import CFSFilter, NaiveBayes, NormalGamma, SelectiveNB, StagewiseNB, WeightedNB
from seminaive.datasets import make_stagewise
from seminaive.models.mixed import Mixed
from seminaive.models.naive import Estimation, gather_sums, naive_evidence
from seminaive.table.door import encode

REFERENCE = Path(__file__).parent.parent / "reference"
ROWS = {case["name"]: case for case in json.loads((REFERENCE / "selective.json").read_text())}
WEIGHTING = json.loads((REFERENCE / "weighting.json").read_text())
EDGE = {case["name"]: case for case in WEIGHTING["edge"]}
FROZEN = json.loads((REFERENCE / "stagewise.json").read_text())
SYNTHETIC = {case["kind"]: case for case in FROZEN["synthetic"]}

CONSTANT = -0.5 * np.log(2 * np.pi)
PAPER = {"criterion": "error", "lookahead": 20, "ties": "last"}
MODES = {
    "default": {},
    "exponent": {"mix": "exponent"},
    "error_log_loss": {"criterion": "error_log_loss", "lookahead": 20, "patience": 5},
    "paper, patience 1": PAPER,
    "paper, patience 5": PAPER | {"patience": 5},
}

every_case = pytest.mark.parametrize("name", ROWS)
either_smoothing = pytest.mark.parametrize("smoothing", [0, 1])


def frame(rows):
    return pd.DataFrame({f"x{j}": column for j, column in enumerate(np.array(rows, dtype=float).T)})


def rows_of(name):
    """Frame, labels, query rows, the levels that discrete columns can have, and which columns are numbers."""
    case = ROWS[name]
    levels = {f"x{j}": list(map(float, range(m))) for j, m in enumerate(case["n_states"]) if case["is_discrete"][j]}
    query = frame(WEIGHTING["cases"][name]["X_query"])
    return frame(case["X"]), np.array(case["y"]), query, levels or None, ~np.array(case["is_discrete"])


def naive(smoothing, levels=None):
    return NaiveBayes(smoothing=smoothing, smoothing_kind="pooled", levels=levels, variance_prior=None)


@every_case
@either_smoothing
def test_naive_bayes_is_the_frozen_one(name, smoothing):
    X, y, query, levels, numeric = rows_of(name)
    frozen = FROZEN["small"][name][str(smoothing)]
    model = naive(smoothing, levels).fit(X, y)
    scores = model.predict_joint_log_proba(query) - CONSTANT * numeric.sum()
    np.testing.assert_allclose(scores, frozen["joint_log_likelihood"], rtol=1e-10)
    np.testing.assert_allclose(model.predict_log_proba(query), frozen["log_posterior"], rtol=1e-10, atol=1e-10)
    assert model.predict(query).tolist() == frozen["predict"]
    assert np.sum(model.predict(X) != y) == frozen["errors"]
    losses = -model.predict_log_proba(X)[np.arange(len(y)), y]
    assert 2 * losses.mean() == pytest.approx(frozen["deviance"], rel=1e-10)


@every_case
@either_smoothing
def test_parameters_of_the_classes_and_those_they_share_are_the_frozen_ones(name, smoothing):
    X, y, _, levels, numeric = rows_of(name)
    how = Estimation(smoothing=smoothing, smoothing_kind="pooled", variance_prior=None)
    table = encode(X, y, levels=levels)
    sums = gather_sums(table)
    plain = naive_evidence(sums, how)
    mixed = Mixed(plain, sums, how, "parameters")
    frozen = FROZEN["small"][name][str(smoothing)]["parameters"]
    np.testing.assert_allclose(plain.prior, frozen["log_prior"], rtol=1e-10)
    for j, expected in enumerate(frozen["predictors"]):
        term = plain.by_column[j]
        if numeric[j]:
            np.testing.assert_allclose(term.mean, expected["mu1"], rtol=1e-10)
            np.testing.assert_allclose(term.precision**-0.5, expected["sd1"], rtol=1e-10)
            np.testing.assert_allclose(mixed.unit(j), [expected["mu0"], expected["sd0"]], rtol=1e-10)
        else:
            theta = np.where(term.table[:, 2:] > -700, np.exp(term.table[:, 2:]), 0.0)
            np.testing.assert_allclose(theta.T, expected["theta1"], rtol=1e-10)
            nearly = np.exp(mixed.tables(j, np.array([1e-9]))[0][0, 2:])  # next to what all classes share
            np.testing.assert_allclose(nearly, expected["theta0"], rtol=1e-8)


@every_case
@either_smoothing
def test_scores_at_doses_of_three_tenths_are_the_frozen_ones(name, smoothing):
    X, y, query, levels, numeric = rows_of(name)
    how = Estimation(smoothing=smoothing, smoothing_kind="pooled", variance_prior=None)
    model = naive(smoothing, levels).fit(X, y)
    sums = gather_sums(encode(X, y, levels=levels))
    mixed = Mixed(naive_evidence(sums, how), sums, how, "parameters")
    model.evidence_ = type(model.evidence_)(
        sums.schema, mixed.plain.prior, tuple(mixed.term(j, 0.3) for j in range(X.shape[1]))
    )
    scores = model.predict_joint_log_proba(query) - CONSTANT * numeric.sum()
    np.testing.assert_allclose(
        scores, FROZEN["small"][name][str(smoothing)]["joint_log_likelihood_alpha_0.3"], rtol=1e-10
    )


@every_case
@either_smoothing
@pytest.mark.parametrize("mode", MODES)
def test_every_step_of_the_path_is_the_frozen_one(name, smoothing, mode):
    X, y, query, levels, numeric = rows_of(name)
    frozen = FROZEN["small"][name][str(smoothing)]["paths"][mode]
    model = StagewiseNB(smoothing=smoothing, levels=levels, variance_prior=None, **MODES[mode]).fit(X, y)
    path = model.path_
    features = path.features[1:]
    doses = np.rint(40 * path.doses[np.arange(1, len(path)), features]).astype(int)
    assert np.column_stack([features, doses]).tolist() == frozen["steps"]
    assert np.rint(path.errors * len(y)).tolist() == frozen["errors"]
    np.testing.assert_allclose(2 * path.log_losses, frozen["deviance"], rtol=1e-10)
    assert path.chosen == frozen["chosen"]
    assert path.evaluations == frozen["evaluations"]
    if "joint_log_likelihood" in frozen:
        scores = model.predict_joint_log_proba(query) - CONSTANT * (numeric & model.get_support()).sum()
        np.testing.assert_allclose(scores, frozen["joint_log_likelihood"], rtol=1e-10)


# --- generated data ---------------------------------------------------------------------------------------------------

GENERATED = [(kind, smoothing) for kind, case in SYNTHETIC.items() for smoothing in ("0", "1") if smoothing in case]


def generated(kind, smoothing):
    nominal = range(20) if kind[0] == "D" else None
    how = {"smoothing": float(smoothing), "variance_prior": None, "nominal": nominal}
    return make_stagewise(kind, 120000), SYNTHETIC[kind][smoothing], how


def wrong(model, data):
    return int((model.predict(data.X_test) != data.y_test).sum())


@pytest.mark.parametrize(("kind", "smoothing"), GENERATED)
def test_naive_selective_and_weighted_models_of_generated_data_are_the_frozen_ones(kind, smoothing):
    data, frozen, how = generated(kind, smoothing)
    model = NaiveBayes(smoothing_kind="pooled", **how).fit(data.X, data.y)
    assert int((model.predict(data.X) != data.y).sum()) == frozen["nb"]["train_errors"]
    assert wrong(model, data) == frozen["nb"]["test_errors"]
    losses = -model.predict_log_proba(data.X_test)[np.arange(3000), data.y_test]
    assert 2 * losses.mean() == pytest.approx(frozen["nb"]["test_deviance"], rel=1e-10)
    model = SelectiveNB(**how).fit(data.X, data.y)
    assert model.path_.features.tolist() == frozen["snb"]["order"]
    assert model.path_.evaluations == frozen["snb"]["evaluations"]
    assert wrong(model, data) == frozen["snb"]["test_errors"]
    model = WeightedNB(weights="deviation", **how).fit(data.X, data.y)
    np.testing.assert_allclose(model.weights_, frozen["wnb_raw"]["weights"], rtol=1e-10)
    assert wrong(model, data) == frozen["wnb_raw"]["test_errors"]


@pytest.mark.parametrize("mode", ["default", "paper, patience 5"])
@pytest.mark.parametrize(("kind", "smoothing"), GENERATED)
def test_stagewise_models_of_generated_data_are_the_frozen_ones(kind, smoothing, mode):
    data, frozen, how = generated(kind, smoothing)
    expected = frozen[mode]
    model = StagewiseNB(**how, **MODES[mode]).fit(data.X, data.y)
    path = model.path_
    assert len(path) - 1 == expected["steps"]
    assert np.rint(40 * path.doses[-1]).tolist() == expected["final_path_alpha"]
    assert path.chosen == expected["selected_step"]
    assert np.rint(40 * model.alpha_).tolist() == expected["selected_alpha"]
    assert path.aic[path.chosen] == pytest.approx(expected["aic_selected"], rel=1e-10)
    assert path.evaluations == expected["evaluations"]
    assert wrong(model, data) == expected["test_errors"]


@pytest.mark.parametrize("kind", SYNTHETIC)
def test_filtered_models_of_generated_data_are_the_frozen_ones(kind):
    data, frozen, how = generated(kind, "0")
    chosen = CFSFilter(nominal=how["nominal"]).fit(data.X, data.y).get_support(indices=True)
    assert chosen.tolist() == frozen["cfs"]["subset"]
    nominal = None if how["nominal"] is None else range(len(chosen))
    model = NaiveBayes(smoothing_kind="pooled", **{**how, "nominal": nominal}).fit(data.X[:, chosen], data.y)
    assert int((model.predict(data.X_test[:, chosen]) != data.y_test).sum()) == frozen["cfs"]["test_errors"]


# --- edges ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", [name for name, case in EDGE.items() if not name.startswith("zero_variance")])
def test_scores_of_levels_never_counted_never_seen_and_tied_are_the_frozen_ones(name):
    case = EDGE[name]
    model = NaiveBayes(smoothing=case["smoothing"], smoothing_kind="pooled", nominal=range(len(case["X"][0]))).fit(
        np.array(case["X"]), case["y"]
    )
    query = np.array(case["X_query"])
    np.testing.assert_allclose(model.predict_joint_log_proba(query), case["joint_log_likelihood"], rtol=1e-10)
    assert model.predict(query).tolist() == case["predict"]
    assert np.isfinite(model.predict_log_proba(query)).all()


def test_scores_of_a_class_without_variance_are_the_frozen_ones_with_the_papers_floor():
    """A deviation of sqrt(1e-9) of the whole column's, written as a prior; the library's own floor is wider."""
    case = EDGE["zero_variance_within_a_class"]
    X, y, query = np.array(case["X"]), np.array(case["y"]), np.array(case["X_query"])
    floor = NormalGamma(mu0=0.0, k0=0.0, alpha0=0.5, beta0=np.array([[1.5e-9 * X.var()], [0.0]]))
    floored = NaiveBayes(variance_prior=floor).fit(X, y)
    scores = floored.predict_joint_log_proba(query) - CONSTANT
    np.testing.assert_allclose(scores, case["joint_log_likelihood"], rtol=1e-10)
    assert floored.predict(query).tolist() == case["predict"]
    for model in (NaiveBayes(), SelectiveNB(), WeightedNB(), StagewiseNB()):
        model.fit(X, y)
        assert model.predict(query)[[0, 2]].tolist() == [0, 1]
        assert np.isfinite(model.predict_log_proba(query)).all()
