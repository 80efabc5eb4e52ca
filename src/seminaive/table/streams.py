"""Parquet and CSV files read a stretch at a time, as Arrow tables of at most a block of rows."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol, Self

import numpy as np

GAPS = ["", "NA", "N/A", "NaN", "nan", "null", "NULL", "?"]


@dataclass(frozen=True)
class Piece:
    """Rows of one file that can be read by themselves."""

    file: int
    part: int
    first_row: int
    n_rows: int
    name: str


class FileStream(Protocol):
    """A file whose rows come in pieces and batches."""

    @property
    def path(self) -> str:
        """Where the file is."""

    @property
    def names(self) -> list[str]:
        """Its columns."""

    @property
    def kinds(self) -> dict[str, str]:
        """What the type of each column says: "number", "date", "text", "bool", or another type's name."""

    def pieces(self, first_row: int) -> list[Piece]:
        """What can be read by itself."""

    def batches(self, piece: Piece, columns: Sequence[str], rows: int) -> Iterator[Any]:
        """The piece's rows, some at a time."""

    def plain_numbers(self) -> dict[str, str]:
        """Columns known to hold numbers from their type alone, and their unit."""


@dataclass(frozen=True, eq=False)
class ParquetStream:
    """A Parquet file; its pieces are row groups. Text is read by its dictionary."""

    path: str
    index: int
    kinds: dict[str, str]
    group_rows: tuple[int, ...]

    @classmethod
    def open(cls, path: str, index: int) -> Self:
        import pyarrow as pa
        from pyarrow import parquet

        try:
            with parquet.ParquetFile(path) as file:
                schema, meta = file.schema_arrow, file.metadata
                rows = tuple(meta.row_group(g).num_rows for g in range(meta.num_row_groups))
        except (pa.ArrowException, OSError) as problem:
            raise ValueError(f"{path} cannot be read as Parquet: {problem}") from None
        stored = (schema.pandas_metadata or {}).get("index_columns", [])
        hidden = {name for name in stored if isinstance(name, str) and name.startswith("__index_level_")}
        names = [name for name in schema.names if name not in hidden]
        if len(set(names)) < len(names):
            twice = next(name for name in names if names.count(name) > 1)
            raise ValueError(f"{path}: the column name {twice!r} occurs more than once; give each column its own")
        return cls(path, index, {name: _kind(schema.field(name).type) for name in names}, rows)

    @property
    def names(self) -> list[str]:
        return list(self.kinds)

    def pieces(self, first_row: int) -> list[Piece]:
        starts = first_row + np.concatenate([[0], np.cumsum(self.group_rows)]).astype(int)
        return [
            Piece(self.index, g, int(starts[g]), n, f"row group {g}") for g, n in enumerate(self.group_rows) if n > 0
        ]

    def plain_numbers(self) -> dict[str, str]:
        return {
            name: "days" if kind == "date" else "" for name, kind in self.kinds.items() if kind in ("number", "date")
        }

    def batches(self, piece: Piece, columns: Sequence[str], rows: int) -> Iterator[Any]:
        import pyarrow as pa
        from pyarrow import parquet

        text = [name for name in columns if self.kinds[name] == "text"]
        try:
            with parquet.ParquetFile(self.path, read_dictionary=text, pre_buffer=False) as file:
                batches = file.iter_batches(
                    batch_size=rows, row_groups=[piece.part], columns=list(columns), use_threads=False
                )
                for batch in batches:
                    yield pa.Table.from_batches([batch])
        except (pa.ArrowException, OSError) as problem:
            raise ValueError(f"{self.path}, {piece.name} cannot be read: {problem}") from None


@dataclass(frozen=True, eq=False)
class CsvStream:
    """A CSV file, one piece; the types of its columns were found by reading all of it once."""

    path: str
    index: int
    kinds: dict[str, str]
    separator: str
    n_rows: int

    @classmethod
    def open(cls, path: str, index: int) -> Self:
        """Find types by reading: a column that turns out not to fit its first type takes the next wider one."""
        import pyarrow as pa

        names, separator = csv_header(path)
        types: dict[str, Any] = {}
        while True:
            try:
                rows, schema = 0, None
                for batch in _read_csv(path, names, separator, types, None):
                    rows, schema = rows + batch.num_rows, batch.schema
                break
            except (pa.ArrowException, OSError) as problem:
                column = re.search(r"In CSV column #(\d+)", str(problem))
                if column is None or types.get(names[int(column[1])]) == pa.string():
                    raise ValueError(f"{path} cannot be read as CSV: {problem}") from None
                name = names[int(column[1])]
                types[name] = pa.string() if name in types else pa.float64()
        if schema is None:
            raise ValueError(f"{path} has no rows, only the names of {len(names)} columns")
        return cls(path, index, {name: _kind(schema.field(name).type) for name in names}, separator, rows)

    @property
    def names(self) -> list[str]:
        return list(self.kinds)

    def pieces(self, first_row: int) -> list[Piece]:
        return [Piece(self.index, 0, first_row, self.n_rows, "its rows")]

    def plain_numbers(self) -> dict[str, str]:
        return {}

    def batches(self, piece: Piece, columns: Sequence[str], rows: int) -> Iterator[Any]:
        import pyarrow as pa

        fixed = {"number": pa.float64(), "text": pa.string(), "bool": pa.bool_()}
        types = {name: fixed[kind] for name, kind in self.kinds.items() if kind in fixed}
        try:
            for batch in _read_csv(self.path, self.names, self.separator, types, list(columns)):
                for first in range(0, batch.num_rows, rows):
                    yield pa.Table.from_batches([batch.slice(first, rows)])
        except (pa.ArrowException, OSError) as problem:
            raise ValueError(f"{self.path} cannot be read as CSV: {problem}") from None


def csv_header(path: str) -> tuple[list[str], str]:
    """The names in the first line, and the separator that occurs most often in it."""
    import csv

    try:
        with Path(path).open(encoding="utf-8-sig", newline="") as f:
            first = f.readline()
    except (OSError, UnicodeDecodeError) as problem:
        raise ValueError(f"{path} cannot be read as CSV: {problem}") from None
    separator = max(",;\t|", key=first.count)
    names = [name.strip() for name in next(csv.reader([first], delimiter=separator), [])]
    if not names or len(set(names)) < len(names):
        raise ValueError(f"{path}: the first line must name every column, each once; it reads {first[:60]!r}")
    return names, separator


def _read_csv(
    path: str, names: list[str], separator: str, types: dict[str, Any], columns: list[str] | None
) -> Iterator[Any]:
    from pyarrow import csv

    yield from csv.open_csv(
        path,
        read_options=csv.ReadOptions(use_threads=False, column_names=names, skip_rows=1, block_size=1 << 22),
        parse_options=csv.ParseOptions(delimiter=separator),
        convert_options=csv.ConvertOptions(
            null_values=GAPS,
            strings_can_be_null=True,
            quoted_strings_can_be_null=False,
            column_types=types,
            include_columns=columns,
        ),
    )


def _kind(arrow_type: Any) -> str:
    """What the type of a column says about it: number, date, text, bool, or something to be looked at."""
    import pyarrow as pa

    t = pa.types
    if t.is_integer(arrow_type) or t.is_floating(arrow_type):
        return "number"
    if t.is_date(arrow_type) or t.is_timestamp(arrow_type) or t.is_duration(arrow_type):
        return "date"
    if t.is_string(arrow_type) or t.is_large_string(arrow_type) or t.is_dictionary(arrow_type):
        return "text"
    if t.is_boolean(arrow_type):
        return "bool"
    return str(arrow_type)


def check_stream(stream: FileStream, wanted: Sequence[str], first: FileStream) -> None:
    """Refuse a file that lacks a column, or holds text where the first file holds numbers."""
    for name in wanted:
        if name not in stream.names:
            raise ValueError(f"{stream.path} has no column {name!r}; it has {', '.join(map(str, stream.names[:20]))}")
        ours, theirs = _family(stream, name), _family(first, name)
        if ours != theirs:
            raise ValueError(f"column {name!r} holds {ours} in {stream.path}, but {theirs} in {first.path}")


def _family(stream: FileStream, name: str) -> str:
    kind = stream.kinds[name]
    return {"number": "numbers", "date": "dates", "bool": "true and false", "text": "text"}.get(kind, kind)
