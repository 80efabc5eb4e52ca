"""Reference values on the paper's own data sets; they need the Parquet files named by SEMINAIVE_DATA."""

import os
from pathlib import Path

import numpy as np
import pytest
from adjusted_sets import coded_set, reference

from seminaive import AdjustedNB
from seminaive.reproduce.adjusted_defaults import TRIALS, tried
from seminaive.reproduce.adjusted_sets import AllOnes, fixed_split, of_class
from seminaive.reproduce.adjusted_sets import read as rows_of
from seminaive.search.design import Rows
from seminaive.search.penalty import choose_penalty, left_out
from seminaive.search.ridge import FINAL, Restraint, begin, newton, penalised_inverse, scale
from seminaive.search.size import choose_size, fit_size
from seminaive.search.unrestricted import fit_unrestricted
from seminaive.search.weighted_evidence import scores

FOLDER = os.environ.get("SEMINAIVE_DATA", "")
pytestmark = pytest.mark.skipif(not Path(FOLDER).is_dir() or not FOLDER, reason="SEMINAIVE_DATA names no folder")

DATA = reference("data")
CLOSE = {"rtol": 1e-7, "atol": 1e-9}


def read(name):
    import pandas as pd

    frame = pd.read_parquet(Path(FOLDER) / f"{name}.parquet")
    names = [column for column in frame.columns if column not in ("split", "class")]
    columns = [["?" if pd.isna(v) else str(v) for v in frame[column]] for column in names]
    train = (frame["split"] == "train").to_numpy() if "split" in frame else None
    return names, columns, frame["class"].astype(str).to_numpy(), train


@pytest.mark.parametrize(
    ("name", "positive", "case", "smoothing"),
    [
        ("vote", "republican", "laplace_half_L_1/n", ("1/n", "half")),
        ("vote", "republican", "prior_L_1", (1, "class")),
        ("breast_cancer", "recurrence-events", "laplace_half_L_1", (1, "half")),
        ("breast_cancer", "recurrence-events", "prior_L_1", (1, "class")),
    ],
)
def test_all_rows_of_a_binary_set(name, positive, case, smoothing):
    names, columns, labels, _ = read(name)
    sets, expected = coded_set(columns, labels == positive), DATA[name][case]
    problem, rows = sets.against_rest(1, *smoothing), len(labels)
    for column, values in expected["q_tables"].items():
        for value, q in values.items():
            entry = problem.design.tables[0, sets.entry(names.index(column), value)]
            np.testing.assert_allclose(entry, q, rtol=1e-11, atol=1e-11)
    free, _ = fit_unrestricted(problem, scale(problem))
    np.testing.assert_allclose(free.weights, expected["apm"]["alpha"], **CLOSE)
    assert (free.weights < 0).sum() == expected["apm"]["n_negative"]

    chosen = choose_penalty(problem, left_out(problem), scale(problem))
    selected = expected["selected_by_alo"]
    np.testing.assert_allclose(chosen.fit.penalty, selected["lam"], **CLOSE)
    np.testing.assert_allclose(chosen.fit.weights, selected["alpha"], **CLOSE)
    assert abs(left_out(problem)(chosen.fit) - selected["exact_loo_loss_bits_same_q"]) < 1e-3
    for step, frozen in zip(chosen.path, expected["path"], strict=False):
        np.testing.assert_allclose([step.penalty, step.m], [frozen["lam"], frozen["m"]], rtol=1e-7)
        np.testing.assert_allclose(step.criterion, frozen["alo_loss_bits"], rtol=1e-6)
    fit = begin(problem)
    for frozen in expected["path"]:
        fit = newton(problem, frozen["lam"], fit, tolerance=FINAL)
        np.testing.assert_allclose(left_out(problem)(fit), frozen["alo_loss_bits"], rtol=1e-7)
        np.testing.assert_allclose(fit.sums.value / rows / np.log(2), frozen["train_loss_bits"], **CLOSE)

    for frozen in expected["apm_m"]:
        fit = fit_size(problem, frozen["m"], free)
        np.testing.assert_allclose(fit.weights, frozen["alpha"], **CLOSE)
        np.testing.assert_allclose(fit.penalty, frozen["lambda"], **CLOSE)
    bounded = newton(problem, selected["lam"], begin(problem), Restraint(nonnegative=True), FINAL)
    np.testing.assert_allclose(bounded.weights, expected["nonneg_at_selected_lam"]["alpha"], **CLOSE)
    assert (bounded.weights == 0).sum() == expected["nonneg_at_selected_lam"]["n_zero"]


def test_the_papers_search_over_m_on_breast_cancer():
    _, columns, labels, _ = read("breast_cancer")
    sets = coded_set(columns, labels == "recurrence-events")
    expected = DATA["breast_cancer"]["laplace_half_L_1"]["paper_m_search"]
    problem, rows, fold = sets.against_rest(1, 1, "half"), Rows(sets.codes, sets.labels), np.arange(len(labels)) % 5
    folds = [tuple(sets.problem(problem.design, rows.take(part)) for part in (fold != f, fold == f)) for f in range(5)]
    free, _ = fit_unrestricted(problem, scale(problem))
    found = choose_size(folds, free.size)
    np.testing.assert_allclose(found.fold_limits, expected["m_u_per_fold"], **CLOSE)
    np.testing.assert_allclose(found.sizes, expected["stage1_m"] + expected["stage2_m"], **CLOSE)
    np.testing.assert_allclose(found.mean_bits, expected["stage1_mean_bits"] + expected["stage2_mean_bits"], rtol=1e-7)
    np.testing.assert_allclose(found.median_bits[:10], expected["stage1_median_bits"], rtol=1e-7)
    np.testing.assert_allclose(found.m, expected["m_hat"], **CLOSE)
    fit = fit_size(problem, found.m, free)
    np.testing.assert_allclose(fit.weights, expected["final_alpha"], **CLOSE)
    np.testing.assert_allclose(fit.penalty, expected["final_lambda"], **CLOSE)


@pytest.fixture(scope="module")
def dna():
    names, columns, labels, train = read("dna")
    classes = ["ei", "ie", "n"]
    codes = np.array([classes.index(label) for label in labels])
    sets = coded_set([[v for v, t in zip(c, train, strict=True) if t] for c in columns], codes[train])
    test = sets.code([[v for v, t in zip(c, train, strict=True) if not t] for c in columns], codes[~train])
    return names, sets, test


@pytest.mark.parametrize("k", range(3))
def test_one_class_of_dna_against_the_rest(dna, k):
    names, sets, test = dna
    expected = list(DATA["dna"]["classes"].values())[k]
    problem = sets.against_rest(k, 0, "none")
    held_out = sets.problem(problem.design, test)
    for column, values in expected["q_tables"].items():
        for value, q in values.items():
            entry = problem.design.tables[0, sets.entry(names.index(column), value)]
            np.testing.assert_allclose(entry, q, rtol=1e-11, atol=1e-11)

    def errors_and_bits(weights):
        wrong = (scores(test, problem.design, weights)[0] > 0) != (test.label == k)
        return wrong.sum(), held_out.bounded_loss(weights) / len(test) / np.log(2)

    free, separable = fit_unrestricted(problem, scale(problem))
    assert not separable
    np.testing.assert_allclose(free.weights, expected["apm"]["alpha"], **CLOSE)
    np.testing.assert_allclose(free.size, expected["apm"]["m_u"], **CLOSE)
    for weights, frozen in ((np.ones(60), expected["nb_eq8"]), (free.weights, expected["apm"])):
        errors, loss = errors_and_bits(weights)
        assert errors == frozen["test_errors"]
        np.testing.assert_allclose(loss, frozen["test_loss_bits"], **CLOSE)
    for frozen in expected["apm_m"]:
        fit = fit_size(problem, frozen["m"], free)
        np.testing.assert_allclose(fit.weights[:6], frozen["alpha_first6"], **CLOSE)
        np.testing.assert_allclose(fit.penalty, frozen["lambda"], **CLOSE)
        assert errors_and_bits(fit.weights)[0] == frozen["test_errors"]
    fit = begin(problem)
    for frozen in expected["alo"]:
        fit = newton(problem, frozen["lam"], fit, tolerance=FINAL)
        np.testing.assert_allclose(left_out(problem)(fit), frozen["alo_loss_bits"], **CLOSE)
        np.testing.assert_allclose((penalised_inverse(fit) * fit.sums.hessian).sum(), frozen["sum_w_h"], rtol=1e-7)


@pytest.mark.parametrize(("shared", "most"), [(False, 0.170), (True, 0.170)])
def test_softmax_on_dna_beats_the_paper(dna, shared, most):
    _, sets, test = dna
    problem = sets.softmax(shared)
    chosen = choose_penalty(problem, left_out(problem), scale(problem))
    loss = sets.problem(problem.design, test).bounded_loss(chosen.fit.weights)
    assert loss / len(test) / np.log(2) <= most


def test_the_estimator_repeats_the_papers_table_on_dna():
    """Errors of 1186 test rows, m and negative weights of Table 1, through the door that users take."""
    (training, y), (test, truth) = fixed_split(*rows_of(Path(FOLDER), "dna"))
    wishes = {"coupling": "ovr", "smoothing": 0.0, "smoothing_kind": "none"}
    model = AdjustedNB(select=None, **wishes).fit(training, y)
    np.testing.assert_allclose(model.m_, [156.302, 209.008, 113.902], atol=1e-3)
    assert (model.weights_ < 0).sum(axis=1).tolist() == [11, 12, 11]
    naive = AllOnes(**wishes).fit(training, y)
    wrong = {
        name: [round(11.86 * of_class(each, test, truth, label)[0]) for label in ("ei", "ie", "n")]
        for name, each in (("NB", naive), ("APM", model))
    }
    assert wrong == {"NB": [43, 37, 96], "APM": [32, 50, 77]}
    losses = [of_class(each, test, truth, label)[1] for each in (naive, model) for label in ("ei", "ie", "n")]
    np.testing.assert_allclose(losses, [0.1260, 0.1877, 0.3205, 0.1181, 0.1960, 0.2423], atol=5e-4)
    everything = AllOnes(smoothing=0.0, smoothing_kind="none").fit(training, y)
    assert (everything.predict(test) != truth).sum() == 64
    assert (model.predict(test) != truth).sum() == 47


@pytest.mark.slow
@pytest.mark.parametrize("trial", TRIALS, ids=lambda trial: trial.title(1))
def test_as_it_comes_the_estimator_reaches_what_was_asked(trial):
    """One repetition of ten folds of what `seminaive reproduce adjusted-defaults` repeats."""
    found = tried(Path(FOLDER), trial, quick=True)
    assert found.error <= trial.most_error
    assert found.loss <= trial.most_loss
    assert found.warnings == 0
