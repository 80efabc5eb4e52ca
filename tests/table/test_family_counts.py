"""Counts of chosen families equal a loop over the rows, wherever they are and whatever they weigh."""

import numpy as np
import pandas as pd
import pytest

from seminaive import encode
from seminaive.table.families import family_counts

FAMILIES = [(0,), (1, 0), (2, 0, 1), (3, 2)]


def rows(n=700, seed=0):
    rng = np.random.default_rng(seed)
    cells = {"a": rng.choice(["p", "q"], n), "b": rng.choice(["u", "v", None], n), "c": rng.choice(list("xyz"), n)}
    X = pd.DataFrame({**cells, "many": rng.integers(0, min(n // 2, 300), n).astype(str)})
    return X, rng.integers(0, 3, n), rng.integers(1, 4, n) / 2


@pytest.mark.parametrize("weighted", [False, True])
def test_families_are_counted_like_row_by_row(weighted):
    X, y, weights = rows()
    table = encode(X, y, sample_weight=weights if weighted else None)
    counted = family_counts(table, FAMILIES)
    known = [column.code_of for column in table.schema.columns]
    codes = np.array([[code_of.get(v, 1) for v in X[name].tolist()] for name, code_of in zip(X, known, strict=True)])
    for f, family in enumerate(FAMILIES):
        expected = np.zeros((3, *(table.schema.columns[j].n_codes for j in family)))
        np.add.at(expected, (y, *codes[list(family)]), weights if weighted else 1.0)
        np.testing.assert_array_equal(counted.of(f, table.schema), expected)


def test_no_families_are_no_counts():
    X, y, _ = rows(20)
    assert family_counts(encode(X, y), []).counts.shape == (3, 0)


def test_too_many_combinations_are_one_sentence():
    n = 40_000
    X = pd.DataFrame({"id": np.arange(n).astype(str), "other": np.arange(n).astype(str)})
    with pytest.warns(UserWarning, match="identifier"):
        table = encode(X, np.arange(n) % 2)
    with pytest.raises(ValueError, match="id with other and the like needs 1600160004 cells"):
        family_counts(table, [(0, 1)])
