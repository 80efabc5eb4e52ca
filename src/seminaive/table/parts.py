"""One file of encoded blocks: written as they come, complete when it has its name, read one block at a time.

MARK, then per block: length of its description, description (JSON), its arrays; then 0, rows, size, END.
"""

from __future__ import annotations

import errno
import json
import os
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np

from seminaive.table.block import Block
from seminaive.table.whole import FULL

MARK, END = b"SNBCODES", b"SNBWHOLE"
FIELDS = ("codes8", "codes16", "values", "weights", "starts", "classes", "order")
WORD = 8
FOOT = 4 * WORD


def write_part(path: Path, blocks: Iterable[Block]) -> None:
    """Write blocks to a file that appears under its name only when it is complete."""
    # The process id keeps two writers of one name apart, whatever else goes wrong.
    draft = path.with_name(f"{path.name}.{os.getpid()}.writing")
    rows = size = 0
    try:
        with draft.open("wb", buffering=0) as f:
            size += _write_all(f, MARK)
            for block in blocks:
                size += _write_block(f, block)
                rows += block.n_rows
            _write_all(f, b"".join(n.to_bytes(WORD, "little") for n in (0, rows, size + FOOT)) + END)
            os.fsync(f.fileno())
        draft.replace(path)
    except BaseException as error:
        draft.unlink(missing_ok=True)
        if isinstance(error, OSError) and error.errno in FULL:
            raise disk_full(path.parent, "the disk is full") from None
        raise


def read_part(path: Path) -> Iterator[Block]:
    """The blocks of a part, read one at a time."""
    with path.open("rb", buffering=0) as f:
        if f.read(WORD) != MARK:
            raise damaged(path)
        while length := _read_number(f, path):
            try:
                described = json.loads(_read_bytes(f, length, path))
            except ValueError:
                raise damaged(path) from None
            arrays = {name: _read_array(f, described[name], path) for name in FIELDS}
            yield Block(first_row=described["first_row"], **arrays)


def rows_of_part(path: Path) -> int | None:
    """Rows of a part; None when it is not there or not whole."""
    try:
        with path.open("rb", buffering=0) as f:
            whole = f.seek(0, os.SEEK_END)
            if whole < WORD + FOOT:
                return None
            f.seek(-FOOT, os.SEEK_END)
            foot = f.read(FOOT)
    except FileNotFoundError:
        return None
    zero, rows, size = (int.from_bytes(foot[i * WORD : (i + 1) * WORD], "little") for i in range(3))
    return rows if zero == 0 and size == whole and foot.endswith(END) else None


def _write_block(f: BinaryIO, block: Block) -> int:
    arrays = {name: getattr(block, name) for name in FIELDS}
    head = json.dumps({"first_row": block.first_row, **{name: _describe(a) for name, a in arrays.items()}}).encode()
    size = _write_all(f, len(head).to_bytes(WORD, "little") + head)
    for array in arrays.values():
        if array is not None and array.size:
            size += _write_all(f, memoryview(np.ascontiguousarray(array).data).cast("B"))
    return size


def _describe(array: Any) -> Any:
    return None if array is None else {"dtype": array.dtype.str, "shape": list(array.shape)}


def _write_all(f: BinaryIO, data: Any) -> int:
    view = memoryview(data)
    size = len(view)
    while len(view):
        view = view[f.write(view) :]
    return size


def _read_number(f: BinaryIO, path: Path) -> int:
    return int.from_bytes(_read_bytes(f, WORD, path), "little")


def _read_bytes(f: BinaryIO, n: int, path: Path) -> bytes:
    data = f.read(n)
    if len(data) < n:
        raise damaged(path)
    return data


def _read_array(f: BinaryIO, described: Any, path: Path) -> Any:
    if described is None:
        return None
    array = np.empty(described["shape"], dtype=described["dtype"])
    view = memoryview(array.data).cast("B") if array.size else memoryview(b"")
    while len(view):
        n = f.readinto(view)  # type: ignore[attr-defined]
        if not n:
            raise damaged(path)
        view = view[n:]
    return array


def damaged(path: Path) -> ValueError:
    """The error about a file that something else has touched."""
    return ValueError(f"the encoded file {path} is damaged; remove its folder and start again")


def disk_full(folder: Path, what: str) -> OSError:
    """The error about a disk without room."""
    return OSError(errno.ENOSPC, f"cannot write the encoded rows to {folder}: {what}; name another folder with cache=")
