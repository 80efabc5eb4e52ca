"""Many family tables side by side: what columns say given their parents, as the kernels read it."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from math import prod
from typing import Any

import numpy as np
import numpy.typing as npt

from seminaive.evidence.storage import storable
from seminaive.evidence.terms import FamilyTerm, column_of, is_floats, speaks_unseen
from seminaive.kernels.family import add_families
from seminaive.statistics.conditional import FamilySmoothing, stacked_evidence
from seminaive.table.families import FamilyCounts, n_codes
from seminaive.table.schema import Floats, Integers, Schema

MOST_AT_ONCE = 1 << 20
"""Cells worked on together; bounds the memory that is needed in passing."""


@storable
@dataclass(frozen=True, eq=False)
class Families:
    """Tables of families, flattened; a column without parents is a family, too.

    Parameters
    ----------
    read_starts, reads : int64 arrays
        Family f reads the columns ``reads[read_starts[f]:read_starts[f + 1]]``, its own first.
    starts : int64 array
        Its table is ``tables[:, starts[f]:starts[f + 1]]``, the last column read changing fastest.
    tables, variances : arrays (classes, cells)
    """

    read_starts: Integers
    reads: Integers
    starts: Integers
    tables: Floats
    variances: Floats

    @classmethod
    def of(cls, terms: Sequence[FamilyTerm], n_classes: int) -> Families:
        """The tables of some terms."""
        flat = [(term.table.reshape(n_classes, -1), term.table_variance.reshape(n_classes, -1)) for term in terms]
        nothing = np.empty((n_classes, 0))
        return cls(
            np.cumsum([0, *(len(term.reads) for term in terms)]).astype(np.int64),
            np.array([j for term in terms for j in term.reads], dtype=np.int64),
            np.cumsum([0, *(table.shape[1] for table, _ in flat)]).astype(np.int64),
            np.concatenate([nothing, *(table for table, _ in flat)], axis=1),
            np.concatenate([nothing, *(variance for _, variance in flat)], axis=1),
        )

    @classmethod
    def learned(
        cls, counted: FamilyCounts, schema: Schema, smoothing: float = 1.0, kind: FamilySmoothing = "shrink"
    ) -> Families:
        """The smoothed tables of counted families, as `conditional_evidence`; equal shapes are worked out together."""
        tables, variances = np.zeros((2, *counted.counts.shape))
        for shape, cells in _by_shape(counted.read_starts, counted.reads, counted.starts, schema):
            counts = counted.counts[:, cells].transpose(1, 0, 2).reshape(len(cells), -1, *shape)
            evidence = stacked_evidence(counts, smoothing, kind)
            for part, into in zip(evidence, (tables, variances), strict=True):
                into[:, cells] = part.reshape(len(cells), len(tables), -1).transpose(1, 0, 2)
        return cls(counted.read_starts, counted.reads, counted.starts, tables, variances)

    def __len__(self) -> int:
        return len(self.starts) - 1

    @cached_property
    def column(self) -> Integers:
        """The column of each family."""
        return self.reads[self.read_starts[:-1]]

    def reads_of(self, family: int) -> tuple[int, ...]:
        """The columns a family looks at, its own first."""
        return tuple(self.reads[self.read_starts[family] : self.read_starts[family + 1]].tolist())

    def term(self, family: int, schema: Schema) -> FamilyTerm:
        """One family as a term."""
        cells = slice(self.starts[family], self.starts[family + 1])
        reads = self.reads_of(family)
        shape = (-1, *(schema.columns[j].n_codes for j in reads))
        return FamilyTerm(
            reads[0], reads[1:], self.tables[:, cells].reshape(shape), self.variances[:, cells].reshape(shape)
        )

    def check(self, schema: Schema) -> None:
        """Refuse tables that do not fit the schema, so that no kernel can read outside them."""
        if not all(is_whole(part) for part in (self.read_starts, self.reads, self.starts)):
            raise ValueError("the families' places must be lists of 64-bit whole numbers")
        n = len(self)
        if n < 0 or not is_partition(self.read_starts, n, len(self.reads)) or np.any(np.diff(self.read_starts) < 1):
            raise ValueError("every family must read at least one column")
        if not all(column_of(j, schema).is_coded for j in np.unique(self.reads).tolist()):
            raise ValueError("a family reads a column that is not coded")
        sizes = np.multiply.reduceat(n_codes(schema)[self.reads], self.read_starts[:-1]) if n else self.reads
        if self.starts[0] != 0 or not np.array_equal(np.diff(self.starts), sizes):
            raise ValueError("the families' tables do not have a cell for every combination of codes")
        shape = (schema.n_classes, int(sizes.sum()))
        if not is_floats(self.tables, shape) or not is_floats(self.variances, shape) or np.isinf(self.tables).any():
            raise ValueError(f"the families' tables must be finite numbers of shape {shape}")
        for family in np.flatnonzero(np.diff(self.read_starts) > 1).tolist():
            reads = self.reads_of(family)
            if len(set(reads)) < len(reads):
                raise ValueError(f"the family {reads} reads a column twice")
        for sizes_read, cells in _by_shape(self.read_starts, self.reads, self.starts, schema):
            if speaks_unseen(self.tables[:, cells.ravel()].reshape(-1, *sizes_read)):
                raise ValueError("the table of a family speaks for values that were never seen")

    def some(self, chosen: Integers) -> Families:
        """Some of the families, in the given order."""
        lengths, sizes = np.diff(self.read_starts)[chosen], np.diff(self.starts)[chosen]
        cells = _ranges(self.starts[chosen], sizes)
        return Families(
            np.concatenate([[0], np.cumsum(lengths)]),
            self.reads[_ranges(self.read_starts[chosen], lengths)],
            np.concatenate([[0], np.cumsum(sizes)]),
            self.tables[:, cells],
            self.variances[:, cells],
        )

    def add(self, tables: Floats, codes: npt.NDArray[Any], schema: Schema, scores: Floats) -> None:
        """Add the evidence of all families, read from ``tables``, to scores (classes, rows)."""
        if len(self):
            add_families(codes, *self.layout(schema), tables, scores)

    def layout(self, schema: Schema) -> tuple[Integers, Integers, Integers, Integers]:
        """Where each family's columns begin, which they are, how many codes they have, where each table begins."""
        return self.read_starts, self.reads, n_codes(schema)[self.reads], self.starts


def _by_shape(
    read_starts: Integers, reads: Integers, starts: Integers, schema: Schema
) -> Iterator[tuple[tuple[int, ...], npt.NDArray[np.int64]]]:
    """The families of every shape, a limited number at a time: their shape and their cells (families, cells)."""
    sizes = n_codes(schema)[reads].tolist()
    groups: dict[tuple[int, ...], list[int]] = defaultdict(list)
    for family, (first, last) in enumerate(pairwise(read_starts.tolist())):
        groups[tuple(sizes[first:last])].append(family)
    for shape, families in groups.items():
        n_cells = prod(shape)
        step = max(1, MOST_AT_ONCE // (n_cells * schema.n_classes))
        for i in range(0, len(families), step):
            yield shape, starts[families[i : i + step], None] + np.arange(n_cells)


def _ranges(starts: Integers, lengths: Integers) -> Integers:
    """The numbers from each start on, one range after the other."""
    ends = np.cumsum(lengths)
    return np.repeat(starts - ends + lengths, lengths) + np.arange(ends[-1] if len(ends) else 0)


def is_whole(array: Any) -> bool:
    """Whether it is a list of whole numbers as the kernels need them."""
    return isinstance(array, np.ndarray) and array.dtype == np.int64 and array.ndim == 1


def is_partition(starts: Integers, n_parts: int, length: int) -> bool:
    """Whether starts cut a list of a length into so many parts."""
    return len(starts) == n_parts + 1 and starts[0] == 0 and starts[-1] == length and bool(np.all(np.diff(starts) >= 0))
