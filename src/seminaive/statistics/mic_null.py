"""How large MIC gets between independent columns.

Its distribution there depends on the number of rows alone (without ties). It is close to a Gumbel distribution, the law
of maxima; with mean m and standard deviation s, a share p of independent pairs exceeds

    m - s (sqrt(6) / pi) (gamma + log(-log(1 - p))),    gamma = .5772

right to .01 down to p = .01, and beyond up to .04 too high, so that rare values are never called rarer than they are.
"""

from __future__ import annotations

import math
from functools import lru_cache

import numpy as np

from seminaive.kernels.mic import maximal_information

ALPHA = 0.6
CLUMPS_PER_COLUMN = 15.0

# Mean and standard deviation at the default alpha and c; `python -m benchmarks.mic --null` simulates them again
MOMENTS = {
    500: (0.1624, 0.01197),
    700: (0.1492, 0.00964),
    1000: (0.1331, 0.00727),
    1400: (0.1198, 0.00606),
    2000: (0.1065, 0.00461),
    3000: (0.0932, 0.00353),
    5000: (0.0788, 0.00248),
    7000: (0.0706, 0.00191),
    10000: (0.0620, 0.00161),
}


def most_cells(n: int, alpha: float) -> float:
    """The largest number of cells of a grid on n points, B = max(n^alpha, 4)."""
    return max(math.pow(n, alpha), 4.0)


def simulate_null(n: int, draws: int, alpha: float = ALPHA, c: float = CLUMPS_PER_COLUMN) -> tuple[float, float]:
    """Mean and standard deviation of MIC over random orders of n distinct values; always from the same seed."""
    rng = np.random.default_rng(0)
    order = np.arange(n)
    ones = np.ones(n, np.int64)
    cells = most_cells(n, alpha)
    values = [maximal_information(order, ones, rng.permutation(n), ones, cells, c) for _ in range(draws)]
    return float(np.mean(values)), float(np.std(values))


@lru_cache(maxsize=1024)
def null_moments(n: int, alpha: float = ALPHA, c: float = CLUMPS_PER_COLUMN) -> tuple[float, float]:
    """Mean and standard deviation of MIC between independent columns of n distinct values.

    Up to n = 500 they are simulated, 1000 draws once per n; beyond, where they change slowly, read off a table,
    linearly in log n (after its end: its last values, which err upwards). With other alpha or c, 200 draws for every
    larger n.
    """
    if n <= min(MOMENTS):
        return simulate_null(n, 1000, alpha, c)
    if (alpha, c) != (ALPHA, CLUMPS_PER_COLUMN):
        return simulate_null(n, 200, alpha, c)
    sizes = np.log(list(MOMENTS))
    mean, spread = (float(np.interp(np.log(n), sizes, part)) for part in zip(*MOMENTS.values(), strict=True))
    return mean, spread


def null_point(n: int, alpha: float = ALPHA, c: float = CLUMPS_PER_COLUMN, share: float = 0.05) -> float:
    """The value that MIC of two independent columns of n distinct values exceeds in that share of cases.

    Above 1 where so few rows never show so rare a value.

    Examples
    --------
    >>> round(null_point(50), 2), round(null_point(1000), 2), round(null_point(50, share=0.001), 2)
    (0.4, 0.15, 0.57)
    """
    if n < 2:
        return 0.0
    mean, spread = null_moments(n, alpha, c)
    return mean - spread * math.sqrt(6) / math.pi * (np.euler_gamma + math.log(-math.log1p(-share)))
