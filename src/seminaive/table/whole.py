"""Files for users go out whole or not at all."""

from __future__ import annotations

import errno
import os
import secrets
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

FULL = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)
"""What the system says when there is no room for a file."""


def check_place(path: str | os.PathLike[str]) -> Path:
    """Where a file can be written, a symbolic link followed; an error that names what is in the way."""
    target = Path(os.path.realpath(path))
    if not target.parent.is_dir():
        raise FileNotFoundError(f"cannot write {path}: there is no folder {target.parent}")
    if target.is_dir():
        raise IsADirectoryError(f"cannot write {path}: it is a folder; name a file to write")
    if target.exists() and not target.is_file():
        raise ValueError(f"cannot write {path}: it is not a regular file")
    if not os.access(target.parent, os.W_OK):
        raise PermissionError(f"cannot write {path}: the folder {target.parent} cannot be written to")
    return target


@contextmanager
def written_whole(path: str | os.PathLike[str]) -> Iterator[Path]:
    """A file beside ``path`` to write into; it takes the place of ``path`` once the block has ended without error.

    A file that is replaced hands on its permissions before anything is written, so that what is private stays so.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     with written_whole(f"{folder}/a.txt") as unfinished:
    ...         size = unfinished.write_text("whole")
    ...         before = [file.name for file in Path(folder).glob("*.txt") if not file.name.startswith(".")]
    ...     before, Path(folder, "a.txt").read_text()
    ([], 'whole')
    """
    target = check_place(path)
    unfinished = target.with_name(f".seminaive-{secrets.token_hex(8)}{target.suffix}")
    try:
        unfinished.touch(exist_ok=False)
        if target.exists():
            shutil.copymode(target, unfinished)
        yield unfinished
        unfinished.replace(target)
    except OSError as error:
        if error.errno in FULL:
            raise OSError(errno.ENOSPC, f"cannot write {path}: the disk is full") from None
        raise
    finally:
        unfinished.unlink(missing_ok=True)
