"""Files larger than memory: Parquet and CSV read piece by piece, under a schema learned from all of them first."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property, reduce
from pathlib import Path
from typing import Any

import numpy as np

from seminaive.table.block import BLOCK_ROWS, Block
from seminaive.table.csv_stream import CsvStream, one_type_per_column
from seminaive.table.dask import facts_on_cluster, scan_on_cluster
from seminaive.table.disk import CacheFolder, content_key, write_parts
from seminaive.table.encode import stream_blocks
from seminaive.table.facts import ColumnFacts, Facts, Wishes, frame_facts
from seminaive.table.fold import Blocks, Kernel, add, map_in_order
from seminaive.table.folders import find_files, folder_columns
from seminaive.table.pieces import PieceBlocks
from seminaive.table.schema import Schema
from seminaive.table.streams import FileStream, ParquetStream, Piece, check_columns
from seminaive.table.table import LabelledRows, Table, codes_among


@dataclass(frozen=True, eq=False, repr=False)
class Scan:
    """Rows in files, read when they are needed; ``fit`` and ``predict`` take it in place of a frame.

    Attributes
    ----------
    files : tuple of paths, in the order of their rows
    target : str or None
        Column of class labels; None for rows to predict.
    weight : str or None
        Column of row weights.
    columns : tuple of str
        The predictors, in order.
    """

    files: tuple[str, ...]
    target: str | None
    weight: str | None
    columns: tuple[str, ...]
    wishes: Wishes
    cache: str | None = None
    block_rows: int = BLOCK_ROWS
    sources: tuple[FileStream, ...] = field(default=(), repr=False)
    client: Any = field(default=None, repr=False)

    def __repr__(self) -> str:
        what = "unlabelled" if self.target is None else f"target {self.target!r}"
        return f"Scan({self.n_rows} rows in {len(self.files)} files, {len(self.columns)} columns, {what})"

    @cached_property
    def pieces(self) -> tuple[Piece, ...]:
        """What can be read by itself, in row order."""
        out: list[Piece] = []
        first_row = 0
        for index, source in enumerate(self.sources):
            own = source.pieces(index, first_row)
            first_row += sum(piece.n_rows for piece in own)
            out.extend(own)
        return tuple(out)

    @property
    def n_rows(self) -> int:
        """Rows in all files."""
        return sum(piece.n_rows for piece in self.pieces)

    def wishing(self, wishes: Wishes) -> Scan:
        """The same rows under an estimator's wishes, which come before those of the scan."""
        return replace(self, wishes=self.wishes.overruled_by(wishes))

    def unlabelled(self) -> Scan:
        """The same rows in their order, labels and weights not read: for prediction."""
        return replace(self, target=None, weight=None)

    def learn(self, n_jobs: int | None = None) -> Schema:
        """One pass over the columns whose levels must be known (and the target) to learn the schema."""
        if self.target is None:
            raise ValueError("the scan names no column of labels: pass target= to scan_parquet or scan_csv")
        if not self.pieces:
            raise ValueError(f"{self.files[0]}: no rows to learn from")
        if self.client is None:
            facts: Facts = reduce(add, map_in_order(self.facts, self.pieces, n_jobs))
        else:
            facts = facts_on_cluster(self)
        if not facts.rows:
            raise ValueError(f"{self.files[0]}: no rows to learn from")
        return facts.schema(self.wishes)

    def facts(self, piece: Piece) -> Facts:
        """What one piece tells about its columns; columns of numbers are known from their type and not read."""
        nominal, _ = self.wishes.resolve(list(self.columns))
        plain = self.sources[piece.file].plain_numbers()
        read = [c for j, c in enumerate(self.columns) if c not in plain or j in nominal]
        wishes = replace(self.wishes, nominal=[c for c in read if self.columns.index(c) in nominal], levels=None)
        total: Facts | None = None
        for first, batch in self._batches(piece, read):
            with self._place(piece, first):
                rows = self._labelled(batch, read)
                n = len(rows.codes)
                found = (
                    {facts.name: facts for facts in frame_facts(rows.frame, wishes, rows.weights)[0]}
                    if read and n
                    else {}
                )
            known = [
                found.get(c) or ColumnFacts(c, "numbers", n, empty=c not in plain, unit=plain.get(c, ""))
                for c in self.columns
            ]
            part = Facts(tuple(known), rows.classes, n)
            total = part if total is None else total + part
        assert total is not None
        return total

    def blocks(self, schema: Schema, piece: Piece) -> Iterator[Block]:
        """The blocks of one piece: labelled and sorted by class, or in row order when there is no target."""
        for first, batch in self._batches(piece, list(self.columns)):
            with self._place(piece, first):
                at = piece.first_row + first
                if self.target is None:
                    yield from stream_blocks(schema, batch.select(list(self.columns)), first_row=at)
                    continue
                rows = self._labelled(batch, list(self.columns))
                codes = codes_among(rows.classes, schema.classes)[rows.codes]
                yield from stream_blocks(schema, rows.frame, codes, rows.weights, first_row=at)

    def other_columns(self, names: Sequence[str]) -> Iterator[Any]:
        """Some columns of the files, predictors or not, as Arrow tables in row order."""
        check_columns(self.sources, names)
        rows = self.unlabelled()
        return (batch for piece in rows.pieces for _, batch in rows._batches(piece, list(names)))

    def table(self, n_jobs: int | None = None) -> Table:
        """The rows as a Table: on the cluster if there is one, else reading the files anew in every pass."""
        schema = self.learn(n_jobs)
        return Table(schema, self.open(schema))

    def open(self, schema: Schema) -> Blocks:
        """The rows as blocks under a schema."""
        return ScanBlocks(self, schema) if self.client is None else scan_on_cluster(self, schema)

    def only(self, piece: Piece) -> tuple[Scan, Piece]:
        """What a worker needs to read one piece: the scan of its file alone, however many there are."""
        at = slice(piece.file, piece.file + 1)
        return replace(self, files=self.files[at], sources=self.sources[at], client=None), replace(piece, file=0)

    def _batches(self, piece: Piece, columns: list[str]) -> Iterator[tuple[int, Any]]:
        """Rows of a piece, at most a block at a time, as Arrow tables with the position of their first row."""
        extra = [c for c in (self.target, self.weight) if c is not None]
        first = 0
        for batch in self.sources[piece.file].batches(piece, [*columns, *extra], self.block_rows):
            if batch.num_rows:
                yield first, batch
                first += batch.num_rows

    def _labelled(self, batch: Any, columns: list[str]) -> LabelledRows:
        weights = None if self.weight is None else batch.column(self.weight).to_numpy()
        only = batch.select(columns) if columns else batch.select([self.target])
        return LabelledRows.open(only, batch.column(self.target), weights, may_be_empty=True)

    def _place(self, piece: Piece, first: int) -> _Place:
        return _Place(f"{self.files[piece.file]}, {piece.name}, rows from {first}")


@dataclass(frozen=True)
class _Place:
    """Put the place in the file before whatever is wrong there."""

    where: str

    def __enter__(self) -> None:
        return None

    def __exit__(self, kind: Any, error: Any, trace: Any) -> None:
        if isinstance(error, ValueError):
            raise ValueError(f"{self.where}: {error}") from None


@dataclass(eq=False)
class ScanBlocks(PieceBlocks):
    """The rows of a scan, parsed anew in every pass; `transform` keeps them encoded on disk."""

    scan: Scan
    schema: Schema

    @property
    def n_rows(self) -> int:
        return self.scan.n_rows

    @property
    def largest(self) -> int:
        return max((piece.n_rows for piece in self.scan.pieces), default=0)

    def pieces(self) -> Sequence[Piece]:
        return self.scan.pieces

    def open(self, piece: Piece) -> Iterator[Block]:
        return self.scan.blocks(self.schema, piece)

    def keep(self, kernel: Kernel, model: tuple[Any, ...], n_jobs: int | None) -> Blocks:
        scan = self.scan
        files = [str(Path(f).resolve()) for f in scan.files]
        stamps = [(*source.stamp, Path(source.path).stat().st_ctime_ns) for source in scan.sources]
        options = (scan.target, scan.weight, scan.columns, scan.block_rows, [source.kinds for source in scan.sources])
        key = content_key(files, stamps, options, self.schema, kernel, model)
        return write_parts(self, kernel, model, CacheFolder(scan.cache, content_key(files), key), n_jobs)


def scan_parquet(
    path: str | Path | Sequence[str | Path],
    target: str | None = None,
    *,
    weight: str | None = None,
    columns: Sequence[str] | None = None,
    nominal: Sequence[str] | None = None,
    levels: Mapping[str, Sequence[Any]] | None = None,
    max_levels: int | None = None,
    cache: str | Path | None = None,
    block_rows: int = BLOCK_ROWS,
    client: Any = None,
) -> Scan:
    """Parquet files of any size, to fit on or to predict, without loading them.

    Parameters
    ----------
    path : path, pattern such as "folder/*.parquet", folder, or list of paths
        In a folder, names that begin with "_" or "." are passed over, and folders named ``column=value``, as Spark
        makes them with ``partitionBy``, are a column.
    target : str, optional
        Column of class labels; left out for rows to predict.
    weight : str, optional
        Column of row weights.
    columns : list of str, optional
        Predictors to use. Default: all columns but target and weight.
    nominal, levels, max_levels : as for `encode`
    cache : path, optional
        Folder for encoded rows, about a byte per cell; needed only by methods of more than one pass. Default:
        ``$SEMINAIVE_CACHE``, or ``seminaive`` in the user's cache folder. It is empty again afterwards.
    block_rows : int
        Rows handled at a time, at most 65,536; fewer take less memory.
    client : distributed.Client, optional
        A Dask cluster whose workers read the files, which all of them must be able to see.

    Examples
    --------
    >>> import tempfile, pandas as pd, seminaive as snb
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     pd.DataFrame({"x": ["a", "b", "a"], "y": [0, 1, 0]}).to_parquet(folder + "/part.parquet")
    ...     snb.NaiveBayes().fit(snb.scan_parquet(folder + "/*.parquet", target="y")).class_count_
    array([2, 1])
    """
    files, root = find_files(path, [".parquet"])
    sources = [
        ParquetStream.open(file, constant) for file, constant in zip(files, folder_columns(files, root), strict=True)
    ]
    return _scan(
        files, sources, target, weight, columns, Wishes(nominal, levels, max_levels), cache, block_rows, client
    )


def scan_csv(
    path: str | Path | Sequence[str | Path],
    target: str | None = None,
    *,
    weight: str | None = None,
    columns: Sequence[str] | None = None,
    nominal: Sequence[str] | None = None,
    levels: Mapping[str, Sequence[Any]] | None = None,
    max_levels: int | None = None,
    cache: str | Path | None = None,
    block_rows: int = BLOCK_ROWS,
) -> Scan:
    """CSV files of any size; the parameters are those of `scan_parquet`.

    A column is numeric when all its fields in all files are numbers. A field is missing when it is empty or reads NA,
    N/A, NaN, nan, null, NULL or ?, unless it is in quotes: ``""`` is a level. The first line names the columns, which
    are separated by comma, semicolon, tab or bar; with semicolons, numbers may have decimal commas.
    """
    files, _ = find_files(path, [".csv", ".csv.gz"])
    sources = one_type_per_column([CsvStream.open(file) for file in files])
    return _scan(files, sources, target, weight, columns, Wishes(nominal, levels, max_levels), cache, block_rows)


def _scan(
    files: tuple[str, ...],
    sources: Sequence[FileStream],
    target: str | None,
    weight: str | None,
    columns: Sequence[str] | None,
    wishes: Wishes,
    cache: str | Path | None,
    block_rows: int,
    client: Any = None,
) -> Scan:
    if not isinstance(block_rows, (int, np.integer)) or not 1 <= block_rows <= BLOCK_ROWS:
        raise ValueError(f"block_rows must be a whole number between 1 and {BLOCK_ROWS}, got {block_rows!r}")
    if target is not None and target == weight:
        raise ValueError(f"the column {target!r} cannot be both target and weight")
    own = {name for name in (target, weight) if name is not None}
    predictors = tuple(columns) if columns is not None else tuple(name for name in sources[0].kinds if name not in own)
    if not predictors:
        raise ValueError(f"{files[0]}: no columns to learn from besides {sorted(own)}")
    for i, name in enumerate(predictors):
        if name in own or name in predictors[:i]:
            raise ValueError(f"columns: {name!r} is the target, the weight, or listed twice")
    wishes.resolve(list(predictors))
    check_columns(sources, [*predictors, *sorted(own)])
    where = None if cache is None else str(cache)
    return Scan(files, target, weight, predictors, wishes, where, int(block_rows), tuple(sources), client)


__all__ = ["Scan", "scan_csv", "scan_parquet"]
