"""A small greedy search: forward selection of coded columns by training error, wherever the rows are.

It shows what a method of many passes needs: joint scores as scratch beside each block, the number of the pass, errors
that are whole numbers (so that every place takes the same path), a search on some rows and a fit on all.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from seminaive import NaiveBayes
from seminaive.table.sample import sample_rows
from seminaive.table.scratch import drop, new_owner, scratch


@dataclass(frozen=True)
class Search:
    """What every pass of one search needs."""

    owner: str
    layout: object
    prior: np.ndarray
    evidence: np.ndarray


@dataclass(frozen=True)
class Path:
    """Columns in the order they were taken, the training errors after each, and how many passes it took."""

    columns: tuple[int, ...]
    errors: tuple[int, ...]
    passes: int


def forward_selection(table, before_pass=lambda number: None):
    """Take the column that leaves the fewest errors, as long as one leaves fewer; the first of equals."""
    search = prepare(table)
    candidates = list(range(len(table.schema.columns)))
    taken, errors = (), (np.inf,)
    passes = 0
    while candidates:
        before_pass(passes)
        found = table.fold(errors_of_candidates, search, taken, tuple(candidates))
        passes += 1
        best = int(np.argmin(found))
        if found[best] >= errors[-1]:
            break
        taken, errors = (*taken, candidates.pop(best)), (*errors, int(found[best]))
    drop(search.owner)
    return Path(taken, errors[1:], passes)


def search_some_fit_all(table, n_rows, seed):
    """The columns found on a sample of the rows, and the sums of all rows for them."""
    path = forward_selection(sample_rows(table, n_rows, seed))
    return path, NaiveBayes().fit(table).counts_


def prepare(table):
    """Smoothed log evidence of every code; codes 0 and 1 say nothing."""
    layout, counts = table.schema.layout, table.counts().astype(float) + 1.0
    evidence = np.zeros_like(counts)
    for start, column in zip(layout.starts, table.schema.columns, strict=True):
        own = slice(start + 2, start + column.n_codes)
        evidence[:, own] = np.log(counts[:, own] / counts[:, own].sum(axis=1, keepdims=True))
    return Search(new_owner(), layout, np.log(table.class_weights()), evidence)


def errors_of_candidates(block, search, taken, candidates):
    """Rows misclassified with each candidate added to the columns taken."""
    scores = scratch(
        search.owner,
        block,
        len(taken),
        build=lambda: add_columns(np.repeat(search.prior[:, None], block.n_rows, axis=1), block, search, taken),
        advance=lambda before: add_columns(before, block, search, taken[-1:]),
    )
    truth = np.repeat(block.classes, np.diff(block.starts))
    return np.array([np.sum(add_columns(scores, block, search, (c,)).argmax(axis=0) != truth) for c in candidates])


def add_columns(scores, block, search, columns):
    """Scores plus the evidence of some columns, added one after the other: the same bits in one go or in many."""
    for column in columns:
        codes = block.codes8[search.layout.slot[column]].astype(np.int64)
        scores = scores + search.evidence[:, search.layout.starts[column] + codes]
    return scores
