"""Rows on a Dask cluster: read and encoded by its workers, which kernels and models travel to.

Rows that are passed over once are read, used and forgotten, piece by piece (`DaskPieces`). Rows of many passes stay on
the workers, encoded (`DaskBlocks`): a pass is one task per worker, which runs the kernel over all blocks held there.
What is lost with a worker is made again from the file or partition it came from.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import reduce
from itertools import accumulate
from typing import Any

from seminaive.table.block import Block
from seminaive.table.cluster import current_client, in_order, in_parts, results_of, share_out, submit, sum_on_cluster
from seminaive.table.encode import stream_blocks
from seminaive.table.facts import Facts, Wishes, frame_facts
from seminaive.table.fold import Kernel, add, add_up, in_threads
from seminaive.table.schema import Schema
from seminaive.table.table import LabelledRows, Table, codes_among

REGROUP = 50
"""Passes after which it is looked up again which worker holds which blocks."""


def is_dask(X: Any) -> bool:
    """Whether X is a Dask DataFrame or Series, found out without importing Dask."""
    return type(X).__module__.startswith("dask") and hasattr(X, "to_delayed")


# --- places -----------------------------------------------------------------------------------------------------------


@dataclass(eq=False)
class DaskPieces:
    """Rows of files that the workers read anew in every pass; each piece brings the scan of its own file.

    Nothing stays on the workers between passes; `transform` keeps blocks there.
    """

    client: Any
    schema: Schema
    pieces: Sequence[tuple[Any, Any]]
    n_rows: int
    is_kept = False

    def map(self, kernel: Kernel, *model: Any, n_jobs: int | None = None) -> Iterator[Any]:
        """The kernel's result for every block, in block order; a few pieces ahead of the reader."""
        return in_order(self.client, ((_map_pieces, (kernel, model, self.schema, [piece])) for piece in self.pieces))

    def fold(self, kernel: Kernel, *model: Any, n_jobs: int | None = None) -> Any:
        """The sum of the kernel's results, added in block order within some pieces, then in the order of pieces."""
        parts = in_parts(self.client, self.pieces)
        return sum_on_cluster(self.client, [(_fold_pieces, (kernel, model, self.schema, part)) for part in parts])

    def transform(self, kernel: Kernel, *model: Any, n_jobs: int | None = None) -> DaskBlocks:
        """The blocks that the kernel makes of these, kept on the workers that made them."""
        parts = in_parts(self.client, self.pieces)
        made = [submit(self.client, _map_pieces, kernel, model, self.schema, part) for part in parts]
        return DaskBlocks(self.client, made, self.n_rows)


@dataclass(eq=False)
class DaskBlocks:
    """Lists of blocks held by a cluster.

    ``parts`` are futures; as long as they are held, the scheduler makes lost ones again.
    """

    client: Any
    parts: list[Any]
    n_rows: int
    is_kept = True
    _grouped: dict[str, list[Any]] = field(default_factory=dict)
    _workers: frozenset[str] = frozenset()
    _passes: int = 0

    def map(self, kernel: Kernel, *model: Any, n_jobs: int | None = None) -> Iterator[Any]:
        """The kernel's result for every block, in block order; a few parts ahead of the reader."""
        return in_order(self.client, ((_map_held, (kernel, model, part)) for part in self.parts))

    def fold(self, kernel: Kernel, *model: Any, n_jobs: int | None = None) -> Any:
        """The sum of the kernel's results: over all blocks of a worker there, then over workers."""
        groups = self._groups()
        return sum_on_cluster(
            self.client, [(_fold_held, (kernel, model, group)) for group in groups.values()], list(groups)
        )

    def transform(self, kernel: Kernel, *model: Any, n_jobs: int | None = None) -> DaskBlocks:
        """The blocks that the kernel makes of these, made and kept where these are."""
        return DaskBlocks(
            self.client, [submit(self.client, _map_held, kernel, model, part) for part in self.parts], self.n_rows
        )

    def _groups(self) -> dict[str, list[Any]]:
        """Parts by worker; looked up again when workers come or go, and now and then.

        A grouping that is out of date costs time, not correctness.
        """
        workers = frozenset(self.client.nthreads())
        if workers != self._workers or self._passes % REGROUP == 0:
            self._grouped, self._workers = self._group_by_holder(sorted(workers)), workers
        self._passes += 1
        return self._grouped

    def _group_by_holder(self, workers: list[str]) -> dict[str, list[Any]]:
        """Parts by the worker that holds them; some move to a worker that has come and holds few."""
        from distributed import wait

        wait(self.parts)  # a part still in the making has no holder yet
        holders = self.client.who_has(self.parts)
        places = [holders.get(part.key, ()) for part in self.parts]
        return {worker: [self.parts[i] for i in group] for worker, group in share_out(places, workers).items() if group}


@dataclass(eq=False)
class DaskRows:
    """Rows of a Dask DataFrame, partition by partition, with labels and weights when there are any."""

    client: Any
    partitions: list[tuple[Any, Any, Any]]

    @classmethod
    def of_frame(cls, X: Any, y: Any, sample_weight: Any) -> DaskRows:
        """Take Dask collections apart; all must have the same partitions."""
        client = current_client()
        columns = [part.to_delayed() if part is not None else None for part in (X, y, sample_weight)]
        n = X.npartitions
        for name, column in zip(("X", "y", "sample_weight"), columns, strict=True):
            if column is not None and len(column) != n:
                raise ValueError(f"{name} has {len(column)} partitions and X has {n}; give them the same partitions")
        return cls(client, [tuple(None if c is None else c[i] for c in columns) for i in range(n)])  # type: ignore[misc]

    def table(self, wishes: Wishes) -> Table:
        """Learn the schema by one task per partition, then let the workers encode and keep the rows."""
        if any(y is None for _, y, _ in self.partitions):
            raise ValueError("fit requires y to be passed, but the target y is None")
        found = results_of(
            self.client, self._tasks(_partition_facts, [(*part, wishes, i) for i, part in enumerate(self.partitions)])
        )
        known = [facts for facts, _ in found if facts is not None]
        if not known:
            raise ValueError("the Dask DataFrame has no rows to learn from")
        facts: Facts = reduce(add, known)
        schema = facts.schema(wishes)
        firsts = accumulate((n for _, n in found), initial=0)
        arguments = [
            (*part, schema, first, i) for i, (part, first) in enumerate(zip(self.partitions, firsts, strict=False))
        ]
        return Table(schema, DaskBlocks(self.client, self._tasks(_partition_blocks, arguments), facts.rows))

    def unlabelled(self, schema: Schema) -> DaskFrameRows:
        """The rows for prediction."""
        return DaskFrameRows(self, schema)

    def _tasks(self, work: Callable[..., Any], arguments: Iterable[tuple[Any, ...]]) -> list[Any]:
        """A future per partition, for what the work makes of it."""
        from dask import delayed

        return list(self.client.compute([delayed(work)(*args) for args in arguments]))


@dataclass(eq=False)
class DaskFrameRows:
    """Rows of a Dask DataFrame to predict: every partition is encoded and used where it is computed."""

    rows: DaskRows
    schema: Schema

    @property
    def n_rows(self) -> int:
        """Rows in all partitions, which have to be computed to be counted."""
        return sum(results_of(self.rows.client, self.rows._tasks(len, [(X,) for X, _, _ in self.rows.partitions])))

    def map(self, kernel: Kernel, *model: Any, n_jobs: int | None = None) -> Iterator[Any]:
        """The kernel's result for every block, in block order, from all partitions computed at once."""
        tasks = self.rows._tasks(
            _map_partition,
            [(kernel, model, X, self.schema, i) for i, (X, _, _) in enumerate(self.rows.partitions)],
        )
        waiting = deque(tasks)
        del tasks
        while waiting:  # what was read is released on the cluster
            yield from results_of(self.rows.client, [waiting.popleft()])[0]


def scan_on_cluster(scan: Any, schema: Schema) -> DaskPieces:
    """The rows of files, read and encoded by the workers."""
    return DaskPieces(scan.client, schema, [scan.only(piece) for piece in scan.pieces], scan.n_rows)


def facts_on_cluster(scan: Any) -> Facts:
    """The facts of files."""
    parts = in_parts(scan.client, [scan.only(piece) for piece in scan.pieces])
    facts: Facts = sum_on_cluster(scan.client, [(_read_facts, (part,)) for part in parts])
    return facts


# --- what runs on the workers -----------------------------------------------------------------------------------------


def _map_pieces(kernel: Kernel, model: tuple[Any, ...], schema: Schema, pieces: Sequence[Any]) -> list[Any]:
    return [kernel(block, *model) for scan, piece in pieces for block in scan.blocks(schema, piece)]


def _fold_pieces(kernel: Kernel, model: tuple[Any, ...], schema: Schema, pieces: Sequence[Any]) -> Any:
    return add_up(kernel(block, *model) for scan, piece in pieces for block in scan.blocks(schema, piece))


def _map_held(kernel: Kernel, model: tuple[Any, ...], part: list[Block]) -> list[Any]:
    return [kernel(block, *model) for block in part]


def _fold_held(kernel: Kernel, model: tuple[Any, ...], parts: list[list[Block]]) -> Any:
    """Sum over all blocks of a worker, with all threads that it has for tasks."""
    from distributed import get_worker

    blocks = [block for part in parts for block in part]
    return add_up(in_threads(lambda block: kernel(block, *model), blocks, get_worker().state.nthreads))


def _read_facts(pieces: Sequence[Any]) -> Facts:
    facts: Facts = reduce(add, (scan.facts(piece) for scan, piece in pieces))
    return facts


def _partition_facts(X: Any, y: Any, weight: Any, wishes: Wishes, number: int) -> tuple[Facts | None, int]:
    """The facts of a partition, None when no row of it counts, and the number of its rows."""
    if len(X) == 0:
        return None, 0
    try:
        rows = LabelledRows.open(X, y, weight, may_be_empty=True)
        if rows.frame.n_rows == 0:
            return None, len(X)
        columns, _ = frame_facts(rows.frame, wishes, rows.weights)
    except ValueError as error:
        raise ValueError(f"partition {number}: {error}") from None
    return Facts(tuple(columns), rows.classes, rows.frame.n_rows), len(X)


def _partition_blocks(X: Any, y: Any, weight: Any, schema: Schema, first_row: int, number: int) -> list[Block]:
    if len(X) == 0:
        return []
    try:
        if y is None:
            return list(stream_blocks(schema, X, first_row=first_row))
        rows = LabelledRows.open(X, y, weight, may_be_empty=True)
        codes = codes_among(rows.classes, schema.classes)[rows.codes]
        return list(stream_blocks(schema, rows.frame, codes, rows.weights, first_row=first_row))
    except ValueError as error:
        raise ValueError(f"partition {number}: {error}") from None


def _map_partition(kernel: Kernel, model: tuple[Any, ...], X: Any, schema: Schema, number: int) -> list[Any]:
    return [kernel(block, *model) for block in _partition_blocks(X, None, None, schema, 0, number)]
