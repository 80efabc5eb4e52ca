"""The way in: whatever holds labelled rows becomes a Table; whatever holds rows to predict becomes blocks."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy.typing as npt

from seminaive.table.dask import DaskRows, is_dask
from seminaive.table.encode import stream_blocks
from seminaive.table.facts import Facts, Wishes, frame_facts
from seminaive.table.fold import Kernel, Rows, map_in_order
from seminaive.table.frames import Frame, open_frame
from seminaive.table.predictions import prediction_names
from seminaive.table.scan import Scan
from seminaive.table.schema import Schema
from seminaive.table.table import LabelledRows, Table


def encode(
    X: Any,
    y: Any = None,
    *,
    sample_weight: Any = None,
    nominal: Sequence[Any] | None = None,
    levels: Mapping[Any, Sequence[Any]] | None = None,
    max_levels: int | None = None,
    n_jobs: int | None = None,
) -> Table:
    """Encode rows once, to fit many models on them.

    Parameters
    ----------
    X : pandas, Polars, Arrow or Dask table, NumPy array, SciPy sparse matrix, or scan of files
        Text, categories and booleans are nominal; numbers and dates (as days) are numeric.
    y : array-like
        Class labels; a scan names its own.
    sample_weight : array-like, optional
        Weight 2 means the row twice, weight 0 the row left out.
    nominal : names, positions or mask, optional
        Columns that are nominal whatever their type.
    levels : dict, optional
        Per column, all levels it can have; makes the column nominal.
    max_levels : int, optional
        Keep this many levels per column, the rarest folded into one; needed above 65,534 levels.
    n_jobs : int, optional
        Threads that read files.

    Returns
    -------
    Table
        What any estimator's ``fit`` accepts in place of ``X, y``. Of files larger than memory the encoded rows are on
        disk, and disappear with the Table.

    Examples
    --------
    >>> import pandas as pd
    >>> import seminaive as snb
    >>> X = pd.DataFrame({"colour": ["red", "blue", None, "red"], "size": [1.0, 2.5, 2.0, 1.5]})
    >>> snb.encode(X, ["a", "b", "b", "a"])
    Table(4 rows, 1 nominal and 1 numeric columns, 2 classes)
    """
    return open_table(X, y, sample_weight, Wishes(nominal, levels, max_levels), n_jobs).kept(n_jobs)


def open_table(X: Any, y: Any, sample_weight: Any, wishes: Wishes, n_jobs: int | None = None) -> Table:
    """Labelled rows as a Table, where they are: in memory, in files read anew in every pass, or on a cluster."""
    if isinstance(X, (Table, Scan)):
        if y is not None or sample_weight is not None:
            what = "an encoded Table" if isinstance(X, Table) else "a scan of files"
            raise ValueError(f"X is {what}: its labels and weights are inside, do not pass them again")
        return X if isinstance(X, Table) else X.wishing(wishes).table(n_jobs)
    if is_dask(X):
        return DaskRows.of_frame(X, y, sample_weight).table(wishes)
    rows = LabelledRows.open(X, y, sample_weight)
    columns, sources = frame_facts(rows.frame, wishes, rows.weights)
    facts = Facts(tuple(columns), rows.classes, rows.frame.n_rows)
    return rows.as_table(facts.schema(wishes), sources)


@dataclass(frozen=True, eq=False)
class FrameRows:
    """Rows of a frame to predict, encoded block by block as they are needed."""

    schema: Schema
    frame: Frame

    @property
    def n_rows(self) -> int:
        return self.frame.n_rows

    def map(self, kernel: Kernel, *model: Any, n_jobs: int | None = None) -> Iterator[Any]:
        return map_in_order(lambda block: kernel(block, *model), stream_blocks(self.schema, self.frame), n_jobs)


def open_rows(X: Any, schema: Schema) -> Rows:
    """Rows to predict, wherever they are, as blocks under a schema in row order."""
    if isinstance(X, Table):
        if not X.schema.same_as(schema):
            raise ValueError("this Table was encoded by another schema than the model's; pass the frame itself")
        return X.blocks
    if isinstance(X, Scan):
        check_names(X.columns, schema)
        return X.unlabelled().open(schema)
    if is_dask(X):
        check_names(list(X.columns), schema)
        return DaskRows.of_frame(X, None, None).unlabelled(schema)
    return FrameRows(schema, open_frame(X))


def columns_to_keep(X: Any, names: Sequence[str], classes: npt.NDArray[Any]) -> Iterator[Any] | None:
    """Columns of files that are written beside the predictions of their rows; None when none are wanted."""
    if not names:
        return None
    if isinstance(names, str):
        raise ValueError(f"keep must be a list of names, got {names!r}")
    if not isinstance(X, Scan):
        raise ValueError(f"keep takes columns of files: pass a scan of them, not a {type(X).__name__}")
    written = [*names, *prediction_names(classes.tolist())]
    for name in names:
        if written.count(name) > 1:
            raise ValueError(f"keep: the file of predictions would have two columns {name!r}")
    return X.other_columns(names)


def has_own_names(X: Any) -> bool:
    """Whether X brings its column names itself, checked here instead of by scikit-learn."""
    return isinstance(X, (Table, Scan)) or is_dask(X)


def check_names(names: Sequence[Any], schema: Schema) -> None:
    """Refuse rows whose columns are not the model's."""
    if list(names) != schema.names:
        raise ValueError(
            f"the columns {list(names)} are not the model's columns {schema.names}; pass those, in that order "
            "(a scan takes columns=)"
        )
