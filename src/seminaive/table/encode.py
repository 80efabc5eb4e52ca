"""Frames become blocks: learn a Schema once, then turn rows into codes and values by it.

Everything here is column by column, so that at most one column exists twice at any time.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from seminaive.kernels.count import bin_values, mark_used, place_codes
from seminaive.table.block import BLOCK_ROWS, Block, RowPlan, plan_rows
from seminaive.table.frames import LARGEST, Frame, Source, open_frame, short_codes
from seminaive.table.schema import (
    FIRST_LEVEL,
    MAX_LEVELS,
    MISSING,
    RARE,
    UNSEEN,
    Column,
    Floats,
    Schema,
    level_order,
)

IDENTIFIER_ROWS = 20
"""From how many rows on a column of distinct whole numbers or texts is suspected to be an identifier."""


@dataclass(frozen=True)
class Wishes:
    """What the user says about columns: which are nominal, which levels they can have, how many at most."""

    nominal: Sequence[Any] | None = None
    levels: Mapping[Any, Sequence[Any]] | None = None
    max_levels: int | None = None

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


# --- learning ---------------------------------------------------------------------------------------------------------


def learn_columns(frame: Frame, wishes: Wishes) -> tuple[list[Column], list[Source | None]]:
    """Learn every column's kind and levels from the training rows.

    Returns the columns, and the sources already read that are worth keeping (a column of text is not encoded twice).
    """
    nominal, declared = wishes.resolve(frame.names)
    columns: list[Column] = []
    sources: list[Source | None] = []
    for j, name in enumerate(frame.names):
        if frame.matrix is not None and j not in nominal:
            _check_matrix_column(frame, j)
            columns.append(Column(name, "numeric"))
            sources.append(None)
            continue
        source = frame.read(j)
        if source.kind == "numbers" and j in nominal:
            source = numbers_as_codes(source)
        if source.kind == "numbers":
            _warn_of_identifier(source.data if source.whole else None, name)
            columns.append(Column(name, "numeric", unit=source.unit))
        else:
            columns.append(_nominal_column(source, name, declared.get(j), wishes.max_levels))
        sources.append(source)
    return columns, sources


def _check_matrix_column(frame: Frame, j: int) -> None:
    assert frame.matrix is not None
    if frame.matrix.dtype.kind == "f":
        frame.read(j)  # refuses what cannot be squared
    elif frame.n_rows >= IDENTIFIER_ROWS:
        _warn_of_identifier(frame.matrix[:, j], frame.names[j])


def numbers_as_codes(source: Source) -> Source:
    """A numeric column declared nominal: its distinct values are the levels."""
    gaps = np.isnan(source.data)
    values, codes = np.unique(source.data[~gaps], return_inverse=True)
    labels = [int(v) for v in values] if source.whole or np.all(values == np.floor(values)) else values.tolist()
    data = np.full(len(gaps), -1, dtype=np.int64)
    data[~gaps] = codes
    return short_codes(data, labels)


def _nominal_column(source: Source, name: Any, declared: tuple[Any, ...] | None, max_levels: int | None) -> Column:
    used = used_labels(source)
    if declared is not None:
        stray = [label for label in used if label not in set(declared)]
        if stray:
            raise ValueError(f"column {name!r} holds {stray[0]!r}, which is not among its declared levels")
        return Column(name, "nominal", levels=declared)
    if max_levels is not None and len(used) > max_levels:
        return _fold_rare(source, name, used, max_levels)
    if len(used) > MAX_LEVELS:
        raise _too_many(name, len(used))
    n = len(source.data)
    if n >= IDENTIFIER_ROWS and len(used) == n:
        _warn(name, "every value occurs once")
    return Column(name, "nominal", levels=tuple(sorted(used, key=level_order)))


def used_labels(source: Source) -> list[Any]:
    """The labels that occur in the rows, each once: a declared category that never occurs is not a level."""
    size = max(len(source.labels), source.missing + 1)
    if source.data.dtype.itemsize > 2:
        used = np.bincount(source.data, minlength=size) > 0
    else:
        used = np.zeros(max(size, 256), dtype=np.uint8)
        for first in range(0, len(source.data), BLOCK_ROWS):
            mark_used(_writable(source.data[first : first + BLOCK_ROWS]), used)
    occurring = (
        label for code, label in enumerate(source.labels) if used[code] and code != source.missing and label is not None
    )
    return list(dict.fromkeys(occurring))  # two categories may read alike


def _fold_rare(source: Source, name: Any, used: list[Any], max_levels: int) -> Column:
    """Keep the most frequent levels (ties: in sorted order); all others share one last level."""
    counts = np.bincount(source.data, minlength=len(source.labels))
    of_label = dict.fromkeys(source.labels, 0)
    for code, label in enumerate(source.labels):
        of_label[label] += int(counts[code])
    ranked = sorted(sorted(used, key=level_order), key=lambda label: -of_label[label])
    kept, folded = ranked[: max_levels - 1], ranked[max_levels - 1 :]
    order = sorted(kept, key=level_order)
    return Column(name, "nominal", levels=(*order, RARE), folded=tuple(sorted(folded, key=level_order)))


def _too_many(name: Any, n_levels: int) -> ValueError:
    return ValueError(
        f"column {name!r} has {n_levels} levels; at most {MAX_LEVELS} are possible: "
        "leave the column out, or fold the rare levels with max_levels"
    )


def _warn_of_identifier(values: npt.NDArray[Any] | None, name: Any) -> None:
    if values is None or len(values) < IDENTIFIER_ROWS:
        return
    head = values[:1000]
    if len(np.unique(head)) == len(head) and len(np.unique(values)) == len(values):
        _warn(name, "all its whole numbers differ")


def _warn(name: Any, reason: str) -> None:
    warnings.warn(f"column {name!r} may be an identifier ({reason}); leave it out if it is", UserWarning, stacklevel=2)


# --- applying ---------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Filler:
    """One column ready to be written into blocks: raw codes with a translation, or numbers."""

    data: npt.NDArray[Any]
    translate: npt.NDArray[Any] | None

    def fill(self, plan: RowPlan, out: npt.NDArray[Any]) -> None:
        part = self.data[plan.first_row : plan.first_row + plan.n_rows]
        if self.translate is None:
            out[:] = part if plan.order is None else part[plan.order]
        else:
            place_codes(_writable(part), self.translate, plan.positions, out)


def _writable(part: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """Contiguous and writable, so that every kernel is compiled for one kind of array only."""
    return part if part.flags.c_contiguous and part.flags.writeable else part.copy()


def prepare(column: Column, source: Source) -> Filler:
    """How a column's source becomes the codes (or values) its schema asks for; refuses the wrong kind."""
    if column.kind == "numeric":
        if source.kind == "codes":
            source = _codes_as_numbers(source, column)
        if column.cuts is None:
            return Filler(source.data, None)
        codes = bin_codes(source.data, column.cuts)
        return Filler(codes, np.arange(column.n_codes, dtype=codes.dtype))
    if source.kind == "numbers":
        source = numbers_as_codes(source)
    narrow = column.n_codes <= 256
    code_of = column.code_of
    size = max(len(source.labels) + 1, source.missing + 1, 256)
    translate = np.full(size, UNSEEN, dtype=np.uint8 if narrow else np.uint16)
    for raw, label in enumerate(source.labels):
        translate[raw] = MISSING if label is None else code_of.get(label, UNSEEN)
    if source.missing >= 0:
        translate[source.missing] = MISSING
    if source.data.dtype.itemsize > 2:
        return Filler(translate[source.data], np.arange(column.n_codes, dtype=translate.dtype))
    return Filler(source.data, translate)


def bin_codes(values: Floats, cuts: Floats) -> npt.NDArray[Any]:
    """Bins left-closed at the cut, NaN coded as missing."""
    if len(cuts) + 1 + FIRST_LEVEL <= 256:
        codes = np.empty(len(values), dtype=np.uint8)
        bin_values(np.ascontiguousarray(values), cuts, MISSING, FIRST_LEVEL, codes)
        return codes
    wide = np.searchsorted(cuts, values, side="right") + FIRST_LEVEL
    wide[np.isnan(values)] = MISSING
    return wide.astype(np.uint16)


def _codes_as_numbers(source: Source, column: Column) -> Source:
    """A numeric column that comes as labels: fine when every label in use is a number (or all are missing)."""
    numbers = np.full(max(len(source.labels), source.missing) + 1, np.nan)
    used = set(used_labels(source))
    for raw, label in enumerate(source.labels):
        if label is None or label not in used:
            continue
        if not isinstance(label, (int, float)):
            row = int(np.flatnonzero(source.data == raw)[0])
            raise ValueError(
                f"column {column.name!r}, row {row} holds {label!r}, but the column was numeric in training"
            )
        numbers[raw] = label
    return Source("numbers", numbers[source.data])


def prepare_all(schema: Schema, frame: Frame, sources: Sequence[Source | None] | None = None) -> list[Filler]:
    """Every column ready to be written; sources already read are used, the others read now."""
    if frame.matrix is not None and len(schema.layout.valued) == len(schema.columns):
        return []  # an array of numbers is copied row block by row block instead
    held = sources if sources is not None else [None] * len(schema.columns)
    return [
        prepare(column, frame.read(j) if source is None else source)
        for j, (column, source) in enumerate(zip(schema.columns, held, strict=True))
    ]


def make_block(schema: Schema, frame: Frame, plan: RowPlan, fillers: list[Filler], weights: Floats | None) -> Block:
    """Write the planned rows of all columns into one block."""
    layout, n = schema.layout, plan.n_rows
    codes8 = np.empty((len(layout.narrow), n), dtype=np.uint8)
    codes16 = np.empty((len(layout.wide), n), dtype=np.uint16)
    values = np.empty((len(layout.valued), n))
    if not fillers:
        _fill_from_matrix(frame, plan, values)
    for column, filler, slot in zip(schema.columns, fillers, layout.slot, strict=False):
        home: npt.NDArray[Any] = values if not column.is_coded else codes8 if column.n_codes <= 256 else codes16
        filler.fill(plan, home[slot])
    own_weights = None if weights is None else weights[plan.first_row : plan.first_row + n][plan.positions]
    return Block(
        codes8, codes16, values, own_weights, plan.starts, plan.classes, plan.folds, plan.order, plan.first_row
    )


def _fill_from_matrix(frame: Frame, plan: RowPlan, out: Floats) -> None:
    assert frame.matrix is not None
    rows = frame.matrix[plan.first_row : plan.first_row + plan.n_rows]
    out[:] = (rows if plan.order is None else rows[plan.order]).T
    if frame.matrix.dtype.kind == "f" and np.fmax.reduce(np.abs(out), axis=None, initial=0.0) > LARGEST:
        for j in range(out.shape[0]):
            frame.read(j)  # names the column and the row


def stream_blocks(schema: Schema, X: Any) -> Iterator[Block]:
    """Unlabelled blocks of a frame in row order, one at a time, for prediction."""
    frame = open_frame(X)
    fillers = prepare_all(schema, frame)
    for plan in plan_rows(frame.n_rows, None):
        yield make_block(schema, frame, plan, fillers, None)


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
