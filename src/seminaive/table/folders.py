"""Folders of files, as Spark, Hive and others write them: which files hold rows, and what their folders' names say."""

from __future__ import annotations

import glob
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any
from urllib.parse import unquote

GAP = "__HIVE_DEFAULT_PARTITION__"
"""The name of a folder whose rows have a gap in its column."""
WHOLE = re.compile(r"[+-]?\d{1,18}")
NUMBER = re.compile(r"[+-]?\d+(\.\d*)?([eE][+-]?\d+)?")
DATE = re.compile(r"\d{4}-(0[1-9]|1[0-2])-([012]\d|3[01])")


def find_files(path: str | Path | Sequence[str | Path], endings: Sequence[str]) -> tuple[tuple[str, ...], Path | None]:
    """The files meant by a path, pattern, folder or list, in order; and the folder below which they were looked for.

    Names in a folder that begin with "." or "_" are notes of whoever wrote it, or not finished, and are passed over.
    """
    root = None
    if not isinstance(path, (str, Path)):
        found = [str(p) for p in path]
    elif Path(path).is_dir():
        root = Path(path)
        found = [str(p) for p in root.rglob("*") if p.name.endswith(tuple(endings))]
    elif glob.has_magic(str(path)) and not Path(path).exists():
        root = _before_pattern(Path(path))
        found = glob.glob(str(path), recursive=True)  # noqa: PTH207 (Path.glob refuses absolute patterns)
    else:
        found = [str(path)]
    if root is not None:
        found = sorted(p for p in found if not any(map(_is_hidden, Path(p).relative_to(root).parts)))
    if not found:
        raise FileNotFoundError(f"no {endings[0]} file matches {path}")
    return tuple(found), root


def folder_columns(files: Sequence[str], root: Path | None) -> list[dict[str, Any]]:
    """For each file, the columns that the names of its folders below the root give, as Arrow scalars.

    In ``sales/region=north/part-0.parquet`` every row has the region "north". A column is of whole numbers, numbers or
    dates if all its values read so, else of text.
    """
    import pyarrow as pa

    texts = [_texts(Path(file), root) for file in files]
    columns: dict[str, list[str]] = {}
    for own in texts:
        for name, text in own.items():
            columns.setdefault(name, []).append(text)
    kinds = {name: _kind(values) for name, values in columns.items()}
    return [
        {name: pa.scalar(None if text == GAP else text).cast(kinds[name]) for name, text in own.items()}
        for own in texts
    ]


def _is_hidden(name: str) -> bool:
    return name.startswith(".") or (name.startswith("_") and "=" not in name)


def _before_pattern(path: Path) -> Path:
    """The folders of a pattern before the first that holds wildcards."""
    parts = path.parts
    first = next(i for i, part in enumerate(parts) if glob.has_magic(part))
    return Path(*parts[:first])


def _texts(file: Path, root: Path | None) -> dict[str, str]:
    """The ``name=value`` parts of the folders between root and file."""
    if root is None:
        return {}
    pairs = (part.partition("=") for part in file.relative_to(root).parts[:-1])
    return {unquote(name): unquote(text) for name, sign, text in pairs if sign and name}


def _kind(texts: Sequence[str]) -> Any:
    """The Arrow type that all texts of a column have."""
    import pyarrow as pa

    known = [text for text in texts if text != GAP]
    for pattern, kind in ((WHOLE, pa.int64()), (NUMBER, pa.float64()), (DATE, pa.date32())):
        if known and all(pattern.fullmatch(text) for text in known):
            return kind
    return pa.string()
