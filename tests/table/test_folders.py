"""Folders as other programs write them: what is in their names is a column, what is hidden is none of ours."""

from __future__ import annotations

import pickle

import numpy as np
import pandas as pd
import pytest

from seminaive import NaiveBayes, scan_csv, scan_parquet
from seminaive.table.folders import folder_columns


def frame(seed=0, rows=60):
    rng = np.random.default_rng(seed)
    return pd.DataFrame({"x": rng.normal(size=rows), "c": rng.choice(["a", "b"], rows), "y": np.arange(rows) % 2})


def write(folder, rows, name="part-00000-4f.c000.snappy.parquet"):
    folder.mkdir(parents=True, exist_ok=True)
    rows.to_parquet(folder / name, row_group_size=25)


@pytest.fixture
def by_region(tmp_path):
    """A folder partitioned by region and year, with the notes that Spark leaves in it, and its rows as one frame."""
    parts = []
    for seed, (region, year) in enumerate([("north", 2023), ("north", 2024), ("south and east", 2024)]):
        write(tmp_path / f"region={region.replace(' ', '%20')}" / f"year={year}", frame(seed))
        parts.append(frame(seed).assign(region=region, year=year))
    (tmp_path / "_SUCCESS").touch()
    write(tmp_path / "_temporary" / "0", frame(9))
    (tmp_path / "region=north" / ".part-00000.snappy.parquet.crc").write_bytes(b"crc")
    (tmp_path / "region=north" / ".half.parquet").write_bytes(b"half")
    return tmp_path, pd.concat(parts)


def test_names_of_folders_are_columns(by_region):
    folder, rows = by_region
    X, y = rows.drop(columns="y"), rows["y"]
    expected = NaiveBayes().fit(X, y)
    for path in (folder, f"{folder}/*/*/*.parquet"):
        model = NaiveBayes().fit(scan_parquet(path, "y"))
        assert model.feature_names_in_.tolist() == ["x", "c", "region", "year"]
        assert model.counts_["region"].tolist() == expected.counts_["region"].tolist()
        np.testing.assert_array_equal(model.sums_.moments.mean, expected.sums_.moments.mean)
        unlabelled = scan_parquet(path, columns=["x", "c", "region", "year"])
        np.testing.assert_array_equal(model.predict_proba(unlabelled), model.predict_proba(X))


@pytest.mark.parametrize(
    ("target", "columns"), [("region", ["x", "c", "year"]), ("region", ["year"]), ("year", ["region"])]
)
def test_the_target_may_be_in_the_name_of_the_folder(by_region, target, columns):
    folder, rows = by_region
    model = NaiveBayes().fit(scan_parquet(folder, target, columns=columns))
    expected = NaiveBayes().fit(rows[columns], rows[target])
    assert model.classes_.tolist() == expected.classes_.tolist()
    assert model.class_count_.tolist() == expected.class_count_.tolist()


def test_rows_of_the_default_folder_have_a_gap(tmp_path):
    write(tmp_path / "size=3", frame(1))
    write(tmp_path / "size=__HIVE_DEFAULT_PARTITION__", frame(2))
    model = NaiveBayes().fit(scan_parquet(tmp_path, "y"))
    assert model.sums_.moments.count[:, 1].tolist() == [30, 30]


def test_a_column_of_the_file_wins_over_the_name_of_its_folder(tmp_path):
    write(tmp_path / "c=z", frame())
    assert NaiveBayes().fit(scan_parquet(tmp_path, "y")).counts_["c"].shape == (2, 2)


def test_a_file_outside_the_partitions_lacks_their_column(by_region):
    folder, _ = by_region
    write(folder, frame(), "stray.parquet")
    with pytest.raises(ValueError, match=r"stray.parquet has no column 'region'; it has x, c, y"):
        scan_parquet(folder, "y")


@pytest.mark.parametrize(
    ("values", "kind"),
    [
        (["1", "-20"], "int64"),
        (["1", "2.5"], "double"),
        (["2024-02-01", "2023-12-31"], "date32[day]"),
        (["1", "b"], "string"),
        (["nan", "1_0"], "string"),
        (["__HIVE_DEFAULT_PARTITION__"], "string"),
    ],
)
def test_the_type_is_that_of_all_values(tmp_path, values, kind):
    files = [str(tmp_path / f"k={value}" / "0.parquet") for value in values]
    assert [str(columns["k"].type) for columns in folder_columns(files, tmp_path)] == [kind] * len(values)


def test_partitions_travel_to_other_processes(by_region):
    folder, _ = by_region
    rows = scan_parquet(folder, "y")
    scan, piece = pickle.loads(pickle.dumps(rows.only(rows.pieces[-1])))
    assert NaiveBayes().fit(scan).class_count_.sum() == 60
    assert piece.n_rows == 10


def test_compressed_csv_files_of_a_folder_are_read_too(tmp_path):
    frame(0).to_csv(tmp_path / "0.csv", index=False)
    frame(1).to_csv(tmp_path / "1.csv.gz", index=False)
    assert NaiveBayes().fit(scan_csv(tmp_path, "y")).class_count_.sum() == 120


def test_decimals_are_numbers_whatever_their_precision(tmp_path):
    import decimal

    import pyarrow as pa
    from pyarrow import parquet

    amounts = [decimal.Decimal("1.25"), decimal.Decimal("2.50")]
    for i, kind in enumerate([pa.decimal128(10, 2), pa.decimal128(18, 4), pa.float64()]):
        column = pa.array(amounts if i < 2 else [1.25, 2.5], kind)
        parquet.write_table(pa.table({"amount": column, "y": [0, 1]}), tmp_path / f"{i}.parquet")
    assert NaiveBayes().fit(scan_parquet(tmp_path, "y")).sums_.moments.mean.tolist() == [[1.25], [2.5]]
