"""The door: the one place that knows pandas, Polars, Arrow, NumPy and SciPy sparse.

`open_frame` turns any of them into a `Frame` of `Source` columns, read one at a time: either small codes with their
labels, or float64 numbers with NaN for missing. Categories and dictionaries that exist already are used in place.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import narwhals as nw
import numpy as np
import numpy.typing as npt

from seminaive.table.objects import NestedValueError, is_gap, sort_out_labels, sort_out_objects, without_mask
from seminaive.table.sources import (
    Source,
    check_size,
    is_arrow,
    is_whole_arrow,
    numbers,
    plain_level,
    read_arrow,
    read_dictionary,
    short_codes,
)


@dataclass(frozen=True)
class Frame:
    """Rows of named columns; ``read(j)`` gives column j as a `Source`."""

    names: list[Any]
    n_rows: int
    read: Callable[[int], Source]
    matrix: npt.NDArray[Any] | None = None  # set when all columns are the numbers of one array

    def __iter__(self) -> Iterator[Source]:
        return (self.read(j) for j in range(len(self.names)))


def open_frame(X: Any) -> Frame:
    """Take any table-like input apart into columns.

    Parameters
    ----------
    X : pandas, Polars or Arrow table, NumPy array, SciPy sparse matrix, nested sequence, or a Frame
    """
    if isinstance(X, Frame):
        return X
    if hasattr(X, "tocsc") and hasattr(X, "nnz"):
        return _open_sparse(X)
    if isinstance(X, (np.ndarray, list, tuple)):
        return _open_array(X)
    if is_arrow(X):
        return _open_arrow(X)
    try:
        native = nw.from_native(X, eager_only=True, pass_through=True)
    except nw.exceptions.DuplicateError:
        raise _repeated_name(X) from None
    if isinstance(native, nw.DataFrame):
        return _open_dataframe(native)
    if hasattr(X, "__array__"):
        return _open_array(np.asarray(X))
    raise TypeError(
        f"X is a {type(X).__name__}; pass a pandas, Polars or Arrow table, a 2-D array, a SciPy sparse matrix, or "
        "files as scan_parquet or scan_csv name them"
    )


# --- frames -----------------------------------------------------------------------------------------------------------


def _open_dataframe(frame: nw.DataFrame[Any]) -> Frame:
    names = list(frame.columns)
    if len(set(names)) < len(names):
        raise _repeated_name(frame.to_native())
    if not names or len(frame) == 0:
        raise _empty(len(frame), len(names))
    return Frame(names, len(frame), lambda j: _read_series(frame.get_column(names[j]), names[j]))


def _open_arrow(table: Any) -> Frame:
    """An Arrow table; columns of codes or numbers, of which files are full, are read without a detour."""
    names = list(table.column_names)
    if len(set(names)) < len(names):
        raise _repeated_name(table)
    if not names or table.num_rows == 0:
        raise _empty(table.num_rows, len(names))

    def read(j: int) -> Source:
        column = table.column(j)
        found = read_arrow(column, names[j])
        return _read_series(nw.from_native(column, series_only=True), names[j]) if found is None else found

    return Frame(names, table.num_rows, read)


def _repeated_name(frame: Any) -> ValueError:
    names = list(getattr(frame, "column_names", frame.columns))
    repeated = next(name for at, name in enumerate(names) if name in names[:at])
    return ValueError(f"column name {repeated!r} occurs more than once; give every column its own name")


def _read_series(series: nw.Series[Any], name: Any) -> Source:
    dtype = series.dtype
    if dtype in (nw.Categorical, nw.Enum):
        return _read_categories(series)
    if dtype == nw.Boolean:
        return _read_bool(series)
    if dtype.is_integer() or dtype.is_float() or dtype == nw.Decimal:
        return numbers(_float_column(series), name, whole=dtype.is_integer())
    if dtype in (nw.Datetime, nw.Date, nw.Duration):
        return Source("numbers", _days(series), unit="days")
    if dtype == nw.String:
        return _read_text(series)
    if dtype in (nw.List, nw.Array, nw.Struct):
        raise NestedValueError(name, 0, "a nested value")
    return sort_out(np.asarray(series.to_numpy(), dtype=object), name)


def _float_column(series: nw.Series[Any]) -> npt.NDArray[np.float64]:
    if nw.get_native_namespace(series).__name__ == "pandas":  # nullable integers become NaN, plain ones are not copied
        return np.asarray(series.to_native().to_numpy(dtype=np.float64, na_value=np.nan))
    return np.asarray(series.cast(nw.Float64).to_numpy(), dtype=np.float64)


def _days(series: nw.Series[Any]) -> npt.NDArray[np.float64]:
    if series.dtype == nw.Duration:
        seconds, epoch = "timedelta64[us]", None
    else:
        seconds, epoch = "datetime64[us]", np.datetime64(0, "us")
        if getattr(series.dtype, "time_zone", None):
            series = series.dt.convert_time_zone("UTC").dt.replace_time_zone(None)
    if series.dtype == nw.Date:
        series = series.cast(nw.Datetime("us"))
    stamps = np.asarray(series.to_numpy()).astype(seconds)
    span = stamps if epoch is None else stamps - epoch
    return np.where(np.isnat(span), np.nan, span.astype(np.int64) / 86_400e6)


def _read_bool(series: nw.Series[Any]) -> Source:
    values = series.to_numpy()
    if values.dtype == bool:
        return Source("codes", values.view(np.uint8), (False, True))
    gaps = series.is_null()
    holds = series.fill_null(False).to_numpy().astype(bool)
    return Source("codes", np.where(gaps.to_numpy(), 2, holds).astype(np.uint8), (False, True), missing=2)


def _read_categories(series: nw.Series[Any]) -> Source:
    native = series.to_native()
    if hasattr(getattr(native, "array", None), "categories"):  # pandas; its Arrow dictionaries go the other way
        codes = native.array.codes  # a view: nothing is copied
        labels = [plain_level(level) for level in native.array.categories.tolist()]
        if codes.dtype.itemsize <= 2:  # -1, a gap, reads as the largest unsigned code
            raw = codes.view(f"u{codes.dtype.itemsize}")
            return Source("codes", raw, labels, missing=int(np.iinfo(raw.dtype).max))
        return short_codes(codes, labels)
    return read_dictionary(series.to_arrow())


def _read_text(series: nw.Series[Any]) -> Source:
    import pyarrow as pa

    arrow = series.to_arrow()
    if isinstance(arrow, pa.ChunkedArray):
        arrow = arrow.combine_chunks()
    if not pa.types.is_dictionary(arrow.type):
        arrow = arrow.dictionary_encode()
    return read_dictionary(arrow)


# --- arrays -----------------------------------------------------------------------------------------------------------


def _open_array(X: Any) -> Frame:
    if not isinstance(X, np.ndarray):
        try:
            array = np.asarray(X)
        except ValueError:
            raise ValueError("X is ragged: every row must have the same number of values") from None
        X = array if array.dtype.kind in "fiub" else np.array(X, dtype=object)
    elif isinstance(X, np.ma.MaskedArray):
        X = without_mask(X)
    if X.ndim != 2:
        advice = "Reshape your data: X.reshape(-1, 1) for a single column, X.reshape(1, -1) for a single row"
        raise ValueError(f"Expected 2D array, got {X.ndim}D array instead. {advice}")
    n, p = X.shape
    if n == 0 or p == 0:
        raise _empty(n, p)
    kind = X.dtype.kind
    if kind == "c":
        raise ValueError("Complex data not supported: X must hold numbers, text or categories")
    names = list(range(p))
    if kind == "b":
        return Frame(names, n, lambda j: Source("codes", np.ascontiguousarray(X[:, j]).view(np.uint8), (False, True)))
    if kind in "fiu":
        whole = kind != "f"
        return Frame(names, n, lambda j: numbers(X[:, j].astype(np.float64), j, whole=whole), matrix=X)
    if kind in "Mm":
        epoch = "datetime64[us]" if kind == "M" else "timedelta64[us]"

        def read_days(j: int) -> Source:
            span = X[:, j].astype(epoch)
            return Source("numbers", np.where(np.isnat(span), np.nan, span.astype(np.int64) / 86_400e6), unit="days")

        return Frame(names, n, read_days)
    return Frame(names, n, lambda j: sort_out(X[:, j].astype(object), j))


def _open_sparse(X: Any) -> Frame:
    """A sparse matrix: an absent entry is the value 0. Columns become dense one at a time."""
    if X.dtype.kind == "c":
        raise ValueError("Complex data not supported: X must hold numbers")
    n, p = X.shape
    if n == 0 or p == 0:
        raise _empty(n, p)
    by_column = X.tocsc()
    by_column.sum_duplicates()

    def read(j: int) -> Source:
        first, last = by_column.indptr[j], by_column.indptr[j + 1]
        dense = np.zeros(n)
        dense[by_column.indices[first:last]] = by_column.data[first:last]
        return numbers(dense, j, whole=X.dtype.kind in "iub")

    return Frame(list(range(p)), n, read)


def sort_out(values: npt.NDArray[np.object_], name: Any) -> Source:
    """A column of Python objects as a source: numbers, dates, or labels of any scalar type."""
    kind, data, labels, unit, whole = sort_out_objects(values, name)
    if kind == "numbers":
        check_size(data, name)
        return Source("numbers", data, whole=whole, unit=unit)
    return short_codes(data, labels)


def _empty(n: int, p: int) -> ValueError:
    what = "sample" if n == 0 else "feature"
    have = f"0 {what}(s) (shape=({n}, {p}))"
    return ValueError(f"Found array with {have} while a minimum of 1 is required: X has no {what}s to learn from")


def as_labels(Y: Any) -> npt.NDArray[Any]:
    """A target in any container as a one-dimensional NumPy array, gaps refused."""
    if is_whole_arrow(Y):
        return np.asarray(Y.to_numpy())
    native = nw.from_native(Y, series_only=True, pass_through=True)
    if isinstance(native, nw.Series):
        gaps = native.is_null().to_numpy()
        if gaps.any():
            raise ValueError(_gap(int(np.flatnonzero(gaps)[0])))
        labels = native.to_numpy()
        if native.dtype == nw.Boolean:
            labels = labels.astype(bool)
    else:
        labels = _label_array(Y)
    if labels.ndim != 1:
        from sklearn.utils import column_or_1d

        labels = column_or_1d(labels, warn=True)
    if labels.dtype.kind == "f" and not np.isfinite(labels).all():
        row = int(np.flatnonzero(~np.isfinite(labels))[0])
        raise ValueError(_gap(row) if np.isnan(labels[row]) else f"Input y contains infinity (row {row})")
    if labels.dtype.kind == "M" and np.isnat(labels).any():
        raise ValueError(_gap(int(np.flatnonzero(np.isnat(labels))[0])))
    if labels.dtype.kind == "c":
        raise ValueError("Complex data not supported: y must hold class labels")
    if labels.dtype.kind in "OT":
        labels = labels.astype(object)
        for row, label in enumerate(labels.tolist()):
            if is_gap(label):
                raise ValueError(_gap(row))
        return sort_out_labels(labels)
    return np.asarray(labels)


def _label_array(Y: Any) -> npt.NDArray[Any]:
    if isinstance(Y, np.ma.MaskedArray):
        return without_mask(Y)
    try:
        labels = np.asarray(Y)
    except ValueError:
        raise ValueError("y is ragged: it must hold one class label per row") from None
    if labels.dtype.kind == "U" and not isinstance(Y, np.ndarray):
        return np.array(list(Y), dtype=object)
    return labels


def _gap(row: int) -> str:
    return f"Input y contains NaN: the target is missing in row {row}; leave such rows out"


def take_rows(X: Any, keep: npt.NDArray[np.bool_]) -> Any:
    """The rows of any table-like input where ``keep`` is true."""
    native = nw.from_native(X, eager_only=True, pass_through=True)
    if isinstance(native, nw.DataFrame):
        return native.filter(keep.tolist()).to_native()
    if hasattr(X, "tocsr"):
        return X.tocsr()[keep]
    if isinstance(X, (list, tuple)):
        return [row for row, kept in zip(X, keep, strict=True) if kept]
    return np.asarray(X)[keep]


def contiguous(part: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """Contiguous and writable, so that every kernel is compiled for one kind of array only."""
    return part if part.flags.c_contiguous and part.flags.writeable else part.copy()
