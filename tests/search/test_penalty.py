"""Choosing a penalty along the path."""

from dataclasses import replace

import numpy as np
import pytest
from evidence_problems import random_design, random_problem, random_rows

from seminaive.search.design import Rows, table_design
from seminaive.search.gradient_only import gradient_only
from seminaive.search.penalty import choose_penalty, cross_validated, left_out
from seminaive.search.ridge import Restraint, scale
from seminaive.search.weighted_evidence import WeightedEvidence, in_memory


def folds_of(problem, rows, count=4):
    part = np.arange(len(rows)) % count
    pieces = [(rows.take(part != f), rows.take(part == f)) for f in range(count)]
    return [tuple(WeightedEvidence(problem.design, in_memory([p]), p.total) for p in pair) for pair in pieces]


def test_path_steps_down_by_a_third_of_a_decade_from_a_hundred():
    problem, _ = random_problem(1)
    path = choose_penalty(problem, left_out(problem), scale(problem)).path
    np.testing.assert_allclose([step.relative for step in path], 100 * 10 ** (-np.arange(len(path)) / 3))
    np.testing.assert_allclose([step.penalty for step in path], scale(problem) * np.array([s.relative for s in path]))
    sizes = [step.m for step in path]
    assert sizes == sorted(sizes)


def test_best_step_is_kept_and_four_worse_ones_end_the_path():
    problem, _ = random_problem(1)
    chosen = choose_penalty(problem, left_out(problem), scale(problem))
    criteria = [step.criterion for step in chosen.path]
    best = int(np.argmin(criteria))
    assert chosen.fit.penalty == chosen.path[best].penalty
    assert len(criteria) == best + 5
    assert not chosen.at_the_end
    gradient = problem.sums(chosen.fit.weights, 1).gradient + 2 * chosen.fit.penalty * chosen.fit.weights
    assert np.abs(gradient).max() < 1e-8


def test_separable_classes_reach_the_weakest_penalty_and_say_so():
    label = np.repeat([0, 1], 10)
    rows = Rows(label[None].astype(np.uint8), label)
    problem = WeightedEvidence(
        table_design(np.zeros(1), np.array([[-1.0, 1.0]]), np.array([0, 2])), in_memory([rows]), 20
    )
    chosen = choose_penalty(problem, left_out(problem), scale(problem))
    assert chosen.at_the_end
    assert np.isfinite(chosen.fit.weights).all()


def test_evidence_that_says_nothing_keeps_the_centre():
    label = np.array([0, 1, 1])
    rows = Rows(np.zeros((2, 3), np.uint8), label)
    problem = WeightedEvidence(table_design(np.zeros(1), np.zeros((1, 2)), np.arange(3)), in_memory([rows]), 3)
    chosen = choose_penalty(problem, left_out(problem), scale(problem), Restraint(centre=0.3))
    np.testing.assert_array_equal(chosen.fit.weights, [0.3, 0.3])


@pytest.mark.parametrize(("classes", "shared"), [(2, False), (3, False), (3, True)])
def test_leaving_out_by_approximation_agrees_with_cross_validation_by_row(classes, shared):
    problem, rows = random_problem(3, classes, shared, rows=40)
    approximate = choose_penalty(problem, left_out(problem), scale(problem))
    exact = choose_penalty(problem, cross_validated(problem, folds_of(problem, rows, 40)), scale(problem))
    # A fold's penalty is scaled by its share of the rows, 39/40, so the two differ a little beyond approximation.
    for a, b in zip(approximate.path[:8], exact.path[:8], strict=True):
        assert a.criterion == pytest.approx(b.criterion, rel=5e-3)


def test_the_gradient_only_solver_chooses_the_same_penalty():
    problem, rows = random_problem(4, 3, rows=120)
    folds = folds_of(problem, rows)
    exact = choose_penalty(problem, cross_validated(problem, folds), scale(problem))
    criterion = cross_validated(problem, folds, solve=gradient_only)
    fast = choose_penalty(problem, criterion, scale(problem), solve=gradient_only)
    assert fast.fit.penalty == exact.fit.penalty
    np.testing.assert_allclose(fast.fit.weights, exact.fit.weights, atol=1e-5)


def test_left_out_rows_count_by_their_weight():
    design, rows = random_design(5), random_rows(5, weighted=True)
    whole = WeightedEvidence(design, in_memory([rows]), rows.total)
    kept = rows.take(rows.weight > 0)
    part = WeightedEvidence(design, in_memory([kept]), kept.total)
    fits = [choose_penalty(problem, left_out(problem), scale(problem)) for problem in (whole, part)]
    assert fits[0].fit.penalty == pytest.approx(fits[1].fit.penalty)
    np.testing.assert_allclose(fits[0].path[3].criterion, fits[1].path[3].criterion, rtol=1e-9)
    assert replace(rows, weight=None).total == len(rows)
