"""Rows on a Dask cluster: blocks are made by tasks and stay on the workers; kernels and models travel to them.

One task per worker runs a kernel over all blocks that the worker holds. A block that is lost with its worker is made
again from the file or partition it came from.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import reduce
from typing import Any

import numpy as np

from seminaive.table.block import Block, plan_rows
from seminaive.table.encode import make_block, prepare_all
from seminaive.table.facts import Facts, Wishes, frame_facts
from seminaive.table.fold import Kernel, add
from seminaive.table.frames import open_frame
from seminaive.table.pieces import fold_blocks
from seminaive.table.schema import Schema
from seminaive.table.table import LabelledRows, Table, codes_among

REGROUP = 50
"""Passes after which it is looked up again which worker holds which blocks."""
RETRIES = 3
"""How often a task is tried again when its worker dies under it."""


def is_dask(X: Any) -> bool:
    """Whether X is a Dask DataFrame or Series, found out without importing Dask."""
    return type(X).__module__.startswith("dask") and hasattr(X, "to_delayed")


def current_client() -> Any:
    """The active Dask client; a clear error when there is none."""
    try:
        from distributed import get_client
    except ImportError:
        raise ImportError("Dask input needs the packages dask and distributed: pip install 'seminaive[dask]'") from None
    try:
        return get_client()
    except ValueError:
        raise ValueError("Dask input needs a running client: from distributed import Client; Client()") from None


@dataclass(eq=False)
class DaskBlocks:
    """Lists of blocks held by a cluster, one list per part of the input.

    ``parts`` are futures; as long as they are held, the scheduler makes lost ones again.
    """

    client: Any
    parts: list[Any]
    n_rows: int
    _grouped: list[list[Any]] = field(default_factory=list)
    _passes: int = 0

    def map(self, kernel: Kernel, *model: Any, n_jobs: int | None = None) -> Iterator[Any]:
        """The kernel's result for every block, in block order; a few parts ahead of the reader."""
        ahead = 2 * max(len(self.client.scheduler_info()["workers"]), 1)
        waiting: deque[Any] = deque()
        for part in self.parts:
            waiting.append(self.client.submit(_map_part, kernel, model, part, pure=False, retries=RETRIES))
            if len(waiting) > ahead:
                yield from waiting.popleft().result()
        while waiting:
            yield from waiting.popleft().result()

    def fold(self, kernel: Kernel, *model: Any, n_jobs: int | None = None) -> Any:
        """The sum of the kernel's results: over all blocks of a worker there, then over workers here."""
        tasks = [
            self.client.submit(_fold_parts, kernel, model, group, pure=False, retries=RETRIES)
            for group in self._groups()
        ]
        results = [result for result in self.client.gather(tasks) if result is not None]
        return reduce(add, results)

    def transform(self, kernel: Kernel, *model: Any, n_jobs: int | None = None) -> DaskBlocks:
        """The blocks that the kernel makes of these, made and kept where these are."""
        parts = [self.client.submit(_map_part, kernel, model, part, pure=False, retries=RETRIES) for part in self.parts]
        return DaskBlocks(self.client, parts, self.n_rows)

    def _groups(self) -> list[list[Any]]:
        """Parts by worker, looked up again now and then: a grouping that is out of date costs time, not correctness."""
        self._passes += 1
        if not self._grouped or self._passes % REGROUP == 2:
            self._grouped = self._group_by_holder()
        return self._grouped

    def _group_by_holder(self) -> list[list[Any]]:
        """Parts by the worker that holds them; parts that nobody holds (yet) are dealt out evenly."""
        workers = sorted(self.client.scheduler_info()["workers"])
        holders = self.client.who_has(self.parts)
        groups: dict[str, list[Any]] = {worker: [] for worker in workers}
        for i, part in enumerate(self.parts):
            alive = [worker for worker in holders.get(part.key, ()) if worker in groups]
            chosen = min(alive) if alive else workers[i % len(workers)] if workers else ""
            groups.setdefault(chosen, []).append(part)
        return [group for group in groups.values() if group]


@dataclass(eq=False)
class DaskRows:
    """Rows of a Dask DataFrame, partition by partition, with labels and weights when there are any."""

    client: Any
    partitions: list[tuple[Any, Any, Any]]
    lengths: list[int]

    @classmethod
    def of_frame(cls, X: Any, y: Any, sample_weight: Any) -> DaskRows:
        """Take Dask collections apart; all must have the same partitions."""
        client = current_client()
        columns = [part.to_delayed() if part is not None else None for part in (X, y, sample_weight)]
        n = X.npartitions
        for name, column in zip(("X", "y", "sample_weight"), columns, strict=True):
            if column is not None and len(column) != n:
                raise ValueError(f"{name} has {len(column)} partitions and X has {n}; give them the same partitions")
        partitions = [tuple(None if c is None else c[i] for c in columns) for i in range(n)]
        from dask import delayed

        lengths = client.gather(client.compute([delayed(len)(X_i) for X_i, _, _ in partitions]))
        return cls(client, partitions, [int(length) for length in lengths])  # type: ignore[arg-type]

    def table(self, wishes: Wishes) -> Table:
        """Learn the schema by one task per partition, then let the workers encode."""
        if any(y is None for _, y, _ in self.partitions):
            raise ValueError("fit requires y to be passed, but the target y is None")
        from dask import delayed

        tasks = [delayed(_partition_facts)(*part, wishes, i) for i, part in enumerate(self.partitions)]
        found = [facts for facts in self.client.gather(self.client.compute(tasks)) if facts is not None]
        facts: Facts = reduce(add, found)
        schema = facts.schema(wishes)
        blocks = self.blocks(schema)
        return Table(schema, DaskBlocks(self.client, blocks.parts, facts.rows))

    def blocks(self, schema: Schema) -> DaskBlocks:
        """The rows encoded under a schema, on the workers."""
        from dask import delayed

        starts = np.concatenate([[0], np.cumsum(self.lengths)]).astype(int).tolist()
        tasks = [delayed(_partition_blocks)(*part, schema, starts[i], i) for i, part in enumerate(self.partitions)]
        return DaskBlocks(self.client, self.client.compute(tasks), starts[-1])


def scan_on_cluster(scan: Any, schema: Schema) -> DaskBlocks:
    """The rows of files, read and encoded by the workers, a task per piece."""
    client = scan.client
    parts = [
        client.submit(_piece_blocks, scan.without_client(), schema, piece, pure=False, retries=RETRIES)
        for piece in scan.pieces
    ]
    return DaskBlocks(client, parts, scan.n_rows)


def facts_on_cluster(scan: Any) -> list[Facts]:
    """The facts of files, a task per piece."""
    bare = scan.without_client()
    tasks = [scan.client.submit(_piece_facts, bare, piece, pure=False, retries=RETRIES) for piece in scan.pieces]
    return list(scan.client.gather(tasks))


# --- what runs on the workers -----------------------------------------------------------------------------------------


def _map_part(kernel: Kernel, model: tuple[Any, ...], part: list[Block]) -> list[Any]:
    return [kernel(block, *model) for block in part]


def _fold_parts(kernel: Kernel, model: tuple[Any, ...], parts: list[list[Block]]) -> Any:
    return fold_blocks([block for part in parts for block in part], kernel, model)


def _piece_facts(scan: Any, piece: Any) -> Facts:
    facts: Facts = scan.facts(piece)
    return facts


def _piece_blocks(scan: Any, schema: Schema, piece: Any) -> list[Block]:
    return list(scan.blocks(schema, piece))


def _partition_facts(X: Any, y: Any, weight: Any, wishes: Wishes, number: int) -> Facts | None:
    if len(X) == 0:
        return None
    try:
        rows = LabelledRows.open(X, y, weight, may_be_empty=True)
        if rows.frame.n_rows == 0:
            return None
        columns, _ = frame_facts(rows.frame, wishes, rows.weights)
    except ValueError as error:
        raise ValueError(f"partition {number}: {error}") from None
    return Facts(tuple(columns), rows.classes, rows.frame.n_rows)


def _partition_blocks(X: Any, y: Any, weight: Any, schema: Schema, first_row: int, number: int) -> list[Block]:
    from dataclasses import replace

    if len(X) == 0:
        return []
    try:
        if y is None:
            frame, codes, weights = open_frame(X), None, None
        else:
            rows = LabelledRows.open(X, y, weight, may_be_empty=True)
            frame, weights = rows.frame, rows.weights
            codes = codes_among(rows.classes, schema.classes)[rows.codes]
        if frame.n_rows == 0:
            return []
        fillers = prepare_all(schema, frame)
        blocks = [make_block(schema, frame, plan, fillers, weights) for plan in plan_rows(frame.n_rows, codes)]
    except ValueError as error:
        raise ValueError(f"partition {number}: {error}") from None
    return [replace(block, first_row=first_row + block.first_row) for block in blocks]
