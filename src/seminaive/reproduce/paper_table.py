"""A paper's numbers beside ours."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True)
class Request:
    """What the command line asks of a reproduction; one that has no use for a wish disregards it.

    Parameters
    ----------
    data : Path, optional
        Folder of data sets.
    quick : bool
        The smallest run that shows the same thing.
    every : bool
        Every data set there is, however long it takes.
    leaky : bool
        The paper's protocol even where it learns from test rows.
    pictures : Path, optional
        Folder to write pictures to.
    """

    data: Path | None = None
    quick: bool = False
    every: bool = False
    leaky: bool = False
    pictures: Path | None = None


@dataclass(frozen=True)
class Reproduction:
    """Tables or figures of a paper that one command makes again, in a layout of their own.

    Parameters
    ----------
    title : str
        What it shows.
    source : str
        The paper, and where in it.
    run : callable
        From the request to the lines of text, handed over as they are known.
    files : tuple of str
        Files of the data folder that it needs; without any it needs no folder.
    """

    title: str
    source: str
    run: Callable[[Request], Iterator[str]]
    files: tuple[str, ...] = ()

    def text(self, request: Request) -> Iterator[str]:
        """Everything that is printed, line by line."""
        yield from (self.title, self.source, "")
        yield from self.run(request)


@dataclass(frozen=True)
class Line:
    """One number of a paper beside ours.

    Parameters
    ----------
    what : str
    paper, ours : float
    digits : int
        Decimals that the paper prints.
    within : float, optional
        How far ours may be away; by default as far as rounding to the printed digits allows.
    truncated : bool
        Whether the paper cut its digits off instead of rounding.
    by_construction : bool
        Whether ours was derived from the paper's number, so that their agreement shows nothing.
    """

    what: str
    paper: float
    ours: float
    digits: int = 2
    within: float | None = None
    truncated: bool = False
    by_construction: bool = False

    @property
    def reproduced(self) -> bool:
        """Whether the two numbers agree.

        Examples
        --------
        >>> Line("error", 5.40, 5.3963).reproduced, Line("error", 5.40, 5.41).reproduced
        (True, False)
        >>> Line("variance", 1.01, 1.0184).reproduced, Line("variance", 1.01, 1.0184, truncated=True).reproduced
        (False, True)
        """
        unit = 10.0**-self.digits
        rounding = 1e-9 * max(1.0, abs(self.ours))  # of our own arithmetic
        if self.within is not None:
            return abs(self.ours - self.paper) <= self.within + rounding
        if self.truncated:
            return math.trunc((self.ours + math.copysign(rounding, self.ours)) / unit) == round(self.paper / unit)
        return abs(self.ours - self.paper) <= unit / 2 + rounding


@dataclass(frozen=True)
class PaperTable:
    """A table of a paper that one command reproduces.

    Parameters
    ----------
    title : str
        What it shows.
    source : str
        The paper, and where in it.
    lines : callable
        From the folder of data to the lines.
    files : tuple of str
        Files of the folder that it needs; without any it needs no folder.
    notes : tuple of str
        What a reader must know to judge the numbers.
    """

    title: str
    source: str
    lines: Callable[[Path], list[Line]]
    files: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()

    def text(self, request: Request) -> Iterator[str]:
        """Everything that is printed, line by line."""
        yield as_text(self, self.lines(request.data or Path()))


def as_text(table: PaperTable, lines: list[Line]) -> str:
    """The table as printed: paper, ours, difference, and what was not reproduced."""
    width = max(len(line.what) for line in lines)
    out = [table.title, table.source, "", f"{'':<{width}}  {'paper':>10}  {'ours':>10}  {'difference':>10}"]
    for line in lines:
        more = line.digits + 2
        verdict = "  NOT REPRODUCED" if not line.reproduced else "  by construction" if line.by_construction else ""
        out.append(
            f"{line.what:<{width}}  {line.paper:>10.{line.digits}f}  {line.ours:>10.{more}f}  "
            f"{line.ours - line.paper:>+10.{more}f}{verdict}"
        )
    tested = [line for line in lines if not line.by_construction]
    failed = sum(not line.reproduced for line in tested)
    out += ["", f"{len(tested) - failed} of {len(tested)} numbers reproduced" + (f", {failed} NOT" if failed else "")]
    return "\n".join([*out, *table.notes])
