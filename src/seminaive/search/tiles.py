"""Rows laid out in tiles, as `seminaive.kernels.search` reads them.

A tile holds rows of one segment, and all codes of a tile lie together. Each segment is filled up with rows whose odds
say that they are right for sure.
"""

from __future__ import annotations

import itertools
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from seminaive.kernels.search import LANES, TILE
from seminaive.search.problem import SearchProblem

__all__ = ["Tiles", "lay_out"]

Floats = npt.NDArray[np.float64]
Integers = npt.NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class Tiles:
    """Some rows in tiles, and room for their odds.

    Attributes
    ----------
    rows : ints or None
        Which rows, ascending; all if None.
    starts, segments : (tiles + 1,), (tiles,) ints
    bounds, begins : lists of ints
        The rows of segment s are ``bounds[s]:bounds[s + 1]`` of those chosen and lie from ``begins[s]`` on.
    codes, weights : (features * n,) uint8, (n,) floats
    odds, base : (rivals, n), (n,) floats
        Rivals stand alone or in threes.
    """

    rows: Integers | None
    starts: Integers
    segments: Integers
    bounds: list[int]
    begins: list[int]
    codes: npt.NDArray[np.uint8]
    weights: Floats
    odds: Floats
    base: Floats

    @property
    def n_rows(self) -> int:
        """Rows with those that fill up."""
        return int(self.starts[-1])

    def spread(self, values: Floats, room: Floats) -> None:
        """Write one number per row, (..., rows), to where the rows lie."""
        chosen = values if self.rows is None else np.take(values, self.rows, axis=-1)
        for (first, last), begin in zip(itertools.pairwise(self.bounds), self.begins, strict=True):
            room[..., begin : begin + last - first] = chosen[..., first:last]


def lay_out(problem: SearchProblem, rows: Integers | None = None) -> Tiles:
    """Put all rows, or some, into tiles."""
    bounds = problem.segments.starts if rows is None else np.searchsorted(rows, problem.segments.starts)
    starts, segments, begins = [0], [], []
    for s, n in enumerate(np.diff(bounds).tolist()):
        begins.append(starts[-1])
        end = starts[-1] + -(-n // LANES) * LANES
        while starts[-1] < end:
            starts.append(min(starts[-1] + TILE, end))
            segments.append(s)
    n_rows, n_coded, n_rivals = starts[-1], problem.n_coded, problem.n_classes - 1
    codes = np.empty(n_coded * n_rows, dtype=np.uint8)
    for (start, stop), s in zip(itertools.pairwise(starts), segments, strict=True):
        first = int(bounds[s]) + start - begins[s]
        last = min(first + stop - start, int(bounds[s + 1]))
        chosen = slice(first, last) if rows is None else rows[first:last]
        block = codes[n_coded * start : n_coded * stop].reshape(n_coded, stop - start)
        block[:, : last - first] = problem.codes[:, chosen]
        block[:, last - first :] = block[:, :1]  # a code that occurs
    tiles = Tiles(
        rows,
        np.array(starts, dtype=np.int64),
        np.array(segments, dtype=np.int64),
        bounds.tolist(),
        begins,
        codes,
        np.ones(n_rows),
        np.empty((1 if n_rivals == 1 else -(-n_rivals // 3) * 3, n_rows)),
        np.ones(n_rows),
    )
    if problem.weights is not None:
        tiles.spread(problem.weights, tiles.weights)
    return tiles
