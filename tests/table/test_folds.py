"""Folds of a table: every row held out once, every class spread evenly, wherever the rows are."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from seminaive import encode, scan_parquet
from seminaive.table.folds import hold_out_in_turn

ROWS, FOLDS = 203, 5


@pytest.fixture
def frame():
    return pd.DataFrame({"x": np.arange(ROWS) + 0.5})


@pytest.fixture
def labels():
    return np.random.default_rng(1).choice(["p", "q", "r"], ROWS, p=[0.6, 0.38, 0.02])


def rows_of(table):
    """The number of each row, in block order, and its class."""
    values = np.concatenate(list(table.map(lambda block: block.values[0])))
    classes = np.concatenate(list(table.map(lambda block: np.repeat(block.classes, np.diff(block.starts)))))
    return (values - 0.5).astype(int), classes


def fold_of(table, seed=0):
    fold = np.full(ROWS, -1)
    for number, (training, held_out) in enumerate(hold_out_in_turn(table, FOLDS, seed)):
        inside, outside = rows_of(held_out)[0], rows_of(training)[0]
        assert sorted([*inside, *outside]) == list(range(ROWS))
        fold[inside] = number
    assert fold.min() == 0
    return fold


def test_every_row_is_held_out_once_and_every_class_spread_evenly(frame, labels):
    fold = fold_of(encode(frame, labels))
    for label in "pqr":
        counts = np.bincount(fold[labels == label], minlength=FOLDS)
        assert np.ptp(counts) <= 1
    assert not np.array_equal(fold, fold_of(encode(frame, labels), seed=1))


def test_parts_keep_class_and_weight_of_their_rows(frame, labels):
    weights = np.arange(ROWS) % 7 + 1.0
    for parts in hold_out_in_turn(encode(frame, labels, sample_weight=weights), FOLDS, 0):
        for part in parts:
            numbers, classes = rows_of(part)
            assert np.array_equal(np.array(["p", "q", "r"])[classes], labels[numbers])
            assert np.array_equal(np.concatenate(list(part.map(lambda block: block.weights))), weights[numbers])


def test_folds_are_the_same_everywhere(frame, labels, tmp_path, cluster):
    expected = fold_of(encode(frame, labels))
    frame.assign(y=labels).to_parquet(tmp_path / "rows.parquet", row_group_size=70)
    for options in ({"block_rows": 3}, {"client": cluster}):
        scan = scan_parquet(tmp_path / "rows.parquet", "y", **options)
        assert np.array_equal(fold_of(encode(scan)), expected)
