"""MIC for users: columns and tables of every kind, classes, p-values, and what is refused."""

import json
import pickle
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from scipy import sparse
from sklearn.datasets import load_iris

from seminaive import mic, mic_matrix
from seminaive.statistics.mic import mic_of_columns

FROZEN = json.loads((Path(__file__).parent.parent / "statistics" / "mic.json").read_text())
IRIS, SPECIES = load_iris(return_X_y=True)
NAMES = ["SL", "SW", "PL", "PW"]


def test_iris_matrices_are_symmetric_with_the_frozen_entries():
    matrices = mic_matrix(IRIS, SPECIES)
    assert matrices.classes == (0, 1, 2)
    assert matrices.rows == (50, 50, 50)
    np.testing.assert_array_equal(matrices.values, matrices.values.transpose(0, 2, 1))
    for label, i, j, expected in FROZEN["iris"]:
        assert matrices.values[label, i, j] == pytest.approx(expected, rel=0, abs=1e-12)


def test_iris_matrices_agree_with_the_printed_ones():
    """Setosa, versicolor, virginica as printed in the 2016 thesis (one misprint, .40 for .39, corrected)."""
    printed = [
        [[0.99, 0.66, 0.23, 0.19], [0.66, 1, 0.3, 0.22], [0.23, 0.3, 1, 0.14], [0.19, 0.22, 0.14, 0.9]],
        [[0.99, 0.36, 0.6, 0.5], [0.36, 1, 0.39, 0.38], [0.6, 0.39, 1, 0.52], [0.5, 0.38, 0.52, 0.99]],
        [[0.99, 0.4, 0.62, 0.29], [0.4, 0.99, 0.22, 0.3], [0.62, 0.22, 1, 0.28], [0.29, 0.3, 0.28, 1]],
    ]
    np.testing.assert_allclose(mic_matrix(IRIS, SPECIES).values, printed, rtol=0, atol=0.011)


def test_without_classes_there_is_one_matrix_of_all_rows():
    matrices = mic_matrix(IRIS)
    assert matrices.classes == (None,)
    assert matrices.values[0, 1, 2] == mic(IRIS[:, 1], IRIS[:, 2])


def test_any_table_gives_the_same_matrices_under_its_own_names():
    polars = pytest.importorskip("polars")
    labels = np.array(["s", "c", "v"])[SPECIES]
    frame = pd.DataFrame(IRIS, columns=NAMES)
    expected = mic_matrix(IRIS, SPECIES, names=NAMES)
    kinds = (frame, polars.from_pandas(frame), pa.Table.from_pandas(frame))
    for table, y in zip(kinds, (pd.Series(labels), polars.Series(labels), labels.tolist()), strict=True):
        found = mic_matrix(table, y)
        assert found.names == tuple(NAMES)
        assert found.classes == ("c", "s", "v")
        np.testing.assert_array_equal(found.values[[1, 0, 2]], expected.values)
    assert mic_matrix(sparse.csr_array(IRIS), SPECIES).names == (0, 1, 2, 3)
    assert mic(frame["SL"], polars.Series(IRIS[:, 1])) == mic(pa.array(IRIS[:, 0]), IRIS[:, 1].tolist())


def test_dates_booleans_gaps_and_text_of_two_values_have_an_order():
    rng = np.random.default_rng(0)
    x = rng.normal(size=60)
    days = pd.Series(pd.Timestamp("2020-01-01") + pd.to_timedelta(np.round(x * 1000), unit="D"))
    assert mic(days, x) == pytest.approx(1.0)
    high = x > 0
    expected = mic(high.astype(float), x)
    assert mic(high, x) == mic(np.where(high, "high", "low"), x) == mic(pd.Series(high).astype("category"), x)
    gaps = pd.Series(high).astype("boolean")
    gaps[:10] = pd.NA
    assert mic(gaps, x) == mic(high[10:], x[10:]) != expected
    whole = pd.Series(np.arange(60), dtype="Int64")
    whole[3] = pd.NA
    assert mic(whole, x) == mic(np.delete(np.arange(60), 3), np.delete(x, 3))


def test_only_the_values_that_occur_count_as_values_of_a_category():
    x = np.arange(20.0)
    word = pd.Series(np.where(x < 10, "a", "b"), dtype=pd.CategoricalDtype(["unused", "b", "a"]))
    assert mic(word, x) == mic(x < 10, x)
    empty = pd.Series([None] * 20, dtype=pd.CategoricalDtype(["a", "b", "c"]))
    assert mic(empty, x) == 0


def test_threads_change_nothing():
    one, two = (mic_matrix(IRIS, SPECIES, n_jobs=n).values for n in (None, 2))
    np.testing.assert_array_equal(one, two)


def test_large_classes_are_sampled_with_the_seed():
    first, second = (mic_matrix(IRIS, SPECIES, max_rows=20, random_state=4) for _ in range(2))
    assert first.rows == (20, 20, 20)
    np.testing.assert_array_equal(first.values, second.values)
    assert not np.array_equal(first.values, mic_matrix(IRIS, SPECIES, max_rows=20, random_state=5).values)


def test_the_frame_has_a_row_per_class_and_pair_with_what_chance_reaches():
    matrices = mic_matrix(IRIS, SPECIES, names=NAMES)
    frame = matrices.to_frame()
    assert list(frame.columns) == ["class", "column", "other", "mic", "null"]
    assert len(frame) == 3 * 6
    row = frame[(frame["class"] == 1) & (frame["column"] == "PL") & (frame["other"] == "PW")].iloc[0]
    assert row["mic"] == matrices.values[1, 2, 3]
    assert row["null"] == matrices.null[1]
    assert (matrices.null_of_all > matrices.null).all()
    beyond = matrices.strongest > matrices.null_of_all[0]
    assert np.array_equal(matrices.beyond_chance, matrices.strongest * beyond)


def test_permutation_p_value_is_small_for_dependence_and_seeded():
    rng = np.random.default_rng(0)
    x = rng.uniform(size=80)
    y = np.sin(9 * x) + 0.1 * rng.normal(size=80)
    found = mic(x, y, n_permutations=99, random_state=5)
    assert found == mic(x, y) == mic_of_columns(x, y)
    assert found.p_value == 0.01
    again = [mic(x, rng.normal(size=80), n_permutations=49, random_state=s).p_value for s in (1, 2)]
    assert all(p > 0.02 for p in again)
    noise = rng.normal(size=80)
    first, second = (mic(x, noise, n_permutations=49, random_state=8).p_value for _ in range(2))
    assert first == second


def test_p_values_of_independent_columns_are_uniform():
    rng = np.random.default_rng(1)
    p = np.array([mic(*rng.normal(size=(2, 30)), n_permutations=19, random_state=i).p_value for i in range(400)])
    assert abs((p <= 0.05).mean() - 0.05) < 0.035
    assert abs((p <= 0.5).mean() - 0.5) < 0.08


def test_without_permutations_there_is_no_p_value():
    assert mic([1, 2, 3], [1, 2, 3]).p_value is None


def test_a_value_with_its_p_value_survives_a_pickle():
    found = mic(range(20), range(20), n_permutations=9, random_state=0)
    copy = pickle.loads(pickle.dumps(found))
    assert (copy, copy.p_value) == (found, found.p_value)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: mic([1, 2], [1, 2, 3]), "same number of rows, got 2 and 3"),
        (lambda: mic([[1, 2]], [1, 2]), r"x must be one column, got shape \(1, 2\)"),
        (lambda: mic(5.0, [1, 2]), r"x must be one column, got shape \(\)"),
        (lambda: mic(["a", "b", "c"], [1, 2, 3]), "column 'x' holds text of more than two values"),
        (lambda: mic([1, 2], [1, np.inf]), "row 1: the value inf contains infinity"),
        (lambda: mic([1, 2], [1, 2], alpha=1.5), "alpha must be above 0 and at most 1, got 1.5"),
        (lambda: mic([1, 2], [1, 2], c=0), "c must be above 0, got 0"),
        (lambda: mic([1, 2], [1, 2], n_permutations=-1), "n_permutations must be a whole number >= 0; got -1"),
        (lambda: mic_matrix(IRIS, SPECIES[:9]), "one label per row"),
        (lambda: mic_matrix(IRIS[:3], [0.0, np.nan, 1.0]), "missing in row 1"),
        (lambda: mic_matrix(IRIS[:3], np.array(["a", "b", None])), "missing in row 2"),
        (lambda: mic_matrix(IRIS, names=["a"]), "got 1 for 4 columns"),
        (lambda: mic_matrix(IRIS, n_jobs=0), "n_jobs must be None or a whole number other than 0"),
        (lambda: mic_matrix(IRIS, max_rows=0), "max_rows must be a whole number >= 1"),
        (lambda: mic_matrix(pd.DataFrame({"a": list("xyz"), "b": [1, 2, 3]})), "column 'a' holds text"),
    ],
)
def test_mistakes_are_named(call, message):
    with pytest.raises(ValueError, match=message):
        call()
