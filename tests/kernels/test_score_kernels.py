"""Every scoring kernel equals its plain NumPy twin, which is its definition."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import norm

from seminaive.kernels.score import TILE, add_curve, add_gaussians, add_tables

seeds = st.integers(0, 2**32 - 1)
sizes = st.sampled_from([0, 1, 7, TILE - 1, TILE, TILE + 1, 2 * TILE + 5])


@pytest.mark.parametrize("dtype", [np.uint8, np.uint16])
@settings(deadline=None, max_examples=25)
@given(seed=seeds, n=sizes, p=st.integers(1, 9), k=st.integers(1, 4))
def test_tables_are_looked_up_and_added(dtype, seed, n, p, k):
    rng = np.random.default_rng(seed)
    codes = rng.integers(0, 6, (p, n)).astype(dtype)
    rows, tables = rng.permutation(p)[: rng.integers(1, p + 1)], rng.normal(size=(k, 6 * p))
    column_starts, scores = 6 * rng.permutation(p)[: len(rows)], rng.normal(size=(k, n))
    expected = scores.copy()
    for row, start in zip(rows, column_starts, strict=True):
        expected += tables[:, start + codes[row].astype(int)]
    add_tables(codes, rows, column_starts, tables, scores)
    np.testing.assert_array_equal(scores, expected)  # the order of additions is that of the columns


@settings(deadline=None, max_examples=25)
@given(seed=seeds, n=sizes, p=st.integers(1, 3), k=st.integers(1, 4))
def test_gaussians_are_added_where_a_value_is_known(seed, n, p, k):
    rng = np.random.default_rng(seed)
    values = np.where(rng.random((p, n)) < 0.2, np.nan, rng.normal(size=(p, n)))
    mean, sd, scores = rng.normal(size=(k, p)), rng.uniform(0.1, 3, (k, p)), rng.normal(size=(k, n))
    expected = scores + np.nan_to_num(norm.logpdf(values[None], mean[:, :, None], sd[:, :, None])).sum(axis=1)
    add_gaussians(values, np.arange(p), mean, 1 / sd, -np.log(sd * np.sqrt(2 * np.pi)), scores)
    np.testing.assert_allclose(scores, expected, rtol=1e-12, atol=1e-12)


def test_an_absurdly_distant_value_gives_a_finite_score():
    scores = np.zeros((1, 2))
    add_gaussians(
        np.array([[1e140, -1e140]]), np.array([0]), np.zeros((1, 1)), np.full((1, 1), 1e140), np.zeros((1, 1)), scores
    )
    assert np.isfinite(scores).all()
    assert (scores < -1e200).all()


@settings(deadline=None, max_examples=40)
@given(seed=seeds, n=st.integers(0, 50), m=st.integers(1, 6), k=st.integers(1, 3))
def test_curves_are_interpolated_and_flat_beyond_their_ends(seed, n, m, k):
    rng = np.random.default_rng(seed)
    knots = np.sort(rng.choice(np.arange(-9.0, 9.0), m, replace=False))
    curve, scores = rng.normal(size=(k, m)), rng.normal(size=(k, n))
    x = np.where(rng.random(n) < 0.2, np.nan, rng.choice(np.append(knots, rng.uniform(-12, 12, 20)), n))
    added = np.array([np.interp(x, knots, row) for row in curve]).reshape(k, n)
    expected = scores + np.where(np.isnan(x), 0.0, added)
    add_curve(x, knots, curve, scores)
    np.testing.assert_allclose(scores, expected, atol=1e-12)
