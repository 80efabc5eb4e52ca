"""How often every pair of levels of two columns occurs within each class.

Pair tables of d columns hold (sum of levels)^2 numbers per class, far too many to keep for thousands of
columns. So they are counted in tiles, a range of columns against another, and each tile is read for what is
wanted from it and dropped. Counts add up over blocks of rows:

    n[y, a, b] = number of rows (or their weight) with class y, level a of one column and level b of the other

Rows come as codes, one row of the array per column, sorted into segments of one class each. Unit weights
are counted by bit planes (AND and popcount, 64 rows at a time), weighted rows and pairs with many levels
one row at a time.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from seminaive.kernels.pair import count_pairs, pack_planes

__all__ = ["PairRows", "count_tile", "each_tile", "occurring_codes", "pack_rows", "pair_counts"]

Codes = npt.NDArray[np.uint8] | npt.NDArray[np.uint16]
Floats = npt.NDArray[np.float64]
Integers = npt.NDArray[np.int64]
Span = tuple[int, int]

MOST_CELLS = 256
"""Pairs with more cells than this are counted one row at a time: their planes would be read too often."""

TILE_BYTES = 1 << 19
"""Counts of one tile stay in the second-level cache."""


@dataclass(frozen=True)
class PairRows:
    """A block of rows made ready for counting pairs.

    Attributes
    ----------
    codes : (d, n) uint8 or uint16
        Levels 0 .. v_j - 1 of each column, rows sorted into segments.
    weights : (n,) float64
        Empty when every row weighs 1.
    planes : (planes, words) uint64
        One bit per row for every level but the last of each column; empty when rows are weighted.
    margins : (segments, levels) float64
        Count of every level in every segment.
    classes : (segments,) int64
        Class of each segment.
    level_starts, plane_starts, segment_starts, word_starts : int64
        Where each column's levels and planes and each segment's rows and words begin.
    """

    codes: Codes
    weights: Floats
    planes: npt.NDArray[np.uint64]
    margins: Floats
    classes: Integers
    level_starts: Integers
    plane_starts: Integers
    segment_starts: Integers
    word_starts: Integers

    @property
    def n_columns(self) -> int:
        return len(self.level_starts) - 1

    def class_margins(self, n_classes: int) -> Floats:
        """Count of every level of every column in each class, (K, levels)."""
        total = np.zeros((n_classes, int(self.level_starts[-1])))
        np.add.at(total, self.classes, self.margins)
        return total


def _starts(sizes: npt.ArrayLike) -> Integers:
    return np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)


def occurring_codes(codes: Codes, used: npt.NDArray[np.bool_]) -> tuple[Codes, Integers]:
    """Renumber codes so that only those that occur are left, in their order: 0 .. v_j - 1 in column j.

    Parameters
    ----------
    codes : (d, n) array of unsigned integers
        A block's codes, where 0 is a value never seen, 1 is missing and the levels follow.
    used : (d, C) bool array
        Which codes occur anywhere in the training rows, so that all blocks are renumbered alike. Missing
        becomes a level where it occurs.

    Returns
    -------
    codes : (d, n) array of the same type
    n_levels : (d,) int array

    Examples
    --------
    >>> codes = np.array([[2, 3, 2], [1, 2, 4]], dtype=np.uint8)
    >>> used = np.array([[0, 0, 1, 1, 0], [0, 1, 1, 0, 1]], dtype=bool)
    >>> dense, n_levels = occurring_codes(codes, used)
    >>> dense.tolist(), n_levels.tolist()
    ([[0, 1, 0], [0, 1, 2]], [2, 3])
    """
    number = (np.cumsum(used, axis=1) - 1).astype(codes.dtype)
    dense = np.empty_like(codes)
    for column in range(len(codes)):
        np.take(number[column], codes[column], out=dense[column], mode="clip")
    return dense, used.sum(axis=1).astype(np.int64)


def pack_rows(
    codes: Codes,
    segment_starts: npt.ArrayLike,
    classes: npt.ArrayLike,
    n_levels: Integers,
    weights: Floats | None = None,
) -> PairRows:
    """Make one block of rows ready for counting pairs.

    Parameters
    ----------
    codes : (d, n) array of unsigned integers, C order
        Levels 0 .. v_j - 1 (see `occurring_codes`), rows sorted into segments.
    segment_starts : (S + 1,) ints
        Segment s holds the rows ``segment_starts[s]:segment_starts[s + 1]``.
    classes : (S,) ints
        Class of each segment; several segments may have the same.
    n_levels : (d,) ints
    weights : (n,) floats, optional
        Weight of each row; None when all are 1, which is much faster.

    Examples
    --------
    >>> codes = np.array([[0, 1, 1, 0], [0, 1, 0, 0]], dtype=np.uint8)
    >>> rows = pack_rows(codes, [0, 2, 4], [0, 1], np.array([2, 2]))
    >>> rows.class_margins(2)
    array([[1., 1., 1., 1.],
           [1., 1., 2., 0.]])
    """
    starts = np.asarray(segment_starts, dtype=np.int64)
    level_starts = _starts(n_levels)
    packed = (np.asarray(n_levels) <= MOST_CELLS // 2) & (weights is None)
    plane_starts = _starts(np.where(packed, np.maximum(n_levels - 1, 0), 0))
    word_starts = _starts((np.diff(starts) + 63) // 64)
    planes = np.zeros((plane_starts[-1], word_starts[-1]), dtype=np.uint64)
    margins = np.zeros((len(starts) - 1, level_starts[-1]))
    row_weights = np.empty(0) if weights is None else np.ascontiguousarray(weights, dtype=np.float64)
    contiguous: Codes = np.require(codes, requirements="C")
    pack_planes(contiguous, row_weights, level_starts, plane_starts, starts, word_starts, planes, margins)
    return PairRows(
        contiguous,
        row_weights,
        planes,
        margins,
        np.asarray(classes, dtype=np.int64),
        level_starts,
        plane_starts,
        starts,
        word_starts,
    )


def count_tile(blocks: Sequence[PairRows], left: Span, right: Span, n_classes: int) -> Floats:
    """Counts of the columns ``left`` against ``right``, added over blocks, (K, levels left, levels right).

    Only pairs (j, k) with j < k are counted; the cells of all others are 0.
    """
    starts = blocks[0].level_starts
    shape = (n_classes, starts[left[1]] - starts[left[0]], starts[right[1]] - starts[right[0]])
    cells = np.zeros(shape)
    for rows in blocks:
        count_pairs(
            rows.codes,
            rows.weights,
            rows.planes,
            rows.margins,
            starts,
            rows.plane_starts,
            rows.segment_starts,
            rows.word_starts,
            rows.classes,
            left,
            right,
            MOST_CELLS,
            cells,
        )
    return cells


def _spans(level_starts: Integers, n_classes: int) -> list[Span]:
    """Cut the columns into ranges whose tiles stay small; at least one column each."""
    most_levels = max(1, int(np.sqrt(TILE_BYTES / 8 / n_classes)))
    spans = []
    first, d = 0, len(level_starts) - 1
    while first < d:
        last = int(np.searchsorted(level_starts, level_starts[first] + most_levels, side="right")) - 1
        last = min(max(last, first + 1), d)
        spans.append((first, last))
        first = last
    return spans


def each_tile(
    blocks: Sequence[PairRows],
    n_classes: int,
    read: Callable[[Floats, Span, Span], None],
    threads: int = 1,
) -> None:
    """Count every tile of pairs once and hand it to ``read(counts, left, right)``.

    Parameters
    ----------
    blocks : sequence of PairRows
    n_classes : int
    read : callable
        Called once per tile, from several threads when ``threads`` > 1; tiles share no pair.
    threads : int
    """
    spans = _spans(blocks[0].level_starts, n_classes)

    def work(left_number: int) -> None:
        left = spans[left_number]
        for right in spans[left_number:]:
            read(count_tile(blocks, left, right, n_classes), left, right)

    if threads == 1:
        for number in range(len(spans)):
            work(number)
        return
    with ThreadPoolExecutor(threads) as pool:
        for _ in pool.map(work, range(len(spans))):
            pass


def pair_counts(blocks: Sequence[PairRows], j: int, k: int, n_classes: int) -> Floats:
    """Counts of one pair of columns within each class, (K, v_j, v_k).

    Examples
    --------
    >>> codes = np.array([[0, 1, 1, 0], [0, 1, 0, 0]], dtype=np.uint8)
    >>> rows = pack_rows(codes, [0, 2, 4], [0, 1], np.array([2, 2]))
    >>> pair_counts([rows], 0, 1, n_classes=2)
    array([[[1., 0.],
            [0., 1.]],
    <BLANKLINE>
           [[1., 0.],
            [1., 0.]]])
    """
    if j > k:
        return pair_counts(blocks, k, j, n_classes).transpose(0, 2, 1)
    return count_tile(blocks, (j, j + 1), (k, k + 1), n_classes)
