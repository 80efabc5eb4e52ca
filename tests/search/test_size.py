"""Weights of a given size, and the search over sizes."""

import numpy as np
import pytest
from evidence_problems import random_problem

from seminaive.search.ridge import Restraint, scale
from seminaive.search.size import choose_size, fit_size
from seminaive.search.unrestricted import fit_unrestricted
from seminaive.search.weighted_evidence import WeightedEvidence, in_memory

FORMS = [(2, False), (3, False), (3, True)]


@pytest.mark.parametrize(("classes", "shared"), FORMS)
@pytest.mark.parametrize("share", [0.9, 0.3, 0.001])
@pytest.mark.parametrize("nonnegative", [False, True])
def test_weights_have_the_size_asked_for_and_solve_a_ridge_problem(classes, shared, share, nonnegative):
    problem, _ = random_problem(1, classes, shared, rows=200)
    free, _ = fit_unrestricted(problem, scale(problem), Restraint(nonnegative=nonnegative))
    m = share * free.size
    fit = fit_size(problem, m, free, nonnegative=nonnegative)
    assert fit.size == pytest.approx(m, rel=1e-10)
    gradient = problem.sums(fit.weights, 1).gradient + 2 * fit.penalty * fit.weights
    assert np.abs(gradient[fit.free]).max() < 1e-8
    assert fit.penalty > 0


def test_a_size_beyond_the_unrestricted_weights_returns_those():
    problem, _ = random_problem(1)
    free, _ = fit_unrestricted(problem, scale(problem))
    assert fit_size(problem, free.size * 2, free) is free
    with pytest.raises(ValueError, match="m must be positive, got 0"):
        fit_size(problem, 0, free)


def test_search_refines_between_the_neighbours_of_the_best_coarse_size():
    problem, rows = random_problem(2, rows=120)
    fold = np.arange(120) % 5
    folds = [
        tuple(WeightedEvidence(problem.design, in_memory([rows.take(at)]), at.sum()) for at in (fold != f, fold == f))
        for f in range(5)
    ]
    free, _ = fit_unrestricted(problem, scale(problem))
    found = choose_size(folds, free.size)
    coarse = found.sizes[:10]
    np.testing.assert_allclose(coarse, free.size * np.arange(1, 11) / 10)
    best = int(np.argmin(found.mean_bits[:10]))
    low, high = (coarse[best - 1] if best else 0.0), coarse[min(best + 1, 9)]
    np.testing.assert_allclose(found.sizes[10:], low + (high - low) * np.arange(1, 11) / 10)
    assert found.mean_bits[found.sizes == found.m].min() == found.mean_bits.min()
    for (training, held_out), limit in zip(folds, found.fold_limits, strict=True):
        unrestricted, _ = fit_unrestricted(training, scale(training))
        assert unrestricted.size == pytest.approx(limit)
        assert held_out.total == 24
