"""Rows for the benchmarks of scale: 10 numeric and 10 text columns and a target, in Parquet files of a million rows.

Text is written as Spark writes it: plain strings with a dictionary, nothing about Arrow in the file.
"""

from __future__ import annotations

import shutil
from pathlib import Path

import numpy as np
import pyarrow as pa
from pyarrow import parquet

FILE_ROWS, GROUP_ROWS = 1_000_000, 250_000
NUMERIC, TEXT = [f"x{j}" for j in range(10)], [f"c{j}" for j in range(10)]
LEVELS = [f"level {i}" for i in range(10)]
TARGET = "y"
BYTES_PER_ROW = 85


def write_rows(folder: Path, n_files: int) -> list[Path]:
    """Files of a million rows; those already there stay."""
    paths = [folder / f"part-{i:05d}.parquet" for i in range(n_files)]
    missing = [path for path in paths if not path.exists()]
    needed, free = len(missing) * FILE_ROWS * BYTES_PER_ROW, shutil.disk_usage(folder).free
    if needed * 2 > free:
        raise SystemExit(f"{needed:,} bytes of rows are to be written to {folder}, where {free:,} are free")
    for path in missing:
        write_file(path, int(path.stem[5:]))
    return paths


def write_file(path: Path, seed: int) -> None:
    """A million rows; columns differ a little between the two classes."""
    rng = np.random.default_rng(seed)
    y = rng.integers(0, 2, FILE_ROWS, dtype=np.int8)
    columns: dict[str, pa.Array] = {}
    for j, name in enumerate(NUMERIC):
        columns[name] = pa.array(rng.standard_normal(FILE_ROWS) * (j + 1) + 0.1 * y)
    for name in TEXT:
        codes = rng.integers(0, len(LEVELS), FILE_ROWS, dtype=np.int8)
        codes[(rng.random(FILE_ROWS, dtype=np.float32) < 0.1) & (y == 1)] = 0
        columns[name] = pa.DictionaryArray.from_arrays(pa.array(codes), LEVELS)
    rows = pa.table({**columns, TARGET: pa.array(y)})
    parquet.write_table(rows, path, row_group_size=GROUP_ROWS, use_dictionary=[*TEXT, TARGET], store_schema=False)
