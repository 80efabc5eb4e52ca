"""The table of the Bayesian forest paper beside ours: what is run on what, and how it is judged."""

from __future__ import annotations

import os
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from seminaive.reproduce import forest_table3
from seminaive.reproduce.forest_peers import PEERS, in_columns
from seminaive.reproduce.forest_sets import ABSENT, AIMS, PRINTED, SETS, DataSet
from seminaive.reproduce.forest_table3 import Outcome, Rows, measure, one_run, rows_of, splits_of, verdict
from seminaive.reproduce.paper_table import Request

FOLDER = Path(os.environ.get("SEMINAIVE_DATA", ""))
needs_data = pytest.mark.skipif(not os.environ.get("SEMINAIVE_DATA"), reason="SEMINAIVE_DATA names no folder of data")
BY_NAME = {data.name: data for data in SETS}
OURS = tuple(peer for peer in PEERS if peer.ours)


def test_every_row_of_the_paper_is_run_or_its_absence_has_a_reason():
    assert set(PRINTED) == {data.name for data in SETS} | set(ABSENT)
    assert len(PRINTED) == 32
    assert set(AIMS) <= set(PRINTED)
    assert sum(data.few_rows for data in SETS) == 21
    assert PRINTED["letter"]["Lasso"] == (59.9, 30.0)
    assert "BART" not in PRINTED["iris"]


@needs_data
@pytest.mark.parametrize(("name", "shape"), [("breast", (683, 9)), ("vote", (435, 16)), ("crx", (653, 15))])
def test_rows_with_gaps_go_and_columns_that_name_rows_too(name, shape):
    assert rows_of(FOLDER, BY_NAME[name]).X.shape == shape


def test_folds_hold_every_row_once_in_each_run():
    rows = Rows(pd.DataFrame({"a": range(13)}), np.arange(13) % 2, None)
    runs = splits_of(rows, 2)
    for pairs in runs:
        assert np.all(sum(test.astype(int) for _, test in pairs) == 1)
        assert all(np.array_equal(train, ~test) for train, test in pairs)
    assert any(np.any(a[1] != b[1]) for a, b in zip(*runs, strict=True))


def test_a_fixed_split_is_the_same_in_every_run():
    train = np.array([True, True, False, False])
    ((first,), (second,)) = splits_of(Rows(pd.DataFrame({"a": range(4)}), np.arange(4) % 2, train), 2)
    assert first[0].tolist() == second[0].tolist() == train.tolist()


@pytest.mark.parametrize("peer", PEERS, ids=lambda peer: peer.name)
def test_every_classifier_takes_mixed_columns_gaps_and_new_levels(peer):
    """Three classes, one of which the training rows lack: it has no probability, and its rows are wrong."""
    rng = np.random.default_rng(0)
    y = np.arange(60) % 2
    y[-2:] = 2
    frame = {"number": rng.normal(size=60) + y, "level": np.where(y == 1, "u", "v"), "flag": rng.random(60) < 0.5}
    X = pd.DataFrame(frame)
    X.loc[55:, "level"] = "new"
    X.loc[50, "level"] = None
    X["level"] = X["level"].astype("category")
    train = np.arange(60) < 50
    accuracy, loss, _ = one_run(peer, X, y, [(train, ~train)], medians=False, seed=0)
    assert 30 <= accuracy <= 80
    assert np.isnan(loss) if peer.name == "SVM" else 7 < loss < 36  # two rows of ten cost 36 nats each


def test_encodings_are_learned_from_the_training_rows():
    X = pd.DataFrame({"a": pd.Categorical(["u", "v", "w"]), "x": [1.0, 3.0, 100.0]})
    encoder = in_columns(X).fit(X[:2])
    np.testing.assert_allclose(encoder.transform(X), [[1, 0, -1], [0, 1, 1], [0, 0, 98]])


def test_what_is_off_its_aim_is_said_with_its_direction():
    rows = Rows(pd.DataFrame({"a": range(300)}), np.arange(300) % 2, None)
    outcomes = []
    for name, accuracy, loss in (("glass", 69.36, 0.5), ("heart", 84.1, 0.4), ("iris", 91.0, 0.2)):
        outcomes.append(Outcome(DataSet(name), rows))
        outcomes[-1].fair["SBFC"].accuracy.append(accuracy)
        outcomes[-1].fair["SBFC"].loss.append(loss)
    lines = list(verdict(outcomes))
    assert lines == [
        "mean log loss of SBFC over 3 sets 0.367, asked <= 0.40",
        "NOT MET: glass SBFC 69.36, asked 67.8 ± 1.5 (ours is higher)",
        "NOT MET: iris SBFC 91.00, asked 93.1 ± 1.5 (ours is lower)",
        "2 of 4 figures asked for are met",
    ]
    outcomes[0].fair["SBFC"].loss[0] = 0.7
    assert "NOT MET: mean log loss of SBFC over 3 sets 0.433, asked <= 0.40" in list(verdict(outcomes))


@needs_data
def test_bins_that_saw_the_test_rows_promise_too_much(monkeypatch):
    """The specification's point: 85 % instead of 79 % on glass2."""
    monkeypatch.setattr(forest_table3, "PEERS", OURS)
    found = measure(FOLDER, BY_NAME["glass2"], 1, leaky=True)
    assert found.leaky["SBFC"].mean > found.fair["SBFC"].mean + 2
    assert found.fits == 5


@needs_data
def test_the_smallest_run_prints_the_paper_beside_ours_and_what_was_left_out(monkeypatch):
    monkeypatch.setattr(forest_table3, "PEERS", OURS)
    monkeypatch.setattr(forest_table3, "QUICK", ("corral", "iris"))
    text = "\n".join(forest_table3.TABLE.text(Request(data=FOLDER, quick=True, leaky=True)))
    lines = [line.split() for line in text.splitlines()]
    assert ["corral", "paper", "100.0", "±0", "86.9", "±0.7", "98.8", "±1"] in lines
    assert [line[:3] for line in lines if line[:2] == ["150", "x"]] == [["150", "x", "4"]]
    assert sum(line[:1] == ["leaky"] for line in lines) == 2
    assert "means over 2 sets" in text
    assert "not run (no complete copy could be had): gisette" in text
    assert "judged on the mean of 3 runs, not here" in text


def test_large_sets_are_run_only_if_all_are_asked_for(tmp_path):
    small, left = forest_table3.chosen(Request(data=tmp_path), tmp_path)
    assert small == []
    assert "letter" in left["large: run with --all"]
    (tmp_path / "letter.parquet").touch()
    every, left = forest_table3.chosen(Request(data=tmp_path, every=True), tmp_path)
    assert [data.name for data in every] == ["letter"]
    assert "isolet" in left["the folder does not hold it"]
