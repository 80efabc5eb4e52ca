"""The same rows give the same model, wherever they are: in memory, in files, on a cluster of processes."""

from __future__ import annotations

from dataclasses import fields, is_dataclass

import numpy as np
import places
import pytest
from estimators import every_estimator
from tables import messy, with_unseen

WEIGHTS = {"unit weights": None, "weights": np.tile([1.0, 0.0, 2.0, 0.7, 3.0], 24)}
every_weight = pytest.mark.parametrize("weights", [pytest.param(w, id=name) for name, w in WEIGHTS.items()])
ROWS = 120


def assert_same_model(found, expected, X):
    """Everything learned is the same: whole numbers and text exactly, other numbers to 1e-12; so are the answers."""
    learned = {name: value for name, value in vars(expected).items() if name.endswith("_")}
    assert {name for name in vars(found) if name.endswith("_")} == set(learned)
    for name, value in learned.items():
        assert_same(getattr(found, name), value, name)
    rows = with_unseen(X)
    np.testing.assert_allclose(found.predict_proba(rows), expected.predict_proba(rows), rtol=0, atol=1e-12)
    assert found.predict(rows).tolist() == expected.predict(rows).tolist()


def assert_same(found, expected, where):
    if is_dataclass(expected):
        assert type(found) is type(expected), where
        for field in fields(expected):
            assert_same(getattr(found, field.name), getattr(expected, field.name), f"{where}.{field.name}")
    elif isinstance(expected, dict):
        assert list(found) == list(expected), where
        for key, value in expected.items():
            assert_same(found[key], value, f"{where}[{key!r}]")
    elif isinstance(expected, (tuple, list)):
        assert len(found) == len(expected), where
        for i, (a, b) in enumerate(zip(found, expected, strict=True)):
            assert_same(a, b, f"{where}[{i}]")
    elif isinstance(expected, (float, np.floating)) or (
        isinstance(expected, np.ndarray) and expected.dtype.kind == "f"
    ):
        np.testing.assert_allclose(found, expected, rtol=1e-12, atol=1e-12, err_msg=where)
    else:
        np.testing.assert_array_equal(found, expected, err_msg=where)


@every_estimator
@every_weight
@pytest.mark.parametrize("block_rows", [7, 1000, 65_536])
def test_files_give_the_model_of_the_frame(make, weights, block_rows, tmp_path):
    X, y = messy(ROWS)
    rows = places.on_disk(tmp_path, X, y, weights, block_rows)
    assert_same_model(make().fit(rows), make().fit(X, y, weights), X)


@every_estimator
@every_weight
def test_encoded_files_give_the_model_of_the_frame(make, weights, tmp_path):
    X, y = messy(ROWS)
    rows = places.encoded_on_disk(tmp_path, X, y, weights)
    assert_same_model(make().fit(rows), make().fit(X, y, weights), X)


@every_estimator
@every_weight
def test_files_on_a_cluster_give_the_model_of_the_frame(make, weights, tmp_path, cluster):
    X, y = messy(ROWS)
    rows = places.files_on_a_cluster(tmp_path, X, y, weights, cluster)
    assert_same_model(make().fit(rows), make().fit(X, y, weights), X)


@every_estimator
@every_weight
def test_a_dask_dataframe_gives_the_model_of_the_frame(make, weights, cluster):
    X, y = messy(ROWS)
    assert_same_model(make().fit(*places.frame_on_a_cluster(X, y, weights)), make().fit(X, y, weights), X)


@every_estimator
def test_predictions_are_the_same_bits_everywhere(make, tmp_path, cluster):
    X, y = messy(ROWS)
    model = make().fit(X, y)
    rows = with_unseen(X)
    expected = model.predict_joint_log_proba(rows)
    folder = places.write_files(tmp_path, rows, y)
    scanned = places.scan(folder, None, block_rows=11)
    np.testing.assert_array_equal(model.predict_joint_log_proba(scanned), expected)
    there = places.scan(folder, None, client=cluster)
    np.testing.assert_array_equal(model.predict_joint_log_proba(there), expected)
    frame, *_ = places.frame_on_a_cluster(rows, y, None)
    np.testing.assert_array_equal(model.predict_joint_log_proba(frame), expected)


@every_estimator
def test_nothing_stays_in_the_cache_after_a_fit(make, tmp_path):
    X, y = messy(ROWS)
    model = make().fit(places.on_disk(tmp_path, X, y, None, 1000))
    assert model.predict(places.scan(tmp_path, None)).shape == (ROWS,)
    cache = tmp_path / "cache"
    assert not cache.exists() or list(cache.iterdir()) == []


def test_a_level_only_in_the_last_row_group_is_learned_everywhere(tmp_path, cluster):
    from seminaive import NaiveBayes

    X, y = messy(ROWS)
    X["word"] = ["plain"] * (ROWS - 1) + ["last"]
    expected = NaiveBayes().fit(X, y)
    assert_same_model(NaiveBayes().fit(places.on_disk(tmp_path / "a", X, y, None, 1000)), expected, X)
    assert_same_model(NaiveBayes().fit(places.files_on_a_cluster(tmp_path / "b", X, y, None, cluster)), expected, X)
