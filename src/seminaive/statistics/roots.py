"""Where several rising functions are zero, all at once."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import numpy.typing as npt

__all__ = ["rising_roots"]

Floats = npt.NDArray[np.float64]

MOST_STEPS = 200
EQUAL = 4e-16


def rising_roots(function: Callable[[Floats], Floats], low: Floats, high: Floats, near: float = 0.0) -> Floats:
    """The root of each of several rising functions.

    False position with the Illinois rule (an end that stays counts half), every third step a bisection, so that the
    interval shrinks whatever the functions.

    Parameters
    ----------
    function : callable
        From one point per function to the values there.
    low, high : arrays
        Points where the functions are <= 0 and >= 0.
    near : float
        Values this close to 0 will do; else a root is as near as float64 allows.

    Examples
    --------
    >>> rising_roots(lambda x: x**3 - np.array([8.0, 27.0]), np.zeros(2), np.full(2, 10.0))
    array([2., 3.])
    """
    a, b = low.copy(), high.copy()
    at_a, at_b = function(a), function(b)
    best, nearest = np.where(-at_a < at_b, a, b), np.minimum(-at_a, at_b)
    for turn in range(MOST_STEPS):
        wide = (b - a > EQUAL * (np.abs(a) + np.abs(b))) & (nearest > near)
        if not wide.any():
            break
        gap = at_b - at_a
        share = np.where(gap > 0, -at_a / np.where(gap > 0, gap, 1.0), 0.5) if turn % 3 < 2 else np.full(a.shape, 0.5)
        point = np.where(wide, a + share * (b - a), best)
        value = function(point)
        closer = np.abs(value) < nearest
        best, nearest = np.where(closer, point, best), np.where(closer, np.abs(value), nearest)
        below = value < 0
        at_a, at_b = np.where(below, value, 0.5 * at_a), np.where(below, 0.5 * at_b, value)
        a, b = np.where(below, point, a), np.where(below, b, point)
    return best
