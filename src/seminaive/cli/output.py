"""Files go out whole or not at all."""

from __future__ import annotations

import os
import secrets
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import pyarrow as pa

PICTURES = (".png", ".svg", ".pdf")


def check_output(path: str | os.PathLike[str], *sources: str) -> None:
    """Refuse what `write_file` would refuse, and files that are read, before any work is done."""
    if Path(path).suffix not in (".csv", ".parquet"):
        raise ValueError(f"{path}: the name of a file to write must end in .csv or .parquet")
    check_place(path, *sources)


def check_place(path: str | os.PathLike[str], *sources: str) -> Path:
    """Where a file can be written, a symbolic link followed; it takes the place of none of the files that are read."""
    target = Path(os.path.realpath(path))
    if target.is_dir():
        raise ValueError(f"{path} is a folder; name a file to write")
    if not target.parent.is_dir():
        raise ValueError(f"{path}: the folder {target.parent} does not exist")
    if target.exists() and not target.is_file():
        raise ValueError(f"{path} is not a regular file")
    if not os.access(target.parent, os.W_OK):
        raise ValueError(f"{path}: the folder {target.parent} cannot be written to; name a file elsewhere")
    if target in [Path(os.path.realpath(source)) for source in sources]:
        raise ValueError(f"{path} is read by this command and would be overwritten; name another file to write")
    return target


def write_file(table: pa.Table, path: str | os.PathLike[str]) -> None:
    """Write an Arrow table as CSV or Parquet, by the name; the file appears whole or not at all.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> import pyarrow as pa
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     write_file(pa.table({"class": ["a", "b"]}), Path(folder, "out.csv"))
    ...     print(Path(folder, "out.csv").read_text())
    "class"
    "a"
    "b"
    """
    with written_whole(path) as unfinished:
        if unfinished.suffix == ".csv":
            from pyarrow import csv

            csv.write_csv(table, str(unfinished))
        else:
            from pyarrow import parquet

            parquet.write_table(table, unfinished)


@contextmanager
def written_whole(path: str | os.PathLike[str]) -> Iterator[Path]:
    """A file beside ``path`` to write into; it takes the place of ``path`` once the block has ended without error."""
    target = check_place(path)
    unfinished = target.with_name(f".{secrets.token_hex(8)}{target.suffix}")
    try:
        yield unfinished
        unfinished.replace(target)
    finally:
        unfinished.unlink(missing_ok=True)


def check_picture(path: str | None) -> None:
    """Refuse the name of a picture that cannot be drawn, before any work is done."""
    if path is None:
        return
    if Path(path).suffix.lower() not in PICTURES:
        raise ValueError(f"{path}: a picture's name must end in {', '.join(PICTURES)}")
    check_place(path)


def draw(what: Any, path: str) -> None:
    """Save the picture of anything that has one."""
    import matplotlib

    matplotlib.use("agg")
    import matplotlib.pyplot as plt

    what.plot()
    try:
        with written_whole(path) as unfinished:
            plt.savefig(unfinished, dpi=150)
    finally:
        plt.close()
