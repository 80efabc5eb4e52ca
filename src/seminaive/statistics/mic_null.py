"""How large MIC gets between independent columns."""

from __future__ import annotations

import math
from functools import lru_cache

import numpy as np

from seminaive.kernels.mic import maximal_information

ALPHA = 0.6
CLUMPS_PER_COLUMN = 15.0

# 95 % points at the default alpha and c; `python -m benchmarks.mic --null` simulates them again
TABLE = {
    500: 0.1838,
    700: 0.1662,
    1000: 0.1449,
    1400: 0.1302,
    2000: 0.1143,
    3000: 0.0995,
    5000: 0.0832,
    7000: 0.0739,
    10000: 0.0647,
}


def most_cells(n: int, alpha: float) -> float:
    """The largest number of cells of a grid on n points, B = max(n^alpha, 4)."""
    return max(math.pow(n, alpha), 4.0)


def simulate_null(n: int, draws: int, alpha: float = ALPHA, c: float = CLUMPS_PER_COLUMN) -> float:
    """The 95 % point of MIC over ``draws`` random orders of n distinct values; always from the same seed."""
    rng = np.random.default_rng(0)
    order = np.arange(n)
    ones = np.ones(n, np.int64)
    cells = most_cells(n, alpha)
    values = [maximal_information(order, ones, rng.permutation(n), ones, cells, c) for _ in range(draws)]
    return float(np.quantile(values, 0.95))


@lru_cache(maxsize=1024)
def null_point(n: int, alpha: float = ALPHA, c: float = CLUMPS_PER_COLUMN) -> float:
    """The value that MIC of two independent columns of n distinct values exceeds in one case of twenty.

    It depends on n alone (and on alpha and c). Up to n = 500 it is simulated, 1000 draws once per n; beyond,
    the spread is small, and it is read off a table, linearly in log n (after the table's end: its last
    value, which errs upwards). With other alpha or c it is simulated there too, 200 draws. Ties make MIC
    smaller or larger.

    Examples
    --------
    >>> null_point(50) > null_point(1000)
    True
    """
    if n < 2:
        return 0.0
    if n <= min(TABLE):
        return simulate_null(n, 1000, alpha, c)
    if (alpha, c) == (ALPHA, CLUMPS_PER_COLUMN):
        return float(np.interp(np.log(n), np.log(list(TABLE)), list(TABLE.values())))
    return simulate_null(n, 200, alpha, c)
