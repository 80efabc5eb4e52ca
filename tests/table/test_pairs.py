"""Pair counts strip by strip equal counting every pair directly."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

import seminaive as snb
from seminaive.table.pairs import pair_strips


def nominal_rows(n=3000):
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({f"c{j}": rng.choice(["a", "b", "c", None], n) for j in range(4)})
    frame["wide"] = [f"w{i}" for i in rng.integers(0, min(400, n // 3), n)]
    return frame, rng.integers(0, 3, n), rng.integers(0, 3, n)


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("strip_bytes", [1, 60_000, 2**26])
def test_every_pair_is_counted_once_whatever_the_size_of_a_strip(weighted, strip_bytes):
    frame, y, weights = nominal_rows()
    if not weighted:
        weights = np.ones(len(y), dtype=int)
    table = snb.encode(frame, y, sample_weight=weights)
    frame, y, weights = frame[weights > 0], y[weights > 0], weights[weights > 0]  # levels of other rows do not count
    seen = set()
    for strip in pair_strips(table, strip_bytes=strip_bytes):
        for j in range(strip.first, strip.last):
            for k in range(j + 1, 5):
                seen.add((j, k))
                a, b = (pd.Categorical(frame.iloc[:, c].fillna("")).codes for c in (j, k))  # missing sorts first
                direct = np.zeros((3, a.max() + 1, b.max() + 1))
                np.add.at(direct, (y, a, b), weights)
                np.testing.assert_array_equal(strip.pair(j, k), direct)
    assert seen == {(j, k) for j in range(5) for k in range(j + 1, 5)}


def test_a_pair_outside_the_strip_is_refused():
    frame, y, _ = nominal_rows(100)
    strip = next(pair_strips(snb.encode(frame, y), strip_bytes=1))
    with pytest.raises(ValueError, match=r"pair \(1, 2\) is not in the strip 0:1"):
        strip.pair(1, 2)


def test_a_column_of_values_must_be_binned_first():
    table = snb.encode(pd.DataFrame({"x": [1.5, 2.5, 3.5]}), [0, 1, 0])
    with pytest.raises(ValueError, match="column 'x' is not coded"):
        next(pair_strips(table))
