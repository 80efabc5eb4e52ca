"""How strongly columns depend on each other: MIC of two columns, and of all pairs of a table within each class.

>>> import pandas as pd
>>> from seminaive import mic, mic_matrix
>>> X = pd.DataFrame({"width": [1.0, 2, 3, 4, 5, 6, 7, 8, 9, 10]})
>>> X["area"] = X["width"] ** 2
>>> mic(X["width"], X["area"])
1.0
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import narwhals as nw
import numpy as np
import numpy.typing as npt
from joblib import effective_n_jobs

from seminaive.models.checks import check_n_jobs, check_whole
from seminaive.statistics.mic import chance_limits, mic_of_columns, mic_of_pairs, permuted_share, strongest
from seminaive.statistics.mic_null import ALPHA, CLUMPS_PER_COLUMN, null_point
from seminaive.table.frames import Frame, as_labels, open_frame
from seminaive.table.sources import Source

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["MIC", "MICMatrices", "mic", "mic_matrix"]

Floats = npt.NDArray[np.float64]
Seed = int | np.random.Generator | None


class MIC(float):
    """A MIC value: a float that also carries the permutation ``p_value``, None if not asked for."""

    p_value: float | None = None


def mic(
    x: Any,
    y: Any,
    alpha: float = ALPHA,
    c: float = CLUMPS_PER_COLUMN,
    n_permutations: int = 0,
    random_state: Seed = 0,
) -> MIC:
    """Maximal information coefficient of two columns: dependence of any shape, from 0 to 1.

    Under independence MIC is far from 0 and falls slowly with the number of rows (its 95 % point is .40 at
    n = 50, .15 at n = 1000), so a value is read against chance: ask for a permutation p-value.

    Parameters
    ----------
    x, y : pandas, Polars or Arrow columns, or 1-D arrays
        Numbers, dates, booleans, or text of two values; rows where either is missing are left out.
    alpha : float in (0, 1]
        Grids have at most max(n^alpha, 4) cells. Larger sees finer shapes, costs more and overfits more.
    c : float > 0
        Clumps of points per grid column among which the cuts are searched. Smaller is faster and coarser.
    n_permutations : int
        Number of random orders of y for the p-value; 999 is a good choice, 0 does without.
    random_state : int, Generator or None
        Seed of the permutations; None: others every time.

    Returns
    -------
    MIC
        A float between 0 and 1 with an attribute ``p_value``: (1 + permutations at least as large) /
        (1 + permutations), or None. One row, or a constant column, gives 0.

    Examples
    --------
    >>> import numpy as np
    >>> from seminaive import mic
    >>> x = np.linspace(-1, 1, 100)
    >>> mic(x, x**2)
    1.0
    >>> mic(x, np.sin(9 * x), n_permutations=99, random_state=0).p_value
    0.01
    """
    check_grid(alpha, c)
    check_whole("n_permutations", n_permutations, at_least=0)
    first, second = _column(x, "x"), _column(y, "y")
    if len(first) != len(second):
        raise ValueError(f"x and y must have the same number of rows, got {len(first)} and {len(second)}")
    if not n_permutations:
        return MIC(mic_of_columns(first, second, alpha, c))
    found, p_value = permuted_share(first, second, n_permutations, np.random.default_rng(random_state), alpha, c)
    value = MIC(found)
    value.p_value = p_value
    return value


@dataclass(frozen=True, eq=False)
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
    alpha: float = ALPHA
    c: float = CLUMPS_PER_COLUMN

    @property
    def null(self) -> Floats:
        """For each class, what MIC of two independent columns of its size exceeds in one case of twenty."""
        return np.array([min(null_point(n, self.alpha, self.c), 1.0) for n in self.rows])

    @property
    def null_of_all(self) -> Floats:
        """For each class a limit; of independent columns, nineteen tables of twenty have no pair above it anywhere.

        It rises with the number of columns, and may be above 1 for a class of few rows.
        """
        return chance_limits(self.rows, len(self.names), self.alpha, self.c)

    @property
    def strongest(self) -> Floats:
        """The largest MIC over the classes, of every pair; classes of fewer than 8 rows do not count."""
        return strongest(self.values, self.rows)

    @property
    def beyond_chance(self) -> Floats:
        """The same where a class's value is above ``null_of_all``; 0 for a pair that is not in any class."""
        return strongest(self.values, self.rows, self.null_of_all)

    def to_frame(self) -> pd.DataFrame:
        """One row per class and pair of columns, with the 95 % point of independent columns beside."""
        import pandas as pd

        first, second = np.triu_indices(len(self.names), 1)
        parts = [
            pd.DataFrame({
                "class": [label] * len(first),
                "column": [self.names[i] for i in first],
                "other": [self.names[j] for j in second],
                "mic": matrix[first, second],
                "null": null,
            })
            for label, matrix, null in zip(self.classes, self.values, self.null, strict=True)
        ]  # fmt: skip
        return pd.concat(parts, ignore_index=True)


def mic_matrix(
    X: Any,
    y: Any = None,
    *,
    names: Sequence[Any] | None = None,
    alpha: float = ALPHA,
    c: float = CLUMPS_PER_COLUMN,
    max_rows: int = 10_000,
    random_state: Seed = 0,
    n_jobs: int | None = None,
) -> MICMatrices:
    """MIC of every pair of columns within every class, and how much of it chance explains.

    Parameters
    ----------
    X : pandas, Polars or Arrow table, NumPy array, SciPy sparse matrix
        Numbers, dates, booleans, or text of two values; each pair uses the rows where both are present.
    y : array-like, optional
        Class labels. Without them there is one matrix, of all rows.
    names : sequence, optional
        Column names; default those of the table, or positions.
    alpha, c : float
        As in `mic`.
    max_rows : int
        Whole columns are needed in memory and the time of a pair grows like n^1.8 (.1 s at 10,000 rows); of
        a larger class a random sample of this many rows is used.
    random_state : int, Generator or None
        Seed of that sample; None: another every time.
    n_jobs : int, optional
        Number of threads; the result does not depend on it.

    Returns
    -------
    MICMatrices
        ``values`` (one matrix per class), ``classes``, ``rows``, ``names``; ``null``, the 95 % point of
        independent columns for each class size (simulated when first asked for, without ties or missing
        values), and ``null_of_all``, that of the strongest of all pairs; ``strongest``, the largest over the
        classes, and ``beyond_chance``; ``to_frame()``.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from seminaive import mic_matrix
    >>> X, y = load_iris(return_X_y=True, as_frame=True)
    >>> matrices = mic_matrix(X, y)
    >>> matrices.values[1].round(2)
    array([[1.  , 0.36, 0.6 , 0.5 ],
           [0.36, 1.  , 0.39, 0.38],
           [0.6 , 0.39, 1.  , 0.52],
           [0.5 , 0.38, 0.52, 0.99]])
    >>> matrices.to_frame().query("mic > null").round(2).head(3)
       class             column              other   mic  null
    0      0  sepal length (cm)   sepal width (cm)  0.66   0.4
    7      1  sepal length (cm)  petal length (cm)  0.60   0.4
    8      1  sepal length (cm)   petal width (cm)  0.50   0.4
    """
    frame = open_frame(X)
    columns = [read_numbers(frame.read(j), name) for j, name in enumerate(frame.names)]
    labels = None if y is None else as_labels(y)
    return matrices_of(columns, frame.n_rows, labels, named(frame, names), alpha, c, max_rows, random_state, n_jobs)


def matrices_of(
    columns: Sequence[Floats],
    n_rows: int,
    labels: npt.NDArray[Any] | None,
    names: Sequence[Any],
    alpha: float,
    c: float,
    max_rows: int,
    random_state: Seed,
    n_jobs: int | None,
) -> MICMatrices:
    """The matrices of columns of numbers; the parameters are those of `mic_matrix`."""
    check_grid(alpha, c)
    check_whole("max_rows", max_rows, at_least=1)
    check_n_jobs(n_jobs)
    rng = np.random.default_rng(random_state)
    classes, members = _rows_of_classes(labels, n_rows)
    members = [rows if len(rows) <= max_rows else np.sort(rng.choice(rows, max_rows, False)) for rows in members]
    workers = effective_n_jobs(n_jobs)
    values = [mic_of_pairs([column[rows] for column in columns], alpha, c, workers) for rows in members]
    return MICMatrices(np.array(values), classes, tuple(map(len, members)), tuple(names), alpha, c)


def read_numbers(source: Source, name: Any) -> Floats:
    """A column as numbers, in the order that MIC looks at; text of more than two values has none."""
    numbers = numbers_or_none(source)
    if numbers is None:
        raise ValueError(
            f"column {name!r} holds text of more than two values, which has no order; MIC needs numbers, dates or "
            "booleans: leave the column out"
        )
    return numbers


def numbers_or_none(source: Source) -> Floats | None:
    """A column as numbers; None where its values have no order."""
    if source.kind == "numbers":
        return np.ascontiguousarray(source.data, dtype=np.float64)
    codes = np.where(source.data == source.missing, -1, source.data.astype(np.int64))
    occurs = np.unique(codes[codes >= 0])
    return np.where(codes < 0, np.nan, codes == occurs.max(initial=0)) if len(occurs) <= 2 else None


def named(frame: Frame, names: Sequence[Any] | None) -> Sequence[Any]:
    """The names to use."""
    if names is None:
        return frame.names
    if len(names) != len(frame.names):
        raise ValueError(f"names must have one entry per column, got {len(names)} for {len(frame.names)} columns")
    return list(names)


def check_grid(alpha: float, c: float) -> None:
    """Refuse grids that cannot be."""
    if not 0 < alpha <= 1:
        raise ValueError(f"alpha must be above 0 and at most 1, got {alpha}")
    if not c > 0:
        raise ValueError(f"c must be above 0, got {c}")


def _column(values: Any, name: str) -> Floats:
    """One column of any kind as numbers."""
    series = nw.from_native(values, series_only=True, pass_through=True)
    if isinstance(series, nw.Series):
        table = series.to_frame().to_native()
    else:
        array = np.asarray(values)
        if array.ndim != 1:
            raise ValueError(f"{name} must be one column, got shape {array.shape}")
        table = array.reshape(-1, 1)
    if len(table) == 0:
        return np.zeros(0)
    return read_numbers(open_frame(table).read(0), name)


def _rows_of_classes(labels: npt.NDArray[Any] | None, n: int) -> tuple[tuple[Any, ...], list[npt.NDArray[np.intp]]]:
    if labels is None:
        return (None,), [np.arange(n)]
    if len(labels) != n:
        raise ValueError(f"y must have one label per row of X, got {len(labels)} for {n} rows")
    classes = np.unique(labels)
    return tuple(classes.tolist()), [np.flatnonzero(labels == label) for label in classes]
