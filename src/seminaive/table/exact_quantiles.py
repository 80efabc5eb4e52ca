"""Exact quantiles without a column in one place: histograms over the sorted bit patterns of floats, which add up.

The bits of a float64, its sign handled, sort like the numbers. One fold counts the values by their first 16 bits; that
names the few cells in which quantiles lie. Cells that hold too many values are split by their next 16 bits, and so on;
the values of the last cells are collected. So the result depends neither on blocks nor on where they are.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from seminaive.statistics.quantiles import quantile_cuts
from seminaive.table.block import Block
from seminaive.table.schema import Floats
from seminaive.table.table import Table

Keys = npt.NDArray[np.uint64]

COLLECT = 500_000
"""Values of one column that may be collected; above, their cells are split first."""
COLUMNS = 64
"""Columns handled in one fold: their histograms take half a megabyte each."""
CELLS = 65_536


def quantile_bins(table: Table, n_bins: int, n_jobs: int | None = None) -> dict[int, Floats]:
    """Cuts of every valued column at its quantiles, the class never looked at.

    Returns
    -------
    dict
        Per column position, the distinct inner quantiles (``averaged_inverted_cdf``), exactly the whole column's.
    """
    columns = table.schema.layout.valued.tolist()
    cuts: dict[int, Floats] = {}
    for first in range(0, len(columns), COLUMNS):
        cuts.update(_quantile_bins(table, columns[first : first + COLUMNS], n_bins, n_jobs))
    return cuts


def _quantile_bins(table: Table, columns: list[int], n_bins: int, n_jobs: int | None) -> dict[int, Floats]:
    slots = table.schema.layout.slot[columns]
    counts = table.fold(_count_first_bits, slots, n_jobs=n_jobs)
    sketches = [_Sketch.of_first_bits(row) for row in counts]
    while True:
        crowded = [i for i, sketch in enumerate(sketches) if sketch.is_crowded(n_bins)]
        if not crowded:
            break
        cells = tuple(sketches[i].interesting(n_bins) for i in crowded)
        bits = tuple(sketches[i].bits for i in crowded)
        split = table.fold(_split_cells, tuple(slots[i] for i in crowded), cells, bits, n_jobs=n_jobs)
        for i, chosen, rows in zip(crowded, cells, split, strict=True):
            sketches[i] = sketches[i].split(chosen, rows)
    cells = tuple(sketch.interesting(n_bins) for sketch in sketches)
    bits = tuple(sketch.bits for sketch in sketches)
    found = table.fold(_collect, tuple(slots), cells, bits, n_jobs=n_jobs)
    return {
        j: sketch.cuts(n_bins, chosen, values)
        for j, sketch, chosen, values in zip(columns, sketches, cells, found, strict=True)
    }


@dataclass(frozen=True, eq=False)
class _Sketch:
    """How a column's values are spread over cells: the cells' first bits, in order, and the weight in each.

    Cells are of different widths: ``lengths`` says how many leading bits each one fixes; ``bits`` is the longest.
    """

    keys: Keys  # leading bits of each cell, shifted to the left end of 64 bits
    lengths: npt.NDArray[np.int64]
    weights: npt.NDArray[Any]

    @classmethod
    def of_first_bits(cls, counts: npt.NDArray[Any]) -> _Sketch:
        used = np.flatnonzero(counts)
        return cls(used.astype(np.uint64) << np.uint64(48), np.full(len(used), 16), counts[used])

    @property
    def bits(self) -> int:
        return int(self.lengths.max(initial=16))

    def _holding(self, n_bins: int) -> npt.NDArray[np.int64]:
        """Positions of the cells in which a quantile (or the smallest value) lies, or on whose border it lies."""
        if not len(self.keys):
            return np.zeros(0, dtype=np.int64)
        reached = np.cumsum(self.weights)
        target = reached[-1] * np.arange(n_bins) / n_bins
        slack = 2e-12 * reached[-1]
        low = np.searchsorted(reached, target - slack, side="left")
        high = np.searchsorted(reached, target + slack, side="right")
        return np.unique(np.clip(np.concatenate([low, high]), 0, len(self.keys) - 1))

    def is_crowded(self, n_bins: int) -> bool:
        """Whether the cells that matter hold too many values to collect and can still be split."""
        at = self._holding(n_bins)
        return bool(self.bits < 64 and self.weights[at].sum() > COLLECT)

    def interesting(self, n_bins: int) -> Keys:
        """Keys of the cells that matter; all of them have been split to ``bits``."""
        at = self._holding(n_bins)
        return self.keys[at[self.lengths[at] == self.bits]]

    def split(self, cells: Keys, rows: npt.NDArray[Any]) -> _Sketch:
        """Replace cells by their 65,536 parts."""
        stay = ~(np.isin(self.keys, cells) & (self.lengths == self.bits))
        which, part = np.nonzero(rows)
        shift = np.uint64(64 - self.bits - 16)
        keys = np.concatenate([self.keys[stay], cells[which] | (part.astype(np.uint64) << shift)])
        lengths = np.concatenate([self.lengths[stay], np.full(len(which), self.bits + 16)])
        weights = np.concatenate([self.weights[stay], rows[which, part]])
        order = np.argsort(keys, kind="stable")
        return _Sketch(keys[order], lengths[order], weights[order])

    def cuts(self, n_bins: int, cells: Keys, found: _Values) -> Floats:
        """The cuts of the column: cells that matter are replaced by their values, the others stand for themselves."""
        if not len(self.keys):
            return np.zeros(0)
        stay = ~(np.isin(self.keys, cells) & (self.lengths == self.bits))
        values = np.concatenate([from_keys(self.keys[stay]), found.values])
        return quantile_cuts(values, n_bins, np.concatenate([self.weights[stay], found.weights]))


@dataclass(frozen=True, eq=False)
class _Values:
    """Distinct values and their weights; they add up by merging."""

    values: Floats
    weights: npt.NDArray[Any]

    def __add__(self, other: _Values) -> _Values:
        values, place = np.unique(np.concatenate([self.values, other.values]), return_inverse=True)
        weights = np.bincount(place, weights=np.concatenate([self.weights, other.weights]), minlength=len(values))
        return _Values(values, weights)


# --- kernels over a block ---------------------------------------------------------------------------------------------


def _count_first_bits(block: Block, slots: npt.NDArray[np.int64]) -> npt.NDArray[Any]:
    """Weight of each of the 65,536 patterns of first bits, per column."""
    rows = [_keys(block, slot) for slot in slots]
    return np.stack([_histogram(keys >> np.uint64(48), weights, CELLS) for keys, weights in rows])


def _split_cells(
    block: Block, slots: tuple[int, ...], cells: tuple[Keys, ...], bits: tuple[int, ...]
) -> tuple[npt.NDArray[Any], ...]:
    """Weight of the 65,536 parts of each given cell, per column."""
    out = []
    for slot, chosen, length in zip(slots, cells, bits, strict=True):
        keys, weights = _keys(block, slot)
        inside, cell = _inside(keys, chosen, length)
        part = (keys[inside] >> np.uint64(64 - length - 16)) & np.uint64(0xFFFF)
        flat = cell.astype(np.uint64) * np.uint64(CELLS) + part
        own = None if weights is None else weights[inside]
        out.append(_histogram(flat, own, len(chosen) * CELLS).reshape(len(chosen), CELLS))
    return tuple(out)


def _collect(
    block: Block, slots: tuple[int, ...], cells: tuple[Keys, ...], bits: tuple[int, ...]
) -> tuple[_Values, ...]:
    """The distinct values inside the given cells, per column."""
    out = []
    for slot, chosen, length in zip(slots, cells, bits, strict=True):
        keys, weights = _keys(block, slot)
        inside, _ = _inside(keys, chosen, length)
        values, place = np.unique(from_keys(keys[inside]), return_inverse=True)
        own = None if weights is None else weights[inside]
        out.append(_Values(values, np.bincount(place, weights=own, minlength=len(values))))
    return tuple(out)


def _keys(block: Block, slot: int) -> tuple[Keys, Floats | None]:
    """The sortable bit patterns of a column without its gaps, and the weights of those rows."""
    values = block.values[slot]
    there = ~np.isnan(values)
    weights = None if block.weights is None else block.weights[there]
    return to_keys(values[there]), weights


def _inside(keys: Keys, cells: Keys, length: int) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]:
    """Rows whose first bits are those of a cell, and which cell."""
    heads = keys >> np.uint64(64 - length) << np.uint64(64 - length)
    cell = np.searchsorted(cells, heads)
    cell[cell == len(cells)] = 0
    inside = np.flatnonzero(cells[cell] == heads) if len(cells) else np.zeros(0, dtype=np.int64)
    return inside, cell[inside]


def _histogram(cells: Keys, weights: Floats | None, size: int) -> npt.NDArray[Any]:
    return np.bincount(cells.astype(np.int64), weights=weights, minlength=size)


def to_keys(values: Floats) -> Keys:
    """Bit patterns that sort like the numbers (-0 counts as 0)."""
    bits = (values + 0.0).view(np.int64)
    return np.where(bits < 0, ~bits, bits ^ np.int64(-(2**63))).view(np.uint64)


def from_keys(keys: Keys) -> Floats:
    """The numbers of bit patterns."""
    bits = keys.view(np.int64)
    return np.where(bits < 0, bits ^ np.int64(-(2**63)), ~bits).view(np.float64)
