"""Encoded rows on disk: about a byte per cell, written once, read again and again without mapping memory.

A cache folder holds one file per piece, each written beside its final name and then renamed, so that what is there is
whole. Its name is a fingerprint of the input and the schema: a process that was killed finds its own files again and
goes on from there; files made from anything else are never touched. The folder disappears with the table.
"""

from __future__ import annotations

import contextlib
import errno
import hashlib
import json
import os
import shutil
import weakref
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np

from seminaive.table.block import Block
from seminaive.table.fold import Blocks, Kernel, map_in_order
from seminaive.table.pieces import PieceBlocks

FORMAT = 1
MARK = b"SNBCODES"
FIELDS = ("codes8", "codes16", "values", "weights", "starts", "classes", "folds", "order")


class DiskBlocks(PieceBlocks):
    """Blocks in the files of a cache folder."""

    is_kept = True

    def __init__(self, folder: CacheFolder, files: Sequence[Path], n_rows: int) -> None:
        self.folder = folder
        self.files = files
        self._n_rows = n_rows

    @property
    def n_rows(self) -> int:
        return self._n_rows

    def pieces(self) -> Sequence[Path]:
        return self.files

    def open(self, piece: Path) -> Iterator[Block]:
        return read_part(piece)

    def keep(self, kernel: Kernel, model: tuple[Any, ...], n_jobs: int | None) -> Blocks:
        return write_parts(self, kernel, model, self.folder.beside(kernel, model), n_jobs)


class CacheFolder:
    """A folder of encoded pieces that belongs to one input and is removed when nobody needs it any more.

    Parameters
    ----------
    parent : str or None
        Where cache folders live: by default ``$SEMINAIVE_CACHE``, or ``seminaive`` in the user's cache folder.
    key : bytes
        All that determines the content; its hash names the folder.
    """

    def __init__(self, parent: str | None, key: bytes) -> None:
        self.parent = Path(parent) if parent is not None else default_cache()
        self.key = key
        self.path = self.parent / hashlib.sha256(key).hexdigest()[:32]
        self.parent.mkdir(parents=True, exist_ok=True)
        self._lock = _lock(self.path)
        if self._lock is None:  # another process works on the same input: leave its folder alone
            self.path = self.path.with_name(f"{self.path.name}-{os.getpid()}-{os.urandom(4).hex()}")
            self._lock = _lock(self.path)
        self.path.mkdir(exist_ok=True)
        for stray in self.path.glob("*.writing"):
            stray.unlink()
        self._end = weakref.finalize(self, _remove, self.path, self._lock)

    def beside(self, kernel: Kernel, model: tuple[Any, ...]) -> CacheFolder:
        """The folder for blocks that a kernel makes of the blocks in this one."""
        return CacheFolder(str(self.parent), content_key(self.key, kernel, model))

    def remove(self) -> None:
        """Remove the folder now."""
        self._end()

    def check_space(self, needed: int) -> None:
        """Refuse to start what cannot be finished."""
        written = sum(f.stat().st_size for f in self.path.glob("*.part"))
        free = shutil.disk_usage(self.path).free
        if needed - written > free:
            raise _disk_full(self.path, f"about {needed - written:,} bytes are needed and {free:,} are free")


def default_cache() -> Path:
    """The folder for encoded files unless the user names another."""
    named = os.environ.get("SEMINAIVE_CACHE")
    if named:
        return Path(named)
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "seminaive"


def content_key(*parts: Any) -> bytes:
    """Bytes that differ when any part differs: kernels by name, schemas and arrays by content."""
    digest = hashlib.sha256(f"format {FORMAT}".encode())
    for part in parts:
        _feed(digest, part)
    return digest.digest()


def _feed(digest: Any, part: Any) -> None:
    if isinstance(part, np.ndarray):
        digest.update(f"{part.dtype}{part.shape}".encode())
        digest.update(repr(part.tolist()).encode() if part.dtype.hasobject else np.ascontiguousarray(part).tobytes())
    elif hasattr(part, "__dataclass_fields__"):
        for name in part.__dataclass_fields__:
            digest.update(name.encode())
            _feed(digest, getattr(part, name))
    elif isinstance(part, (tuple, list)):
        digest.update(f"[{len(part)}".encode())
        for item in part:
            _feed(digest, item)
    elif callable(part):
        digest.update(f"{part.__module__}.{part.__qualname__}".encode())
    else:
        digest.update(f"{type(part).__name__}:{part!r};".encode())


def write_parts(
    source: PieceBlocks, kernel: Kernel, model: tuple[Any, ...], folder: CacheFolder, n_jobs: int | None
) -> DiskBlocks:
    """Run a kernel that makes blocks over all pieces and keep the results; pieces already there are not made again."""
    pieces = source.pieces()
    files = [folder.path / f"{i:08d}.part" for i in range(len(pieces))]

    def work(i: int) -> int:
        if not files[i].exists():
            blocks = [kernel(block, *model) for block in source.open(pieces[i])]
            write_part(files[i], blocks)
        return rows_of_part(files[i])

    rows = 0
    for done, n in enumerate(map_in_order(work, range(len(files)), n_jobs), start=1):
        rows += n
        if done == 1 and files:
            folder.check_space(files[0].stat().st_size * len(files))
    return DiskBlocks(folder, files, rows)


# --- one part ---------------------------------------------------------------------------------------------------------


def write_part(path: Path, blocks: Sequence[Block]) -> None:
    """Write blocks to a file that appears under its name only when it is complete."""
    heads = [
        {"first_row": block.first_row, **{name: _describe(getattr(block, name)) for name in FIELDS}} for block in blocks
    ]
    head = json.dumps({"rows": sum(block.n_rows for block in blocks), "blocks": heads}).encode()
    # The process id keeps two writers of one name apart, whatever else goes wrong.
    draft = path.with_name(f"{path.name}.{os.getpid()}.writing")
    try:
        with draft.open("wb", buffering=0) as f:
            _write_all(f, MARK + len(head).to_bytes(8, "little") + head)
            for block in blocks:
                for name in FIELDS:
                    array = getattr(block, name)
                    if array is not None and array.size:
                        _write_all(f, memoryview(np.ascontiguousarray(array).data).cast("B"))
            os.fsync(f.fileno())
        draft.replace(path)
    except OSError as error:
        draft.unlink(missing_ok=True)
        if error.errno in (errno.ENOSPC, errno.EDQUOT, errno.EFBIG):
            raise _disk_full(path.parent, "the disk is full") from None
        raise
    except BaseException:
        draft.unlink(missing_ok=True)
        raise


def read_part(path: Path) -> Iterator[Block]:
    """The blocks of a part, read one at a time."""
    with path.open("rb", buffering=0) as f:
        head, _ = _read_head(f, path)
        for described in head["blocks"]:
            arrays = {name: _read_array(f, described[name], path) for name in FIELDS}
            yield Block(first_row=described["first_row"], **arrays)


def rows_of_part(path: Path) -> int:
    """Rows of a part; refuses a file whose size is not what its head says."""
    with path.open("rb", buffering=0) as f:
        head, start = _read_head(f, path)
        cells = sum(
            int(np.prod(d["shape"])) * np.dtype(d["dtype"]).itemsize
            for block in head["blocks"]
            for d in (block[name] for name in FIELDS)
            if d is not None
        )
        if path.stat().st_size != start + cells:
            raise _damaged(path)
        return int(head["rows"])


def _describe(array: Any) -> Any:
    return None if array is None else {"dtype": array.dtype.str, "shape": list(array.shape)}


def _write_all(f: BinaryIO, data: Any) -> None:
    view = memoryview(data)
    while len(view):
        view = view[f.write(view) :]


def _read_head(f: BinaryIO, path: Path) -> tuple[Any, int]:
    start = f.read(len(MARK) + 8)
    if len(start) < len(MARK) + 8 or not start.startswith(MARK):
        raise _damaged(path)
    size = int.from_bytes(start[len(MARK) :], "little")
    if size > path.stat().st_size:
        raise _damaged(path)
    try:
        return json.loads(f.read(size)), len(start) + size
    except ValueError:
        raise _damaged(path) from None


def _read_array(f: BinaryIO, described: Any, path: Path) -> Any:
    if described is None:
        return None
    array = np.empty(described["shape"], dtype=described["dtype"])
    view = memoryview(array.data).cast("B") if array.size else memoryview(b"")
    while len(view):
        n = f.readinto(view)  # type: ignore[attr-defined]
        if not n:
            raise _damaged(path)
        view = view[n:]
    return array


def _damaged(path: Path) -> ValueError:
    return ValueError(f"the encoded file {path} is damaged; remove its folder and start again")


def _disk_full(folder: Path, what: str) -> OSError:
    return OSError(errno.ENOSPC, f"cannot write the encoded rows to {folder}: {what}; name another folder with cache=")


# --- the folder's lock and end ----------------------------------------------------------------------------------------


def _lock(path: Path) -> Any:
    """An open file that holds the folder's lock, or None when another process has it."""
    handle = path.with_name(path.name + ".lock").open("w")
    try:
        import fcntl

        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except ImportError:  # no such locks on this system: every process gets a folder of its own
        handle.close()
        return None if "-" not in path.name else Path(os.devnull).open()
    except OSError:
        handle.close()
        return None
    return handle


def _remove(path: Path, lock: Any) -> None:
    shutil.rmtree(path, ignore_errors=True)
    with contextlib.suppress(OSError):
        path.with_name(path.name + ".lock").unlink()
    lock.close()
