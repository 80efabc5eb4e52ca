"""The maximal information coefficient (MIC): how strongly two columns depend on each other, in any shape.

For every grid of r rows and l columns with r l <= B = max(n^alpha, 4) cells,

    MIC = max over grids of  I(rows; columns) / log min(r, l),

0 for independence in large samples and 1 for a noiseless function. One side of a grid is cut evenly, the
other is chosen best (by dynamic programming over at most c l clumps of points), in both directions. It
depends on the order of the values only.

Reference: Reshef et al., "Detecting novel associations in large data sets", Science 334, 2011.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple

import numpy as np
import numpy.typing as npt

from seminaive.kernels.mic import maximal_information
from seminaive.statistics.grouping import complete_linkage
from seminaive.statistics.mic_null import ALPHA, CLUMPS_PER_COLUMN, most_cells, null_point

Floats = npt.NDArray[np.float64]
Seed = int | np.random.Generator | None

# With fewer rows two independent columns reach .97 or more in one case of twenty: MIC tells nothing
LEAST_ROWS = 8


class MIC(float):
    """A MIC value: a float that also carries the permutation ``p_value``, None if not asked for."""

    p_value: float | None = None


class Ranks(NamedTuple):
    """Dense ranks 0, 1, ... of a column, and how many values have each."""

    rank: npt.NDArray[np.int64]
    size: npt.NDArray[np.int64]


def mic(
    x: npt.ArrayLike,
    y: npt.ArrayLike,
    alpha: float = ALPHA,
    c: float = CLUMPS_PER_COLUMN,
    n_permutations: int = 0,
    random_state: Seed = None,
) -> MIC:
    """Maximal information coefficient of two numeric columns.

    Under independence MIC is far from 0 and falls slowly with the number of rows (its 95 % point is .41 at
    n = 50, .14 at n = 1000), so a value is read against chance: ask for a permutation p-value.

    Parameters
    ----------
    x, y : array of shape (n,)
        Numbers; rows where either is NaN are left out.
    alpha : float in (0, 1]
        Grids have at most max(n^alpha, 4) cells. Larger sees finer shapes, costs more and overfits more.
    c : float > 0
        Clumps of points per grid column among which the cuts are searched. Smaller is faster and coarser.
    n_permutations : int
        Number of random orders of y for the p-value; 999 is a good choice, 0 does without.
    random_state : int, Generator or None
        Seed of the permutations.

    Returns
    -------
    MIC
        A float between 0 and 1 with an attribute ``p_value``: (1 + permutations at least as large) /
        (1 + permutations), or None. One row, or a constant column, gives 0.

    Examples
    --------
    >>> import numpy as np
    >>> x = np.linspace(-1, 1, 100)
    >>> mic(x, x**2)
    1.0
    >>> mic(x, np.sin(9 * x), n_permutations=99, random_state=0).p_value
    0.01
    """
    _check_grid(alpha, c)
    if n_permutations < 0:
        raise ValueError(f"n_permutations must be 0 or more, got {n_permutations}.")
    first, second = _numbers(x, "x", 1), _numbers(y, "y", 1)
    if len(first) != len(second):
        raise ValueError(f"x and y must have the same number of rows, got {len(first)} and {len(second)}.")
    ranks = _ranks_of_pair(first, second)
    value = MIC(_mic_of_ranks(*ranks, alpha, c))
    if n_permutations:
        rng = np.random.default_rng(random_state)
        shuffled = (ranks[1]._replace(rank=rng.permutation(ranks[1].rank)) for _ in range(n_permutations))
        as_large = sum(_mic_of_ranks(ranks[0], other, alpha, c) >= value for other in shuffled)
        value.p_value = (1 + as_large) / (1 + n_permutations)
    return value


@dataclass(frozen=True)
class MICMatrices:
    """MIC of every pair of columns, one matrix per class.

    Attributes
    ----------
    values : array of shape (classes, columns, columns)
        Symmetric. The diagonal is each column's MIC with itself: 1, or less if ties keep grids uneven.
    classes : tuple
        Class labels in the order of ``values``; (None,) if there were no classes.
    rows : tuple of int
        Rows of each class that were used.
    names : tuple
        Column names, or positions.
    alpha, c : float
        As in `mic`.
    """

    values: Floats
    classes: tuple[Any, ...]
    rows: tuple[int, ...]
    names: tuple[Any, ...]
    alpha: float
    c: float

    @property
    def null(self) -> Floats:
        """For each class, what MIC of two independent columns of its size exceeds in one case of twenty."""
        return np.array([null_point(n, self.alpha, self.c) for n in self.rows])

    @property
    def strongest(self) -> Floats:
        """The largest MIC over the classes, of every pair; classes of fewer than 8 rows do not count."""
        told = [value for value, n in zip(self.values, self.rows, strict=True) if n >= LEAST_ROWS]
        return np.max(told, axis=0) if told else np.zeros(self.values.shape[1:])


def mic_matrix(
    X: npt.ArrayLike,
    y: npt.ArrayLike | None = None,
    *,
    names: Sequence[Any] | None = None,
    alpha: float = ALPHA,
    c: float = CLUMPS_PER_COLUMN,
    max_rows: int = 10_000,
    random_state: Seed = None,
    n_jobs: int = 1,
) -> MICMatrices:
    """MIC of every pair of columns within every class, and how much of it chance explains.

    Parameters
    ----------
    X : array of shape (n, d)
        Numbers; each pair uses the rows where both are present.
    y : array of shape (n,), optional
        Class labels. Without them there is one matrix, of all rows.
    names : sequence of length d, optional
        Column names; default 0, 1, ...
    alpha, c : float
        As in `mic`.
    max_rows : int
        Whole columns are needed in memory and the time of a pair grows like n^1.8 (.1 s at 10,000 rows); of
        a larger class a random sample of this many rows is used.
    random_state : int, Generator or None
        Seed of that sample.
    n_jobs : int
        Number of threads; the result does not depend on it.

    Returns
    -------
    MICMatrices
        ``values`` (one matrix per class), ``classes``, ``rows``, ``names``; ``null``, the 95 % point of
        independent columns for each class size (simulated when first asked for, without ties or missing
        values); ``strongest``, the largest over the classes.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True)
    >>> matrices = mic_matrix(X, y)
    >>> matrices.values[1].round(2)
    array([[1.  , 0.36, 0.6 , 0.5 ],
           [0.36, 1.  , 0.39, 0.38],
           [0.6 , 0.39, 1.  , 0.52],
           [0.5 , 0.38, 0.52, 0.99]])
    >>> matrices.null.round(1)
    array([0.4, 0.4, 0.4])
    """
    _check_grid(alpha, c)
    table = _numbers(X, "X", 2)
    n, d = table.shape
    labels = tuple(range(d)) if names is None else tuple(names)
    if len(labels) != d:
        raise ValueError(f"names must have one entry per column, got {len(labels)} for {d} columns.")
    rng = np.random.default_rng(random_state)
    classes, members = _rows_of_classes(y, n)
    if max_rows < 1 or n_jobs < 1:
        raise ValueError(f"max_rows and n_jobs must be 1 or more, got {max_rows} and {n_jobs}.")
    members = [rows if len(rows) <= max_rows else np.sort(rng.choice(rows, max_rows, False)) for rows in members]

    values = np.zeros((len(classes), d, d))
    pairs = [(i, j) for i in range(d) for j in range(i, d)]
    for matrix, rows in zip(values, members, strict=True):
        columns = [np.ascontiguousarray(table[rows, j]) for j in range(d)]
        ranks = [None if np.isnan(column).any() else _ranks(column) for column in columns]

        def of_pair(pair: tuple[int, int], columns: list[Floats] = columns, ranks: list[Ranks | None] = ranks) -> float:
            i, j = pair
            first, second = ranks[i], ranks[j]
            if first is None or second is None:
                first, second = _ranks_of_pair(columns[i], columns[j])
            return _mic_of_ranks(first, second, alpha, c)

        for (i, j), value in zip(pairs, _map(of_pair, pairs, n_jobs), strict=True):
            matrix[i, j] = matrix[j, i] = value
    return MICMatrices(values, classes, tuple(len(rows) for rows in members), labels, alpha, c)


def group_features(
    X: npt.ArrayLike,
    y: npt.ArrayLike | None = None,
    threshold: float | Literal["null"] = "null",
    *,
    names: Sequence[Any] | None = None,
    alpha: float = ALPHA,
    c: float = CLUMPS_PER_COLUMN,
    max_rows: int = 10_000,
    random_state: Seed = None,
    n_jobs: int = 1,
) -> list[list[Any]]:
    """Groups of columns that depend on each other within some class.

    Complete linkage on 1 - (largest MIC over the classes), cut at 1 - threshold: any two members of a group
    have a MIC of at least the threshold in some class. Classes of fewer than 8 rows tell nothing and are
    left out.

    Parameters
    ----------
    threshold : float or "null"
        Least MIC within a group. ``"null"`` (default) takes what chance alone seldom exceeds: the largest
        over the classes of the 95 % points of independent columns; then groups mean "dependence is visible",
        not "strong". No fixed number fits all sizes: on Iris (50 flowers per class, 95 % point .41) .6 keeps
        petal length and petal width apart, whose MIC of .52 is nevertheless more than chance.
    X, y, names, alpha, c, max_rows, random_state, n_jobs
        As in `mic_matrix`.

    Returns
    -------
    list of lists
        Column names (or positions), in column order; groups in the order of their first member.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True)
    >>> group_features(X, y, threshold=.6, names=["SL", "SW", "PL", "PW"])
    [['SL', 'SW'], ['PL'], ['PW']]
    >>> group_features(X, y, threshold=.5, names=["SL", "SW", "PL", "PW"])
    [['SL', 'SW'], ['PL', 'PW']]
    """
    if isinstance(threshold, str) and threshold != "null":
        raise ValueError(f'threshold must be a number or "null", got {threshold!r}.')
    matrices = mic_matrix(
        X, y, names=names, alpha=alpha, c=c, max_rows=max_rows, random_state=random_state, n_jobs=n_jobs
    )
    if isinstance(threshold, str):
        told = [null for null, n in zip(matrices.null, matrices.rows, strict=True) if n >= LEAST_ROWS]
        threshold = float(max(told, default=1.0))
    groups = complete_linkage(matrices.strongest, threshold)
    return [[matrices.names[j] for j in group] for group in groups]


def _mic_of_ranks(first: Ranks, second: Ranks, alpha: float, c: float) -> float:
    return float(maximal_information(*first, *second, most_cells(len(first.rank), alpha), float(c)))


def _ranks(column: Floats) -> Ranks:
    _, rank, size = np.unique(column, return_inverse=True, return_counts=True)
    return Ranks(rank.astype(np.int64, copy=False), size.astype(np.int64, copy=False))


def _ranks_of_pair(first: Floats, second: Floats) -> tuple[Ranks, Ranks]:
    present = ~(np.isnan(first) | np.isnan(second))
    return _ranks(first[present]), _ranks(second[present])


def _rows_of_classes(y: npt.ArrayLike | None, n: int) -> tuple[tuple[Any, ...], list[npt.NDArray[np.intp]]]:
    if y is None:
        return (None,), [np.arange(n)]
    labels = np.asarray(y)
    if labels.shape != (n,):
        raise ValueError(f"y must have one label per row of X, got shape {labels.shape} for {n} rows.")
    missing = labels != labels
    if labels.dtype == object:
        missing |= np.array([label is None for label in labels], dtype=bool)
    if missing.any():
        raise ValueError(f"y must not have missing labels, got one in row {int(missing.argmax())}.")
    classes = np.unique(labels)
    return tuple(classes.tolist()), [np.flatnonzero(labels == label) for label in classes]


def _map(work: Callable[[Any], float], items: Iterable[Any], n_jobs: int) -> list[float]:
    if n_jobs == 1:
        return [work(item) for item in items]
    with ThreadPoolExecutor(n_jobs) as pool:
        return list(pool.map(work, items))


def _numbers(values: npt.ArrayLike, name: str, dimensions: int) -> Floats:
    try:
        array = np.asarray(values, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise ValueError(f"{name} must hold numbers only: {error}.") from error
    if array.ndim != dimensions:
        raise ValueError(f"{name} must have {dimensions} dimension(s), got shape {array.shape}.")
    return array


def _check_grid(alpha: float, c: float) -> None:
    if not 0 < alpha <= 1:
        raise ValueError(f"alpha must be above 0 and at most 1, got {alpha}.")
    if not c > 0:
        raise ValueError(f"c must be above 0, got {c}.")
