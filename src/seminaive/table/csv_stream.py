"""CSV files read a stretch at a time; a column's type is found from all of its fields.

The conventions are those of files read at once: UTF-8; the first line names the columns; fields are separated by comma,
semicolon, tab or bar, whichever the first line has most of; with semicolons, numbers may have decimal commas; an
unquoted field that is empty or reads NA, N/A, NaN, nan, null, NULL or ? is missing, in quotes it is text.
"""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any, Self

from seminaive.table.streams import Piece, check_names, check_stamp, file_stamp, kind_of, times_as_spans

GAPS = ["", "NA", "N/A", "NaN", "nan", "null", "NULL", "?"]
"""Unquoted fields that are missing values."""
SEPARATORS = ",;\t|"
BLOCK_BYTES = 1 << 22
"""Bytes of text parsed at a time."""


@dataclass(frozen=True, eq=False)
class CsvStream:
    """A CSV file, one piece."""

    path: str
    stamp: tuple[int, int]
    types: dict[str, Any]
    separator: str
    decimal_point: str
    n_rows: int

    @classmethod
    def open(cls, path: str) -> Self:
        """Find the types by reading the file once; more than once only where a column's first fields mislead."""
        try:
            stamp = file_stamp(path)
        except OSError as problem:
            raise ValueError(f"{path} cannot be read: {problem}") from None
        names, separator = csv_header(path)
        n_rows, types = _find_types(path, names, separator, ".")
        stream = cls(path, stamp, types, separator, ".", n_rows)
        if separator == ";" and "text" in stream.kinds.values():
            with_commas = replace(stream, types=_find_types(path, names, separator, ",")[1], decimal_point=",")
            if _n_text(with_commas) < _n_text(stream):
                stream = with_commas
        if n_rows == 0:
            raise ValueError(f"{path} has no rows, only the names of {len(names)} columns")
        return stream

    @property
    def kinds(self) -> dict[str, str]:
        return {name: kind_of(arrow_type) for name, arrow_type in self.types.items()}

    def as_text(self, columns: Sequence[str]) -> CsvStream:
        """The same file with some columns read as text."""
        import pyarrow as pa

        return replace(self, types=self.types | dict.fromkeys(columns, pa.string()))

    def pieces(self, index: int, first_row: int) -> list[Piece]:
        return [Piece(index, 0, first_row, self.n_rows, "its rows")]

    def plain_numbers(self) -> dict[str, str]:
        return {}

    def batches(self, piece: Piece, columns: Sequence[str], rows: int) -> Iterator[Any]:
        import pyarrow as pa

        check_stamp(self)
        try:
            for batch in _read(self.path, list(self.types), self.separator, self.decimal_point, self.types, columns):
                for first in range(0, batch.num_rows, rows):
                    yield times_as_spans(pa.Table.from_batches([batch.slice(first, rows)]))
        except (pa.ArrowException, OSError) as problem:
            raise ValueError(f"{self.path} cannot be read as CSV: {problem}") from None


def one_type_per_column(streams: Sequence[CsvStream]) -> list[CsvStream]:
    """A column that is of different kinds in different files is text in all of them, as if they were one file."""
    kinds: dict[str, set[str]] = {}
    for stream in streams:
        for name, kind in stream.kinds.items():
            kinds.setdefault(name, set()).add(kind)
    mixed = [name for name, found in kinds.items() if len(found - {"null"}) > 1]
    return [stream.as_text([name for name in mixed if name in stream.types]) for stream in streams]


def csv_header(path: str) -> tuple[list[str], str]:
    """The names in the first line, and the separator that occurs most often in it."""
    import pyarrow as pa

    try:
        with pa.input_stream(path, compression="detect") as stream:
            head = stream.read(1 << 16)
    except OSError as problem:
        raise ValueError(f"{path} cannot be read: {problem}") from None
    if head[:2] in (b"\xff\xfe", b"\xfe\xff") or b"\0" in head:
        raise ValueError(f"{path} is not text in UTF-8; save it as CSV in UTF-8")
    start = head.decode("utf-8-sig", errors="replace").lstrip("\r\n")
    if not start.strip():
        raise ValueError(f"{path} is empty; its first line must name the columns")
    first = re.sub(r'"[^"]*"', "", start).splitlines()[0]  # separators inside quotes separate nothing
    separator = max(SEPARATORS, key=first.count)
    names = [
        name.strip() or f"column {i}"
        for i, name in enumerate(next(csv.reader(io.StringIO(start), delimiter=separator)), 1)
    ]
    check_names(path, names)
    return names, separator


def _wider_types() -> list[Any]:
    """The order in which the types of a column are tried."""
    import pyarrow as pa

    seconds, finer = pa.timestamp("s"), pa.timestamp("ns")
    return [pa.null(), pa.int64(), pa.bool_(), pa.date32(), pa.time32("s"), seconds, finer, pa.float64(), pa.string()]


def _find_types(path: str, names: list[str], separator: str, decimal_point: str) -> tuple[int, dict[str, Any]]:
    """Rows and types: a column whose type does not fit a later field is tried with the next wider one."""
    import pyarrow as pa

    types: dict[str, Any] = {}
    order = _wider_types()
    while True:
        rows, schema = 0, None
        try:
            for batch in _read(path, names, separator, decimal_point, types, None):
                rows, schema = rows + batch.num_rows, batch.schema
        except (pa.ArrowException, OSError) as problem:
            misfit = re.search(r"In CSV column #(\d+): (?:Row #\d+: )?CSV conversion error to ([^:]+): ", str(problem))
            at = [str(t) for t in order].index(misfit[2]) + 1 if misfit and misfit[2] in map(str, order) else len(order)
            if misfit is None or at == len(order):
                raise ValueError(f"{path} cannot be read as CSV: {problem}") from None
            types[names[int(misfit[1])]] = order[at]
            continue
        if schema is None:
            return 0, dict.fromkeys(names, pa.null())
        bytes_ = [name for name in names if pa.types.is_binary(schema.field(name).type)]
        if bytes_:
            raise ValueError(f"{path}, column {bytes_[0]!r} is not in UTF-8; save the file as CSV in UTF-8")
        return rows, {name: schema.field(name).type for name in names}


def _n_text(stream: CsvStream) -> int:
    return list(stream.kinds.values()).count("text")


def _read(
    path: str,
    names: list[str],
    separator: str,
    decimal_point: str,
    types: dict[str, Any],
    columns: Sequence[str] | None,
) -> Iterator[Any]:
    from pyarrow import csv as arrow_csv

    wrong: list[Any] = []

    def note(row: Any) -> str:
        wrong.append(row)
        return "error"

    try:
        yield from arrow_csv.open_csv(
            path,
            read_options=arrow_csv.ReadOptions(
                use_threads=False, column_names=names, skip_rows_after_names=1, block_size=BLOCK_BYTES
            ),
            parse_options=arrow_csv.ParseOptions(
                delimiter=separator, newlines_in_values=True, invalid_row_handler=note
            ),
            convert_options=arrow_csv.ConvertOptions(
                null_values=GAPS,
                strings_can_be_null=True,
                quoted_strings_can_be_null=False,
                column_types=types,
                decimal_point=decimal_point,
                include_columns=None if columns is None else list(columns),
            ),
        )
    except OSError:
        raise
    except ValueError as problem:
        if not wrong:
            raise
        raise wrong_fields(path, wrong[-1]) from problem


def wrong_fields(path: Any, row: Any) -> ValueError:
    """The error about a line, as the parser reports it, that has more or fewer fields than the first one."""
    return ValueError(
        f"{path}, line {row.number} has {row.actual_columns} fields where the first line names "
        f"{row.expected_columns} columns: {row.text[:60]!r}"
    )
