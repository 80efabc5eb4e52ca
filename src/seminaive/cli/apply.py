"""`seminaive predict` and `seminaive explain`: a saved model and a file of rows."""

from __future__ import annotations

import sys
from argparse import Namespace
from collections.abc import Callable
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

from seminaive.cli.names import column_named
from seminaive.cli.output import check_output, check_picture, draw, write_file
from seminaive.evidence.storage import load
from seminaive.table.files import read_file
from seminaive.table.predictions import prediction_table
from seminaive.table.schema import Column

if TYPE_CHECKING:
    import pyarrow as pa


def predict(options: Namespace) -> None:
    """Run the command: the class of every row, and the probability of each class."""
    if options.output is not None:
        check_output(options.output, options.data, options.model)
    model = load_model(options.model)
    table = predictions(model, rows_for(model, options.data), options.data)
    if options.output is not None:
        write_file(table, options.output)
        return
    from pyarrow import csv

    csv.write_csv(table, sys.stdout.buffer)


def predictions(model: Any, rows: Any, path: str) -> pa.Table:
    """One line per row: ``class``, then ``probability_<label>`` for every label."""
    try:
        return prediction_table(model.classes_, model.predict_proba(rows))
    except (TypeError, ValueError) as problem:
        raise ValueError(f"{path}: {problem}") from None


def explain(options: Namespace) -> None:
    """Run the command: why one row is classified as it is, or, without a file of rows, what the model learned."""
    model = load_model(options.model)
    check_picture(options.plot)
    if options.data is None:
        print(model.summary())
        explanation = model.explain()
    else:
        rows = rows_for(model, options.data)
        if not 0 <= options.row < len(rows):
            raise ValueError(f"{options.data} has the rows 0 to {len(rows) - 1}; --row {options.row} is not among them")
        try:
            explanation = model.explain(rows[options.row : options.row + 1])
        except (TypeError, ValueError) as problem:
            raise ValueError(f"{options.data}, row {options.row}: {problem}") from None
        print(f"row {options.row}:", str(explanation).removeprefix("row 0: "))
    if options.plot is not None:
        draw(explanation, options.plot)


def load_model(path: str) -> Any:
    """A fitted model from its file."""
    if not Path(path).is_file():
        raise ValueError(f"{path}: there is no such file" if not Path(path).is_dir() else f"{path} is a folder")
    model = load(path)
    if not hasattr(model, "evidence_"):
        raise ValueError(f"{path} holds a {type(model).__name__} that was never fitted")
    return model


def rows_for(model: Any, path: str) -> Any:
    """The rows of a file as the model's columns: by name, in any order; other columns are ignored.

    Levels keep their type: a column whose levels are text is read as text even where this file holds numbers only.
    """
    columns: list[Column] = list(model.evidence_.schema.columns)
    by_name = all(isinstance(column.name, str) for column in columns)
    if not by_name:  # learned from an array: by position
        table = read_file(path)
        if table.num_columns != len(columns):
            raise ValueError(
                f"{path} has {table.num_columns} columns; the model learned from {len(columns)} without names"
            )
        return table.to_pandas().set_axis(range(len(columns)), axis=1)
    table = read_file(path, text=[c.name for c in columns if c.levels and all(isinstance(v, str) for v in c.code_of)])
    for column in columns:
        column_named(column.name, table.column_names, path)
        if column.kind == "numeric":
            _check_numbers(column, table.column(column.name), path)
    return _with_typed_levels(table.select([column.name for column in columns]), columns)


def _check_numbers(column: Column, cells: pa.ChunkedArray, path: str) -> None:
    """One word makes a whole column text; the error names the word."""
    import pyarrow as pa

    if not pa.types.is_string(cells.type):
        return
    read: Callable[[str], object] = datetime.fromisoformat if column.unit else float
    for row, cell in enumerate(cells.to_pylist()):
        try:
            if cell is not None:
                read(cell)
        except ValueError:
            what = "dates or times" if column.unit else "numbers"
            raise ValueError(
                f"{path}: column {column.name!r}, row {row} holds {cell!r}, but the column held {what} in training"
            ) from None


def _with_typed_levels(table: pa.Table, columns: list[Column]) -> Any:
    """Columns of whole numbers or truth values in training that hold text here: what can be a known level is one.

    Such a column holds values of several types, which Arrow cannot, so the rows become a pandas frame.
    """
    import pyarrow as pa

    mixed = [
        column
        for column in columns
        if column.kind == "nominal"
        and not all(isinstance(level, str) for level in column.code_of)
        and pa.types.is_string(table.schema.field(column.name).type)
    ]
    if not mixed:
        return table
    frame = table.to_pandas()
    for column in mixed:
        known: dict[Any, Any] = {str(level): level for level in column.code_of}
        known |= {str(level).lower(): level for level in column.code_of if isinstance(level, bool)}
        frame[column.name] = [known.get(cell, cell) for cell in table.column(column.name).to_pylist()]
    return frame
