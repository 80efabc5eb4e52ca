"""A block: at most 65,536 rows, sorted into segments of one class, held column by column."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from seminaive.table.schema import Floats, Integers, Schema

BLOCK_ROWS = 65_536
"""Rows of a block: one column of codes and its row order fit in the second-level cache."""


@dataclass(frozen=True)
class Block:
    """Rows as codes and values, sorted by class.

    Segment s holds the rows ``starts[s]:starts[s + 1]``, all of class ``classes[s]`` (-1: unknown). So no kernel has a
    label in its inner loop. ``order[i]`` is where row i stood in the original order, counted from the block's
    ``first_row``; None when nothing was moved. ``weights`` is None when all are 1.
    """

    codes8: npt.NDArray[np.uint8]
    codes16: npt.NDArray[np.uint16]
    values: Floats
    weights: Floats | None
    starts: Integers
    classes: Integers
    order: npt.NDArray[np.uint16] | None
    first_row: int

    @property
    def n_rows(self) -> int:
        return int(self.starts[-1])

    @property
    def nbytes(self) -> int:
        arrays = (self.codes8, self.codes16, self.values, self.weights, self.order)
        return sum(a.nbytes for a in arrays if a is not None)

    def in_row_order(self, by_row: npt.NDArray[Any]) -> npt.NDArray[Any]:
        """Undo the sorting along the last axis of an array with one entry per row of the block."""
        if self.order is None:
            return by_row
        out = np.empty_like(by_row)
        out[..., self.order] = by_row
        return out


def row_classes(block: Block) -> Integers:
    """The class of each row of a block."""
    return np.repeat(block.classes, np.diff(block.starts))


def row_weights(block: Block) -> Floats:
    """The weight of each row of a block."""
    return np.ones(block.n_rows) if block.weights is None else block.weights


def codes_of(block: Block, schema: Schema, column: int) -> npt.NDArray[Any]:
    """The codes of one column in a block."""
    codes: npt.NDArray[Any] = block.codes8 if schema.columns[column].is_narrow else block.codes16
    return np.asarray(codes[schema.layout.slot[column]])


def column_codes(block: Block, schema: Schema) -> npt.NDArray[Any]:
    """Codes of all columns of a block in the schema's order, of the narrowest type that holds them all.

    The rows of columns that are not coded hold nothing of meaning.
    """
    layout = schema.layout
    if len(layout.narrow) == len(schema.columns):
        return block.codes8
    codes = np.zeros((len(schema.columns), block.n_rows), dtype=np.uint16 if len(layout.wide) else np.uint8)
    codes[layout.narrow], codes[layout.wide] = block.codes8, block.codes16
    return codes


def take_rows(block: Block, rows: Integers) -> Block:
    """The given rows of a block, in the given order; segments are made anew, and their order is their own.

    Examples
    --------
    >>> import seminaive as snb
    >>> (block,) = snb.encode(np.array([[1.0], [2.0], [3.0]]), ["a", "b", "a"]).blocks.blocks
    >>> part = take_rows(block, np.array([1, 2]))
    >>> part.values, part.classes
    (array([[3., 2.]]), array([0, 1]))
    """
    classes = row_classes(block)[rows]
    begins = np.ones(len(classes), dtype=bool)
    begins[1:] = np.diff(classes) != 0
    firsts = np.flatnonzero(begins)
    return Block(
        codes8=np.ascontiguousarray(block.codes8[:, rows]),
        codes16=np.ascontiguousarray(block.codes16[:, rows]),
        values=np.ascontiguousarray(block.values[:, rows]),
        weights=None if block.weights is None else block.weights[rows],
        starts=np.append(firsts, len(classes)),
        classes=classes[firsts],
        order=None,
        first_row=block.first_row,
    )


def same_block(block: Block) -> Block:
    """The block itself: the kernel that changes nothing."""
    return block


@dataclass(frozen=True)
class RowPlan:
    """How the rows of one block are sorted, decided before any column is read.

    ``positions`` is the row of the frame's slice for each row of the block; ``order`` the same, or None when rows stay
    where they are.
    """

    first_row: int
    n_rows: int
    positions: npt.NDArray[np.uint16]
    order: npt.NDArray[np.uint16] | None
    starts: Integers
    classes: Integers

    @cached_property
    def order_as_index(self) -> npt.NDArray[np.intp] | None:
        """The order in the type that NumPy would otherwise make of it for every column anew."""
        return None if self.order is None else self.order.astype(np.intp)


def plan_rows(n_rows: int, classes: Integers | None, block_rows: int = BLOCK_ROWS) -> list[RowPlan]:
    """Cut rows into blocks and sort each block's rows by class; unlabelled rows keep their order.

    Parameters
    ----------
    n_rows : int
    classes : int array or None
        Class code per row; None when predicting.
    """
    if not 1 <= block_rows <= BLOCK_ROWS:
        raise ValueError(f"block_rows must be between 1 and {BLOCK_ROWS}, got {block_rows}")
    plans = []
    for first in range(0, n_rows, block_rows):
        last = min(first + block_rows, n_rows)
        if classes is None:
            in_place = np.arange(last - first, dtype=np.uint16)
            starts, unknown = np.array([0, last - first]), np.array([-1])
            plans.append(RowPlan(first, last - first, in_place, None, starts, unknown))
            continue
        of_class = classes[first:last]
        small = of_class.astype(np.uint8 if of_class.max(initial=0) < 256 else np.int64)  # small keys sort by counting
        order = np.argsort(small, kind="stable").astype(np.uint16)
        present, counts = np.unique(of_class, return_counts=True)
        starts = np.concatenate([[0], np.cumsum(counts)]).astype(np.int64)
        plans.append(RowPlan(first, last - first, order, order, starts, present))
    return plans
