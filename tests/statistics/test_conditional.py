"""Probabilities of a column given its parents: each formula written out cell by cell."""

import numpy as np
import pytest
from scipy.special import polygamma

from seminaive.statistics.conditional import conditional_evidence


def counts_of(seed, shape):
    counts = np.random.default_rng(seed).integers(0, 5, shape).astype(float)
    for axis in range(1, len(shape)):
        np.moveaxis(counts, axis, 0)[0] = 0  # never seen
    return counts


@pytest.mark.parametrize("shape", [(2, 4), (3, 4, 3), (2, 3, 3, 4)])
@pytest.mark.parametrize("kind", ["shrink", "bd"])
@pytest.mark.parametrize("seed", [0, 1])
def test_every_cell_is_its_formula(shape, kind, seed):
    counts, s = counts_of(seed, shape), 1.5
    table, variance = conditional_evidence(counts, s, kind)
    n, classes = counts.sum(), int(counts.reshape(shape[0], -1).any(axis=1).sum())
    levels = int((counts.reshape(*shape[:2], -1).sum(axis=(0, 2)) > 0).sum())
    parents = np.prod([int((counts.sum(axis=tuple(i for i in range(len(shape)) if i != a)) > 0).sum())
                       for a in range(2, len(shape))])  # fmt: skip
    for cell in np.ndindex(*shape):
        y, x, p = cell[0], cell[1], cell[2:]
        if 0 in cell[1:]:
            assert table[cell] == variance[cell] == 0
            continue
        share = s * counts[:, x].sum() / n if kind == "shrink" else s / (levels * parents * classes)
        of_parents = counts[(y, slice(None), *p)].sum()
        whole = s if kind == "shrink" else s / (parents * classes)
        assert table[cell] == pytest.approx(np.log((counts[cell] + share) / (of_parents + whole)))
        held = max(counts[cell] + share, 0.5)  # thinner cells are taken for half a count
        spread = polygamma(1, held) - polygamma(1, of_parents + whole + held - (counts[cell] + share))
        assert variance[cell] == pytest.approx(spread)


def test_without_smoothing_a_combination_that_never_occurs_is_floored_and_endlessly_uncertain():
    counts = np.array([[[2.0, 0.0], [0.0, 1.0]], [[1.0, 1.0], [1.0, 1.0]]])
    table, variance = conditional_evidence(counts, 0.0)
    assert table[0, 0, 1] == -700
    assert np.isinf(variance[0, 0, 1])
    assert table[0, 0, 0] == 0


def test_a_class_without_rows_is_described_by_the_columns_overall_distribution():
    counts = np.array([[[2.0, 1.0], [0.0, 1.0]], [[0.0, 0.0], [0.0, 0.0]]])
    np.testing.assert_allclose(np.exp(conditional_evidence(counts)[0][1]), [[0.75, 0.75], [0.25, 0.25]])
