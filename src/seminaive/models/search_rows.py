"""From rows and naive Bayes evidence to a search problem: what `SelectiveNB` and the selectors search on.

A column of at most 254 levels is searched by its codes; any other brings its evidence row by row.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import reduce

import numpy as np

from seminaive.evidence.evidence import Evidence
from seminaive.evidence.terms import TableTerm
from seminaive.models.naive import Sums, varies
from seminaive.search.problem import SearchProblem, Segments
from seminaive.table.block import Block, row_weights
from seminaive.table.gather import gather_rows
from seminaive.table.schema import FIRST_LEVEL, MISSING, Floats, Integers
from seminaive.table.table import Table

SEARCH_ROWS = 200_000
"""A search looks at no more than about this many rows; of larger tables it sees a random sample."""
SEARCH_NUMBERS = 50_000_000
"""Nor at more than this many numbers (8 bytes each): evidence of numeric columns is kept per row and rival class."""


def rows_to_search(table: Table, seed: int, n_jobs: int | None = None) -> Block:
    """The rows of a table in one block, sorted by class; of too many a random sample, the same wherever they are."""
    schema = table.schema
    dense = (len(schema.columns) - len(schema.layout.narrow)) * max(schema.n_classes - 1, 1)
    return gather_rows(table, min(SEARCH_ROWS, SEARCH_NUMBERS // max(dense, 1)), seed, n_jobs).block


def search_problem(parts: Sequence[tuple[Block, Evidence]]) -> SearchProblem:
    """Rows to search on, each part scored by its own evidence: with cross-validation, that of the other folds."""
    blocks = [block for block, _ in parts]
    schemas = [evidence.schema for _, evidence in parts]  # each part may have cuts of its own
    narrow = reduce(np.intersect1d, [schema.layout.narrow for schema in schemas])
    sizes = [max(schema.columns[j].n_codes for schema in schemas) for j in narrow]
    offsets = np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)
    dense = np.setdiff1d(np.arange(len(schemas[0].columns)), narrow)

    def dense_evidence(d: int) -> Floats:
        column = int(dense[d])
        return np.concatenate([says.by_column[column].evidence(block, says.schema) for block, says in parts], axis=1)

    return SearchProblem(
        segments=_segments(blocks),
        log_prior=np.stack([evidence.prior for _, evidence in parts]),
        codes=np.concatenate(
            [block.codes8[s.layout.slot[narrow]] for block, s in zip(blocks, schemas, strict=True)], axis=1
        ),
        tables=np.stack([_tables(evidence, narrow, offsets) for _, evidence in parts]),
        offsets=offsets,
        dense=dense_evidence,
        n_dense=len(dense),
        weights=_weights(blocks),
        coded_features=narrow,
        dense_features=dense,
    )


def _tables(evidence: Evidence, columns: Integers, offsets: Integers) -> Floats:
    """The tables of some columns side by side, each with room for the codes it has in any part."""
    tables = np.zeros((evidence.schema.n_classes, offsets[-1]))
    for column, start in zip(columns.tolist(), offsets[:-1].tolist(), strict=True):
        term = evidence.by_column[column]
        assert isinstance(term, TableTerm)
        tables[:, start : start + term.table.shape[1]] = term.table
    return tables


def _segments(blocks: Sequence[Block]) -> Segments:
    firsts = np.cumsum([0, *(block.n_rows for block in blocks)])
    starts = [block.starts[:-1] + first for block, first in zip(blocks, firsts, strict=False)]
    return Segments(
        np.concatenate([*starts, firsts[-1:]]).astype(np.int64),
        np.concatenate([block.classes for block in blocks]).astype(np.int64),
        np.repeat(np.arange(len(blocks)), [len(block.classes) for block in blocks]),
    )


def _weights(blocks: Sequence[Block]) -> Floats | None:
    if all(block.weights is None for block in blocks):
        return None
    return np.concatenate([row_weights(block) for block in blocks])


def columns_that_vary(sums: Sums, missing: str) -> Integers:
    """Columns that are not the same in all rows: only these can tell classes apart."""
    schema = sums.schema
    vary = np.zeros(len(schema.columns), dtype=bool)
    occurs = sums.counts.sum(axis=0) > 0
    for j in range(len(schema.columns)):
        if schema.columns[j].is_coded:
            first = MISSING if missing == "value" else FIRST_LEVEL
            start = schema.layout.starts[j]
            vary[j] = occurs[start + first : start + schema.columns[j].n_codes].sum() > 1
    vary[schema.layout.valued] = varies(sums.moments)
    if missing == "value":
        present = np.asarray(sums.moments.count)
        whole = np.asarray(sums.class_weight)[:, None]
        absent = whole - present > 1e-9 * whole  # sums of weights are rounded: what is left of that is no row
        vary[schema.layout.valued] |= absent.any(axis=0) & (present > 0).any(axis=0)
    return np.flatnonzero(vary)


def only(evidence: Evidence, columns: Sequence[int]) -> Evidence:
    """The same evidence from some columns only: the others say nothing."""
    kept = tuple(evidence.by_column[column] for column in sorted(columns))
    return Evidence(evidence.schema, evidence.prior, kept, evidence.link)
