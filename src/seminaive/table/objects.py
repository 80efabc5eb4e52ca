"""Columns of Python objects: find out what they hold, value by value."""

from __future__ import annotations

import datetime
import decimal
import numbers
import sys
from typing import Any

import numpy as np
import numpy.typing as npt

EPOCH = datetime.datetime(1970, 1, 1)
NESTED = (dict, list, tuple, set, frozenset, np.ndarray)


class NestedValueError(TypeError, ValueError):
    """A cell holds a container where one value belongs.

    A TypeError because scikit-learn's checks ask for one, a ValueError because every other bad cell is one.
    """

    def __init__(self, column: Any, row: int, value: Any) -> None:
        text = value if isinstance(value, str) else repr(value)
        super().__init__(f"column {column!r}, row {row} holds {text[:60]}: the argument must be a string or a number")


def is_gap(value: Any) -> bool:
    """None, NaN of any kind, NaT and pandas' NA."""
    if value is None or type(value).__name__ in ("NAType", "NaTType"):
        return True
    if isinstance(value, decimal.Decimal):
        return value.is_nan()
    return isinstance(value, (float, np.floating, np.datetime64, np.timedelta64)) and bool(value != value)


def without_mask(array: np.ma.MaskedArray[Any, Any]) -> npt.NDArray[np.object_]:
    """A masked array as objects, None where masked."""
    plain = np.array(array.data, dtype=object)
    plain[np.ma.getmaskarray(array)] = None
    return plain


def sort_out_objects(values: npt.NDArray[np.object_], name: Any) -> tuple[str, npt.NDArray[Any], list[Any], str, bool]:
    """What a column of objects holds: ``(kind, data, labels, unit, whole)``.

    All numbers: kind "numbers". All dates or all durations: "numbers" in days. Anything else: "codes" into labels, -1
    for gaps. Booleans are labels, not numbers.
    """
    cells = values.tolist()
    gaps = [is_gap(v) for v in cells]
    kinds = {_kind_of(v, name, row) for row, v in enumerate(cells) if not gaps[row]}
    if kinds <= {"number", "whole"}:  # an empty column counts as numeric, too: it says nothing either way
        return "numbers", _fill(cells, gaps, _as_float), [], "", kinds == {"whole"}
    if kinds == {"date"} or kinds == {"span"}:
        return "numbers", _fill(cells, gaps, _as_days), [], "days", False
    found: dict[Any, int] = {}
    codes = np.empty(len(cells), dtype=np.int64)
    for row, v in enumerate(cells):
        codes[row] = -1 if gaps[row] else found.setdefault(_as_label(v), len(found))
    return "codes", codes, list(found), "", False


def sort_out_labels(labels: npt.NDArray[np.object_]) -> npt.NDArray[Any]:
    """Class labels given as objects, without gaps: numbers and booleans get their own type, text stays."""
    cells = labels.tolist()
    kinds: dict[str, int] = {}
    for row, label in enumerate(cells):
        kinds.setdefault(_kind_of_label(label, row), row)
    if len(kinds) > 1 and set(kinds) != {"whole", "number"}:
        a, b = list(kinds.values())[:2]
        raise ValueError(
            f"y mixes labels of different types: {cells[a]!r} in row {a}, {cells[b]!r} in row {b}; give all one type"
        )
    if set(kinds) <= {"text"}:
        return labels
    plain = np.array(cells)
    if "number" not in kinds and plain.dtype.kind not in "biu":
        raise ValueError("y holds whole numbers that do not fit into 64 bits; use text for such labels")
    return plain


def _kind_of_label(label: Any, row: int) -> str:
    if isinstance(label, (bool, np.bool_)):
        return "bool"
    if isinstance(label, numbers.Integral):
        return "whole"
    if isinstance(label, (float, np.floating)):
        return "number"
    if isinstance(label, str):
        return "text"
    raise ValueError(
        f"y, row {row} holds a label of type {type(label).__name__}; labels are text, whole numbers or booleans"
    )


def _kind_of(value: Any, name: Any, row: int) -> str:
    if isinstance(value, (bool, np.bool_)):
        return "bool"
    if isinstance(value, numbers.Integral):
        return "whole"
    if isinstance(value, (numbers.Real, decimal.Decimal)):
        return "number"
    if isinstance(value, (datetime.date, np.datetime64)):
        return "date"
    if isinstance(value, (datetime.timedelta, np.timedelta64)):
        return "span"
    if isinstance(value, (str, bytes)):
        return "text"
    if isinstance(value, NESTED):
        raise NestedValueError(name, row, value)
    raise ValueError(
        f"column {name!r}, row {row} holds a value of type {type(value).__name__}; "
        "turn the column into numbers, text or categories"
    )


def _fill(cells: list[Any], gaps: list[bool], convert: Any) -> npt.NDArray[np.float64]:
    return np.array([np.nan if gap else convert(v) for v, gap in zip(cells, gaps, strict=True)], dtype=np.float64)


def _as_float(value: Any) -> float:
    try:
        return float(value)
    except OverflowError:
        return sys.float_info.max if value > 0 else -sys.float_info.max


def _as_days(value: Any) -> float:
    if isinstance(value, (np.datetime64, np.timedelta64)):
        return float(
            value.astype("M8[us]" if isinstance(value, np.datetime64) else "m8[us]").astype(np.int64) / 86_400e6
        )
    if isinstance(value, datetime.timedelta):
        return value / datetime.timedelta(days=1)
    if not isinstance(value, datetime.datetime):
        value = datetime.datetime(value.year, value.month, value.day)
    if value.tzinfo is not None:
        value = value.astimezone(datetime.UTC).replace(tzinfo=None)
    return (value - EPOCH) / datetime.timedelta(days=1)


def _as_label(value: Any) -> Any:
    if isinstance(value, (np.bool_, np.generic)):
        return value.item()
    return value.decode("utf-8", "backslashreplace") if isinstance(value, bytes) else value
