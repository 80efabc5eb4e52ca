"""CSV files read a stretch at a time: types from all fields, gaps, quotes, separators; Parquet types."""

from __future__ import annotations

import pickle

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from pyarrow import parquet

from seminaive import NaiveBayes, encode, scan_csv, scan_parquet
from seminaive.table import csv_stream
from seminaive.table.csv_stream import CsvStream


@pytest.fixture
def csv(tmp_path, monkeypatch):
    """Write CSV text; a file of a few hundred rows is then many blocks of the parser."""
    monkeypatch.setattr(csv_stream, "BLOCK_BYTES", 1 << 10)
    monkeypatch.setenv("SEMINAIVE_CACHE", str(tmp_path / "cache"))

    def write(text, name="rows.csv"):
        path = tmp_path / name
        path.write_text(text, encoding="utf-8")
        return path

    return write


def kinds(path):
    return CsvStream.open(str(path)).kinds


def columns_of(path, target="y"):
    return encode(scan_csv(path, target)).schema.columns


def test_a_text_value_after_many_numbers_makes_the_column_text(csv):
    path = csv("x,y\n" + "1,a\n" * 5_000 + "many,b\n")
    [x] = columns_of(path)
    assert (x.kind, x.levels) == ("nominal", ("1", "many"))


@pytest.mark.slow
def test_a_text_value_after_a_million_numbers(csv, monkeypatch):
    monkeypatch.setattr(csv_stream, "BLOCK_BYTES", 1 << 22)
    path = csv("x,z,y\n" + "1,2.5,a\n" * 1_000_000 + "many,3,b\n")
    x, z = columns_of(path)
    assert (x.levels, z.kind) == (("1", "many"), "numeric")


def test_a_fraction_after_whole_numbers_makes_the_column_numeric(csv):
    path = csv("x,y\n" + "1,a\n" * 2_000 + "2.5,b\n")
    assert kinds(path) == {"x": "number", "y": "text"}


def test_a_column_of_gaps_takes_the_type_of_its_first_value(csv):
    path = csv("x,z,y\n" + ",,a\n" * 2_000 + "3,red,b\n")
    assert kinds(path) == {"x": "number", "z": "text", "y": "text"}


@pytest.mark.parametrize("late", ["12:30:00", "red", "2024-01-01 10:00:00", "7"])
def test_types_are_those_of_a_file_read_at_once(csv, late):
    from pyarrow import csv as arrow_csv

    path = csv("x,y\n" + "2024-01-01,a\n" * 2_000 + f"{late},b\n")
    whole = arrow_csv.read_csv(path).schema.field("x").type
    assert CsvStream.open(str(path)).types["x"] == whole


def test_dates_and_times_of_day_are_days(csv):
    path = csv("d,t,y\n" + "2024-01-02,12:00:00,a\n" * 3 + "2024-01-03,18:00:00,b\n")
    d, t = columns_of(path)
    assert (d.kind, d.unit, t.kind, t.unit) == ("numeric", "days", "numeric", "days")
    mean = NaiveBayes().fit(scan_csv(path, "y")).sums_.moments.mean
    assert mean[:, 1].tolist() == [0.5, 0.75]


def test_unquoted_gaps_are_missing_and_quoted_ones_are_levels(csv):
    path = csv('x,n,y\n,1,a\n"",,b\nNA,?,a\n"?",4,b\nred,5,a\n')
    table = encode(scan_csv(path, "y"))
    x, n = table.schema.columns
    assert x.levels == ("", "?", "red")
    assert n.kind == "numeric"
    assert table.counts().sum(axis=0).tolist() == [0, 2, 1, 1, 1]
    assert table.moments().count.sum() == 3


@pytest.mark.parametrize("separator", [",", ";", "\t", "|"])
def test_the_separator_is_found(csv, separator):
    path = csv("x y,z,y\n1,2,a\n2,3,b\n".replace(",", separator))
    assert kinds(path) == {"x y": "number", "z": "number", "y": "text"}


def test_with_semicolons_numbers_may_have_decimal_commas(csv):
    path = csv("x;y\n" + "1;a\n" * 500 + "2,5;b\n")
    assert NaiveBayes().fit(scan_csv(path, "y")).sums_.moments.mean[1].tolist() == [2.5]


def test_quotes_may_hold_separators_and_line_ends(csv):
    path = csv('"x, or y",y\n"a,b",1\n"two\nlines",2\n"a,b",1\n')
    [x] = columns_of(path)
    assert (x.name, x.levels) == ("x, or y", ("a,b", "two\nlines"))


def test_labels_keep_their_type(csv):
    path = csv("x,y\n1,0\n2,1\n")
    assert NaiveBayes().fit(scan_csv(path, "y")).classes_.dtype.kind == "i"
    assert encode(scan_csv(csv("x,y\n1,true\n2,false\n"), "y")).schema.classes.dtype == bool


def test_one_column_of_several_files_has_one_type(csv):
    first, second = csv("x,z,y\n1,,a\n2,,b\n", "1.csv"), csv("x,z,y\nred,3,a\n", "2.csv")
    x, z = columns_of([first, second])
    assert (x.levels, z.kind) == (("1", "2", "red"), "numeric")


def test_files_give_the_model_of_the_frame(csv):
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(
        {"x": rng.normal(size=900), "c": rng.choice(["a", "b", None], 900), "y": rng.integers(0, 3, 900)}
    )
    path = csv(frame.to_csv(index=False))
    expected = NaiveBayes().fit(frame[["x", "c"]], frame["y"])
    for block_rows in (7, 1_000):
        model = NaiveBayes().fit(scan_csv(path, "y", block_rows=block_rows))
        np.testing.assert_array_equal(model.counts_["c"], expected.counts_["c"])
        rows = scan_csv(path, columns=["x", "c"], block_rows=block_rows)
        np.testing.assert_allclose(model.predict_proba(rows), expected.predict_proba(frame[["x", "c"]]), atol=1e-12)


def test_a_csv_file_is_never_in_memory_as_a_whole(csv):
    path = csv("x,y\n" + "1,a\n2,b\n" * 3_000)
    blocks = scan_csv(path, "y", block_rows=100).table().map(len_of)
    assert next(blocks) == 100  # the first block comes before the last one was read
    path.unlink()
    assert sum(1 for _ in blocks) >= 59


def len_of(block):
    return block.n_rows


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "rows.csv is empty; its first line must name the columns"),
        ("x,y\n", "rows.csv has no rows, only the names of 2 columns"),
        ("x,x\n1,2\n", "rows.csv: the column name 'x' occurs more than once"),
        ("x,y\n1,2\n1,2,3\n", "rows.csv, line 3 has 3 fields where the first line names 2 columns: '1,2,3'"),
        ("x,z\n1,2\n", "rows.csv has no column 'y'; it has x, z"),
    ],
)
def test_what_is_wrong_with_a_file_is_said_in_one_sentence(csv, text, message):
    with pytest.raises(ValueError, match=r"rows\.csv") as error:
        scan_csv(csv(text), "y")
    assert message in str(error.value)
    assert "\n" not in str(error.value)


@pytest.mark.parametrize("bad", [b"x,y\n1,\xff\xfe\n", b"\xff\xfex\x00,\x00y\x00"])
def test_a_file_that_is_not_utf8_is_refused(tmp_path, bad):
    path = tmp_path / "rows.csv"
    path.write_bytes(bad)
    with pytest.raises(ValueError, match=r"rows\.csv.* UTF-8"):
        scan_csv(path, "y")


def test_streams_travel_to_other_processes(csv):
    stream = CsvStream.open(str(csv("x,y\n1,a\n")))
    assert pickle.loads(pickle.dumps(stream)).kinds == stream.kinds


# --- Parquet ----------------------------------------------------------------------------------------------------------


def test_a_column_of_gaps_in_one_file_agrees_with_any_type_in_another(tmp_path):
    gaps = pa.table({"x": pa.nulls(3), "c": pa.nulls(3), "y": [0, 1, 0]})
    values = pa.table({"x": [1.0, 2.0], "c": ["a", "b"], "y": [1, 0]})
    parquet.write_table(gaps, tmp_path / "1.parquet")
    parquet.write_table(values, tmp_path / "2.parquet")
    model = NaiveBayes().fit(scan_parquet(tmp_path, "y"))
    expected = NaiveBayes().fit(values.select(["x", "c"]), values["y"])
    assert model.counts_["c"].tolist() == expected.counts_["c"].tolist()
    assert model.sums_.moments.mean.tolist() == expected.sums_.moments.mean.tolist()


def test_wider_numbers_in_a_later_file_are_numbers_all_the_same(tmp_path):
    parquet.write_table(pa.table({"x": pa.array([1, 2], pa.int8()), "y": [0, 1]}), tmp_path / "1.parquet")
    parquet.write_table(pa.table({"x": pa.array([2.5, 3]), "y": [0, 1]}), tmp_path / "2.parquet")
    assert NaiveBayes().fit(scan_parquet(tmp_path, "y")).sums_.moments.mean.tolist() == [[1.75], [2.5]]


def test_times_of_day_are_durations(tmp_path):
    times = pa.array([0, 43_200, None], pa.time32("s"))
    parquet.write_table(pa.table({"t": times, "y": [0, 1, 1]}), tmp_path / "1.parquet")
    assert NaiveBayes().fit(scan_parquet(tmp_path, "y")).sums_.moments.mean.tolist() == [[0.0], [0.5]]
