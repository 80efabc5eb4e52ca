"""Predictions written to Parquet block by block, so that neither the rows nor the result need fit in memory."""

from __future__ import annotations

import contextlib
import errno
import os
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from seminaive.table.parts import FULL
from seminaive.table.schema import Floats


def write_predictions(
    path: str | os.PathLike[str],
    classes: npt.NDArray[Any],
    probabilities: Iterator[Floats],
    kept: Iterator[Any] | None = None,
) -> int:
    """Write the most probable class and all probabilities of each row; the file appears when it is complete.

    Parameters
    ----------
    path : path of the Parquet file
    classes : array
        Class labels, in the order of the probabilities' columns.
    probabilities : iterator of arrays (rows, classes)
        In row order.
    kept : iterator of Arrow tables, optional
        Columns of the same rows that are written before them, cut in any way.

    Returns
    -------
    int
        Rows written.
    """
    from pyarrow import parquet

    target = Path(path)
    if target.is_dir():
        raise IsADirectoryError(f"{target} is a folder; name a file for the predictions")
    if not target.parent.is_dir():
        raise FileNotFoundError(f"there is no folder {target.parent} for the predictions")
    draft = target.with_name(f".{target.name}.{os.getpid()}.writing")
    written = 0
    held: Any = None
    try:
        with contextlib.ExitStack() as stack:
            writer = None
            for part in probabilities:
                rows = prediction_table(classes, part)
                if kept is not None:
                    held, keys = _first_rows(held, kept, len(part))
                    rows = _side_by_side(keys, rows)
                if writer is None:
                    writer = stack.enter_context(parquet.ParquetWriter(draft, rows.schema))
                writer.write_table(rows)
                written += len(part)
        if not written:
            raise ValueError("X has no rows to predict")
        draft.replace(target)
    except BaseException as error:
        draft.unlink(missing_ok=True)
        if isinstance(error, OSError) and error.errno in FULL:
            raise OSError(errno.ENOSPC, f"cannot write the predictions to {target}: the disk is full") from None
        raise
    return written


def prediction_names(classes: Sequence[Any]) -> list[str]:
    """The columns of a file of predictions."""
    return ["class", *[f"probability_{label}" for label in classes]]


def prediction_table(classes: npt.NDArray[Any], probabilities: Floats) -> Any:
    """The most probable class and all probabilities of some rows as an Arrow table."""
    import pyarrow as pa

    best = classes[probabilities.argmax(axis=1)]
    columns = [pa.array(best.tolist() if best.dtype == object else best)]
    columns += [pa.array(np.ascontiguousarray(probabilities[:, k])) for k in range(len(classes))]
    return pa.table(columns, names=prediction_names(classes.tolist()))


def _first_rows(held: Any, more: Iterator[Any], n: int) -> tuple[Any, Any]:
    """The first n rows of the table in hand and of those that follow; what is left of it comes first."""
    import pyarrow as pa

    while held is None or held.num_rows < n:
        following = next(more)
        held = following if held is None else pa.concat_tables([held, following])
    return held.slice(n), held.slice(0, n)


def _side_by_side(left: Any, right: Any) -> Any:
    for name, column in zip(right.column_names, right.columns, strict=True):
        left = left.append_column(name, column)
    return left
