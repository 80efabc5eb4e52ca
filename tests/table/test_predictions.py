"""Predictions in a Parquet file are the predictions."""

from __future__ import annotations

import resource

import numpy as np
import pandas as pd
import pytest

import seminaive as snb
from seminaive.table import predictions


def model_and_rows(n=2000):
    rng = np.random.default_rng(1)
    frame = pd.DataFrame({"x": rng.normal(size=n), "colour": rng.choice(["red", "blue", None], n)})
    y = np.where(frame["x"] + rng.normal(size=n) > 0, "yes", "no")
    return snb.NaiveBayes().fit(frame, y), frame


def test_the_file_holds_the_prediction_and_all_probabilities_in_row_order(tmp_path):
    model, frame = model_and_rows()
    assert model.predict_parquet(frame, tmp_path / "out.parquet") == len(frame)
    written = pd.read_parquet(tmp_path / "out.parquet")
    assert list(written) == ["class", "probability_no", "probability_yes"]
    np.testing.assert_array_equal(written["class"], model.predict(frame))
    np.testing.assert_array_equal(written.iloc[:, 1:], model.predict_proba(frame))


def test_files_are_predicted_without_loading_them(tmp_path):
    model, frame = model_and_rows()
    frame.to_parquet(tmp_path / "rows.parquet", row_group_size=300)
    model.predict_parquet(snb.scan_parquet(tmp_path / "rows.parquet", block_rows=128), tmp_path / "out.parquet")
    np.testing.assert_array_equal(pd.read_parquet(tmp_path / "out.parquet").iloc[:, 1:], model.predict_proba(frame))


@pytest.mark.parametrize("block_rows", [77, 65_536])
def test_keys_stand_beside_the_predictions_of_their_rows(tmp_path, block_rows):
    model, frame = model_and_rows()
    keyed = frame.assign(key=[f"k{i}" for i in range(len(frame))], when=pd.Timestamp("2024-01-01"))
    for i, size in enumerate([300, 1_000]):
        keyed.iloc[i * 900 : (i + 1) * 900].to_parquet(tmp_path / f"{i}.parquet", row_group_size=size)
    rows = snb.scan_parquet(tmp_path / "*.parquet", columns=["x", "colour"], block_rows=block_rows)
    assert model.predict_parquet(rows, tmp_path / "answers", keep=["key", "when", "x"]) == 1800
    written = pd.read_parquet(tmp_path / "answers")
    assert list(written) == ["key", "when", "x", "class", "probability_no", "probability_yes"]
    assert written["key"].tolist() == keyed["key"][:1800].tolist()
    np.testing.assert_array_equal(written["probability_yes"], model.predict_proba(frame[:1800])[:, 1])


def test_keys_that_cannot_be_kept_are_refused_before_anything_is_written(tmp_path):
    model, frame = model_and_rows(50)
    frame.to_parquet(tmp_path / "rows.parquet")
    rows = snb.scan_parquet(tmp_path / "rows.parquet")
    for X, keep, message in (
        (frame, ["x"], "keep takes columns of files: pass a scan of them, not a DataFrame"),
        (rows, "x", "keep must be a list of names, got 'x'"),
        (rows, ["key"], "has no column 'key'; it has x, colour"),
        (rows, ["x", "x"], "keep: the file of predictions would have two columns 'x'"),
    ):
        with pytest.raises(ValueError, match=message):
            model.predict_parquet(X, tmp_path / "out.parquet", keep=keep)
    assert not (tmp_path / "out.parquet").exists()


def test_nothing_is_left_when_writing_fails_and_the_old_file_stays(tmp_path, monkeypatch):
    model, frame = model_and_rows()
    model.predict_parquet(frame[:5], tmp_path / "out.parquet")
    before = (tmp_path / "out.parquet").read_bytes()

    def fail(classes, probabilities):
        raise KeyboardInterrupt

    monkeypatch.setattr(predictions, "prediction_table", fail)
    with pytest.raises(KeyboardInterrupt):
        model.predict_parquet(frame, tmp_path / "out.parquet")
    assert [p.name for p in tmp_path.iterdir()] == ["out.parquet"]
    assert (tmp_path / "out.parquet").read_bytes() == before


def test_a_full_disk_is_one_clear_error_and_leaves_nothing(tmp_path):
    model, frame = model_and_rows(20_000)
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (2_000, hard))
    try:
        with pytest.raises(OSError, match=r"cannot write .*out.parquet: the disk is full"):
            model.predict_parquet(frame, tmp_path / "out.parquet")
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
    assert list(tmp_path.iterdir()) == []


def test_a_folder_is_no_place_for_predictions(tmp_path):
    model, frame = model_and_rows(50)
    with pytest.raises(IsADirectoryError, match="name a file"):
        model.predict_parquet(frame, tmp_path)


def test_a_folder_that_is_not_there_is_named(tmp_path):
    model, frame = model_and_rows(50)
    with pytest.raises(FileNotFoundError, match=r"there is no folder .*nowhere"):
        model.predict_parquet(frame, tmp_path / "nowhere" / "out.parquet")


def test_no_rows_are_one_clear_error_and_no_file(tmp_path):
    model, frame = model_and_rows(50)
    frame.head(0).to_parquet(tmp_path / "rows.parquet")
    with pytest.raises(ValueError, match="X has no rows to predict"):
        model.predict_parquet(snb.scan_parquet(tmp_path / "rows.parquet"), tmp_path / "out.parquet")
    assert not (tmp_path / "out.parquet").exists()
