"""Scans of Parquet files: what is wrong is said in one sentence that names file and row group, and nothing is lost."""

from __future__ import annotations

import os

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from pyarrow import parquet

from seminaive import NaiveBayes, encode, scan_parquet

ROWS = 400


def frame(seed=0, rows=ROWS):
    rng = np.random.default_rng(seed)
    y = rng.integers(0, 2, rows)
    return pd.DataFrame(
        {"x": rng.normal(size=rows) + y, "c": np.array(["a", "b", "c"])[(rng.random(rows) * 3).astype(int)], "y": y}
    )


@pytest.fixture
def files(tmp_path):
    """Three files of four row groups each."""
    folder = tmp_path / "data"
    folder.mkdir()
    for i in range(3):
        frame(i).to_parquet(folder / f"{i}.parquet", row_group_size=100)
    return folder


@pytest.fixture
def cache(tmp_path):
    return tmp_path / "cache"


def is_clean(folder):
    return not folder.exists() or list(folder.iterdir()) == []


# --- what fits --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("how", ["folder", "pattern", "list", "one file"])
def test_files_are_found(files, how):
    named = {
        "folder": files,
        "pattern": str(files / "*.parquet"),
        "list": [files / "0.parquet", str(files / "2.parquet")],
        "one file": files / "1.parquet",
    }
    expected = {"folder": 3, "pattern": 3, "list": 2, "one file": 1}[how]
    assert scan_parquet(named[how], "y").n_rows == expected * ROWS


def test_a_file_may_be_listed_several_times(files):
    once = NaiveBayes().fit(scan_parquet(files, "y"))
    twice = NaiveBayes().fit(scan_parquet(sorted(files.glob("*")) * 2, "y"))
    assert (twice.counts_["c"] == 2 * once.counts_["c"]).all()


def test_only_the_wished_columns_are_used(files):
    model = NaiveBayes(numeric="gaussian").fit(scan_parquet(files, "y", columns=["c"]))
    assert model.feature_names_in_.tolist() == ["c"]


def test_row_groups_without_rows_are_passed_over(files):
    empty = frame().head(0)
    schema = pa.Schema.from_pandas(frame(), preserve_index=False)
    with parquet.ParquetWriter(files / "3.parquet", schema) as writer:
        writer.write_table(pa.Table.from_pandas(empty, schema, preserve_index=False))
        writer.write_table(pa.Table.from_pandas(frame(9), schema, preserve_index=False))
    parquet.write_table(pa.Table.from_pandas(empty, schema, preserve_index=False), files / "4.parquet")
    assert NaiveBayes().fit(scan_parquet(files, "y")).class_count_.sum() == 4 * ROWS


def test_a_whole_row_group_may_have_weight_zero(files, cache):
    weighted = frame(5).assign(w=np.repeat([0.0, 1.0, 0.0, 2.0], 100))
    weighted.to_parquet(files.parent / "w.parquet", row_group_size=100)
    rows = scan_parquet(files.parent / "w.parquet", "y", weight="w", cache=cache)
    expected = NaiveBayes(numeric="bins").fit(weighted[["x", "c"]], weighted["y"], weighted["w"])
    for X in (rows, encode(rows)):
        model = NaiveBayes(numeric="bins").fit(X)
        assert model.counts_["x"].tolist() == expected.counts_["x"].tolist()
        assert model.class_count_.tolist() == expected.class_count_.tolist()


def test_what_the_estimator_wishes_comes_before_what_the_scan_does(files):
    rows = scan_parquet(files, "y", columns=["c"], max_levels=1)
    assert NaiveBayes().fit(rows).counts_["c"].shape == (2, 1)
    assert NaiveBayes(max_levels=2).fit(rows).counts_["c"].shape == (2, 2)
    declared = NaiveBayes(levels={"c": ["a", "b", "c", "d"]}).fit(scan_parquet(files, "y"))
    assert declared.counts_["c"].shape == (2, 4)


def test_a_scan_is_shown_in_one_line_however_many_files_it_has(files):
    rows = scan_parquet(sorted(files.glob("*")) * 100, "y")
    assert repr(rows) == "Scan(120000 rows in 300 files, 2 columns, target 'y')"
    assert repr(rows.unlabelled()) == "Scan(120000 rows in 300 files, 2 columns, unlabelled)"


# --- what does not ----------------------------------------------------------------------------------------------------


def spoil_row_group(path, group):
    """Overwrite the pages of one row group; the footer stays whole."""
    column = parquet.ParquetFile(path).metadata.row_group(group).column(0)
    start = column.dictionary_page_offset or column.data_page_offset
    data = bytearray(path.read_bytes())
    data[start : start + column.total_compressed_size] = b"\xff" * column.total_compressed_size
    path.write_bytes(bytes(data))


def not_parquet(files):
    (files / "1.parquet").write_text("x,c,y\n1,a,0\n")


def truncated(files):
    path = files / "1.parquet"
    path.write_bytes(path.read_bytes()[:-200])


def empty_file(files):
    (files / "1.parquet").write_bytes(b"")


def a_folder(files):
    (files / "1.parquet").unlink()
    (files / "1.parquet").mkdir()


def without_column(files):
    frame(1).drop(columns="c").to_parquet(files / "1.parquet")


def without_target(files):
    frame(1).drop(columns="y").to_parquet(files / "1.parquet")


def text_for_numbers(files):
    frame(1).astype({"x": str}).to_parquet(files / "1.parquet")


def nested(files):
    for i in range(3):
        frame(i).assign(x=[[1, 2]] * ROWS).to_parquet(files / f"{i}.parquet", row_group_size=100)


def names_twice(files):
    table = pa.table([pa.array([1.0]), pa.array([2.0]), pa.array([0])], names=["x", "x", "y"])
    parquet.write_table(table, files / "1.parquet")


def gap_in_target(files):
    broken = frame(1).astype({"y": "Int64"})
    broken.loc[250, "y"] = pd.NA
    broken.to_parquet(files / "1.parquet", row_group_size=100)


def infinity(files):
    broken = frame(1)
    broken.loc[310, "x"] = np.inf
    broken.to_parquet(files / "1.parquet", row_group_size=100)


FAULTS = {
    not_parquet: "1.parquet cannot be read as Parquet",
    truncated: "1.parquet cannot be read as Parquet",
    empty_file: "1.parquet cannot be read as Parquet",
    a_folder: "1.parquet cannot be read as Parquet",
    without_column: "1.parquet has no column 'c'; it has x, y",
    without_target: "1.parquet has no column 'y'; it has x, c",
    text_for_numbers: "column 'x' holds text in .*1.parquet, but numbers in .*0.parquet",
    nested: "0.parquet, row group 0, rows from 0: column 'x', row 0 holds a nested value",
    names_twice: "1.parquet: the column name 'x' occurs more than once",
    gap_in_target: "1.parquet, row group 2, rows from 0: Input y contains NaN: the target is missing in row 50",
    infinity: "1.parquet, row group 3, rows from 0: column 'x', row 10: the value inf contains infinity",
}


@pytest.mark.parametrize("spoil", FAULTS, ids=lambda spoil: spoil.__name__)
@pytest.mark.parametrize("numeric", ["gaussian", "bins"])
def test_a_fault_is_one_sentence_and_nothing_is_lost(files, cache, spoil, numeric):
    model = NaiveBayes(numeric=numeric).fit(scan_parquet(files, "y", cache=cache))
    table = encode(scan_parquet(files, "y", cache=cache))
    before, expected = dict(vars(model)), model.predict_proba(frame(7)[["x", "c"]])
    spoil(files)
    with pytest.raises(ValueError, match=FAULTS[spoil]) as error:
        model.fit(scan_parquet(files, "y", cache=cache))
    assert "\n" not in str(error.value)
    del error
    assert vars(model) == before
    assert model.predict_proba(frame(7)[["x", "c"]]).tolist() == expected.tolist()
    assert NaiveBayes().fit(table).class_count_.sum() == 3 * ROWS  # rows encoded before are still there
    del table
    assert is_clean(cache)


@pytest.mark.parametrize("numeric", ["gaussian", "bins", "kde"])
def test_one_corrupt_row_group_is_named(files, cache, numeric):
    model = NaiveBayes(numeric=numeric)
    spoil_row_group(files / "1.parquet", 2)
    with pytest.raises(ValueError, match=r"1.parquet, row group 2 cannot be read: ") as error:
        model.fit(scan_parquet(files, "y", cache=cache))
    assert not hasattr(model, "evidence_")
    del error
    assert is_clean(cache)


def test_a_corrupt_row_group_is_named_by_encode_and_predict_too(files, cache):
    model = NaiveBayes().fit(scan_parquet(files, "y"))
    spoil_row_group(files / "1.parquet", 2)
    for use in (encode, lambda rows: model.predict(scan_parquet(files, columns=["x", "c"]))):
        with pytest.raises(ValueError, match=r"1.parquet, row group 2 cannot be read: "):
            use(scan_parquet(files, "y", cache=cache))
    assert is_clean(cache)


def test_faults_on_a_cluster_are_the_same_sentence(files, cluster):
    spoil_row_group(files / "1.parquet", 2)
    with pytest.raises(ValueError, match=r"1.parquet, row group 2 cannot be read: "):
        NaiveBayes().fit(scan_parquet(files, "y", client=cluster))


@pytest.mark.parametrize("change", ["content", "time", "removed"])
def test_a_file_that_changed_after_the_scan_is_not_mixed_with_what_was_learned(files, cache, change):
    rows = scan_parquet(files, "y", cache=cache)
    table = rows.table()
    if change == "content":
        frame(99).to_parquet(files / "2.parquet", row_group_size=100)
    elif change == "time":
        os.utime(files / "2.parquet", ns=(1, 1))
    else:
        (files / "2.parquet").unlink()
    with pytest.raises(ValueError, match=r"2.parquet (has changed since it was scanned|cannot be read any more)"):
        NaiveBayes().fit(table)
    with pytest.raises((ValueError, OSError), match=r"2.parquet"):
        table.kept()
    assert is_clean(cache)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"target": "z"}, "has no column 'z'"),
        ({"target": "y", "weight": "y"}, "'y' cannot be both target and weight"),
        ({"target": "y", "columns": ["x", "y"]}, "columns: 'y' is the target, the weight, or listed twice"),
        ({"target": "y", "columns": ["x", "x"]}, "columns: 'x' is the target, the weight, or listed twice"),
        ({"target": "y", "columns": []}, "no columns to learn from"),
        ({"target": "y", "columns": ["q"]}, "has no column 'q'"),
        ({"target": "y", "nominal": ["q"]}, "nominal names the column 'q'"),
        ({"target": "y", "block_rows": 0}, "block_rows must be a whole number between 1 and 65536, got 0"),
        ({"target": "y", "block_rows": 2.5}, "block_rows must be a whole number"),
    ],
)
def test_options_that_make_no_sense_are_refused_at_once(files, options, message):
    with pytest.raises(ValueError, match=message):
        scan_parquet(files, **options)


def test_rows_without_labels_are_nothing_to_learn_from(files):
    with pytest.raises(ValueError, match="the scan names no column of labels: pass target="):
        NaiveBayes().fit(scan_parquet(files, columns=["x", "c"]))


def test_no_file_at_all(tmp_path):
    with pytest.raises(FileNotFoundError, match=r"no .parquet file matches"):
        scan_parquet(tmp_path / "*.parquet", "y")


def test_files_without_rows_have_nothing_to_learn(tmp_path):
    frame().head(0).to_parquet(tmp_path / "0.parquet")
    with pytest.raises(ValueError, match=r"0.parquet: no rows to learn from"):
        NaiveBayes().fit(scan_parquet(tmp_path, "y"))


def test_columns_of_another_model_are_refused(files):
    model = NaiveBayes().fit(scan_parquet(files, "y"))
    with pytest.raises(ValueError, match=r"the columns \['x'\] are not the model's columns \['x', 'c'\]; pass those"):
        model.predict(scan_parquet(files, columns=["x"]))
