"""Where the command line may write, and what: tables, pictures."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

from seminaive.table import whole
from seminaive.table.whole import written_whole

if TYPE_CHECKING:
    import pyarrow as pa

PICTURES = (".png", ".svg", ".pdf")


def check_output(path: str | os.PathLike[str], *sources: str) -> None:
    """Refuse what `write_file` would refuse, and files that are read, before any work is done."""
    if Path(path).suffix not in (".csv", ".parquet"):
        raise ValueError(f"{path}: the name of a file to write must end in .csv or .parquet")
    check_place(path, *sources)


def check_place(path: str | os.PathLike[str], *sources: str) -> None:
    """Refuse a place where no file can be written, or that of a file that is read."""
    target = whole.check_place(path)
    if target in [Path(os.path.realpath(source)) for source in sources]:
        raise ValueError(f"{path} is read by this command and would be overwritten; name another file to write")


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
