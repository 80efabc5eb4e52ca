"""One column as read: small codes with their labels, or numbers. Arrow's columns become either without a copy."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from seminaive.table.objects import is_gap

LARGEST = 1e140
"""Largest magnitude of a number: beyond it the sum of many weighted squares may no longer be finite."""


@dataclass(frozen=True)
class Source:
    """One column as read.

    ``kind`` is "codes" (``data`` holds unsigned codes into ``labels``; ``missing`` is the code of a gap) or "numbers"
    (``data`` is float64, NaN where missing). ``whole`` tells whether the numbers came as integers; ``unit`` is "days"
    for dates and durations.
    """

    kind: Literal["codes", "numbers"]
    data: npt.NDArray[Any]
    labels: Sequence[Any] = ()
    missing: int = -1
    whole: bool = False
    unit: str = ""


def is_arrow(X: Any) -> bool:
    """Whether X is an Arrow table, found out without importing Arrow."""
    return type(X).__module__ == "pyarrow.lib" and type(X).__name__ == "Table"


def is_whole_arrow(column: Any) -> bool:
    """Whether this is an Arrow column of whole numbers without gaps, found out without importing Arrow."""
    if type(column).__module__ != "pyarrow.lib" or type(column).__name__ != "ChunkedArray":
        return False
    import pyarrow as pa

    return bool(pa.types.is_integer(column.type) and column.null_count == 0)


def read_arrow(column: Any, name: Any) -> Source | None:
    """A column of an Arrow table that holds plain numbers or a dictionary; None when it holds anything else."""
    import pyarrow as pa

    kind = column.type
    if pa.types.is_dictionary(kind):
        return read_dictionary(column)
    if not (pa.types.is_integer(kind) or pa.types.is_floating(kind)):
        return None
    array = column.chunk(0) if column.num_chunks == 1 else column.combine_chunks()
    values = array.to_numpy(zero_copy_only=False)  # gaps become NaN
    return numbers(np.asarray(values, dtype=np.float64), name, whole=pa.types.is_integer(kind))


def read_dictionary(arrow: Any) -> Source:
    """An Arrow dictionary array as codes."""
    import pyarrow as pa

    if isinstance(arrow, pa.ChunkedArray):
        arrow = arrow.chunk(0) if arrow.num_chunks == 1 else arrow.unify_dictionaries().combine_chunks()
    labels = [plain_level(level) for level in arrow.dictionary.to_pylist()]
    codes = arrow.indices
    if codes.null_count:
        codes = codes.cast(pa.int64(), safe=False).fill_null(-1)
        return short_codes(codes.to_numpy(), labels)
    return Source("codes", codes.to_numpy().astype(_width(len(labels))), labels, missing=len(labels))


def short_codes(codes: npt.NDArray[Any], labels: list[Any]) -> Source:
    """Signed codes with -1 for gaps become the shortest unsigned codes that hold them, gaps last."""
    gap = len(labels)
    return Source("codes", np.where(codes < 0, gap, codes).astype(_width(gap)), labels, missing=gap)


def _width(gap: int) -> type[np.unsignedinteger[Any]]:
    """The shortest unsigned type that holds the code of a gap, which is the largest."""
    return np.uint8 if gap < 256 else np.uint16 if gap < 65_536 else np.uint32


def plain_level(level: Any) -> Any:
    """A level as a plain scalar; intervals, periods and the like by their text; None for a gap."""
    if type(level) is str:  # almost all are
        return level
    if is_gap(level):
        return None
    if isinstance(level, np.generic):
        level = level.item()
    if isinstance(level, (str, bool, int, float)):
        return level
    return str(level)


def numbers(values: npt.NDArray[np.float64], name: Any, *, whole: bool) -> Source:
    """Numbers as a source; integers of fixed width are never too large."""
    if not whole:
        check_size(values, name)
    return Source("numbers", values, whole=whole)


def check_size(values: npt.NDArray[np.float64], name: Any) -> None:
    """Check that every number can be squared; the error names the first that cannot."""
    if np.fmax.reduce(np.abs(values), initial=0.0) > LARGEST:
        row = int(np.flatnonzero(np.abs(values) > LARGEST)[0])
        what = "contains infinity" if np.isinf(values[row]) else "is too large for float64 arithmetic"
        raise ValueError(
            f"column {name!r}, row {row}: the value {values[row]} {what}; use a missing value or rescale the column"
        )
