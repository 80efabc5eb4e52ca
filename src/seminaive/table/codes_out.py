"""Bins handed back in the kind of table they came from: numbers, or intervals as ordered categories."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import narwhals as nw
import numpy as np
import numpy.typing as npt

from seminaive.table.schema import FIRST_LEVEL, Column

Codes = npt.NDArray[np.uint8] | npt.NDArray[np.uint16]
Binned = Mapping[int, tuple[Column, Codes]]


def replaced(X: Any, columns: Binned, intervals: bool | None = None) -> Any:
    """The table with some columns replaced by their bins, the others untouched.

    Parameters
    ----------
    X : pandas, Polars or Arrow table, or anything that is an array
    columns : mapping
        From position to the column, with its cuts, and the code of every row.
    intervals : bool, optional
        Intervals, such as "2.45 to 4.75", or the numbers of the bins from 0. Default: intervals for tables, numbers
        for arrays.
    """
    native = nw.from_native(X, eager_only=True, pass_through=True)
    if not isinstance(native, nw.DataFrame):
        return _array(X, columns, bool(intervals))
    package = nw.get_native_namespace(native).__name__
    make = _numbers if intervals is False else _intervals
    made = {j: make(package, column, codes) for j, (column, codes) in columns.items()}
    if package == "pandas":
        out = X.copy(deep=False)
        for j, cells in made.items():
            out.isetitem(j, cells)
        return out
    if package == "polars":
        return X.with_columns(cells.alias(X.columns[j]) for j, cells in made.items())
    if package == "pyarrow":
        for j, cells in made.items():
            X = X.set_column(j, X.column_names[j], cells)
        return X
    raise TypeError(f"cannot put bins into a {package} table; pass a pandas, Polars or Arrow table, or an array")


def _intervals(package: str, column: Column, codes: Codes) -> Any:
    labels = [column.level_name(FIRST_LEVEL + i) for i in range(column.n_levels)]
    bins, missing = codes.astype(np.int32) - FIRST_LEVEL, codes < FIRST_LEVEL
    if package == "pandas":
        import pandas as pd

        return pd.Categorical.from_codes(np.where(missing, -1, bins), pd.Index(labels), ordered=True)
    import pyarrow as pa

    coded = pa.DictionaryArray.from_arrays(pa.array(bins, mask=missing), labels, ordered=True)
    if package == "pyarrow":
        return coded
    import polars as pl

    return pl.Series(values=coded.cast(pa.string())).cast(pl.Enum(labels))


def _numbers(package: str, column: Column, codes: Codes) -> Any:
    if package == "pandas":
        return bin_numbers(codes)
    import pyarrow as pa

    coded = pa.array(codes.astype(np.int64) - FIRST_LEVEL, mask=codes < FIRST_LEVEL)
    if package == "pyarrow":
        return coded
    import polars as pl

    return pl.Series(values=coded)


def bin_numbers(codes: Codes) -> npt.NDArray[np.float64]:
    """Bins counted from 0, NaN where missing."""
    numbers = codes.astype(np.float64) - FIRST_LEVEL
    numbers[codes < FIRST_LEVEL] = np.nan
    return numbers


def _array(X: Any, columns: Binned, intervals: bool) -> npt.NDArray[Any]:
    if hasattr(X, "tocsc"):
        X = X.toarray() if len(columns) < X.shape[1] else X
    elif not isinstance(X, np.ndarray):
        X = np.array(X, dtype=object)
    everything = len(columns) == X.shape[1]
    out = np.empty(X.shape, dtype=np.float64 if everything and not intervals else object, order="F")
    for j in range(X.shape[1]):
        if j not in columns:
            out[:, j] = X[:, j]
        elif intervals:
            column, codes = columns[j]
            labels = [None, None, *(column.level_name(FIRST_LEVEL + i) for i in range(column.n_levels))]
            out[:, j] = np.array(labels, dtype=object)[codes]
        else:
            out[:, j] = bin_numbers(columns[j][1])
    return out
