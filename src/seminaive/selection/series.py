"""Series as people have them, made into one array: lists of arrays, padded arrays, columns of lists."""

from __future__ import annotations

from typing import Any

import numpy as np

from seminaive.selection.windows import Series

__all__ = ["read_series"]


def read_series(X: Any) -> Series:
    """Read series of any lengths.

    Parameters
    ----------
    X : list of 1-D arrays, 2-D array, or pandas or Polars Series or one-column frame of lists
        Missing values at the end of a series, as in a padded array, are cut off. A missing list is an
        empty series.

    Examples
    --------
    >>> series = read_series([[1.0, 2.0, np.nan], [], [3.0]])
    >>> series.values.tolist(), series.starts.tolist()
    ([1.0, 2.0, 3.0], [0, 2, 2, 3])
    """
    rows = _rows(X)
    arrays = [_one(number, row) for number, row in enumerate(rows)]
    starts = np.concatenate([[0], np.cumsum([len(array) for array in arrays])]).astype(np.int64)
    return Series(np.concatenate([*arrays, np.empty(0)]), starts)


def _rows(X: Any) -> Any:
    if isinstance(X, np.ndarray):
        if X.ndim != 2 and X.dtype != object:
            raise ValueError(
                f"Series come as a list of 1-D arrays or a 2-D array, not {X.ndim} dimensions. "
                "Reshape your data to one row per series."
            )
        return X
    columns = getattr(X, "columns", None)
    if columns is None:
        if not hasattr(X, "__iter__"):
            raise ValueError(f"Series come as a list of 1-D arrays, a padded array or a column of lists, not {X!r}.")
        return X
    if hasattr(X, "column_names"):  # Arrow, whose columns have no names of their own
        if len(X.column_names) > 1:
            raise _too_many(len(X.column_names))
        return X.column(0).to_pylist()
    if len(columns) == 1:
        column = X[columns[0]]
        if any(np.ndim(row) != 0 for row in column):  # the first list may be missing
            return column
    elif any(str(kind) == "object" or str(kind).startswith("List") for kind in X.dtypes):
        raise _too_many(len(columns))
    return X.to_numpy()


def _too_many(columns: int) -> ValueError:
    return ValueError(
        f"ScoreIndicators takes one column of series, not {columns}; "
        "use a ColumnTransformer with one of them for each column."
    )


def _one(number: int, row: Any) -> np.ndarray[Any, np.dtype[np.float64]]:
    try:
        array = np.empty(0) if row is None else np.asarray(row, dtype=np.float64)
    except (TypeError, ValueError):
        raise ValueError(f"Series {number} does not consist of numbers: {str(row)[:60]}") from None
    if array.ndim == 0 and np.isnan(array):
        array = np.empty(0)
    if array.ndim != 1:
        raise ValueError(f"Series {number} has {array.ndim} dimensions; a series is a 1-D array.")
    if not np.isfinite(array).all():
        known = np.flatnonzero(~np.isnan(array))
        array = array[: known[-1] + 1 if len(known) else 0]
        if not np.isfinite(array).all():
            at = int(np.flatnonzero(~np.isfinite(array))[0])
            raise ValueError(
                f"Series {number} holds {array[at]} at position {at}; "
                "only the end of a series may be missing, and all its values must be finite."
            )
    return array
