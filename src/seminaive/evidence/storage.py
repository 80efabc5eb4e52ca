"""Save and load a model: one file, written whole or not at all; loading it runs nothing that is in the file.

A file is, in this order (all numbers little-endian)::

    b"SEMINAIVE\\0" | uint32 format version | uint64 header length | header | array bytes | SHA-256 of it all

The header is JSON, a value in the form of `stored_values`; the bytes of its arrays follow in the order in which the
arrays occur in it. Classes are known by name, through `storable` (frozen dataclasses) and `register_estimator`; no name
in a file is ever imported. The mark, the version and the closing checksum keep their places in every later version.
"""

from __future__ import annotations

import hashlib
import io
import json
import os
import stat
import struct
import sys
from functools import partial
from pathlib import Path
from typing import Any

from seminaive.evidence.known_classes import ESTIMATORS, is_registered, register_estimator, storable
from seminaive.evidence.stored_values import decode_value, encode_value, number_of_json
from seminaive.table.whole import written_whole

__all__ = ["load", "register_estimator", "save", "storable"]

MARK = b"SEMINAIVE\x00"
VERSION = 1
PREFIX = struct.Struct(f"<{len(MARK)}sIQ")


def save(estimator: Any, path: str | os.PathLike[str]) -> None:
    """Save a model to one file that holds no pickle and can be loaded safely by strangers.

    The file appears whole or not at all: if anything fails, a file that was there before stays as it was. The
    same model gives the same bytes.

    Parameters
    ----------
    estimator : estimator of this library, or a subclass of one
        Fitted or not. Estimators inside it are saved too.
    path : str or PathLike
        The file to write; its folder must exist.

    Examples
    --------
    >>> import tempfile
    >>> import numpy as np
    >>> @register_estimator
    ... class Coin:
    ...     def __init__(self, smoothing=1.0):
    ...         self.smoothing = smoothing
    ...     def get_params(self, deep=False):
    ...         return {"smoothing": self.smoothing}
    >>> coin = Coin(smoothing=0.5)
    >>> coin.counts_ = np.array([3, 4])
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     save(coin, f"{folder}/coin.snb")
    ...     again = load(f"{folder}/coin.snb")
    >>> again.smoothing, again.counts_
    (0.5, array([3, 4]))
    """
    if not is_registered(ESTIMATORS, type(estimator)):
        raise ValueError(f"only estimators of this library can be saved, not {type(estimator).__name__}")
    arrays: list[bytes] = []
    model = encode_value(estimator, "", arrays)
    # Read from the package at run time: importing it by name would import every room above this one.
    library = sys.modules[__name__.partition(".")[0]].__version__
    text = json.dumps({"library": library, "model": model}, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    header = text.encode("utf-8")
    _write(path, [PREFIX.pack(MARK, VERSION, len(header)), header, *arrays])


def load(path: str | os.PathLike[str]) -> Any:
    """Load a model written by `save`.

    Nothing in the file is executed and no name in it is imported, so a file from a stranger is safe to load.
    A file that is damaged, made by a newer version, or not a model at all is a ValueError.

    Parameters
    ----------
    path : str or PathLike

    Returns
    -------
    estimator
        Predicts the same bits as the one saved. Arrays have the machine's own byte order.
    """
    path = Path(path)
    body, start, length = _read_whole(path)
    try:
        header = json.loads(
            body[start : start + length].decode("utf-8"),
            parse_int=partial(number_of_json, int),
            parse_float=partial(number_of_json, float),
            parse_constant=partial(number_of_json, None),
        )
        arrays = io.BytesIO(body)
        arrays.seek(start + length)
        match header:
            case {"library": str(), "model": ["estimator", *_] as model} if len(header) == 2:
                estimator = decode_value(model, arrays)
            case _:
                raise ValueError("its header does not describe a model")
        if arrays.read(1):
            raise ValueError("it holds more array bytes than its header describes")
    except Exception as error:
        # Whatever a made-up file provokes, down to a RecursionError in the JSON reader, is one kind of error.
        reason = str(error) if isinstance(error, ValueError) else f"{type(error).__name__} ({error})"
        raise ValueError(f"{path} cannot be restored: {reason}") from error
    return estimator


# --- files ------------------------------------------------------------------------------------------------------------


def _write(path: str | os.PathLike[str], chunks: list[bytes]) -> None:
    """The chunks and their checksum, on the disk before they take their place."""
    checksum = hashlib.sha256()
    with written_whole(path) as unfinished, unfinished.open("wb") as file:
        for chunk in chunks:
            checksum.update(chunk)
            file.write(chunk)
        file.write(checksum.digest())
        file.flush()
        os.fsync(file.fileno())


def _read_whole(path: Path) -> tuple[bytes, int, int]:
    """Everything before the checksum, and where the header starts and how long it is."""
    status = path.stat()
    is_model = stat.S_ISREG(status.st_mode)
    if is_model:
        with path.open("rb") as file:
            is_model = file.read(len(MARK)) == MARK
            file.seek(0)
            rest = status.st_size - hashlib.sha256().digest_size
            body = file.read(max(rest, 0)) if is_model else b""
            checksum = file.read(hashlib.sha256().digest_size + 1)
    if not is_model:
        raise ValueError(f"{path} is not a seminaive model file")
    if len(body) < PREFIX.size or hashlib.sha256(body).digest() != checksum:
        raise ValueError(f"{path} is damaged: its checksum does not fit its content")
    _, version, length = PREFIX.unpack_from(body)
    if version > VERSION:
        raise ValueError(
            f"{path} was written by a newer seminaive, in file format {version}; "
            f"this one reads formats up to {VERSION}, so upgrade it"
        )
    if version < 1 or length > len(body) - PREFIX.size:
        raise ValueError(f"{path} cannot be restored: its header is {length} bytes long in format {version}")
    return body, PREFIX.size, length
