"""Sums over coded rows against their definition with the whole evidence matrix."""

from dataclasses import replace

import numpy as np
import pytest
from evidence_problems import random_design, random_problem, random_rows, sums_by_definition

from seminaive.search.design import Lookup, Rows
from seminaive.search.ridge import FINAL, begin, newton, penalised_inverse
from seminaive.search.weighted_evidence import WeightedEvidence, in_memory, scores

FORMS = [(2, False), (3, False), (3, True)]


@pytest.mark.parametrize(("classes", "shared"), FORMS)
@pytest.mark.parametrize("weighted", [False, True])
def test_sums_equal_their_definition(classes, shared, weighted):
    problem, rows = random_problem(1, classes, shared, weighted, rows=700)
    weights = np.random.default_rng(2).normal(size=problem.size)
    value, gradient, hessian = sums_by_definition(rows, problem.design, weights)
    sums = problem.sums(weights)
    np.testing.assert_allclose(sums.value, value, rtol=1e-12)
    np.testing.assert_allclose(sums.gradient, gradient, atol=1e-10)
    np.testing.assert_allclose(sums.hessian, hessian, atol=1e-10)
    np.testing.assert_allclose(problem.diagonal(weights), np.diag(hessian), atol=1e-10)
    np.testing.assert_allclose(problem.sums(weights, 1).gradient, gradient, atol=1e-10)


@pytest.mark.parametrize(("classes", "shared"), FORMS)
def test_sums_do_not_depend_on_the_blocks(classes, shared):
    problem, rows = random_problem(3, classes, shared, True, rows=900)
    weights = np.linspace(-1, 1, problem.size)
    parts = [rows.take(np.arange(*ends)) for ends in ((0, 1), (1, 400), (400, 900))]
    split = replace(problem, fold=in_memory(parts))
    for whole, added in zip(vars(problem.sums(weights)).values(), vars(split.sums(weights)).values(), strict=True):
        np.testing.assert_allclose(added, whole, rtol=1e-12, atol=1e-12)
    np.testing.assert_allclose(split.bounded_loss(weights), problem.bounded_loss(weights), rtol=1e-12)


@pytest.mark.parametrize(("classes", "shared"), FORMS)
def test_weight_two_equals_the_row_twice_and_zero_the_row_removed(classes, shared):
    design = random_design(4, classes=classes, shared=shared)
    rows = random_rows(4, classes=classes)
    copies = np.random.default_rng(5).integers(0, 3, len(rows))
    weighted, repeated = replace(rows, weight=copies.astype(float)), rows.take(np.repeat(np.arange(len(rows)), copies))
    problems = [WeightedEvidence(design, in_memory([part]), part.total) for part in (weighted, repeated)]
    fits = [newton(problem, 2.0, begin(problem), tolerance=FINAL) for problem in problems]
    assert problems[0].total == problems[1].total
    np.testing.assert_allclose(fits[0].weights, fits[1].weights, atol=1e-9)
    left_out = [p.left_out_loss(f.weights, penalised_inverse(f)) for p, f in zip(problems, fits, strict=True)]
    np.testing.assert_allclose(left_out[0], left_out[1], rtol=1e-9)


@pytest.mark.parametrize(("classes", "shared"), FORMS)
def test_left_out_loss_is_one_newton_step_without_the_row(classes, shared):
    problem, rows = random_problem(6, classes, shared, rows=40)
    penalty = 1.5
    fit = newton(problem, penalty, begin(problem), tolerance=FINAL)
    total = 0.0
    for row in range(len(rows)):
        one = rows.take(np.array([row]))
        _, gradient, hessian = sums_by_definition(one, problem.design, fit.weights)
        without = fit.sums.hessian - hessian + 2 * penalty * np.eye(problem.size)
        moved = fit.weights + np.linalg.solve(without, gradient)
        total += sums_by_definition(one, problem.design, moved)[0]
    ours = problem.left_out_loss(fit.weights, penalised_inverse(fit))
    np.testing.assert_allclose(ours, total, rtol=1e-7)


@pytest.mark.parametrize(("classes", "shared"), FORMS)
def test_left_out_loss_is_near_the_loss_of_refits(classes, shared):
    problem, rows = random_problem(7, classes, shared, rows=80)
    fit = newton(problem, 3.0, begin(problem), tolerance=FINAL)
    total = 0.0
    for row in range(len(rows)):
        rest = rows.take(np.arange(len(rows)) != row)
        part = WeightedEvidence(problem.design, in_memory([rest]), rest.total)
        refit = newton(part, 3.0, begin(part), tolerance=FINAL)
        total += sums_by_definition(rows.take(np.array([row])), problem.design, refit.weights)[0]
    ours = problem.left_out_loss(fit.weights, penalised_inverse(fit))
    assert abs(ours - total) < 2e-3 * total


def test_wide_codes_and_dense_columns_read_like_tables():
    rows, design = random_rows(8, rows=300, classes=3), random_design(8, classes=3)
    tables = design.tables.reshape(3, 4, 4)
    lookup = design.lookup
    mixed = Rows(
        rows.codes[:2].copy(),
        rows.label,
        None,
        rows.codes[2:3].astype(np.uint16),
        np.stack([tables[k, 3][rows.codes[3]] for k in range(3)])[:, None],
    )
    first, second = (Lookup(np.arange(n), lookup.start[at], lookup.place[at]) for n, at in ((2, [0, 1]), (1, [2])))
    other = replace(design, lookup=first, lookup16=second, dense_place=np.array([3]))
    weights = np.linspace(-1, 1, 12)
    np.testing.assert_allclose(scores(mixed, other, weights), scores(rows, design, weights), atol=1e-13)
    problem = WeightedEvidence(other, in_memory([mixed]), 300)
    np.testing.assert_allclose(problem.sums(weights).hessian, sums_by_definition(rows, design, weights)[2], atol=1e-10)


def test_any_class_may_be_the_positive_one():
    rows, design = random_rows(9, classes=3), random_design(9)
    relabelled = replace(rows, label=(rows.label == 2).astype(np.intp))
    pairs = ((replace(design, positive=2), rows), (design, relabelled))
    values = [WeightedEvidence(d, in_memory([r]), r.total).sums(np.ones(4)).gradient for d, r in pairs]
    np.testing.assert_array_equal(*values)
