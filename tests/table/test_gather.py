"""Rows gathered in one block are the table's, and the same ones wherever they were."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from seminaive import encode, scan_parquet
from seminaive.table.folds import stratified_folds, stratified_share
from seminaive.table.gather import gather_rows, without_rows

ROWS = 400


@pytest.fixture
def frame():
    return pd.DataFrame({"x": np.arange(ROWS) + 0.5, "c": np.random.default_rng(0).choice(["a", "b"], ROWS)})


@pytest.fixture
def labels():
    return np.random.default_rng(1).choice(["p", "q", "r"], ROWS)


def test_all_rows_come_sorted_by_class_and_number(frame, labels):
    table = encode(frame, labels)
    rows = gather_rows(table, ROWS, seed=0)
    assert len(rows.block.classes) == 3
    assert np.array_equal(rows.numbers, np.argsort(labels, kind="stable"))
    assert np.array_equal(table.schema.classes[rows.labels], labels[rows.numbers])
    assert np.array_equal(rows.block.values[0], frame["x"].to_numpy()[rows.numbers])


@pytest.mark.parametrize("weights", [None, np.arange(ROWS) % 3 * 0.5], ids=["unit weights", "some weights zero"])
def test_the_same_rows_are_gathered_everywhere(frame, labels, weights, tmp_path, cluster):
    expected = gather_rows(encode(frame, labels, sample_weight=weights), 100, seed=3)
    assert 70 < len(expected.numbers) < 130
    frame.assign(y=labels, w=1.0 if weights is None else weights).to_parquet(tmp_path / "r.parquet", row_group_size=70)
    for options in ({"block_rows": 33}, {"client": cluster}):
        weight = None if weights is None else "w"
        scan = scan_parquet(tmp_path / "r.parquet", "y", weight=weight, columns=["x", "c"], **options)
        found = gather_rows(encode(scan), 100, seed=3)
        assert np.array_equal(found.numbers, expected.numbers)
        assert np.array_equal(found.block.values, expected.block.values)
        assert np.array_equal(found.labels, expected.labels)


@pytest.mark.parametrize("weights", [None, np.arange(ROWS) % 3 * 0.5], ids=["unit weights", "some weights zero"])
def test_a_table_without_gathered_rows_holds_all_others(frame, labels, weights, tmp_path):
    frame.assign(y=labels, w=1.0 if weights is None else weights).to_parquet(tmp_path / "r.parquet", row_group_size=70)
    weight = None if weights is None else "w"
    scan = scan_parquet(tmp_path / "r.parquet", "y", weight=weight, columns=["x", "c"], block_rows=33)
    for table in (encode(frame, labels, sample_weight=weights), encode(scan)):
        some = gather_rows(table, 100, seed=0)
        rest = gather_rows(without_rows(table, some.numbers), ROWS, seed=0)
        both = np.sort(np.concatenate([some.block.values[0], rest.block.values[0]]))
        assert np.array_equal(both, frame["x"] if weights is None else frame["x"][weights > 0])


def test_a_part_of_gathered_rows_keeps_its_labels(frame, labels):
    rows = gather_rows(encode(frame, labels), ROWS, seed=0)
    part = rows.where(rows.block.values[0] < 50)
    assert np.array_equal(part.labels, rows.labels[rows.block.values[0] < 50])
    assert np.array_equal(np.sort(part.numbers), np.arange(50))


def test_folds_and_shares_spread_every_class_evenly():
    classes = np.repeat([0, 1, 2], [10, 4, 1])
    folds = stratified_folds(classes, 5, seed=0)
    assert np.bincount(folds[:10]).tolist() == [2] * 5
    assert np.bincount(folds, minlength=5).tolist() == [3] * 5
    held = stratified_share(classes, 0.3, seed=0)
    assert [int(held[classes == k].sum()) for k in range(3)] == [3, 1, 0]
