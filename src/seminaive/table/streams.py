"""Parquet files read a stretch at a time, as Arrow tables of at most a block of rows."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol, Self

import numpy as np

READ_AHEAD = 1 << 20
"""Bytes of a column read at a time, so that a large row group never has to be in memory as a whole."""


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
    def stamp(self) -> tuple[int, int]:
        """Size and time of the last change, as `file_stamp` found them."""

    @property
    def kinds(self) -> dict[str, str]:
        """By column, what its type says: number, date, span, text, categories, bool, null, or another type's name."""

    def pieces(self, index: int, first_row: int) -> list[Piece]:
        """What can be read by itself, the file being the one of this index."""

    def batches(self, piece: Piece, columns: Sequence[str], rows: int) -> Iterator[Any]:
        """The piece's rows, at most so many at a time."""

    def plain_numbers(self) -> dict[str, str]:
        """Columns known to hold numbers from their type alone, and their unit."""


@dataclass(frozen=True, eq=False)
class ParquetStream:
    """A Parquet file; its pieces are row groups. Text is read by its dictionary.

    ``constant`` are columns that the file does not hold: their one value is in the names of its folders.
    """

    path: str
    stamp: tuple[int, int]
    kinds: dict[str, str]
    group_rows: tuple[int, ...]
    constant: Mapping[str, Any]

    @classmethod
    def open(cls, path: str, constant: Mapping[str, Any] | None = None) -> Self:
        import pyarrow as pa
        from pyarrow import parquet

        try:
            stamp = file_stamp(path)
            with parquet.ParquetFile(path) as file:
                schema, meta = file.schema_arrow, file.metadata
                rows = tuple(meta.row_group(g).num_rows for g in range(meta.num_row_groups))
        except (pa.ArrowException, OSError) as problem:
            raise ValueError(f"{path} cannot be read as Parquet: {problem}") from None
        hidden = index_columns(schema)
        names = [name for name in schema.names if name not in hidden]
        check_names(path, names)
        kinds = {name: kind_of(schema.field(name).type) for name in names}
        own = {name: value for name, value in (constant or {}).items() if name not in kinds}
        kinds |= {name: kind_of(value.type) for name, value in own.items()}
        return cls(path, stamp, kinds, rows, own)

    def pieces(self, index: int, first_row: int) -> list[Piece]:
        starts = first_row + np.concatenate([[0], np.cumsum(self.group_rows)]).astype(int)
        return [Piece(index, g, int(starts[g]), n, f"row group {g}") for g, n in enumerate(self.group_rows) if n > 0]

    def plain_numbers(self) -> dict[str, str]:
        units = {"number": "", "date": "days", "span": "days"}
        return {name: units[kind] for name, kind in self.kinds.items() if kind in units}

    def batches(self, piece: Piece, columns: Sequence[str], rows: int) -> Iterator[Any]:
        import pyarrow as pa
        from pyarrow import parquet

        held = [name for name in columns if name not in self.constant]
        text = [name for name in held if self.kinds[name] == "text"]
        check_stamp(self)
        done = 0
        try:
            with parquet.ParquetFile(self.path, read_dictionary=text, pre_buffer=False, buffer_size=READ_AHEAD) as file:
                batches = file.iter_batches(batch_size=rows, row_groups=[piece.part], columns=held, use_threads=False)
                for batch in batches:
                    yield times_as_spans(self._with_constants(pa.Table.from_batches([batch]), columns))
                    done += batch.num_rows
        except (pa.ArrowException, OSError) as problem:
            raise ValueError(f"{self.path}, {piece.name} cannot be read: {problem}") from None
        if done != piece.n_rows:
            raise ValueError(f"{self.path}, {piece.name} has {done} rows where {piece.n_rows} were announced")

    def _with_constants(self, table: Any, columns: Sequence[str]) -> Any:
        """The table and the columns that the names of folders hold, in the wanted order."""
        import pyarrow as pa

        for name in columns:
            if name in self.constant:
                column = pa.repeat(self.constant[name], table.num_rows)
                table = table.append_column(name, column.dictionary_encode() if self.kinds[name] == "text" else column)
        return table.select(list(columns)) if self.constant else table


def index_columns(schema: Any) -> set[str]:
    """Columns that are the index of a pandas frame, which pandas hides again when it reads the file."""
    stored = (schema.pandas_metadata or {}).get("index_columns", [])
    return {name for name in stored if isinstance(name, str) and name.startswith("__index_level_")}


def times_as_spans(table: Any) -> Any:
    """Times of day become durations since midnight, which are numbers."""
    import pyarrow as pa

    for i, field in enumerate(table.schema):
        if pa.types.is_time(field.type):
            plain = pa.int32() if pa.types.is_time32(field.type) else pa.int64()
            since_midnight = table.column(i).cast(plain).cast(pa.int64()).cast(pa.duration(field.type.unit))
            table = table.set_column(i, field.name, since_midnight)
    return table


def kind_of(arrow_type: Any) -> str:
    """What the type of a column says about it: number, date, span, text, bool, null, or something to be looked at."""
    import pyarrow as pa

    t = pa.types
    if t.is_integer(arrow_type) or t.is_floating(arrow_type) or t.is_decimal(arrow_type):
        return "number"
    if t.is_date(arrow_type) or t.is_timestamp(arrow_type):
        return "date"
    if t.is_duration(arrow_type) or t.is_time(arrow_type):
        return "span"
    if t.is_string(arrow_type) or t.is_large_string(arrow_type):
        return "text"
    if t.is_dictionary(arrow_type):
        return "text" if kind_of(arrow_type.value_type) == "text" else "categories"
    return "bool" if t.is_boolean(arrow_type) else str(arrow_type)


def check_names(path: str, names: Sequence[str]) -> None:
    """Refuse a name that two columns have."""
    seen: set[str] = set()
    for name in names:
        if name in seen:
            raise ValueError(f"{path}: the column name {name!r} occurs more than once; give each column its own")
        seen.add(name)


def check_columns(streams: Sequence[FileStream], wanted: Sequence[str]) -> None:
    """Refuse a file that lacks a column, or holds text where another file holds numbers; gaps agree with anything."""
    for name in wanted:
        first: FileStream | None = None
        for stream in streams:
            if name not in stream.kinds:
                raise ValueError(f"{stream.path} has no column {name!r}; it has {', '.join(list(stream.kinds)[:20])}")
            if stream.kinds[name] == "null":
                continue
            first = first or stream
            if stream.kinds[name] != first.kinds[name]:
                ours, theirs = _in_words(stream.kinds[name]), _in_words(first.kinds[name])
                raise ValueError(f"column {name!r} holds {ours} in {stream.path}, but {theirs} in {first.path}")


def _in_words(kind: str) -> str:
    words = {"number": "numbers", "date": "dates", "span": "durations", "null": "nothing", "bool": "true and false"}
    return words.get(kind, kind)


def file_stamp(path: str) -> tuple[int, int]:
    """What tells a file from a later one of the same name."""
    found = Path(path).stat()
    return found.st_size, found.st_mtime_ns


def check_stamp(stream: FileStream) -> None:
    """Refuse a file that is no longer the one that was looked at first."""
    try:
        now = file_stamp(stream.path)
    except OSError as problem:
        raise ValueError(f"{stream.path} cannot be read any more: {problem}") from None
    if now != stream.stamp:
        raise ValueError(f"{stream.path} has changed since it was scanned; scan the files again")
