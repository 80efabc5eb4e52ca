"""Files come in with their gaps, levels and types; what cannot be read is one sentence that says where."""

from __future__ import annotations

import datetime
import gzip

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from pyarrow import parquet

from seminaive import NaiveBayes
from seminaive.table.files import GAPS, read_file


def written(folder, text, name="data.csv"):
    path = folder / name
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return path


def test_every_word_for_a_gap_is_missing_and_the_same_word_in_quotes_is_a_level(tmp_path):
    bare = "".join(f"{gap},x\n" for gap in GAPS)
    quoted = "".join(f'"{gap}",x\n' for gap in GAPS)
    cells = read_file(written(tmp_path, f"a,b\n{bare}{quoted}")).column("a").to_pylist()
    assert cells == [None] * len(GAPS) + GAPS


def test_an_empty_level_and_a_gap_are_told_apart_by_a_model(tmp_path):
    table = read_file(written(tmp_path, 'a,b\n"",1\n,2\nx,3\n'))
    model = NaiveBayes().fit(table, ["p", "q", "q"])
    assert model.evidence_.schema.columns[0].levels == ("", "x")
    assert model.explain(table).texts[1][0] == "missing"


def test_types_are_found_from_all_rows(tmp_path):
    rows = "".join(f"{i},{i}\n" for i in range(400_000))  # more than the parser looks at before it guesses
    table = read_file(written(tmp_path, f"a,b\n{rows}late,0.5\n"))
    assert table.schema.types == [pa.string(), pa.float64()]
    assert table.num_rows == 400_001


def test_gaps_leave_a_column_of_numbers_numeric(tmp_path):
    table = read_file(written(tmp_path, "a,b\n1,2020-01-02\nNA,?\n"))
    assert table.to_pydict() == {"a": [1, None], "b": [datetime.date(2020, 1, 2), None]}


def test_columns_asked_for_as_text_are_text(tmp_path):
    assert read_file(written(tmp_path, "zip,n\n01234,1\n"), text=["zip", "absent"]).to_pylist() == [
        {"zip": "01234", "n": 1}
    ]
    parquet.write_table(pa.table({"zip": [7, None]}), tmp_path / "a.parquet")
    assert read_file(tmp_path / "a.parquet", text=["zip"]).to_pydict() == {"zip": ["7", None]}


@pytest.mark.parametrize("separator", [",", ";", "\t", "|"])
def test_the_separator_is_the_one_the_first_line_has_most_of(tmp_path, separator):
    text = f'"a,;|b"{separator}c{separator}d\n1{separator}2{separator}3\n'
    assert read_file(written(tmp_path, text)).to_pydict() == {"a,;|b": [1], "c": [2], "d": [3]}


def test_with_semicolons_numbers_may_have_decimal_commas(tmp_path):
    assert read_file(written(tmp_path, "a;b\n1,5;x\n2;y\n")).to_pydict() == {"a": [1.5, 2.0], "b": ["x", "y"]}
    assert read_file(written(tmp_path, "a;b\n1.5;x\n2;y\n")).column("a").to_pylist() == [1.5, 2.0]


def test_a_byte_order_mark_and_windows_line_ends_are_not_data(tmp_path):
    assert read_file(written(tmp_path, "\ufeffa,b\r\n1,2\r\n")).to_pydict() == {"a": [1], "b": [2]}


def test_line_breaks_inside_quotes_belong_to_the_value(tmp_path):
    assert read_file(written(tmp_path, '"a\nz",b\n"x\ny",2\n')).to_pydict() == {"a\nz": ["x\ny"], "b": [2]}


def test_a_packed_file_is_unpacked(tmp_path):
    assert read_file(written(tmp_path, gzip.compress(b"a;b\n1;2\n"), "data.csv.gz")).to_pydict() == {"a": [1], "b": [2]}


def test_a_column_without_a_name_is_called_by_its_place(tmp_path):
    assert read_file(written(tmp_path, ",b\n1,2\n")).column_names == ["column 1", "b"]


def test_times_of_day_become_durations_that_a_model_takes(tmp_path):
    table = read_file(written(tmp_path, "t,u\n12:00:00,1\n06:00:00,2\n,3\n"))
    assert table.column("t").to_pylist() == [datetime.timedelta(hours=12), datetime.timedelta(hours=6), None]
    assert NaiveBayes().fit(table, [0, 1, 1]).evidence_.schema.columns[0].unit == "days"


def test_parquet_comes_back_as_it_was_without_pandas_index(tmp_path):
    frame = pd.DataFrame({"a": pd.Categorical(["x", None, "y"]), "b": [1.5, np.nan, 2]}, index=["r", "s", "t"])
    frame.to_parquet(tmp_path / "a.parquet", row_group_size=2)
    table = read_file(tmp_path / "a.parquet")
    assert table.to_pydict() == {"a": ["x", None, "y"], "b": [1.5, None, 2.0]}
    assert pa.types.is_dictionary(table.schema.field("a").type)


@pytest.mark.parametrize(
    ("name", "content", "sentence"),
    [
        ("data.xlsx", "a", r"data\.xlsx: the name must end in \.csv"),
        ("data.gz", "a", r"the name must end in \.csv"),
        ("data.csv", "", "is empty; its first line must name the columns"),
        ("data.csv", "\n\n", "is empty"),
        ("data.csv", "a,b\n", "has no rows, only the names of 2 columns"),
        ("data.csv", "a,b\n1,2\n3\n", r"line 3 has 1 fields where the first line names 2 columns: '3'"),
        ("data.csv", "a,b\n1,2,9\n3,4\n", r"line 2 has 3 fields where the first line names 2 columns: '1,2,9'"),
        ("data.csv", "a,b,a\n1,2,3\n", "the column name 'a' occurs more than once"),
        ("data.csv", "a,b\n1,x\n2,Köln\n".encode("latin-1"), "column 'b', row 1: 'Köln' is not in UTF-8"),
        ("data.csv", "a,b\n1,2\n".encode("utf-16"), "is not text in UTF-8"),
        ("data.csv", b"PAR1\x00\x00", "is not text in UTF-8"),
        ("data.csv.gz", "a,b\n", "cannot be read"),
        ("data.parquet", "a,b\n1,2\n", "is not a Parquet file"),
        ("data.parquet", "", "is not a Parquet file"),
    ],
)
def test_what_cannot_be_read_is_one_sentence_with_the_files_name(tmp_path, name, content, sentence):
    path = written(tmp_path, content, name)
    with pytest.raises(ValueError, match=sentence) as problem:
        read_file(path)
    assert str(path) in str(problem.value)


def test_a_folder_or_nothing_is_no_file(tmp_path):
    (tmp_path / "folder.csv").mkdir()
    with pytest.raises(ValueError, match="is a folder"):
        read_file(tmp_path / "folder.csv")
    with pytest.raises(ValueError, match="there is no such file"):
        read_file(tmp_path / "nothing.csv")


def test_a_damaged_row_group_is_named(tmp_path):
    path = tmp_path / "a.parquet"
    rng = np.random.default_rng(0)
    parquet.write_table(pa.table({"a": rng.random(2000)}), path, row_group_size=1000, compression="zstd")
    with parquet.ParquetFile(path) as file:
        start = file.metadata.row_group(1).column(0).data_page_offset
    content = bytearray(path.read_bytes())
    content[start : start + 200] = b"\xff" * 200
    path.write_bytes(content)
    with pytest.raises(ValueError, match=r"a\.parquet, row group 1 cannot be read"):
        read_file(path)
