"""Files: CSV and Parquet come in as Arrow tables.

CSV, as read here:

- UTF-8; the first line names the columns; fields are separated by comma, semicolon, tab or bar, whichever the first
  line has most of; with semicolons, numbers may have decimal commas.
- A field is missing when it is empty and unquoted, or one of NA, N/A, NaN, nan, null, NULL and ? without quotes.
  In quotes they are text: ``""`` is a level of its own, and so is ``"?"``. (A lone question mark is how many public
  data sets mark a gap; data in which it means something has to quote it.)
- Types are found from all rows of a column: whole numbers, numbers, true/false, dates, else text. Times of day become
  durations since midnight.
"""

from __future__ import annotations

import os
from collections.abc import Collection
from pathlib import Path
from typing import TYPE_CHECKING, Any

from seminaive.table.csv_stream import GAPS, csv_header, wrong_fields
from seminaive.table.streams import check_names, index_columns, times_as_spans

if TYPE_CHECKING:
    import pyarrow as pa

CSV, PARQUET = (".csv", ".tsv", ".txt"), (".parquet", ".pq")
PACKED = (".gz", ".bz2")


def read_file(path: str | os.PathLike[str], text: Collection[str] = ()) -> pa.Table:
    """Read a CSV or Parquet file as an Arrow table.

    Parameters
    ----------
    path : str or PathLike
        .csv, .tsv or .txt (also .gz or .bz2 of these), .parquet or .pq.
    text : names of columns, optional
        Columns that are text, whatever they look like.

    Returns
    -------
    pyarrow.Table
        What `open_frame`, `encode` and every estimator's ``fit`` and ``predict`` accept.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = Path(folder, "few.csv")
    ...     _ = path.write_text('colour,size\\nred,1.5\\n?,\\n"?",2\\n')
    ...     read_file(path).to_pydict()
    {'colour': ['red', None, '?'], 'size': [1.5, None, 2.0]}
    """
    path = Path(path)
    kind = file_kind(path)
    if path.is_dir():
        raise ValueError(f"{path} is a folder; name a file")
    if not path.exists():
        raise ValueError(f"{path}: there is no such file")
    table = _read_csv(path, text) if kind == "csv" else _read_parquet(path, text)
    if table.num_rows == 0:
        raise ValueError(f"{path} has no rows, only the names of {table.num_columns} columns")
    return times_as_spans(table)


def file_kind(path: str | os.PathLike[str]) -> str:
    """Whether a file is "csv" or "parquet", by its name."""
    path = Path(path)
    suffixes = [suffix.lower() for suffix in path.suffixes]
    if suffixes and suffixes[-1] in PACKED:
        suffixes.pop()
        if suffixes and suffixes[-1] in CSV:
            return "csv"
    elif suffixes and suffixes[-1] in CSV + PARQUET:
        return "csv" if suffixes[-1] in CSV else "parquet"
    raise ValueError(f"{path}: the name must end in {', '.join(CSV)} (or these with .gz) or {' or '.join(PARQUET)}")


# --- CSV --------------------------------------------------------------------------------------------------------------


def _read_csv(path: Path, text: Collection[str]) -> pa.Table:
    import pyarrow as pa

    names, separator = csv_header(str(path))
    as_text = {name: pa.string() for name in text}
    table = _parse(path, names, separator, as_text, ".")
    if separator == ";" and any(pa.types.is_string(kind) for kind in table.schema.types):
        with_commas = _parse(path, names, separator, as_text, ",")
        if _n_text(with_commas) < _n_text(table):
            return with_commas
    return table


def _parse(path: Path, names: list[str], separator: str, as_text: dict[str, Any], decimal_point: str) -> pa.Table:
    """Parse with all threads; if a line is at fault, once more on one thread to learn which."""
    import pyarrow as pa
    from pyarrow import csv

    wrong: list[Any] = []

    def note(row: Any) -> str:
        wrong.append(row)
        return "error"

    for use_threads in (True, False):
        try:
            table = csv.read_csv(
                str(path),
                read_options=csv.ReadOptions(use_threads=use_threads, column_names=names, skip_rows_after_names=1),
                parse_options=csv.ParseOptions(delimiter=separator, newlines_in_values=True, invalid_row_handler=note),
                convert_options=csv.ConvertOptions(
                    null_values=GAPS,
                    strings_can_be_null=True,
                    quoted_strings_can_be_null=False,
                    column_types=as_text,
                    decimal_point=decimal_point,
                ),
            )
            return _check_utf8(path, table)
        except pa.ArrowInvalid as problem:
            error = problem
    if wrong:  # blank lines are not counted
        raise wrong_fields(path, wrong[-1])
    raise ValueError(f"{path} cannot be read: {error}")


def _check_utf8(path: Path, table: pa.Table) -> pa.Table:
    """Refuse text that is not UTF-8, which the parser hands over as bytes."""
    import pyarrow as pa

    for name, column in zip(table.column_names, table.columns, strict=True):
        if not pa.types.is_binary(column.type):
            continue
        for row, cell in enumerate(column.to_pylist()):
            try:
                (cell or b"").decode("utf-8")
            except UnicodeDecodeError:
                shown = cell.decode("latin-1")[:60]
                raise ValueError(
                    f"{path}, column {name!r}, row {row}: {shown!r} is not in UTF-8; save the file as CSV in UTF-8"
                ) from None
    return table


def _n_text(table: pa.Table) -> int:
    import pyarrow as pa

    return sum(pa.types.is_string(kind) for kind in table.schema.types)


# --- Parquet ----------------------------------------------------------------------------------------------------------


def _read_parquet(path: Path, text: Collection[str]) -> pa.Table:
    import pyarrow as pa
    from pyarrow import parquet

    try:
        file = parquet.ParquetFile(path)
    except (pa.ArrowException, OSError) as problem:
        raise ValueError(f"{path} is not a Parquet file: {problem}") from None
    with file:
        names = file.schema_arrow.names
        check_names(str(path), names)
        hidden = index_columns(file.schema_arrow)  # parsed once: the metadata of 10,000 columns are long
        columns = [name for name in names if name not in hidden]
        groups = []
        for i in range(file.num_row_groups):
            try:
                groups.append(file.read_row_group(i, columns=columns))
            except (pa.ArrowException, OSError) as problem:
                raise ValueError(f"{path}, row group {i} cannot be read: {problem}") from None
    table = pa.concat_tables(groups) if groups else file.schema_arrow.empty_table()
    for name in set(text) & set(columns):
        i = table.schema.get_field_index(name)
        if pa.types.is_integer(table.schema.types[i]) or pa.types.is_floating(table.schema.types[i]):
            table = table.set_column(i, name, table.column(i).cast(pa.string()))
    return table
