"""Rows become blocks: every column's source is translated into the codes or values that the schema asks for."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from seminaive.kernels.count import bin_values, place_codes
from seminaive.table.block import BLOCK_ROWS, Block, RowPlan, plan_rows
from seminaive.table.facts import numbers_as_codes, used_labels
from seminaive.table.frames import Frame, contiguous, open_frame
from seminaive.table.schema import FIRST_LEVEL, MISSING, UNSEEN, Column, Floats, Integers, Schema
from seminaive.table.sources import LARGEST, Source


@dataclass(frozen=True)
class Filler:
    """One column ready to be written into blocks: raw codes with a translation, or numbers."""

    data: npt.NDArray[Any]
    translate: npt.NDArray[Any] | None

    def fill(self, plan: RowPlan, out: npt.NDArray[Any]) -> None:
        part = self.data[plan.first_row : plan.first_row + plan.n_rows]
        if self.translate is None:
            out[:] = part if plan.order is None else part[plan.order_as_index]
        else:
            place_codes(contiguous(part), self.translate, plan.positions, out)


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
    narrow = column.is_narrow
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
                f"column {column.name!r}, row {row} holds {label!r}, but the column was numeric in training; "
                "give numbers, or a gap where there is none"
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
        home: npt.NDArray[Any] = values if not column.is_coded else codes8 if column.is_narrow else codes16
        filler.fill(plan, home[slot])
    own_weights = None if weights is None else weights[plan.first_row : plan.first_row + n][plan.positions]
    return Block(codes8, codes16, values, own_weights, plan.starts, plan.classes, plan.order, plan.first_row)


def _fill_from_matrix(frame: Frame, plan: RowPlan, out: Floats) -> None:
    assert frame.matrix is not None
    rows = frame.matrix[plan.first_row : plan.first_row + plan.n_rows]
    out[:] = (rows if plan.order is None else rows[plan.order_as_index]).T
    if frame.matrix.dtype.kind == "f" and np.fmax.reduce(np.abs(out), axis=None, initial=0.0) > LARGEST:
        for j in range(out.shape[0]):
            frame.read(j)  # names the column and the row


def stream_blocks(
    schema: Schema,
    X: Any,
    classes: Integers | None = None,
    weights: Floats | None = None,
    *,
    sources: Sequence[Source | None] | None = None,
    first_row: int = 0,
    block_rows: int = BLOCK_ROWS,
) -> Iterator[Block]:
    """The blocks of a frame, one at a time: sorted by class, or, without classes, in row order for prediction.

    ``first_row`` is the number of the frame's first row where it is a part of something larger.
    """
    frame = open_frame(X)
    fillers = prepare_all(schema, frame, sources)
    for plan in plan_rows(frame.n_rows, classes, block_rows=block_rows):
        block = make_block(schema, frame, plan, fillers, weights)
        yield replace(block, first_row=first_row + block.first_row) if first_row else block
