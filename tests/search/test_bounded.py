"""The non-negative minimum of a quadratic."""

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from seminaive.search.bounded import bounded_minimum


@given(seed=st.integers(0, 10_000), size=st.integers(1, 40))
@settings(max_examples=60, deadline=None)
def test_solution_meets_the_optimality_conditions(seed, size):
    rng = np.random.default_rng(seed)
    root = rng.normal(size=(size, size))
    matrix, right = root @ root.T + 1e-3 * np.eye(size), rng.normal(size=size)
    solution = bounded_minimum(matrix, right)
    slope, unit = matrix @ solution - right, 1e-8 * (1 + np.abs(matrix).max() * np.abs(solution).max())
    assert solution.min() >= 0
    assert slope.min() > -unit
    assert np.abs(slope[solution > 0]).max(initial=0) < unit


def test_a_free_solution_without_negative_parts_is_kept():
    matrix, right = np.array([[2.0, -1.0], [-1.0, 2.0]]), np.array([1.0, 1.0])
    np.testing.assert_allclose(bounded_minimum(matrix, right), np.linalg.solve(matrix, right))
