"""Folds of a table: every row held out once, every class spread evenly, wherever the rows are."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from seminaive import encode, scan_parquet
from seminaive.table import folds
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


@pytest.fixture(params=["by content", "by place"])
def dealing(request, monkeypatch):
    """Both ways to deal rows: that of few rows, and that of many."""
    if request.param == "by place":
        monkeypatch.setattr(folds, "FEW_ROWS", 0)


@pytest.mark.usefixtures("dealing")
def test_every_row_is_held_out_once_and_every_class_spread_evenly(frame, labels):
    fold = fold_of(encode(frame, labels))
    for label in "pqr":
        counts = np.bincount(fold[labels == label], minlength=FOLDS)
        assert np.ptp(counts) <= 1
    assert not np.array_equal(fold, fold_of(encode(frame, labels), seed=1))


@pytest.mark.usefixtures("dealing")
def test_parts_keep_class_and_weight_of_their_rows(frame, labels):
    weights = np.arange(ROWS) % 7 + 0.5
    for parts in hold_out_in_turn(encode(frame, labels, sample_weight=weights), FOLDS, 0):
        for part in parts:
            numbers, classes = rows_of(part)
            assert np.array_equal(np.array(["p", "q", "r"])[classes], labels[numbers])
            assert np.array_equal(np.concatenate(list(part.map(lambda block: block.weights))), weights[numbers])


@pytest.mark.usefixtures("dealing")
def test_folds_are_the_same_everywhere(frame, labels, tmp_path, cluster):
    expected = fold_of(encode(frame, labels))
    frame.assign(y=labels).to_parquet(tmp_path / "rows.parquet", row_group_size=70)
    for options in ({"block_rows": 3}, {"client": cluster}):
        scan = scan_parquet(tmp_path / "rows.parquet", "y", **options)
        assert np.array_equal(fold_of(encode(scan)), expected)


def told(part):
    """The rows of a part as sorted copies: class, value and word code."""
    (block,) = part.map(lambda block: block)
    classes = np.repeat(block.classes, np.diff(block.starts))
    copies = np.ones(block.n_rows, dtype=int) if block.weights is None else block.weights.astype(int)
    rows = np.column_stack([classes, block.values[0], block.codes8[0]])
    return sorted(np.repeat(rows, copies, axis=0).tolist())


def test_a_row_of_weight_3_is_dealt_like_three_rows_in_any_order():
    rng = np.random.default_rng(3)
    frame = pd.DataFrame({"x": rng.integers(0, 9, 60) / 4, "w": rng.choice(["u", "v"], 60)})
    labels, weights = rng.choice(["p", "q"], 60), rng.integers(0, 4, 60)
    places = rng.permutation(np.repeat(np.arange(60), weights))
    weighted = hold_out_in_turn(encode(frame, labels, sample_weight=weights), FOLDS, 7)
    repeated = hold_out_in_turn(encode(frame.iloc[places], labels[places]), FOLDS, 7)
    for ours, theirs in zip(weighted, repeated, strict=True):
        assert [told(part) for part in ours] == [told(part) for part in theirs]


def test_neither_the_order_of_columns_nor_the_names_of_classes_move_a_row_to_another_fold():
    rng = np.random.default_rng(4)
    frame = pd.DataFrame({"x": rng.normal(size=50), "w": rng.choice(["u", "v"], 50)})
    labels = rng.choice(["p", "q"], 50)
    other = {"p": "z", "q": "a"}
    plain = hold_out_in_turn(encode(frame, labels), FOLDS, 0)
    turned = hold_out_in_turn(encode(frame[["w", "x"]], [other[label] for label in labels]), FOLDS, 0)
    for (_, ours), (_, theirs) in zip(plain, turned, strict=True):
        assert sorted(value for _, value, _ in told(ours)) == sorted(value for _, value, _ in told(theirs))


def test_weights_too_large_to_count_copies_of_leave_rows_whole():
    table = encode(np.arange(6.0)[:, None], ["a", "b"] * 3, sample_weight=[1e20, 1, 1, 1, 1, 1])
    sizes = [(training.n_rows, held_out.n_rows) for training, held_out in hold_out_in_turn(table, 3, 0)]
    assert sum(inside for _, inside in sizes) == 6
    assert all(outside + inside == 6 for outside, inside in sizes)


def test_columns_of_one_value_move_no_row_to_another_fold():
    rng = np.random.default_rng(5)
    frame = pd.DataFrame({"x": rng.normal(size=40), "w": rng.choice(["u", "v"], 40)})
    labels = rng.choice(["p", "q"], 40)
    plain = hold_out_in_turn(encode(frame, labels), FOLDS, 0)
    idle = hold_out_in_turn(encode(frame.assign(one=1.0, same="s"), labels), FOLDS, 0)
    for (_, ours), (_, theirs) in zip(plain, idle, strict=True):
        assert told(ours) == told(theirs)


def test_two_rows_of_two_classes_are_never_held_out_together():
    for seed in range(20):
        table = encode(np.array([[1.0], [2.0]]), ["p", "q"])
        sizes = [held_out.n_rows for _, held_out in hold_out_in_turn(table, FOLDS, seed)]
        assert sorted(sizes) == [0, 0, 0, 1, 1]
