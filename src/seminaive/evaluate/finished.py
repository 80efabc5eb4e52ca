"""Finished work of a comparison, kept in a file of lines, so that an interrupted comparison goes on where it stopped.

The first line says what the file is. Every other line is one repeat of one model on one data set: a key, made from
the model, the data and the folds, and what each fold gave. A line is written in one go, by whichever process finished
the work; a line cut short by a crash is skipped.
"""

import json
import os
import pickle
from pathlib import Path
from typing import Any

import joblib

__all__ = ["Folds", "key_of", "open_finished", "write_finished"]

Folds = list[tuple[list[float], float, str]]
"""Of every fold of one repeat: its scores, the seconds of its fit, and the message of a failure."""

HEAD = {"seminaive comparison": 1}


def key_of(*parts: Any) -> str:
    """A name for a piece of work: the same for equal parts, in every process.

    Examples
    --------
    >>> key_of([1.0, 2.0], "a") == key_of([1.0, 2.0], "a"), key_of([1.0], "a") == key_of([2.0], "a")
    (True, False)
    """
    try:
        return str(joblib.hash(parts))
    except (pickle.PicklingError, AttributeError, TypeError) as problem:
        raise ValueError(f"resume needs models and data that can be pickled: {problem}") from None


def open_finished(path: str | os.PathLike[str]) -> dict[str, Folds]:
    """What a file holds, by key; a file that is not there yet is begun.

    Parameters
    ----------
    path : str or PathLike

    Returns
    -------
    dict of key -> folds

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = Path(folder, "work.jsonl")
    ...     open_finished(path)
    ...     write_finished(path, "a", [([0.1, 0.2], 1.5, "")])
    ...     open_finished(path)
    {}
    {'a': [([0.1, 0.2], 1.5, '')]}
    """
    path = Path(path)
    if path.is_dir() or not path.absolute().parent.is_dir():
        wrong = "is a folder" if path.is_dir() else "is in a folder that does not exist"
        raise ValueError(f"resume is {str(path)!r}, which {wrong}; name a file that finished work is kept in.")
    text = path.read_text(encoding="utf-8", errors="replace") if path.exists() else ""
    lines = text.splitlines()
    if lines and _read(lines[0]) != HEAD:
        raise ValueError(f"resume is {str(path)!r}, which holds something else; name a new file.")
    if not lines:
        _append(path, json.dumps(HEAD) + "\n")
    elif not text.endswith("\n"):
        _append(path, "\n")
    records = [record for line in lines[1:] if (record := _read(line)) is not None]
    return {record["key"]: [tuple(fold) for fold in record["folds"]] for record in records}


def write_finished(path: str | os.PathLike[str], key: str, folds: Folds) -> None:
    """Add one piece of work to a file."""
    _append(Path(path), json.dumps({"key": key, "folds": folds}) + "\n")


def _append(path: Path, text: str) -> None:
    # One write at the end of the file: lines of several processes do not mix.
    handle = os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o644)
    try:
        os.write(handle, text.encode())
    finally:
        os.close(handle)


def _read(line: str) -> Any:
    try:
        record = json.loads(line)
    except ValueError:
        return None
    return record if isinstance(record, dict) and (record == HEAD or {"key", "folds"} <= set(record)) else None
