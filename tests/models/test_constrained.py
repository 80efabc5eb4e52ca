"""Promised class rates: kept, certified, or plainly refused."""

from __future__ import annotations

import sys
import warnings
from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import load_iris, make_classification
from sklearn.metrics import recall_score
from threadpoolctl import threadpool_limits

from seminaive import NaiveBayes, load, plot
from seminaive.models.constrained import ConstrainedNB
from seminaive.models.constraint_report import InfeasibleConstraintsError
from seminaive.models.judging import MOST_ROWS
from seminaive.statistics.certificate import lower_bound

X, CODES = load_iris(return_X_y=True, as_frame=True)
Y = np.array(["setosa", "versicolor", "virginica"])[CODES]
HARD = X[["sepal width (cm)", "petal width (cm)"]]
PLAIN: dict[str, Any] = {"evaluate_on": "train", "confidence": None, "random_state": 0}


def two_classes(n: int, seed: int = 0, shift: float = 1.2) -> Any:
    rng = np.random.default_rng(seed)
    y = np.where(np.arange(n) % 2, "sick", "well")
    frame = pd.DataFrame({
        "marker": rng.normal(size=n) + shift * (y == "sick"),
        "age": rng.normal(50, 10, n) + 4 * (y == "sick"),
        "smokes": np.where(rng.random(n) < 0.4 + 0.2 * (y == "sick"), "yes", "no"),
    })  # fmt: skip
    return frame, y


def recall_on(model: Any, X: Any, y: Any, label: Any) -> float:
    return float(recall_score(y, model.predict(X), labels=[label], average="macro"))


# --- nothing to do ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("constraints", [None, {}, {"sick": {"recall": 0}}, {"sick": {"recall": 0.5}}])
@pytest.mark.parametrize("numeric", ["gaussian", "bins"])
def test_a_promise_that_is_kept_already_gives_naive_bayes_bit_for_bit(constraints: Any, numeric: str) -> None:
    X, y = two_classes(200)
    model = ConstrainedNB(constraints=constraints, numeric=numeric, random_state=0).fit(X, y)
    plain = NaiveBayes(numeric=numeric).fit(X, y)
    assert model.status_ == "map_feasible"
    assert model.method_used_ == "mode"
    assert model.log_posterior_loss_ == 0
    assert not model.offsets_.any()
    assert np.array_equal(model.predict_joint_log_proba(X), plain.predict_joint_log_proba(X))


# --- every way of keeping promises ------------------------------------------------------------------------------------


@pytest.mark.parametrize("method", ["auto", "offset", "density"])
def test_promises_on_the_training_rows_hold_through_predict(method: str) -> None:
    wish = {"virginica": {"recall": 0.95}, "versicolor": {"recall": 0.6}}
    model = ConstrainedNB(constraints=wish, method=method, **PLAIN).fit(HARD, Y)
    assert model.status_ == "feasible"
    assert recall_on(model, HARD, Y, "virginica") >= 0.95
    assert recall_on(model, HARD, Y, "versicolor") >= 0.6
    assert [p.certificate for p in model.constraint_report_.promises] == ["none", "none"]
    if method == "density":
        assert model.log_posterior_loss_ > 0
        assert not model.offsets_.any()
    else:
        assert model.method_used_ == "offset"
        assert model.log_posterior_loss_ == 0
        plain = NaiveBayes().fit(HARD, Y)
        assert model.evidence_.prior == pytest.approx(plain.evidence_.prior + model.offsets_)


@pytest.mark.parametrize("numeric", ["gaussian", "bins", "mdl"])
@pytest.mark.parametrize("method", ["offset", "density"])
@pytest.mark.parametrize("place", ["train", "cv", "holdout"])
def test_mixed_columns_with_gaps_can_be_promised(numeric: str, method: str, place: str) -> None:
    X, y = two_classes(240)
    X.loc[::7, "age"] = np.nan
    X.loc[::5, "smokes"] = None
    model = ConstrainedNB(
        constraints={"sick": {"recall": 0.9}}, numeric=numeric, method=method, evaluate_on=place, random_state=0
    ).fit(X, y)
    assert model.status_ == "feasible"
    (promise,) = model.constraint_report_.promises
    assert promise.slack >= 0
    if place == "train":
        assert promise.certificate == "none"
        assert recall_on(model, X, y, "sick") == pytest.approx(promise.rate)
    else:
        assert promise.certificate == ("exact" if place == "holdout" else "approximate")
        assert promise.bound >= 0.9
        assert promise.bound == pytest.approx(float(lower_bound(promise.counted, promise.cases, 0.05)))
    parts = model.contributions(X[:20])
    assert parts.scores == pytest.approx(model.predict_joint_log_proba(X[:20]), abs=1e-10)


def test_nominal_columns_alone_can_be_moved() -> None:
    rng = np.random.default_rng(0)
    y = np.arange(80) % 2
    X = pd.DataFrame({c: rng.choice(list("abc"), 80, p=[0.5, 0.3, 0.2]) for c in "pq"})
    X.loc[y == 1, "p"] = rng.choice(list("abc"), 40, p=[0.2, 0.3, 0.5])
    model = ConstrainedNB(constraints={1: {"recall": 0.9}}, method="density", **PLAIN).fit(X, y)
    assert model.status_ == "feasible"
    assert recall_on(model, X, y, 1) >= 0.9
    for term in model.evidence_.terms:
        assert np.exp(term.table[:, 2:]).sum(axis=1) == pytest.approx(1)


def test_both_recalls_of_two_classes_are_kept_or_proved_impossible_by_offsets() -> None:
    X, y = two_classes(300)
    wish = {"sick": {"recall": 0.7}, "well": {"recall": 0.7}}
    model = ConstrainedNB(constraints=wish, method="offset", **PLAIN).fit(X, y)
    assert model.status_ in ("feasible", "map_feasible")
    hard = {"sick": {"recall": 0.99}, "well": {"recall": 0.99}}
    with pytest.raises(InfeasibleConstraintsError, match="enumerated exactly") as caught:
        ConstrainedNB(constraints=hard, method="offset", **PLAIN).fit(X, y)
    assert caught.value.status == "proved_infeasible"


def test_all_recalls_of_one_on_separable_data_leave_a_margin() -> None:
    X, y = make_classification(60, 4, n_informative=4, n_redundant=0, class_sep=3.0, random_state=1, flip_y=0)
    wish = {0: {"recall": 1.0}, 1: {"recall": 1.0}}
    model = ConstrainedNB(constraints=wish, method="density", **PLAIN).fit(X, y)
    assert model.status_ in ("feasible", "map_feasible")
    scores = model.predict_joint_log_proba(X)
    assert (scores[np.arange(60), y] - scores[np.arange(60), 1 - y]).min() >= 1e-7


# --- impossible, not found, uncertifiable -----------------------------------------------------------------------------


def test_equal_rows_of_two_classes_are_a_proof() -> None:
    X = pd.DataFrame({"a": [1.0, 1, 2, 2, 3, 3], "b": list("xxyyzz")})
    y = [0, 1, 0, 0, 1, 1]
    with pytest.raises(InfeasibleConstraintsError, match="equal rows") as caught:
        ConstrainedNB(constraints={0: {"recall": 1}, 1: {"recall": 1}}, **PLAIN).fit(X, y)
    assert caught.value.status == "proved_infeasible"
    assert caught.value.proof is not None


def test_one_numeric_column_is_proved_by_intervals() -> None:
    wish = {"virginica": {"recall": 0.9}, "versicolor": {"recall": 0.9}, "setosa": {"recall": 0.9}}
    for method in ("auto", "density"):
        with pytest.raises(InfeasibleConstraintsError) as caught:
            ConstrainedNB(constraints=wish, method=method, **PLAIN).fit(X[["sepal width (cm)"]], Y)
        assert caught.value.status == "proved_infeasible"


def test_a_miss_is_an_error_or_a_warning_and_never_silent() -> None:
    frame, y = two_classes(60)
    wish = {"sick": {"recall": 0.99}, "well": {"recall": 0.99}}
    with pytest.raises(InfeasibleConstraintsError, match="Ask for less") as caught:
        ConstrainedNB(constraints=wish, method="offset", **PLAIN).fit(frame, y)
    assert caught.value.nearest.missing
    with pytest.warns(UserWarning, match="cannot be kept"):
        model = ConstrainedNB(constraints=wish, method="offset", on_infeasible="warn", **PLAIN).fit(frame, y)
    assert model.status_ == "proved_infeasible"
    assert model.nearest_.missing == caught.value.nearest.missing
    confusion = pd.crosstab(y, model.predict(frame)).to_numpy()
    assert np.array_equal(model.nearest_.confusion, confusion)


def test_a_failed_fit_leaves_the_estimator_as_it_was() -> None:
    frame, y = two_classes(60)
    model = ConstrainedNB(method="offset", **PLAIN).fit(frame, y)
    before = model.predict_joint_log_proba(frame)
    model.set_params(constraints={"sick": {"recall": 0.99}, "well": {"recall": 0.99}})
    with pytest.raises(InfeasibleConstraintsError):
        model.fit(frame, y)
    assert np.array_equal(model.predict_joint_log_proba(frame), before)


@pytest.mark.parametrize(("rate", "needed"), [(0.9, 29), (0.95, 59), (0.98, 149)])
def test_too_few_cases_are_uncertifiable_and_the_number_needed_is_told(rate: float, needed: int) -> None:
    frame, y = two_classes(2 * needed - 2, shift=4)
    with pytest.warns(UserWarning, match=f"at least {needed} cases are needed, there are {needed - 1}"):
        model = ConstrainedNB(constraints={"sick": {"recall": rate}}, random_state=0).fit(frame, y)
    assert model.status_ == "uncertifiable"
    (promise,) = model.constraint_report_.promises
    assert promise.kept
    assert promise.certificate == "none"
    assert promise.cases_to_certify == needed
    frame, y = two_classes(2 * needed, shift=12)
    model = ConstrainedNB(constraints={"sick": {"recall": rate}}, random_state=0).fit(frame, y)
    assert model.status_ in ("feasible", "map_feasible")


def test_confidence_is_shared_among_the_promises() -> None:
    frame, y = two_classes(600)
    wish = {"sick": {"recall": 0.6}, "well": {"recall": 0.6}}
    model = ConstrainedNB(constraints=wish, random_state=0).fit(frame, y)
    for promise in model.constraint_report_.promises:
        assert promise.bound == pytest.approx(float(lower_bound(promise.counted, promise.cases, 0.025)))


def test_counts_on_training_rows_carry_no_certificate_even_with_a_confidence() -> None:
    frame, y = two_classes(300)
    model = ConstrainedNB(constraints={"sick": {"recall": 0.9}}, evaluate_on="train", random_state=0).fit(frame, y)
    (promise,) = model.constraint_report_.promises
    assert promise.certificate == "none"
    assert np.isnan(promise.bound)
    assert promise.needed > 135  # the count that the bound asks for


# --- edges ------------------------------------------------------------------------------------------------------------


def test_a_class_with_one_row_and_a_constant_column_are_finite() -> None:
    frame, y = two_classes(60)
    frame["constant"] = 1.0
    y = y.astype(object)
    y[0] = "odd"
    for method in ("offset", "density"):
        model = ConstrainedNB(constraints={"sick": {"recall": 0.9}}, method=method, **PLAIN).fit(frame, y)
        assert np.isfinite(model.predict_joint_log_proba(frame)).all()
        assert recall_on(model, frame, y, "sick") >= 0.9


def test_without_a_prior_zero_variance_names_class_and_column() -> None:
    frame, y = two_classes(20)
    frame.loc[y == "sick", "age"] = 5.0
    with pytest.raises(ValueError, match="column 'age' in class 'sick' is zero"):
        ConstrainedNB(constraints={"sick": {"recall": 0.9}}, variance_prior=None, **PLAIN).fit(frame, y)


def test_precision_of_a_class_nobody_predicts_is_never_kept() -> None:
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(100, 1)), np.repeat([0, 1], [95, 5])
    plain = NaiveBayes().fit(X, y)
    assert (plain.predict(X) == 0).all()
    model = ConstrainedNB(constraints={1: {"precision": 0.01}}, method="offset", **PLAIN).fit(X, y)
    assert model.status_ == "feasible"
    assert (model.predict(X) == 1).any()


def test_weights_count_and_carry_no_certificate() -> None:
    frame, y = two_classes(200)
    weights = np.where(np.arange(200) % 3, 1.0, 2.0)
    for method in ("offset", "density"):
        model = ConstrainedNB(constraints={"sick": {"recall": 0.9}}, method=method, random_state=0, evaluate_on="train")
        model.fit(frame, y, sample_weight=weights)
        sick = y == "sick"
        right = model.predict(frame) == y
        assert (weights * right)[sick].sum() >= 0.9 * weights[sick].sum() - 1e-6
        assert model.constraint_report_.promises[0].certificate == "none"


def test_relabelling_the_classes_permutes_the_result() -> None:
    other = {"setosa": "z", "versicolor": "y", "virginica": "x"}
    wish = {"virginica": {"recall": 0.96}}
    a = ConstrainedNB(constraints=wish, method="density", **PLAIN).fit(HARD, Y)
    b = ConstrainedNB(constraints={"x": {"recall": 0.96}}, method="density", **PLAIN).fit(HARD, [other[v] for v in Y])
    assert b.log_posterior_loss_ == pytest.approx(a.log_posterior_loss_, abs=1e-3)


def test_shift_and_scale_of_a_column_change_nothing() -> None:
    wish = {"virginica": {"recall": 0.96}}
    a = ConstrainedNB(constraints=wish, method="density", **PLAIN).fit(HARD, Y)
    b = ConstrainedNB(constraints=wish, method="density", **PLAIN).fit(HARD * 1e4 + 7e5, Y)
    assert b.log_posterior_loss_ == pytest.approx(a.log_posterior_loss_, abs=1e-3)


def test_the_same_seed_gives_the_same_model_on_any_number_of_threads() -> None:
    frame, y = two_classes(400)
    results = []
    for threads in (1, 8):
        with threadpool_limits(threads):
            model = ConstrainedNB(
                constraints={"sick": {"recall": 0.9}}, method="density", random_state=3, n_jobs=threads
            )
            results.append(model.fit(frame, y).predict_joint_log_proba(frame))
    assert np.array_equal(*results)


def test_no_warning_escapes_from_a_search_that_overflows() -> None:
    X = np.concatenate([np.random.default_rng(0).normal(size=(50, 2)), [[1e60, -1e60]]])
    y = np.append(np.arange(50) % 2, 1)
    wish = {1: {"recall": 0.9}, 0: {"recall": 0.9}}
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with pytest.raises(InfeasibleConstraintsError, match="cannot be kept"):
            ConstrainedNB(constraints=wish, method="density", **PLAIN).fit(X, y)


def test_a_class_missing_from_the_labels_is_named() -> None:
    frame, y = two_classes(20)
    with pytest.raises(ValueError, match="'ill' is not one of the classes"):
        ConstrainedNB(constraints={"ill": {"recall": 0.9}}).fit(frame, y)


@pytest.mark.parametrize(
    "wrong",
    [
        {"method": "magic"},
        {"evaluate_on": "test"},
        {"confidence": 1.0},
        {"holdout": 0},
        {"folds": 1},
        {"on_infeasible": 0},
    ],
)
def test_parameters_that_make_no_sense_are_refused(wrong: Any) -> None:
    frame, y = two_classes(20)
    with pytest.raises(ValueError, match=next(iter(wrong))):
        ConstrainedNB(**wrong).fit(frame, y)


# --- what users get ---------------------------------------------------------------------------------------------------


def test_report_front_and_nearest_survive_saving(tmp_path: Any) -> None:
    frame, y = two_classes(300)
    model = ConstrainedNB(constraints={"sick": {"recall": 0.9}}, random_state=0).fit(frame, y)
    model.save(tmp_path / "model.snb")
    again = load(tmp_path / "model.snb")
    assert again.constraint_report_.to_frame().equals(model.constraint_report_.to_frame())
    assert str(again.nearest_) == str(model.nearest_)
    assert np.array_equal(again.predict_joint_log_proba(frame), model.predict_joint_log_proba(frame))
    assert "recall of 'sick' >= 0.9" in again.summary()


def test_the_front_tells_whether_the_promised_point_can_be_had() -> None:
    frame, y = two_classes(300)
    model = ConstrainedNB(constraints={"sick": {"recall": 0.9}}, **PLAIN).fit(frame, y)
    front = model.front(frame, y)
    assert front.classes == ("sick", "well")
    assert front.attainable
    assert front.reached[0] >= 0.9
    assert ((front.points[:, 0] >= front.reached[0]) & (front.points[:, 1] >= front.reached[1])).any()
    assert list(front.to_frame().columns) == ["recall of sick", "recall of well"]
    with pytest.raises(ValueError, match="two different classes"):
        model.front(frame, y, between=("sick", "ill"))


def test_the_report_tells_what_the_promise_costs() -> None:
    frame, y = two_classes(300)
    model = ConstrainedNB(constraints={"sick": {"recall": 0.9}}, **PLAIN).fit(frame, y)
    right, before = model.predict(frame) == y, NaiveBayes().fit(frame, y).predict(frame) == y
    well = y == "well"
    expected = [
        ("recall of 'well'", right[well].mean(), before[well].mean()),
        ("accuracy", right.mean(), before.mean()),
    ]
    for (what, rate, own), (name, now, then) in zip(model.constraint_report_.price, expected, strict=True):
        assert (what, rate, own) == (name, pytest.approx(now), pytest.approx(then))
    assert f"recall of 'well' {right[well].mean():.3f} (naive Bayes {before[well].mean():.3f})" in str(
        model.constraint_report_
    )
    many = {k: {"recall": 0.0} for k in range(9)} | {0: {"recall": 0.99}}
    rng = np.random.default_rng(0)
    labels = np.arange(180) % 9
    crowd = ConstrainedNB(constraints=many, **PLAIN).fit(rng.normal(size=(180, 1)) + labels[:, None], labels)
    (line,) = (line for line in str(crowd.constraint_report_).splitlines() if line.startswith("not promised"))
    assert line.count("recall of") == 4
    assert "..., accuracy" in line


def test_two_promises_that_cannot_be_had_together_are_told_what_can() -> None:
    frame, y = two_classes(300)
    for wish in ({"sick": {"recall": 0.97}, "well": {"recall": 0.9}}, {"sick": {"recall": 0.97, "specificity": 0.9}}):
        with pytest.raises(InfeasibleConstraintsError, match="Ask for less: class offsets can have") as caught:
            ConstrainedNB(constraints=wish, method="offset", **PLAIN).fit(frame, y)
        told = str(caught.value).split("or 0.9 of 'well' with ")
        alone = ConstrainedNB(
            constraints={"well": {"recall": 0.9}, "sick": {"recall": float(told[1].split()[0]) - 5e-4}},
            method="offset", **PLAIN,
        ).fit(frame, y)  # fmt: skip
        assert alone.status_ in ("feasible", "map_feasible")


def test_other_names_of_a_metric_are_translated() -> None:
    frame, y = two_classes(20)
    with pytest.raises(ValueError, match=r"sensitivity is called 'recall' here"):
        ConstrainedNB(constraints={"sick": {"sensitivity": 0.9}}).fit(frame, y)


def test_the_front_can_be_drawn() -> None:
    import matplotlib as mpl

    mpl.use("Agg")
    model = ConstrainedNB(constraints={"virginica": {"recall": 0.95}}, **PLAIN).fit(HARD, Y)
    ax = model.front(HARD, Y, between=("virginica", "versicolor")).plot()
    assert ax.get_xlabel() == "recall of virginica"
    assert plot.front(model, HARD, Y, ax=ax) is ax
    mpl.pyplot.close(ax.figure)


def test_the_report_names_columns_that_repeat_each_other() -> None:
    frame, y = two_classes(300)
    frame["birth"] = 2020 - frame["age"]
    wish = {"sick": {"recall": 0.9}}
    report = ConstrainedNB(constraints=wish, **PLAIN).fit(frame, y).constraint_report_
    assert report.repeats == (("age", "birth"),)
    assert "columns that repeat each other within a class: age, birth" in str(report)
    alone = ConstrainedNB(constraints=wish, **PLAIN).fit(frame.drop(columns="birth"), y).constraint_report_
    assert alone.repeats == ()
    assert "repeat" not in str(alone)
    wide = frame.assign(**{f"more{i}": frame["age"] for i in range(30)})
    assert ConstrainedNB(constraints=wish, **PLAIN).fit(wide, y).constraint_report_.repeats == ()


# --- the mesh search of the literature --------------------------------------------------------------------------------


def test_without_its_package_the_mesh_search_says_how_to_get_it(monkeypatch: Any) -> None:
    monkeypatch.setitem(sys.modules, "PyNomad", None)
    frame, y = two_classes(60)
    with pytest.raises(
        ImportError, match=r"method='mads' needs the package PyNomadBBO: pip install 'seminaive\[mads\]'"
    ):
        ConstrainedNB(method="mads").fit(frame, y)


@pytest.mark.slow
def test_promises_can_be_kept_by_mesh_search() -> None:
    pytest.importorskip("PyNomad")
    wish = {"virginica": {"recall": 0.95}, "versicolor": {"recall": 0.6}}
    model = ConstrainedNB(constraints=wish, method="mads", **PLAIN).fit(HARD, Y)
    assert (model.status_, model.method_used_) == ("feasible", "mads")
    assert recall_on(model, HARD, Y, "virginica") >= 0.95
    ours = ConstrainedNB(constraints=wish, method="density", **PLAIN).fit(HARD, Y)
    assert ours.log_posterior_loss_ <= model.log_posterior_loss_ + 1e-3


def test_a_prior_of_ones_own_can_differ_by_class_and_column() -> None:
    from seminaive.statistics.normal_gamma import SAMPLE_VARIANCE, NormalGamma

    frame, y = two_classes(80)
    numbers = frame[["marker", "age"]]
    own = NormalGamma(np.array([[0.0, 50], [1, 54]]), 5.0, np.array([2.0, 3.0]), np.array([[1.0, 100], [2, 200]]))
    model = NaiveBayes(variance_prior=own).fit(numbers, y)
    for j, term in enumerate(model.evidence_.terms):
        for k, label in enumerate(("sick", "well")):
            x = numbers.loc[y == label].iloc[:, j]
            n, mean, squares = len(x), x.mean(), ((x - x.mean()) ** 2).sum()
            beta = own.beta0[k, j] + squares / 2 + 5 * n * (mean - own.mu0[k, j]) ** 2 / (2 * (5 + n))
            assert term.mean[k] == pytest.approx((5 * own.mu0[k, j] + n * mean) / (5 + n))
            assert term.precision[k] == pytest.approx((own.alpha0[j] + n / 2 - 0.5) / beta)
    classic = NaiveBayes(variance_prior=SAMPLE_VARIANCE).fit(numbers, y)
    assert 1 / classic.evidence_.terms[0].precision[0] == pytest.approx(numbers.loc[y == "sick", "marker"].var())
    with pytest.raises(ValueError, match="one per numeric column"):
        NaiveBayes(variance_prior=NormalGamma(np.zeros(3))).fit(numbers, y)


@pytest.mark.slow
def test_more_rows_than_the_limit_are_judged_by_a_sample() -> None:
    frame, y = two_classes(MOST_ROWS + 20_000)
    for place in ("train", "cv", "holdout"):
        model = ConstrainedNB(constraints={"sick": {"recall": 0.9}}, evaluate_on=place, random_state=0).fit(frame, y)
        assert model.status_ == "feasible"
        assert recall_on(model, frame, y, "sick") >= 0.9
    assert model.class_count_.sum() > MOST_ROWS


@pytest.mark.slow
@pytest.mark.parametrize(
    ("method", "place", "draws", "least"),
    [
        ("offset", "cv", 1000, 0.92),
        ("offset", "holdout", 200, 0.95),
        ("density", "cv", 200, 0.9),
        ("auto", "cv", 200, 0.9),
    ],
)
def test_certified_promises_hold_on_new_rows(method: str, place: str, draws: int, least: float) -> None:
    from seminaive.reproduce.new_rows import five_normals, held, simulated

    n = 200 if method == "density" else 1000
    found = held(simulated(five_normals, n), {1: 0.95}, draws, method=method, evaluate_on=place)
    assert found.refused < draws / 10
    assert found.share >= least


def test_a_class_called_star_is_named_in_the_report_and_told_from_all_classes() -> None:
    X, y = two_classes(200)
    y = np.where(y == "sick", "*", y)
    model = ConstrainedNB(constraints={("*",): {"recall": 0.5}, "*": {"accuracy": 0.5}}, random_state=0).fit(X, y)
    text = str(model.constraint_report_)
    assert "recall of '*' >= 0.5" in text
    assert "accuracy overall >= 0.5" in text
    with pytest.raises(ValueError, match=r"that of a class '\*' is written \('\*',\)"):
        ConstrainedNB(constraints={"*": {"recall": 0.5}}).fit(X, y)
