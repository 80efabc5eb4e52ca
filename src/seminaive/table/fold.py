"""Fold: run a kernel over every block and add up the results, in block order, wherever the blocks are.

A kernel is a plain function ``(block, *model) -> result``; results are arrays, numbers, objects with ``+``, or
tuples of them. This file keeps blocks in memory; whatever offers the same members can stand in its place.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import reduce
from typing import Any, Protocol

from joblib import effective_n_jobs

from seminaive.table.block import Block

Kernel = Callable[..., Any]


class Rows(Protocol):
    """Rows that come as blocks, in order: all that prediction needs."""

    @property
    def n_rows(self) -> int:
        """Rows in all blocks; of files, those of weight 0 are counted although no block holds them."""

    def map(self, kernel: Kernel, *model: Any, n_jobs: int | None = None) -> Iterator[Any]:
        """The kernel's result for every block, in block order."""


class Blocks(Rows, Protocol):
    """A place where blocks live."""

    @property
    def is_kept(self) -> bool:
        """Whether the blocks are encoded already, so that a pass is quick."""

    def fold(self, kernel: Kernel, *model: Any, n_jobs: int | None = None) -> Any:
        """The sum of the kernel's results over all blocks, added in block order."""

    def transform(self, kernel: Kernel, *model: Any, n_jobs: int | None = None) -> Blocks:
        """The blocks that the kernel makes of these blocks."""


@dataclass(frozen=True)
class MemoryBlocks:
    """Blocks in memory; kernels run in threads (they release the interpreter lock)."""

    blocks: tuple[Block, ...]
    is_kept = True

    @property
    def n_rows(self) -> int:
        return sum(block.n_rows for block in self.blocks)

    def map(self, kernel: Kernel, *model: Any, n_jobs: int | None = None) -> Iterator[Any]:
        return map_in_order(lambda block: kernel(block, *model), self.blocks, n_jobs)

    def fold(self, kernel: Kernel, *model: Any, n_jobs: int | None = None) -> Any:
        return reduce(add, self.map(kernel, *model, n_jobs=n_jobs))

    def transform(self, kernel: Kernel, *model: Any, n_jobs: int | None = None) -> MemoryBlocks:
        return MemoryBlocks(tuple(self.map(kernel, *model, n_jobs=n_jobs)))


def add(a: Any, b: Any) -> Any:
    """Add two kernel results; tuples element by element."""
    if isinstance(a, tuple):
        return tuple(add(x, y) for x, y in zip(a, b, strict=True))
    return a + b


def add_up(results: Iterable[Any]) -> Any:
    """The sum of some results in order; None, of which there is one where there was no row, adds nothing."""
    total = None
    for result in results:
        total = result if total is None else total if result is None else add(total, result)
    return total


def map_in_order(work: Callable[[Any], Any], items: Iterable[Any], n_jobs: int | None) -> Iterator[Any]:
    """Apply ``work`` to items in threads, a few at a time, and give the results in order."""
    return in_threads(work, items, effective_n_jobs(n_jobs))


def in_threads(work: Callable[[Any], Any], items: Iterable[Any], workers: int) -> Iterator[Any]:
    """The same for a number of threads that is known, such as that of a cluster's worker."""
    if workers == 1:
        yield from map(work, items)
        return
    with ThreadPoolExecutor(workers) as pool:
        waiting: deque[Any] = deque()
        for item in items:
            waiting.append(pool.submit(work, item))
            if len(waiting) > 2 * workers:  # never more than a few blocks ahead of the reader
                yield waiting.popleft().result()
        while waiting:
            yield waiting.popleft().result()
