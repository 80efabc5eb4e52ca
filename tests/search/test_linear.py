"""Small linear algebra, and one BLAS thread while fits run."""

import numpy as np
import pytest
from threadpoolctl import ThreadpoolController

from seminaive.search.linear import one_blas_thread, solve_positive


def threads():
    return [pool["num_threads"] for pool in ThreadpoolController().select(user_api="blas").info()]


def test_threads_come_back_when_the_outermost_fit_ends():
    before = threads()
    assert before
    with one_blas_thread():
        with one_blas_thread():
            assert set(threads()) == {1}
        assert set(threads()) == {1}
    assert threads() == before


def test_positive_definite_systems_are_solved_even_if_rounding_spoils_them():
    root = np.random.default_rng(0).normal(size=(5, 5))
    matrix, right = root @ root.T, np.arange(5.0)
    np.testing.assert_allclose(matrix @ solve_positive(matrix, right), right, atol=1e-9)
    singular = np.ones((2, 2)) - 1e-17
    np.testing.assert_allclose(solve_positive(singular, np.ones(2)).sum(), 1, rtol=1e-6)


def test_infinite_evidence_is_named_as_the_cause():
    with pytest.raises(ValueError, match="infinite or NaN"):
        solve_positive(np.array([[np.nan, 0.0], [0.0, 1.0]]), np.ones(2))
