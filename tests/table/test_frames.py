"""One door for all frames: every kind of column arrives as codes with labels, or as numbers."""

import datetime as dt
import decimal
from decimal import Decimal

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from scipy import sparse

from seminaive.table.frames import open_frame, take_rows

DAY = dt.datetime(2024, 1, 1)
STAMPS = [DAY, None, DAY + dt.timedelta(hours=36)]
DAYS = [19723.0, None, 19724.5]


def cells(X, j=0):
    """A column as a plain list: numbers or labels, None for gaps; and whether it is nominal."""
    source = open_frame(X).read(j)
    if source.kind == "numbers":
        assert source.data.dtype == np.float64
        return [None if np.isnan(v) else v for v in source.data.tolist()], False
    assert source.data.dtype.kind == "u"
    return [None if c == source.missing else source.labels[c] for c in source.data.tolist()], True


def pandas_column(values, dtype=None):
    return pd.DataFrame({"a": pd.Series(values, dtype=dtype)})


def polars_column(values, dtype=None):
    return pl.DataFrame({"a": pl.Series(values, dtype=dtype)})


def arrow_column(values, kind=None):
    return pa.table({"a": pa.array(values, kind)})


NOMINAL = {
    "pandas str": (pandas_column(["x", None, ""], "str"), ["x", None, ""]),
    "pandas string": (pandas_column(["x", None, ""], "string"), ["x", None, ""]),
    "pandas arrow string": (pandas_column(["x", None, ""], pd.ArrowDtype(pa.string())), ["x", None, ""]),
    "pandas object text": (pandas_column(["x", None, ""], object), ["x", None, ""]),
    "pandas object text with nan": (pandas_column(["x", np.nan, pd.NA, None], object), ["x", None, None, None]),
    "pandas bool": (pandas_column([True, False]), [True, False]),
    "pandas boolean": (pandas_column([True, None, False], "boolean"), [True, None, False]),
    "pandas object bool": (pandas_column([True, None, False], object), [True, None, False]),
    "pandas arrow bool": (pandas_column([True, None, False], pd.ArrowDtype(pa.bool_())), [True, None, False]),
    "pandas category": (pandas_column(["x", None, "y"], "category"), ["x", None, "y"]),
    "pandas whole categories": (pandas_column([3, None, 1], pd.CategoricalDtype([1, 2, 3])), [3, None, 1]),
    "pandas float categories": (pandas_column([0.5, None], pd.CategoricalDtype([0.5, 2.0])), [0.5, None]),
    "pandas bool categories": (pandas_column([True, None, False], "category"), [True, None, False]),
    "pandas intervals": (pd.DataFrame({"a": pd.cut([1, 3, 9], [0, 2, 4])}), ["(0, 2]", "(2, 4]", None]),
    "pandas periods": (pandas_column(pd.Categorical(pd.period_range("2024", periods=2, freq="Y"))), ["2024", "2025"]),
    "pandas date categories": (pandas_column([dt.date(2024, 1, 1), None], "category"), ["2024-01-01", None]),
    "pandas arrow dictionary": (
        pandas_column(["x", None, "x"], pd.ArrowDtype(pa.dictionary(pa.int8(), pa.string()))),
        ["x", None, "x"],
    ),
    "pandas bytes": (pandas_column([b"x", None, b"\xff"]), ["x", None, "\\xff"]),
    "pandas mixed": (pandas_column(["1", 1, 2.5, None], object), ["1", 1, 2.5, None]),
    "polars String": (polars_column(["x", None, ""]), ["x", None, ""]),
    "polars Categorical": (polars_column(["x", None, "y"], pl.Categorical), ["x", None, "y"]),
    "polars Enum": (polars_column(["x", None, "y"], pl.Enum(["y", "z", "x"])), ["x", None, "y"]),
    "polars Boolean": (polars_column([True, None, False]), [True, None, False]),
    "polars Binary": (polars_column([b"x", None]), ["x", None]),
    "arrow string": (arrow_column(["x", None, ""]), ["x", None, ""]),
    "arrow large string": (arrow_column(["x", None, ""], pa.large_string()), ["x", None, ""]),
    "arrow bool": (arrow_column([True, None, False]), [True, None, False]),
    "arrow binary": (arrow_column([b"x", None]), ["x", None]),
    "arrow dictionary": (pa.table({"a": pa.array(["x", None, "y"]).dictionary_encode()}), ["x", None, "y"]),
    "arrow dictionary of numbers": (pa.table({"a": pa.array([7, None, 5]).dictionary_encode()}), [7, None, 5]),
    "arrow dictionary with a gap as value": (
        pa.table({"a": pa.DictionaryArray.from_arrays(pa.array([0, 1, None]), pa.array(["x", None]))}),
        ["x", None, None],
    ),
    "arrow dictionaries that differ by chunk": (
        pa.table({"a": pa.chunked_array([pa.array(c).dictionary_encode() for c in (["x", "y"], ["y", None, "z"])])}),
        ["x", "y", "y", None, "z"],
    ),
    "array of text": (np.array([["x"], [""]]), ["x", ""]),
    "array of long text": (np.array([["x"], [""]], dtype=np.dtypes.StringDType()), ["x", ""]),
    "array of bool": (np.array([[True], [False]]), [True, False]),
    "array of objects": (np.array([["x"], [None], [1]], dtype=object), ["x", None, 1]),
    "list of rows": ([["x", 1], [None, 2]], ["x", None]),
}

NUMERIC = {
    "pandas int": (pandas_column([1, 2]), [1, 2]),
    "pandas Int64": (pandas_column([1, None, 2], "Int64"), [1, None, 2]),
    "pandas Float32": (pandas_column([1.5, None], "Float32"), [1.5, None]),
    "pandas arrow int": (pandas_column([1, None], pd.ArrowDtype(pa.int8())), [1, None]),
    "pandas object int": (pandas_column([1, None, 2], object), [1, None, 2]),
    "pandas decimals": (
        pandas_column([Decimal("1.5"), None, Decimal("NaN"), Decimal("sNaN")]),
        [1.5, None, None, None],
    ),
    "pandas sparse": (pandas_column(pd.arrays.SparseArray([0.0, 2.0])), [0, 2]),
    "pandas datetime": (pandas_column(STAMPS, "datetime64[ns]"), DAYS),
    "pandas datetime in seconds": (pandas_column(STAMPS, "datetime64[s]"), DAYS),
    "pandas datetime with zone": (
        pd.DataFrame({"a": pd.to_datetime(pd.Series(STAMPS)).dt.tz_localize("UTC").dt.tz_convert("Asia/Tokyo")}),
        DAYS,
    ),
    "pandas object dates": (pandas_column([DAY.date(), None, STAMPS[2]], object), DAYS),
    "pandas object dates with zone": (pandas_column([DAY.replace(tzinfo=dt.UTC), pd.NaT], object), DAYS[:2]),
    "pandas timedelta": (pandas_column([dt.timedelta(hours=36), None], "timedelta64[ns]"), [1.5, None]),
    "pandas arrow date": (pandas_column([DAY.date(), None], pd.ArrowDtype(pa.date32())), DAYS[:2]),
    "pandas arrow timestamp": (pandas_column(STAMPS, pd.ArrowDtype(pa.timestamp("us"))), DAYS),
    "polars Int128": (polars_column([1, None], pl.Int128), [1, None]),
    "polars Float64": (polars_column([1.5, None, float("nan")]), [1.5, None, None]),
    "polars Decimal": (polars_column([Decimal("1.5"), None], pl.Decimal(5, 2)), [1.5, None]),
    "polars Date": (polars_column([DAY.date(), None]), DAYS[:2]),
    "polars Datetime": (polars_column(STAMPS), DAYS),
    "polars Datetime with zone": (
        polars_column(STAMPS).with_columns(pl.col("a").dt.replace_time_zone("UTC").dt.convert_time_zone("Asia/Tokyo")),
        DAYS,
    ),
    "polars Duration": (polars_column([dt.timedelta(hours=36), None]), [1.5, None]),
    "polars Null": (polars_column([None, None]), [None, None]),
    "arrow int": (arrow_column([1, None]), [1, None]),
    "arrow half": (arrow_column(np.array([1.5, 2.0], dtype=np.float16)), [1.5, 2]),
    "arrow decimal": (arrow_column([Decimal("1.5"), None]), [1.5, None]),
    "arrow date": (arrow_column([DAY.date(), None]), DAYS[:2]),
    "arrow timestamp with zone": (arrow_column(STAMPS, pa.timestamp("ms", "Asia/Tokyo")), DAYS),
    "arrow duration": (arrow_column([129600, None], pa.duration("s")), [1.5, None]),
    "arrow null": (arrow_column([None, None]), [None, None]),
    "array of dates": (np.array([["2024-01-01"], ["NaT"]], dtype="M8[D]"), DAYS[:2]),
    "array of durations": (np.array([[36]], dtype="m8[h]"), [1.5]),
    "masked array": (np.ma.masked_array([[1.0], [2.0]], [[False], [True]]), [1, None]),
    "objects without any value": (np.array([[None], [np.nan]], dtype=object), [None, None]),
    "sparse": (sparse.csr_array([[0.0, 1.0], [2.0, 0.0]]), [0, 2]),
    "sparse with repeated entries": (sparse.coo_array(([1.0, 2.0], ([1, 1], [0, 0])), shape=(2, 1)), [0, 3]),
}


@pytest.mark.parametrize("what", NOMINAL)
def test_a_nominal_column_arrives_as_its_labels(what):
    X, expected = NOMINAL[what]
    values, is_nominal = cells(X)
    assert is_nominal
    assert values == expected
    assert [type(v) for v in values] == [type(v) for v in expected]


@pytest.mark.parametrize("what", NUMERIC)
def test_a_numeric_column_arrives_as_numbers(what):
    X, expected = NUMERIC[what]
    assert cells(X) == (expected, False)


@pytest.mark.parametrize("dates", [w for w in NUMERIC if any(t in w.lower() for t in ("date", "time", "duration"))])
def test_dates_and_durations_say_that_they_are_days(dates):
    assert open_frame(NUMERIC[dates][0]).read(0).unit == "days"


def test_whole_numbers_are_known_as_such():
    for X in (pandas_column([1, 2]), np.array([[1], [2]]), [[1, "a"], [2, "b"]], polars_column([1, None])):
        assert open_frame(X).read(0).whole
    assert not open_frame(np.array([[1.0], [2.0]])).read(0).whole


def test_codes_of_categories_are_used_in_place():
    frame = pandas_column(["x", None, "y"] * 100, "category")
    source = open_frame(frame).read(0)
    assert np.shares_memory(source.data, frame["a"].array.codes)
    assert source.missing == 255


def test_numbers_and_flags_of_a_frame_are_used_in_place():
    frame = pd.DataFrame({"a": np.arange(9.0), "b": np.arange(9) > 3})
    assert np.shares_memory(open_frame(frame).read(0).data, frame["a"].to_numpy())
    assert np.shares_memory(open_frame(frame).read(1).data, frame["b"].to_numpy())
    array = np.arange(8.0).reshape(4, 2)
    assert open_frame(array).matrix is array


def test_categories_beyond_8_and_16_bits_are_read():
    for size in (127, 128, 254, 255, 256, 300, 40_000):
        labels = [f"n{i}" for i in range(size)]
        assert cells(pandas_column([*labels, None], "category"))[0] == [*labels, None]


def test_two_categories_that_read_alike_are_one_level():
    from seminaive import encode

    stamp = pd.Timestamp("2024-01-01")
    frame = pandas_column(pd.Categorical([stamp, str(stamp), stamp], categories=[stamp, str(stamp)]))
    (column,) = encode(frame, [0, 1, 0]).schema.columns
    assert column.levels == ("2024-01-01 00:00:00",)
    repeated = pa.table({"a": pa.DictionaryArray.from_arrays(pa.array([0, 1, 2]), pa.array(["x", "x", "y"]))})
    assert encode(repeated, [0, 1, 0]).schema.columns[0].levels == ("x", "y")


def test_names_are_those_of_the_frame_or_positions():
    assert open_frame(pd.DataFrame({"b": [1], "a": [2]})).names == ["b", "a"]
    assert open_frame(pa.table({"b": [1]})).names == ["b"]
    assert open_frame(np.zeros((1, 3))).names == [0, 1, 2]
    assert open_frame(sparse.eye_array(2)).names == [0, 1]


@pytest.mark.parametrize(
    "X",
    [
        pd.DataFrame({"a": [1, 2, 3]}, index=[7, 7, 7]),
        pl.DataFrame({"a": [1, 2, 3]}),
        pa.table({"a": [1, 2, 3]}),
        np.array([[1], [2], [3]]),
        sparse.csr_array([[1], [2], [3]]),
        sparse.coo_array([[1], [2], [3]]),
        [[1], [2], [3]],
    ],
)
def test_rows_can_be_taken_from_every_frame(X):
    assert cells(take_rows(X, np.array([True, False, True])))[0] == [1, 3]


def test_an_extreme_date_is_still_a_number_of_days():
    frame = pandas_column(np.array(["0001-01-01", "9999-12-31"], dtype="M8[s]"))
    assert cells(frame)[0] == [-719162.0, 2932896.0]


def test_a_decimal_beyond_any_float_is_too_large():
    with pytest.raises(ValueError, match=r"column 'a', row 1: the value inf contains infinity"):
        cells(pandas_column([decimal.Decimal(1), decimal.Decimal("1e400")]))
