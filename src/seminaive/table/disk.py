"""Encoded rows on disk: about a byte per cell, written once, read again and again without mapping memory.

A cache folder holds one file per piece. Its name tells the input files and everything else that determines the
content: a process that was killed finds its own files again and goes on from there, and nothing made from anything else
is ever read. The folder disappears with the table; what a killed process left of the same input goes with the next run.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import shutil
import time
import weakref
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from seminaive.table.block import Block
from seminaive.table.fold import Blocks, Kernel, map_in_order
from seminaive.table.parts import damaged, disk_full, read_part, rows_of_part, write_part
from seminaive.table.pieces import PieceBlocks

FORMAT = 3
FORGOTTEN = 7 * 86_400
"""Seconds after which the folder of a process that died is removed, whatever its input was."""


class DiskBlocks(PieceBlocks):
    """Blocks in the files of a cache folder."""

    is_kept = True

    def __init__(self, folder: CacheFolder, files: Sequence[Path], rows: Sequence[int]) -> None:
        self.folder = folder
        self.files = files
        self.rows = rows

    @property
    def n_rows(self) -> int:
        return sum(self.rows)

    @property
    def largest(self) -> int:
        return max(self.rows, default=0)

    def pieces(self) -> Sequence[Path]:
        return self.files

    def open(self, piece: Path) -> Iterator[Block]:
        return read_part(piece)

    def keep(self, kernel: Kernel, model: tuple[Any, ...], n_jobs: int | None) -> Blocks:
        return write_parts(self, kernel, model, self.folder.beside(kernel, model), n_jobs)


class CacheFolder:
    """A folder of encoded pieces that belongs to one process and is removed when nobody needs it any more.

    Parameters
    ----------
    parent : str or None
        Where cache folders live: by default ``$SEMINAIVE_CACHE``, or ``seminaive`` in the user's cache folder.
    files : bytes
        Hash of the names of the input files.
    content : bytes
        Hash of all that determines the content.
    """

    def __init__(self, parent: str | None, files: bytes, content: bytes) -> None:
        self.parent = Path(parent) if parent is not None else default_cache()
        self.files, self.content = files, content
        try:
            self.parent.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            what = f"the folder for encoded rows, {self.parent}, cannot be made: {error.strerror}"
            raise OSError(error.errno, f"{what}; name another one with cache=") from None
        self.path = self.parent / f"{files.hex()[:16]}-{content.hex()[:32]}"
        self._lock = _lock(self.path)
        if self._lock is None:  # another table works on the same input: leave its folder alone
            self.path = self.path.with_name(f"{self.path.name}-{os.getpid()}-{os.urandom(4).hex()}")
            self._lock = _lock(self.path)
        self.path.mkdir(exist_ok=True)
        for stray in self.path.glob("*.writing"):
            stray.unlink()
        self._end = weakref.finalize(self, _remove, self.path, self._lock, os.getpid())
        self._sweep()

    def beside(self, kernel: Kernel, model: tuple[Any, ...]) -> CacheFolder:
        """The folder for blocks that a kernel makes of the blocks in this one."""
        return CacheFolder(str(self.parent), self.files, content_key(self.content, kernel, model))

    def remove(self) -> None:
        """Remove the folder now."""
        self._end()

    def check_space(self, needed: int) -> None:
        """Refuse to start what cannot be finished."""
        written = sum(f.stat().st_size for f in self.path.glob("*.part"))
        free = shutil.disk_usage(self.path).free
        if needed - written > free:
            raise disk_full(self.path, f"about {needed - written:,} bytes are needed and {free:,} are free")

    def _sweep(self) -> None:
        """Remove what died with its process: folders of the same input at once, any other after a week."""
        for lock in self.parent.glob("*.lock"):
            folder = lock.with_suffix("")
            if folder == self.path or not _is_ours(folder.name):
                continue
            with contextlib.suppress(OSError):
                same_input = folder.name.startswith(self.files.hex()[:16])
                if same_input or time.time() - lock.stat().st_mtime > FORGOTTEN:
                    held = _lock(folder)
                    if held is not None:
                        _remove(folder, held, os.getpid())


def default_cache() -> Path:
    """The folder for encoded files unless the user names another."""
    named = os.environ.get("SEMINAIVE_CACHE")
    if named:
        return Path(named)
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "seminaive"


def content_key(*parts: Any) -> bytes:
    """A hash that differs when any part differs: kernels by name, schemas and arrays by content."""
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
        rows = rows_of_part(files[i])
        if rows is None:
            write_part(files[i], (kernel(block, *model) for block in source.open(pieces[i])))
            rows = rows_of_part(files[i])
        if rows is None:
            raise damaged(files[i])
        return rows

    rows: list[int] = []
    for n in map_in_order(work, range(len(files)), n_jobs):
        if n and not sum(rows):
            folder.check_space(files[len(rows)].stat().st_size * source.n_rows // n)
        rows.append(n)
    return DiskBlocks(folder, files, rows)


# --- the folder's lock and end ----------------------------------------------------------------------------------------


def _is_ours(name: str) -> bool:
    """Whether a folder's name is one that `CacheFolder` gives."""
    files, _, content = name.partition("-")
    return len(files) == 16 and len(content) >= 32 and set(files + content[:32]) <= set("0123456789abcdef")


def _lock(path: Path) -> Any:
    """An open file that holds the folder's lock, or None when somebody has it."""
    name = path.with_name(path.name + ".lock")
    try:
        import fcntl
    except ImportError:  # no such locks on this system: every table gets a folder of its own, and nothing is swept
        return None if len(path.name) <= 16 + 1 + 32 else Path(os.devnull).open()
    handle = name.open("a")
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        # The file may have been removed, and made anew by another process, between opening and locking it.
        if os.fstat(handle.fileno()).st_ino == name.stat().st_ino:
            return handle
    except OSError:
        pass
    handle.close()
    return None


def _remove(path: Path, lock: Any, owner: int) -> None:
    """Remove a folder and its lock; a forked copy of the process leaves them alone."""
    if os.getpid() != owner:
        return
    shutil.rmtree(path, ignore_errors=True)
    with contextlib.suppress(OSError):
        path.with_name(path.name + ".lock").unlink()
    lock.close()
