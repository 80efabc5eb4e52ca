"""What is learned of the columns before any model: their kind, their levels or cuts, and where their codes live."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

UNSEEN = 0
"""Code of a value never seen in training: its evidence is zero."""
MISSING = 1
"""Code of a missing value."""
FIRST_LEVEL = 2
"""Code of a column's first own level."""
MAX_LEVELS = 65_534
"""Own levels a column can have: codes are at most 16 bits wide."""
RARE = "(rare levels)"
"""The level that stands for all levels folded by ``max_levels``."""

Floats = npt.NDArray[np.float64]
Integers = npt.NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class Column:
    """One predictor: its kind, and how its values become codes.

    Parameters
    ----------
    name : str or int
        The label in the frame, or the position in an array.
    kind : "nominal" or "numeric"
    levels : tuple
        Own levels of a nominal column in code order: level i has code ``2 + i``.
    cuts : array or None
        Cuts of a numeric column that is binned: code ``2 + searchsorted(cuts, x, side="right")``.
        A numeric column without cuts is kept as float64 values.
    folded : tuple
        Rare levels that were folded into the last level.
    unit : str
        "days" for dates and durations, which are numbers of days.
    """

    name: Any
    kind: str
    levels: tuple[Any, ...] = ()
    cuts: Floats | None = None
    folded: tuple[Any, ...] = ()
    unit: str = ""

    def __post_init__(self) -> None:
        if self.kind not in ("nominal", "numeric"):
            raise ValueError(f"column {self.name!r}: kind must be 'nominal' or 'numeric', not {self.kind!r}")
        if self.n_levels > MAX_LEVELS:
            raise ValueError(f"column {self.name!r} has {self.n_levels} levels; at most {MAX_LEVELS} are possible")
        if self.cuts is not None and np.any(np.diff(self.cuts) <= 0):
            raise ValueError(f"column {self.name!r}: cuts must increase strictly")

    @property
    def is_coded(self) -> bool:
        """Whether blocks hold codes of this column (else float64 values)."""
        return self.kind == "nominal" or self.cuts is not None

    @property
    def n_levels(self) -> int:
        """Number of own levels or bins."""
        if self.cuts is not None:
            return len(self.cuts) + 1
        return len(self.levels)

    @property
    def n_codes(self) -> int:
        """Own levels plus the codes for unseen and missing."""
        return self.n_levels + FIRST_LEVEL

    @property
    def is_narrow(self) -> bool:
        """Whether a byte holds every code."""
        return self.n_codes <= 256

    @cached_property
    def code_of(self) -> dict[Any, int]:
        """From level to code, the folded levels included."""
        codes = {level: FIRST_LEVEL + i for i, level in enumerate(self.levels)}
        codes.update(dict.fromkeys(self.folded, FIRST_LEVEL + len(self.levels) - 1))
        return codes

    def level_name(self, code: int) -> str:
        """How a code reads: the level, the interval of a bin, 'missing' or 'never seen'."""
        if code == UNSEEN:
            return "never seen"
        if code == MISSING:
            return "missing"
        i = code - FIRST_LEVEL
        if self.cuts is None:
            return level_text(self.levels[i])
        if len(self.cuts) == 0:
            return "any value"
        below, above = ("", *self._cut_texts, "")[i : i + 2]
        return f"{below} to {above}" if below and above else f"< {above}" if above else f">= {below}"

    @cached_property
    def _cut_texts(self) -> tuple[str, ...]:
        """The cuts as they read: six digits, or as many as it takes to tell them well apart."""
        cuts = np.zeros(0) if self.cuts is None else self.cuts
        close = np.diff(cuts).min(initial=np.inf) / 100
        for digits in range(6, 18):
            texts = tuple(f"{cut:.{digits}g}" for cut in cuts.tolist())
            if np.all(np.abs(np.array(texts, dtype=np.float64) - cuts) <= close):
                break
        return texts

    def same_cuts(self, other: Column) -> bool:
        """Whether both are binned alike, or neither is."""
        if self.cuts is None or other.cuts is None:
            return self.cuts is other.cuts
        return np.array_equal(self.cuts, other.cuts)

    def same_as(self, other: Column) -> bool:
        """Whether both turn the same values into the same codes."""
        return (
            type(self.name) is type(other.name)
            and self.name == other.name
            and self.kind == other.kind
            and self.levels == other.levels
            and self.folded == other.folded
            and self.same_cuts(other)
        )


@dataclass(frozen=True)
class Layout:
    """Where each column's cells are in a block, and where its codes start in a flat table.

    ``narrow``, ``wide`` and ``valued`` list the columns held as 8-bit codes, 16-bit codes and float64 values, in row
    order; ``slot`` is each column's row there; ``starts`` its first entry in a flat table of ``width`` entries over all
    codes of all coded columns (-1 for valued columns).
    """

    narrow: Integers
    wide: Integers
    valued: Integers
    slot: Integers
    starts: Integers
    width: int


@dataclass(frozen=True, eq=False)
class Schema:
    """The columns and the class labels: all that is needed to turn rows into codes.

    Learned once from the training rows, never from the class (the labels aside), saved with every model.
    """

    columns: tuple[Column, ...]
    classes: npt.NDArray[Any]

    @property
    def n_classes(self) -> int:
        return len(self.classes)

    @property
    def names(self) -> list[Any]:
        return [column.name for column in self.columns]

    @cached_property
    def layout(self) -> Layout:
        narrow: list[int] = []
        wide: list[int] = []
        valued: list[int] = []
        slot = np.zeros(len(self.columns), dtype=np.int64)
        starts = np.full(len(self.columns), -1, dtype=np.int64)
        width = 0
        for j, column in enumerate(self.columns):
            home = valued if not column.is_coded else narrow if column.is_narrow else wide
            slot[j] = len(home)
            home.append(j)
            if column.is_coded:
                starts[j] = width
                width += column.n_codes
        held8, held16, held = (np.asarray(part, dtype=np.int64) for part in (narrow, wide, valued))
        return Layout(held8, held16, held, slot, starts, width)

    def with_columns(self, columns: Sequence[Column]) -> Schema:
        return replace(self, columns=tuple(columns))

    def same_as(self, other: Schema) -> bool:
        """Whether both code the same cells alike (class labels aside)."""
        return self is other or (
            len(self.columns) == len(other.columns)
            and all(a.same_as(b) for a, b in zip(self.columns, other.columns, strict=True))
        )


def level_text(level: Any) -> str:
    """How a level reads: as it is, but in quotes if one could not see it, or not on one line."""
    text = str(level)
    return text if text.strip() and text.isprintable() else repr(text)


def level_order(level: Any) -> tuple[str, Any]:
    """Sorting key of levels: numbers by value before text, whatever mixture a column holds."""
    if isinstance(level, (bool, int, float)):
        return ("", level)
    return (type(level).__name__, level)
