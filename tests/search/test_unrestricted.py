"""Weights without a penalty."""

from dataclasses import replace

import numpy as np
import pytest
from evidence_problems import jacobian, random_problem

from seminaive.search.design import Rows, table_design
from seminaive.search.ridge import Restraint, scale
from seminaive.search.unrestricted import fit_unrestricted
from seminaive.search.weighted_evidence import WeightedEvidence, in_memory

FORMS = [(2, False), (3, False), (3, True)]


@pytest.mark.parametrize(("classes", "shared"), FORMS)
def test_gradient_is_zero_without_a_penalty(classes, shared):
    problem, _ = random_problem(1, classes, shared, rows=300)
    fit, separable = fit_unrestricted(problem, scale(problem))
    assert not separable
    assert fit.penalty == 0
    assert np.abs(problem.sums(fit.weights, 1).gradient).max() < 1e-9


@pytest.mark.parametrize("centre", [0.0, 1.0])
def test_of_many_solutions_the_one_nearest_the_centre_is_taken(centre):
    problem, rows = random_problem(2, rows=200)
    lookup = problem.design.lookup
    # predictor 4 repeats predictor 0; predictor 5 is never anything but 0
    tables = np.concatenate([problem.design.tables, np.zeros((1, 4))], axis=1)
    more = replace(
        lookup,
        source=np.append(lookup.source, [0, 0]),
        start=np.append(lookup.start, [lookup.start[0], 16]),
        place=np.arange(6),
    )
    twice = replace(problem, design=replace(problem.design, lookup=more, tables=tables, predictors=6))
    fit, separable = fit_unrestricted(twice, scale(twice), Restraint(centre))
    assert not separable
    assert np.abs(twice.sums(fit.weights, 1).gradient).max() < 1e-9
    null = np.linalg.svd(jacobian(rows, twice.design)[:, 0])[2][4:]
    np.testing.assert_allclose(null @ (fit.weights - centre), 0, atol=1e-9)
    assert fit.weights[0] == pytest.approx(fit.weights[4], abs=1e-10)
    assert fit.weights[5] == centre


def half_separable():
    """One value occurs with one class only; the other predictor is ordinary."""
    label = np.array([0, 0, 0, 1, 1, 1, 1, 1] * 4)
    codes = np.array([[0, 0, 0, 0, 0, 1, 1, 1], [0, 1, 0, 1, 1, 0, 1, 0]] * 1, dtype=np.uint8)
    design = table_design(np.zeros(1), np.array([[0.0, 1.0, -0.5, 0.5]]), np.array([0, 2, 4]))
    return WeightedEvidence(design, in_memory([Rows(np.tile(codes, 4), label)]), 32)


@pytest.mark.parametrize("nonnegative", [False, True])
def test_a_value_that_decides_alone_is_recognised_as_separable(nonnegative):
    problem = half_separable()
    fit, separable = fit_unrestricted(problem, scale(problem), Restraint(nonnegative=nonnegative))
    assert separable
    assert fit.penalty > 0
    assert 5 < fit.weights[0] < 100


def test_bounds_can_hold_what_would_be_separable():
    problem = half_separable()
    turned = replace(problem, design=replace(problem.design, tables=problem.design.tables * [[1, -1, 1, 1]]))
    fit, separable = fit_unrestricted(turned, scale(turned), Restraint(nonnegative=True))
    assert not separable
    assert fit.weights[0] == 0


def test_bounded_limit_meets_the_optimality_conditions():
    problem, _ = random_problem(4, 3, columns=8, rows=200)
    fit, separable = fit_unrestricted(problem, scale(problem), Restraint(nonnegative=True))
    gradient = problem.sums(fit.weights, 1).gradient
    assert not separable
    assert gradient.min() > -1e-6
    assert np.abs(gradient[fit.weights > 0]).max() < 1e-6


def test_silent_evidence_keeps_the_centre():
    rows = Rows(np.zeros((2, 3), np.uint8), np.array([0, 1, 1]))
    problem = WeightedEvidence(table_design(np.zeros(1), np.zeros((1, 2)), np.arange(3)), in_memory([rows]), 3)
    fit, separable = fit_unrestricted(problem, scale(problem), Restraint(0.5))
    assert not separable
    np.testing.assert_array_equal(fit.weights, [0.5, 0.5])
