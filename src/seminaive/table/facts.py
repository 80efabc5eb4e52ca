"""What rows tell about their columns: kinds, levels, labels. Facts of two parts add up to the facts of the whole.

So a Schema is learned in one way, whether the rows are one frame, the row groups of many files, or the partitions of a
cluster.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from seminaive.kernels.count import mark_used
from seminaive.table.block import BLOCK_ROWS
from seminaive.table.frames import Frame, contiguous
from seminaive.table.schema import MAX_LEVELS, RARE, Column, Floats, Schema, level_order
from seminaive.table.sources import Source, short_codes

IDENTIFIER_ROWS = 20
"""From how many rows on a column of distinct whole numbers, or with labels for most rows, may be an identifier."""
AROUND_NUMBERS = dict.fromkeys(map(ord, " ,$€£¥%'"))
"""What people write around numbers."""


@dataclass(frozen=True)
class Wishes:
    """What the user says about columns: which are nominal, which levels they can have, how many at most."""

    nominal: Sequence[Any] | None = None
    levels: Mapping[Any, Sequence[Any]] | None = None
    max_levels: int | None = None

    def overruled_by(self, other: Wishes) -> Wishes:
        """The other's wishes, and these where the other has none."""
        ours, others = vars(self), vars(other)
        return Wishes(**{name: ours[name] if others[name] is None else others[name] for name in ours})

    def resolve(self, names: list[Any]) -> tuple[set[int], dict[int, tuple[Any, ...]]]:
        """Positions of the columns declared nominal, and declared levels by position."""
        most = self.max_levels
        if most is not None and not (isinstance(most, (int, np.integer)) and 1 <= most <= MAX_LEVELS):
            raise ValueError(f"max_levels must be a whole number between 1 and {MAX_LEVELS}, got {most!r}")
        wished = () if self.nominal is None else self.nominal
        chosen = [wished] if isinstance(wished, (str, int)) else list(wished)
        if chosen and all(isinstance(c, (bool, np.bool_)) for c in chosen):
            if len(chosen) != len(names):
                raise ValueError(f"nominal is a mask of {len(chosen)} entries, but X has {len(names)} columns")
            positions = {j for j, is_nominal in enumerate(chosen) if is_nominal}
        else:
            positions = {_position(c, names, "nominal") for c in chosen}
        if self.levels is not None and not isinstance(self.levels, Mapping):
            raise ValueError(f"levels must be a dict from column to its levels, got a {type(self.levels).__name__}")
        declared = {_position(c, names, "levels"): _declared(c, v) for c, v in (self.levels or {}).items()}
        return positions | set(declared), declared


def _declared(column: Any, levels: Any) -> tuple[Any, ...]:
    """The levels that the user lists for a column, as plain scalars."""
    if isinstance(levels, (str, bytes)) or not isinstance(levels, Iterable):
        raise ValueError(f"levels of column {column!r} must be a list of its levels, got {levels!r}")
    plain = [level.item() if isinstance(level, np.generic) else level for level in levels]
    for level in plain:
        if not isinstance(level, (str, bool, int, float)) or level != level:
            raise ValueError(
                f"levels of column {column!r}: {level!r} is no level; levels are text, numbers or booleans"
            )
    if len(set(plain)) < len(plain):
        raise ValueError(f"levels of column {column!r}: a level is listed twice")
    return tuple(plain)


def _position(column: Any, names: list[Any], parameter: str) -> int:
    if column in names:
        return names.index(column)
    if isinstance(column, (int, np.integer)) and 0 <= column < len(names):
        return int(column)
    raise ValueError(f"{parameter} names the column {column!r}, which X does not have")


# --- facts ------------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class ColumnFacts:
    """What some rows tell about a column.

    ``labels`` has the weight of each label's rows (0 where nobody asked for it); ``empty`` says that every row is a
    gap, so that the kind is not known. ``differing`` is the range of whole numbers that all differ, None for others.
    """

    name: Any
    kind: str
    rows: int
    empty: bool = False
    unit: str = ""
    labels: Mapping[Any, float] = field(default_factory=dict)
    differing: tuple[float, float] | None = None

    def __add__(self, other: ColumnFacts) -> ColumnFacts:
        if self.kind != other.kind and not (self.empty or other.empty):
            raise ValueError(f"column {self.name!r} holds labels in one part and numbers in another")
        known = other if self.empty else self
        labels = dict(self.labels)
        for label, count in other.labels.items():
            labels[label] = labels.get(label, 0) + count
        empty = self.empty and other.empty
        differing = _both_differ(self, other)
        return ColumnFacts(self.name, known.kind, self.rows + other.rows, empty, known.unit, labels, differing)

    def column(self, declared: tuple[Any, ...] | None, max_levels: int | None) -> Column:
        """The column that these facts make."""
        if self.kind == "numbers" and declared is None:
            if self.rows >= IDENTIFIER_ROWS and self.differing is not None:
                warn_of_identifier(self.name, "all its whole numbers differ")
            return Column(self.name, "numeric", unit=self.unit)
        if declared is not None:
            stray = [label for label in self.labels if label not in set(declared)]
            if stray:
                raise ValueError(f"column {self.name!r} holds {stray[0]!r}, which is not among its declared levels")
            return Column(self.name, "nominal", levels=declared)
        if max_levels is not None and len(self.labels) > max_levels:
            return self._folded(max_levels)
        if len(self.labels) > MAX_LEVELS:
            raise ValueError(
                f"column {self.name!r} has {len(self.labels)} levels; at most {MAX_LEVELS} are possible: "
                f"leave the column out, or fold the rare levels with max_levels{_nearly_numbers(self.labels)}"
            )
        alone = len(self.labels) == self.rows  # numbers of which some return were made nominal on purpose
        if self.rows >= IDENTIFIER_ROWS and (alone or (self._is_text and len(self.labels) > self.rows / 2)):
            warn_of_many_levels(self.name, list(self.labels), self.rows)
        return Column(self.name, "nominal", levels=tuple(sorted(self.labels, key=level_order)))

    @property
    def _is_text(self) -> bool:
        return all(isinstance(label, str) for label in self.labels)

    def _folded(self, max_levels: int) -> Column:
        """Keep the most frequent levels (ties: in sorted order); all others share one last level."""
        ranked = sorted(sorted(self.labels, key=level_order), key=lambda label: -self.labels[label])
        kept, folded = ranked[: max_levels - 1], ranked[max_levels - 1 :]
        order = sorted(kept, key=level_order)
        return Column(self.name, "nominal", levels=(*order, RARE), folded=tuple(sorted(folded, key=level_order)))


def _both_differ(a: ColumnFacts, b: ColumnFacts) -> tuple[float, float] | None:
    """The range of the whole numbers of two parts, if they surely differ: each part's do, and one lies above the other.

    So row numbers are recognised, whatever they are cut into, and nothing else is taken for them.
    """
    if not a.rows or not b.rows:
        return a.differing or b.differing
    if a.differing is None or b.differing is None:
        return None
    low, high = sorted((a.differing, b.differing))
    return (low[0], high[1]) if low[1] < high[0] else None


def _nearly_numbers(labels: Iterable[Any]) -> str:
    """What to do about a column that would be numeric but for a few labels."""
    stray = [label for label in labels if not _reads_as_number(label)]
    if not 0 < len(stray) <= 20:
        return ""
    return f" (it would be numeric but for {', '.join(map(repr, stray[:5]))}: make a gap of what is no number)"


def _reads_as_number(label: Any) -> bool:
    try:
        float(label)
    except (TypeError, ValueError):
        return False
    return True


def _writes_a_number(label: Any) -> bool:
    """Whether a label is a number but for a currency, a per cent sign, blanks or commas."""
    return isinstance(label, str) and _reads_as_number(label.translate(AROUND_NUMBERS))


@dataclass(frozen=True, eq=False)
class Facts:
    """What some labelled rows tell: facts of every column, the class labels that occur, the number of rows kept."""

    columns: tuple[ColumnFacts, ...]
    classes: npt.NDArray[Any]
    rows: int

    def __add__(self, other: Facts) -> Facts:
        columns = tuple(a + b for a, b in zip(self.columns, other.columns, strict=True))
        return Facts(columns, np.unique(np.concatenate([self.classes, other.classes])), self.rows + other.rows)

    def schema(self, wishes: Wishes) -> Schema:
        """The schema that these facts make."""
        _, declared = wishes.resolve([facts.name for facts in self.columns])
        columns = [facts.column(declared.get(j), wishes.max_levels) for j, facts in enumerate(self.columns)]
        return Schema(tuple(columns), self.classes)


def column_facts(source: Source, name: Any, counted: bool, weights: Floats | None = None) -> ColumnFacts:
    """The facts of one column as read; labels are counted only if somebody has to rank them."""
    rows = len(source.data)
    if source.kind == "numbers":
        empty, differing = bool(np.isnan(source.data).all()), _range_if_differing(source.data, source.whole)
        return ColumnFacts(name, "numbers", rows, empty=empty, unit=source.unit, differing=differing)
    used = used_labels(source)
    labels: dict[Any, float] = dict.fromkeys(used, 0)
    if counted:
        counts = np.bincount(source.data, weights, minlength=len(source.labels)).tolist()
        for code, label in enumerate(source.labels):
            if code != source.missing and label in labels:
                labels[label] += counts[code]
    return ColumnFacts(name, "codes", rows, empty=not used, labels=labels)


def used_labels(source: Source) -> list[Any]:
    """The labels that occur in the rows, each once: a declared category that never occurs is not a level."""
    size = max(len(source.labels), source.missing + 1)
    if source.data.dtype.itemsize > 2:
        used = np.bincount(source.data, minlength=size) > 0
    else:
        used = np.zeros(max(size, 256), dtype=np.uint8)
        for first in range(0, len(source.data), BLOCK_ROWS):
            mark_used(contiguous(source.data[first : first + BLOCK_ROWS]), used)
    occurring = (
        label for code, label in enumerate(source.labels) if used[code] and code != source.missing and label is not None
    )
    return list(dict.fromkeys(occurring))  # two categories may read alike


def numbers_as_codes(source: Source) -> Source:
    """A numeric column declared nominal: its distinct values are the levels."""
    gaps = np.isnan(source.data)
    values, codes = np.unique(source.data[~gaps], return_inverse=True)
    labels = [int(v) for v in values] if source.whole or np.all(values == np.floor(values)) else values.tolist()
    data = np.full(len(gaps), -1, dtype=np.int64)
    data[~gaps] = codes
    return short_codes(data, labels)


def frame_facts(
    frame: Frame, wishes: Wishes, weights: Floats | None = None
) -> tuple[list[ColumnFacts], list[Source | None]]:
    """The facts of every column, and the sources already read that are worth keeping.

    A column of text is not encoded twice; the columns of an array of numbers are read again block by block.
    """
    nominal, _ = wishes.resolve(frame.names)
    facts: list[ColumnFacts] = []
    sources: list[Source | None] = []
    for j, name in enumerate(frame.names):
        if frame.matrix is not None and j not in nominal:
            facts.append(_matrix_facts(frame, j))
            sources.append(None)
            continue
        source = frame.read(j)
        if source.kind == "numbers" and j in nominal:
            source = numbers_as_codes(source)
        facts.append(column_facts(source, name, wishes.max_levels is not None, weights))
        sources.append(source)
    return facts, sources


def _matrix_facts(frame: Frame, j: int) -> ColumnFacts:
    assert frame.matrix is not None
    if frame.matrix.dtype.kind == "f":
        frame.read(j)  # refuses what cannot be squared
    differing = _range_if_differing(frame.matrix[:, j], frame.matrix.dtype.kind != "f")
    return ColumnFacts(frame.names[j], "numbers", frame.n_rows, differing=differing)


def _range_if_differing(values: npt.NDArray[Any], whole: bool) -> tuple[float, float] | None:
    """The least and greatest of whole numbers that all differ; a look at the first of them rules out most columns."""
    head = values[:1000]
    if not whole or not len(head) or len(np.unique(head)) < len(head) or len(np.unique(values)) < len(values):
        return None
    return float(values.min()), float(values.max())


def warn_of_identifier(name: Any, reason: str) -> None:
    """Say which column probably names the rows instead of describing them."""
    warnings.warn(f"column {name!r} may be an identifier ({reason}); leave it out if it is", UserWarning, stacklevel=2)


def warn_of_many_levels(name: Any, labels: Sequence[Any], rows: int) -> None:
    """Say so where most rows have a label of their own: what is learned from those holds for no other row.

    The words do not depend on how many rows there are, so that folds of the same rows say nothing new.
    """
    numbers = [label for label in labels if _writes_a_number(label)]
    if len(numbers) < 0.9 * len(labels):
        warn_of_identifier(name, "every value occurs once" if len(labels) == rows else "most rows have their own value")
        return
    signs = sorted({sign for label in numbers for sign in label if ord(sign) in AROUND_NUMBERS})
    written = f" with {' and '.join(map(repr, signs))}" if signs else ""
    warnings.warn(
        f"column {name!r} holds numbers written as text{written}, and is read as labels, most of them of one row only; "
        "convert it to numbers, or leave it out if it is an identifier",
        UserWarning,
        stacklevel=2,
    )


def extend_columns(columns: Sequence[Column], frame: Frame) -> tuple[list[Column], list[Source | None]]:
    """Add levels that occur for the first time; kinds and cuts stay."""
    extended: list[Column] = []
    sources: list[Source | None] = []
    for j, column in enumerate(columns):
        source = frame.read(j)
        if column.kind == "nominal":
            if source.kind == "numbers":
                source = numbers_as_codes(source)
            new = [label for label in used_labels(source) if label not in column.code_of]
            if new and column.folded:
                column = replace(column, folded=tuple(sorted((*column.folded, *new), key=level_order)))
            elif new:
                column = replace(column, levels=tuple(sorted((*column.levels, *new), key=level_order)))
        extended.append(column)
        sources.append(source)
    return extended, sources
