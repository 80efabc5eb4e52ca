import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from seminaive.statistics.information import (
    entropy,
    mutual_information,
    pairwise_information,
    symmetric_uncertainty,
)


def plain_information(x, y, weights):
    total = 0.0
    p = weights / weights.sum()
    for a in np.unique(x):
        for b in np.unique(y):
            both = p[(x == a) & (y == b)].sum()
            if both > 0:
                total += both * np.log(both / (p[x == a].sum() * p[y == b].sum()))
    return total


@given(st.integers(0, 10_000))
@settings(deadline=None)
def test_pairwise_information_follows_its_formula(seed):
    rng = np.random.default_rng(seed)
    n = int(rng.integers(1, 30))
    codes = np.stack([rng.integers(0, m, n) for m in (1, 2, 3, 6)]).astype(np.uint8)
    weights = rng.random(n) + 0.1 if seed % 2 else None
    found = pairwise_information(codes, weights)
    expected = [[plain_information(a, b, np.ones(n) if weights is None else weights) for a in codes] for b in codes]
    np.testing.assert_allclose(found, expected, atol=1e-9)


@given(st.integers(0, 10_000))
@settings(deadline=None)
def test_information_with_the_class_follows_its_formula(seed):
    rng = np.random.default_rng(seed)
    counts = rng.integers(0, 5, size=(3, 7)).astype(float)
    counts[:, 0] += 1
    counts[0, 2] += 1
    offsets = [0, 2, 7]
    for p, (first, last) in enumerate([(0, 2), (2, 7)]):
        y, x = np.divmod(np.arange(3 * (last - first)), last - first)
        expected = plain_information(x, y, counts[:, first:last].ravel())
        assert mutual_information(counts, offsets)[p] == pytest.approx(expected, abs=1e-12)


def test_symmetric_uncertainty_is_1_for_a_copy_of_the_class_and_0_for_a_constant():
    assert symmetric_uncertainty([[3, 0, 3], [0, 5, 5]], [0, 2, 3]).round(12).tolist() == [1.0, 0.0]


def test_symmetric_uncertainty_divides_by_the_mean_entropy():
    counts = np.array([[4.0, 1, 2], [1, 3, 3]])
    h = entropy(counts.sum(axis=0)) + entropy(counts.sum(axis=1))
    np.testing.assert_allclose(symmetric_uncertainty(counts, [0, 3]), 2 * mutual_information(counts, [0, 3]) / h)


def test_the_diagonal_of_pairwise_information_is_entropy():
    codes = np.array([[0, 1, 1, 2], [5, 5, 5, 5]], dtype=np.uint8)
    np.testing.assert_allclose(np.diag(pairwise_information(codes)), [entropy([1, 2, 1])[0], 0.0], atol=1e-12)


def test_a_column_without_counts_tells_nothing():
    assert mutual_information(np.zeros((2, 2)), [0, 2]).tolist() == [0.0]
    assert symmetric_uncertainty(np.array([[1.0, 2.0], [2.0, 1.0]]), [0, 2, 2])[1] == 0.0
