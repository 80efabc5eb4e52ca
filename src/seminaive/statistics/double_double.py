"""Arithmetic in twice the precision: a number is the unevaluated sum of two float64, high + low.

Plain NumPy, elementwise, about 31 digits. Products are exact as long as no operand exceeds 1e300. Reference:
Dekker, "A floating-point technique for extending the available precision" (1971).
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

Array = npt.NDArray[np.float64]
Pair = tuple[Array, Array]

# The relative rounding error of each function below is less than this (2^-98, with room to spare).
PAIR_ROUNDING = 2.0**-98

_SPLITTER = 134217729.0  # 2^27 + 1


def sum_exactly(a: Array, b: Array) -> Pair:
    """Return a + b as the rounded sum and its rounding error."""
    high = a + b
    back = high - a
    return high, (a - (high - back)) + (b - back)


def multiply_exactly(a: Array, b: Array) -> Pair:
    """Return a x b as the rounded product and its rounding error."""
    high = a * b
    a_upper = a * _SPLITTER
    a_upper = a_upper - (a_upper - a)
    a_lower = a - a_upper
    b_upper = b * _SPLITTER
    b_upper = b_upper - (b_upper - b)
    b_lower = b - b_upper
    low = ((a_upper * b_upper - high) + a_upper * b_lower + a_lower * b_upper) + a_lower * b_lower
    return high, low


def add(a: Pair, b: Pair) -> Pair:
    """Return a + b, with a small error even when the two nearly cancel."""
    high, low = sum_exactly(a[0], b[0])
    more, least = sum_exactly(a[1], b[1])
    high, low = sum_exactly(high, low + more)
    return sum_exactly(high, low + least)


def negative(a: Pair) -> Pair:
    """Return -a."""
    return -a[0], -a[1]


def multiply(a: Pair, b: Pair) -> Pair:
    """Return a x b."""
    high, low = multiply_exactly(a[0], b[0])
    return sum_exactly(high, low + (a[0] * b[1] + a[1] * b[0]))


def divide(a: Pair, b: Array) -> Pair:
    """Return a / b for a plain divisor b (not zero).

    >>> import numpy as np
    >>> third = divide((np.array([1.0]), np.array([0.0])), np.array([3.0]))
    >>> bool(abs(third[1][0]) < 2e-17)
    True
    """
    first = a[0] / b
    back_high, back_low = multiply_exactly(first, b)
    rest = ((a[0] - back_high) - back_low) + a[1]
    return sum_exactly(first, rest / b)
