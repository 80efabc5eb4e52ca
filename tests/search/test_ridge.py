"""The safeguarded Newton solver."""

from dataclasses import dataclass, field, replace

import numpy as np
import pytest
from evidence_problems import random_problem, random_rows
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from scipy.optimize import minimize

from seminaive.search.design import Rows, table_design
from seminaive.search.gradient_only import gradient_only
from seminaive.search.ridge import FINAL, Restraint, begin, common_weight, newton, penalised_inverse, scale
from seminaive.search.weighted_evidence import WeightedEvidence, in_memory
from seminaive.statistics.adjustment import class_adjustments

FORMS = [(2, False), (3, False), (3, True)]
RESTRAINTS = [Restraint(), Restraint(centre=1.0), Restraint(nonnegative=True)]


@dataclass
class Counted:
    """A problem that counts passes over its rows."""

    problem: WeightedEvidence
    passes: int = 0
    orders: list = field(default_factory=list)

    def __getattr__(self, name):
        return getattr(self.problem, name)

    def sums(self, weights, order=2):
        self.passes += 1
        return self.problem.sums(weights, order)


def objective(problem, weights, penalty, centre=0.0):
    return problem.sums(weights, 0).value + penalty * ((weights - centre) ** 2).sum()


@pytest.mark.parametrize(("classes", "shared"), FORMS)
@pytest.mark.parametrize("restraint", RESTRAINTS)
def test_newton_finds_what_a_general_optimiser_finds(classes, shared, restraint):
    problem, _ = random_problem(1, classes, shared, True)
    fit = newton(problem, 0.7, begin(problem, restraint.centre), restraint, FINAL)
    bounds = [(0, None)] * problem.size if restraint.nonnegative else None

    def slope(w):
        return problem.sums(w, 1).gradient + 1.4 * (w - restraint.centre)

    found = minimize(
        lambda w: objective(problem, w, 0.7, restraint.centre),
        np.full(problem.size, 0.5),
        jac=slope,
        bounds=bounds,
        method="L-BFGS-B",
        options={"ftol": 1e-15, "gtol": 1e-9},
    )
    np.testing.assert_allclose(fit.weights, found.x, atol=1e-5)
    assert objective(problem, fit.weights, 0.7, restraint.centre) <= found.fun + 1e-12


@pytest.mark.parametrize(("classes", "shared"), FORMS)
def test_bounded_weights_meet_the_optimality_conditions(classes, shared):
    problem, _ = random_problem(2, classes, shared, columns=8)
    fit = newton(problem, 0.5, begin(problem), Restraint(nonnegative=True), FINAL)
    gradient = problem.sums(fit.weights, 1).gradient + fit.weights
    assert fit.weights.min() >= 0
    assert (fit.weights == 0).any()
    assert not fit.free[fit.weights == 0].any()
    assert gradient.min() > -1e-8
    assert np.abs(gradient[fit.weights > 0]).max() < 1e-8
    assert (penalised_inverse(fit)[fit.weights == 0] == 0).all()


@pytest.mark.parametrize(("classes", "shared"), FORMS)
def test_bounded_fit_takes_at_most_a_few_more_passes_than_the_free_one(classes, shared):
    passes = []
    for restraint in (Restraint(), Restraint(nonnegative=True)):
        problem = Counted(random_problem(2, classes, shared, columns=12, rows=200)[0])
        newton(problem, 0.5, begin(problem), restraint, FINAL)
        passes.append(problem.passes)
    assert passes[1] <= passes[0] + 4


def test_sums_of_a_fit_are_those_at_its_weights():
    problem, _ = random_problem(3)
    fit = newton(problem, 0.5, begin(problem))
    there = problem.sums(fit.weights)
    np.testing.assert_allclose(fit.sums.value, there.value, rtol=1e-12)
    np.testing.assert_allclose(fit.sums.gradient, there.gradient, atol=1e-7)


def test_a_neighbour_on_the_path_needs_few_passes():
    problem = Counted(random_problem(4)[0])
    fit = newton(problem, 1.0, begin(problem))
    before = problem.passes
    newton(problem, 0.46, fit)
    assert problem.passes - before <= 4


@given(
    codes=arrays(np.uint8, (4, 25), elements=st.integers(0, 3)),
    label=arrays(np.intp, 25, elements=st.integers(0, 2)),
    exponent=st.integers(-10, 2),
    classes=st.sampled_from([2, 3]),
    restraint=st.sampled_from(RESTRAINTS),
)
@settings(max_examples=80, deadline=None)
def test_any_table_gives_finite_weights_no_worse_than_naive_bayes(codes, label, exponent, classes, restraint):
    label = np.minimum(label, classes - 1)
    starts, counts = np.arange(5) * 4, np.zeros((classes, 16))
    for j in range(4):
        np.add.at(counts, (label, 4 * j + codes[j]), 1.0)
    prior = np.maximum(np.bincount(label, minlength=classes) / 25, 1e-3)
    tables = class_adjustments(counts, starts, prior / prior.sum())
    if classes == 2:
        tables = tables[1:] - tables[:1]
    design = table_design(np.zeros(len(tables)), tables, starts)
    problem = WeightedEvidence(design, in_memory([Rows(codes, label)]), 25)
    penalty = 10.0**exponent * (scale(problem) or 1.0)
    fit = newton(problem, penalty, begin(problem, restraint.centre), restraint)
    assert np.isfinite(fit.weights).all()
    naive = objective(problem, np.ones(problem.size), penalty, restraint.centre)
    assert objective(problem, fit.weights, penalty, restraint.centre) <= naive + 1e-9 * max(1.0, naive)


def test_duplicated_predictors_share_their_weight_and_silent_ones_stay_at_the_centre():
    rows = random_rows(5)
    twice = replace(rows, codes=np.concatenate([rows.codes, rows.codes[:1], rows.codes[:1]]))
    tables = np.random.default_rng(0).normal(size=(1, 16))
    tables = np.concatenate([tables, tables[:, :4], np.zeros((1, 4))], axis=1)
    problem = WeightedEvidence(table_design(np.zeros(1), tables, np.arange(7) * 4), in_memory([twice]), 60)
    for centre in (0.0, 1.0):
        fit = newton(problem, 0.5, begin(problem, centre), Restraint(centre), FINAL)
        assert abs(fit.weights[0] - fit.weights[4]) < 1e-9
        assert fit.weights[5] == centre


def test_order_of_rows_and_predictors_does_not_matter():
    problem, rows = random_problem(6, 3)
    fit = newton(problem, 0.5, begin(problem), tolerance=FINAL)
    order, columns = np.random.default_rng(0).permutation(60), np.array([2, 0, 3, 1])
    design = problem.design
    lookup = replace(design.lookup, source=np.arange(4), start=design.lookup.start[columns])
    shuffled = replace(rows.take(order), codes=rows.take(order).codes[columns])
    other = WeightedEvidence(replace(design, lookup=lookup), in_memory([shuffled]), 60)
    again = newton(other, 0.5, begin(other), tolerance=FINAL)
    np.testing.assert_allclose(again.weights.reshape(3, 4), fit.weights.reshape(3, 4)[:, columns], atol=1e-9)


def test_no_predictors_is_no_work():
    problem = WeightedEvidence(
        table_design(np.zeros(1), np.zeros((1, 0)), np.array([0])),
        in_memory([Rows(np.empty((0, 5), np.uint8), np.array([0, 1, 1, 0, 1]))]),
        5,
    )
    fit = newton(problem, 1.0, begin(problem))
    assert fit.weights.shape == (0,)
    assert scale(problem) == 0.0


def test_common_weight_of_a_repeated_predictor_is_its_share():
    label = np.repeat([1, 1, 1, 0, 0, 0, 0, 1], 5).astype(np.intp)
    codes = np.tile(np.repeat([1, 1, 1, 1, 0, 0, 0, 0], 5), (4, 1)).astype(np.uint8)
    tables = np.tile(np.log([1 / 3, 3.0]), 4)[None]  # the exact log odds of one copy
    problem = WeightedEvidence(table_design(np.zeros(1), tables, np.arange(5) * 2), in_memory([Rows(codes, label)]), 40)
    assert common_weight(problem) == pytest.approx(0.25, abs=1e-9)


def test_common_weight_stays_between_none_and_all():
    label, codes = np.array([1, 1, 0, 0]), np.array([[1, 1, 0, 0]], dtype=np.uint8)
    for sign, expected in ((1.0, 1.0), (-1.0, 0.0)):
        design = table_design(np.zeros(1), sign * np.array([[-0.1, 0.1]]), np.array([0, 2]))
        assert common_weight(WeightedEvidence(design, in_memory([Rows(codes, label)]), 4)) == expected


@pytest.mark.parametrize(("classes", "shared"), FORMS)
@pytest.mark.parametrize("restraint", RESTRAINTS)
def test_gradients_alone_find_the_same_weights(classes, shared, restraint):
    problem, _ = random_problem(7, classes, shared, columns=8, rows=150)
    exact = newton(problem, 0.8, begin(problem, restraint.centre), restraint, FINAL)
    fit = gradient_only(problem, 0.8, begin(problem, restraint.centre), restraint, FINAL)
    assert fit.converged
    np.testing.assert_allclose(fit.weights, exact.weights, atol=1e-6)
    np.testing.assert_allclose(fit.sums.value, exact.sums.value, rtol=1e-9)
    np.testing.assert_allclose(fit.sums.gradient, exact.sums.gradient, atol=1e-4)
