"""Fold: run a kernel over every block and add up the results, in block order, wherever the blocks are.

A kernel is a plain function ``(block, *model) -> result``; results are arrays, numbers, objects with ``+``, or
tuples of them. This file keeps blocks in memory; whatever offers the same three members can stand in its place.
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


class Blocks(Protocol):
    """A place where blocks live."""

    @property
    def n_rows(self) -> int:
        """Rows in all blocks."""

    def map(self, kernel: Kernel, *model: Any, n_jobs: int | None = None) -> Iterator[Any]:
        """The kernel's result for every block, in block order."""

    def fold(self, kernel: Kernel, *model: Any, n_jobs: int | None = None) -> Any:
        """The sum of the kernel's results over all blocks, added in block order."""

    def transform(self, kernel: Kernel, *model: Any, n_jobs: int | None = None) -> Blocks:
        """The blocks that the kernel makes of these blocks."""


@dataclass(frozen=True)
class MemoryBlocks:
    """Blocks in memory; kernels run in threads (they release the interpreter lock)."""

    blocks: tuple[Block, ...]

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


def map_in_order(work: Callable[[Any], Any], items: Iterable[Any], n_jobs: int | None) -> Iterator[Any]:
    """Apply ``work`` to items in threads, a few at a time, and give the results in order."""
    workers = effective_n_jobs(n_jobs)
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
