"""Looking up evidence and linking scores: the loops against their definitions in NumPy."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.special import logsumexp, softmax

from seminaive.kernels.newton import link_rows, look_up


def link_by_definition(score, label, weight):
    full = np.vstack([np.zeros(score.shape[1]), score]) if len(score) == 1 else score
    own = full[label, np.arange(len(label))]
    truth = np.eye(len(full))[label].T
    p = softmax(full, axis=0)
    kept = slice(1, None) if len(score) == 1 else slice(None)
    loss = (weight * (logsumexp(full, axis=0) - own)).sum()
    return loss, p[kept], (weight * (p - truth))[kept], (weight * p * (1 - p))[kept]


def link(score, label, weight, bounded=False):
    out = np.empty((3, *score.shape))
    return link_rows(score, label, weight, bounded, *out), *out


@pytest.mark.parametrize("width", [np.uint8, np.uint16])
def test_looking_up_is_indexing(width):
    rng = np.random.default_rng(0)
    codes = rng.integers(0, 5, (3, 40)).astype(width)
    table, weight = rng.normal(size=15), np.array([0.5, -1.0, 2.0])
    source, start, place = np.array([2, 0, 1]), np.array([10, 0, 5]), np.array([1, 2, 0])
    tile, score = np.full((3, 40), np.nan), np.ones(40)
    look_up(codes, source, start, place, table, weight, tile, score)
    expected = np.empty((3, 40))
    expected[place] = table[start[:, None] + codes[source]]
    np.testing.assert_array_equal(tile, expected)
    np.testing.assert_allclose(score, 1 + weight @ expected)


@pytest.mark.parametrize("scores", [1, 2, 4])
@given(seed=st.integers(0, 999), size=st.floats(0.1, 30))
@settings(max_examples=25, deadline=None)
def test_link_is_weighted_log_loss_with_its_derivatives(scores, seed, size):
    rng = np.random.default_rng(seed)
    score, weight = rng.normal(scale=size, size=(scores, 20)), rng.random(20)
    label = rng.integers(0, max(scores, 2), 20)
    for ours, defined in zip(link(score, label, weight), link_by_definition(score, label, weight), strict=True):
        np.testing.assert_allclose(ours, defined, rtol=1e-12, atol=1e-13)


@pytest.mark.parametrize("score", [np.array([[40.0]]), np.array([[0.0], [40.0]])])
def test_residual_keeps_its_digits_when_the_class_is_almost_certain(score):
    _, _, residual, curvature = link(score, np.array([1]), np.ones(1))
    np.testing.assert_allclose([-residual[-1, 0], curvature[-1, 0]], np.exp(-40.0), rtol=1e-12)


def test_bounded_loss_holds_probabilities_between_the_limits():
    score = np.array([[60.0, -60.0, 0.0]])
    loss = [link(score[:, i : i + 1], np.array([1]), np.ones(1), True)[0] for i in range(3)]
    np.testing.assert_allclose(loss, [-np.log1p(-1e-10), -np.log(1e-10), np.log(2)], rtol=1e-12)
