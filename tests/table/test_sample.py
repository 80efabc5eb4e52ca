"""A seeded sample holds the same rows wherever the rows are."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from seminaive import NaiveBayes, encode, scan_parquet
from seminaive.table.sample import sample_rows

ROWS = 5_000
WEIGHTS = {"unit weights": None, "some weights zero": np.arange(ROWS) % 3 * 0.5}


@pytest.fixture
def frame():
    rng = np.random.default_rng(0)
    return pd.DataFrame({"x": np.arange(ROWS, dtype=float) + 0.5, "c": rng.choice(["a", "b", "c"], ROWS)})


@pytest.fixture
def labels():
    return np.random.default_rng(1).integers(0, 3, ROWS)


def in_files(folder, frame, labels, weights, **options):
    whole = frame.assign(y=labels, w=1.0 if weights is None else weights)
    whole.to_parquet(folder / "rows.parquet", row_group_size=700)
    weight = None if weights is None else "w"
    columns = ["x", "c"]
    rows = scan_parquet(folder / "rows.parquet", "y", weight=weight, columns=columns, cache=folder / "cache", **options)
    return rows.table()


def rows_of(table):
    """Every row as (value, codes, class, weight)."""
    found = []
    for block in table.map(lambda block: block):
        classes = np.repeat(block.classes, np.diff(block.starts))
        weights = np.ones(block.n_rows) if block.weights is None else block.weights
        found += list(
            zip(block.values[0].tolist(), block.codes8[0].tolist(), classes.tolist(), weights.tolist(), strict=True)
        )
    return sorted(found)


@pytest.mark.parametrize("weights", WEIGHTS.values(), ids=WEIGHTS)
def test_the_same_rows_everywhere(frame, labels, weights, tmp_path, cluster):
    expected = rows_of(sample_rows(encode(frame, labels, sample_weight=weights), 600, seed=3))
    assert 480 < len(expected) < 720
    for options in ({}, {"block_rows": 99}, {"client": cluster}):
        table = in_files(tmp_path, frame, labels, weights, **options)
        assert rows_of(sample_rows(table, 600, seed=3)) == expected
        if not options:
            assert rows_of(sample_rows(table.kept(), 600, seed=3)) == expected


def test_rows_keep_their_labels_values_and_weights(frame, labels):
    weights = 1.0 + np.arange(ROWS) % 4
    for value, code, label, weight in rows_of(sample_rows(encode(frame, labels, sample_weight=weights), 500, seed=0)):
        at = int(value)
        assert (label, weight) == (labels[at], weights[at])
        assert "abc"[code - 2] == frame["c"][at]


def test_another_seed_is_another_sample(frame, labels):
    table = encode(frame, labels)
    a, b = (set(rows_of(sample_rows(table, 1_000, seed))) for seed in (0, 1))
    assert 120 < len(a & b) < 280  # a fifth of a fifth of 5000 is 200


def test_few_rows_are_all_taken(frame, labels):
    table = encode(frame, labels)
    assert rows_of(sample_rows(table, ROWS, seed=0)) == rows_of(table)


def test_a_sample_is_spread_evenly(frame, labels):
    rows = np.array([row[0] for row in rows_of(sample_rows(encode(frame, labels), 1_000, seed=5))])
    by_tenth = np.histogram(rows, bins=10, range=(0, ROWS))[0]
    assert by_tenth.min() > 60
    assert by_tenth.max() < 145


def test_a_sample_is_a_table_that_models_learn_from(frame, labels):
    sample = sample_rows(encode(frame, labels), 1_000, seed=0)
    model = NaiveBayes(numeric="bins").fit(sample)
    assert model.class_count_.sum() == sample.n_rows
    assert model.predict_proba(frame).shape == (ROWS, 3)
