"""Blocks that are not all in memory: pieces of rows, opened one after the other.

A piece is what can be read by itself: a row group of a Parquet file, a CSV file, a part of an encoded file. Whatever
offers its pieces and a way to open one gets map, fold and transform from here.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from joblib import effective_n_jobs

from seminaive.table.block import Block
from seminaive.table.fold import Blocks, Kernel, add_up, map_in_order

LARGE = 1 << 20
"""Rows of a piece above which its results are not gathered before they are passed on."""


class PieceBlocks:
    """Blocks read piece by piece; at most one block per worker is alive at any time."""

    is_kept = False
    """Whether the blocks are encoded already, so that a pass is quick."""

    @property
    def n_rows(self) -> int:
        """Rows in all blocks."""
        raise NotImplementedError

    @property
    def largest(self) -> int:
        """Rows of the largest piece."""
        raise NotImplementedError

    def pieces(self) -> Sequence[Any]:
        """What can be opened, in row order."""
        raise NotImplementedError

    def open(self, piece: Any) -> Iterator[Block]:
        """The blocks of a piece."""
        raise NotImplementedError

    def keep(self, kernel: Kernel, model: tuple[Any, ...], n_jobs: int | None) -> Blocks:
        """Blocks made by a kernel, written where later passes read them quickly."""
        raise NotImplementedError

    def map(self, kernel: Kernel, *model: Any, n_jobs: int | None = None) -> Iterator[Any]:
        """The kernel's result for every block, in block order.

        Threads take a piece each, unless pieces are large (a CSV file is one): then one reads, and all run the kernel.
        """
        if effective_n_jobs(n_jobs) == 1 or self.largest > LARGE:
            blocks = (block for piece in self.pieces() for block in self.open(piece))
            yield from map_in_order(lambda block: kernel(block, *model), blocks, n_jobs)
            return

        def work(piece: Any) -> list[Any]:
            return [kernel(block, *model) for block in self.open(piece)]

        for results in map_in_order(work, self.pieces(), n_jobs):
            yield from results

    def fold(self, kernel: Kernel, *model: Any, n_jobs: int | None = None) -> Any:
        """The sum of the kernel's results, added in block order within a piece, then in the order of pieces."""

        def work(piece: Any) -> Any:
            return add_up(kernel(block, *model) for block in self.open(piece))

        return add_up(map_in_order(work, self.pieces(), n_jobs))

    def transform(self, kernel: Kernel, *model: Any, n_jobs: int | None = None) -> Blocks:
        """The blocks that the kernel makes of these blocks."""
        return self.keep(kernel, model, n_jobs)
