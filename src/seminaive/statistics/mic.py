"""The maximal information coefficient (MIC): how strongly two columns depend on each other, in any shape.

For every grid of r rows and l columns with r l <= B = max(n^alpha, 4) cells,

    MIC = max over grids of  I(rows; columns) / log min(r, l),

0 for independence in large samples and 1 for a noiseless function. One side of a grid is cut evenly, the
other is chosen best (by dynamic programming over at most c l clumps of points), in both directions. It
depends on the order of the values only.

Reference: Reshef et al., "Detecting novel associations in large data sets", Science 334, 2011.
"""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from seminaive.kernels.mic import maximal_information
from seminaive.statistics.mic_null import ALPHA, CLUMPS_PER_COLUMN, most_cells, null_point

__all__ = ["LEAST_ROWS", "chance_limits", "mic_of_columns", "mic_of_pairs", "permuted_share", "strongest"]

Floats = npt.NDArray[np.float64]

LEAST_ROWS = 8
"""With fewer rows two independent columns reach .97 or more in one case of twenty: MIC tells nothing."""


class Ranks(NamedTuple):
    """Dense ranks 0, 1, ... of a column, and how many values have each."""

    rank: npt.NDArray[np.int64]
    size: npt.NDArray[np.int64]


def mic_of_columns(x: Floats, y: Floats, alpha: float = ALPHA, c: float = CLUMPS_PER_COLUMN) -> float:
    """MIC of two columns, from the rows where both are present; 0 for one row or a constant column.

    Examples
    --------
    >>> x = np.linspace(-1, 1, 100)
    >>> mic_of_columns(x, x**2)
    1.0
    """
    return _mic_of_ranks(*_ranks_of_pair(x, y), alpha, c)


def permuted_share(
    x: Floats, y: Floats, n_permutations: int, rng: np.random.Generator, alpha: float, c: float
) -> tuple[float, float]:
    """MIC, and (1 + random orders of y with at least as much) / (1 + all of them)."""
    first, second = _ranks_of_pair(x, y)
    value = _mic_of_ranks(first, second, alpha, c)
    shuffled = (second._replace(rank=rng.permutation(second.rank)) for _ in range(n_permutations))
    as_large = sum(_mic_of_ranks(first, other, alpha, c) >= value for other in shuffled)
    return value, (1 + as_large) / (1 + n_permutations)


def mic_of_pairs(
    columns: Sequence[Floats], alpha: float = ALPHA, c: float = CLUMPS_PER_COLUMN, workers: int = 1
) -> Floats:
    """MIC of every pair of columns, a symmetric matrix; each pair uses the rows where both are present.

    The diagonal is each column's MIC with itself: 1, or less if ties keep grids uneven.

    Examples
    --------
    >>> x = np.arange(30.0)
    >>> mic_of_pairs([x, -x, np.ones(30)])
    array([[1., 1., 0.],
           [1., 1., 0.],
           [0., 0., 0.]])
    """
    matrix = np.zeros((len(columns), len(columns)))
    ranks = [None if np.isnan(column).any() else _ranks(column) for column in columns]

    def of_pair(pair: tuple[int, int]) -> float:
        i, j = pair
        first, second = ranks[i], ranks[j]
        if first is None or second is None:
            first, second = _ranks_of_pair(columns[i], columns[j])
        return _mic_of_ranks(first, second, alpha, c)

    pairs = [(i, j) for i in range(len(columns)) for j in range(i, len(columns))]
    if workers == 1:
        values = list(map(of_pair, pairs))
    else:
        with ThreadPoolExecutor(workers) as pool:
            values = list(pool.map(of_pair, pairs))
    for (i, j), value in zip(pairs, values, strict=True):
        matrix[i, j] = matrix[j, i] = value
    return matrix


def strongest(matrices: Floats, rows: Sequence[int], limits: Floats | None = None) -> Floats:
    """Of every pair the largest MIC over the classes; a class of fewer than 8 rows does not count.

    Parameters
    ----------
    matrices : array (classes, columns, columns)
    rows : sequence of int
        Rows of each class.
    limits : array (classes,), optional
        What does not exceed its class's limit counts as 0.
    """
    told = np.array(rows) >= LEAST_ROWS
    if limits is not None:
        matrices = np.where(matrices > limits[:, None, None], matrices, 0.0)
    return np.asarray(matrices[told].max(axis=0, initial=0.0))


def chance_limits(
    rows: Sequence[int], n_columns: int, alpha: float = ALPHA, c: float = CLUMPS_PER_COLUMN, share: float = 0.05
) -> Floats:
    """For every class a limit; of independent columns, nineteen tables of twenty have no pair above it in any class.

    Every pair in every class gets an equal part of the ``share`` (Bonferroni). A class of fewer than 8 rows tells
    nothing: its limit is infinite; that of other small classes may be above 1, which no pair can reach.

    Examples
    --------
    >>> chance_limits([50, 200, 5], 4).round(2), chance_limits([50], 2).round(2)
    (array([0.51, 0.31,  inf]), array([0.4]))
    """
    told = [n for n in rows if n >= LEAST_ROWS]
    looks = max(len(told) * n_columns * (n_columns - 1) // 2, 1)
    return np.array([null_point(n, alpha, c, share / looks) if n >= LEAST_ROWS else np.inf for n in rows])


def _mic_of_ranks(first: Ranks, second: Ranks, alpha: float, c: float) -> float:
    return float(maximal_information(*first, *second, most_cells(len(first.rank), alpha), float(c)))


def _ranks(column: Floats) -> Ranks:
    _, rank, size = np.unique(column, return_inverse=True, return_counts=True)
    return Ranks(rank.astype(np.int64, copy=False), size.astype(np.int64, copy=False))


def _ranks_of_pair(first: Floats, second: Floats) -> tuple[Ranks, Ranks]:
    present = ~(np.isnan(first) | np.isnan(second))
    return _ranks(first[present]), _ranks(second[present])
