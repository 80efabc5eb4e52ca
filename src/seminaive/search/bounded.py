"""The minimum of a convex quadratic over variables of which some or all must not be negative."""

import numpy as np
import numpy.typing as npt

from seminaive.search.linear import solve_positive

__all__ = ["bounded_minimum"]

Float = npt.NDArray[np.float64]


def bounded_minimum(matrix: Float, right: Float, bounded: npt.NDArray[np.bool_] | bool = True) -> Float:
    """Minimise x'Ax/2 - b'x over x >= 0 for a positive definite A, exactly; only `bounded` variables are bound.

    Block principal pivoting (Portugal, Judice and Vicente 1994): guess which variables are free, solve for
    them, and exchange all that end on the wrong side at once. If that stops helping, exchange only the
    last of them, which always ends. Few rounds suffice even when hundreds of variables are held at 0.

    Examples
    --------
    >>> bounded_minimum(np.array([[2.0, 1.0], [1.0, 2.0]]), np.array([1.0, -1.0]))
    array([0.5, 0. ])
    """
    size = len(right)
    loose = ~np.broadcast_to(bounded, size)
    free = (right > 0) | loose
    fewest, patience = size + 1, 3
    solution = np.zeros(size)
    noise = 1e-13 * (np.abs(right).max(initial=0.0) + 1e-300)
    for _ in range(100 + 10 * size):
        solution = np.zeros(size)
        if free.any():
            solution[free] = solve_positive(matrix[np.ix_(free, free)], right[free])
        slope = matrix @ solution - right
        wrong = np.where(free, (solution < 0) & ~loose, slope < -noise)
        count = int(wrong.sum())
        if count == 0:
            break
        if count < fewest:
            fewest, patience = count, 3
        elif patience > 0:
            patience -= 1
        else:
            last = np.flatnonzero(wrong)[-1]
            wrong = np.zeros(size, dtype=bool)
            wrong[last] = True
        free ^= wrong
    return np.where(loose, solution, np.maximum(solution, 0.0))
