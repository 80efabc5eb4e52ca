"""Every kind of smoothing equals its formula, and nothing is ever infinite or noisy."""

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from scipy.special import polygamma

from seminaive.statistics.smoothing import LOG_ZERO, evidence_variance, log_evidence

KINDS = ["level", "pooled", "class", "likelihood", "half", "none"]
COUNTS = np.array([[3.0, 1.0, 0.0], [1.0, 1.0, 6.0]])
PI = np.array([[1 / 3], [2 / 3]])


def softmaxed(evidence, shares):
    joint = shares * np.exp(evidence)
    return joint / joint.sum(axis=0)


def test_level_adds_s_to_every_level():
    expected = np.log((COUNTS + 0.5) / (COUNTS.sum(axis=1, keepdims=True) + 1.5))
    np.testing.assert_allclose(log_evidence(COUNTS, 0.5, "level"), expected, rtol=1e-14)


def test_pooled_spreads_s_as_the_column_is_distributed():
    overall = (COUNTS.sum(axis=0) + 2 / 3) / (COUNTS.sum() + 2)
    expected = np.log((COUNTS + 2 * overall) / (COUNTS.sum(axis=1, keepdims=True) + 2))
    np.testing.assert_allclose(log_evidence(COUNTS, 2.0, "pooled"), expected, rtol=1e-14)


def test_class_and_half_smooth_the_class_given_the_level():
    level_totals = COUNTS.sum(axis=0)
    expected = np.log((COUNTS + 1.5 * 2 * PI) / (level_totals + 3) / PI)
    np.testing.assert_allclose(log_evidence(COUNTS, 1.5, "class", [5, 10]), expected, rtol=1e-13)
    expected = np.log((COUNTS + 1.5) / (level_totals + 3) / PI)
    np.testing.assert_allclose(log_evidence(COUNTS, 1.5, "half", [5, 10]), expected, rtol=1e-13)


def test_likelihood_is_the_level_kind_read_as_class_given_level():
    expected = np.log(softmaxed(log_evidence(COUNTS, 1.5, "level"), PI) / PI)
    np.testing.assert_allclose(log_evidence(COUNTS, 1.5, "likelihood", [5, 10]), expected, rtol=1e-13)


def test_none_is_the_observed_share_and_floors_zero_at_minus_700():
    evidence = log_evidence(COUNTS, 1.0, "none")
    np.testing.assert_allclose(evidence[0], [np.log(0.75), np.log(0.25), LOG_ZERO])


@pytest.mark.parametrize("kind", ["class", "likelihood", "half"])
def test_shares_times_evidence_are_probabilities_of_the_classes(kind):
    evidence = log_evidence(COUNTS, 1.0, kind, [5, 10])
    np.testing.assert_allclose((PI * np.exp(evidence)).sum(axis=0), 1.0, rtol=1e-14)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("function", [log_evidence, evidence_variance])
def test_many_columns_at_once_equal_one_after_the_other(kind, function):
    rng = np.random.default_rng(0)
    starts = np.array([0, 3, 3, 4, 9, 9])
    counts = rng.integers(0, 5, size=(3, 9)).astype(float)
    for class_weight in (None, [10, 20, 0]):
        flat = function(counts, 1.0, kind, class_weight, starts)
        for begin, end in pairwise(starts):
            alone = function(counts[:, begin:end], 1.0, kind, class_weight)
            np.testing.assert_allclose(flat[:, begin:end], alone, rtol=1e-14)


amounts = st.one_of(st.integers(0, 4).map(float), st.floats(0.001, 1e9), st.just(0.0))
kinds = st.sampled_from(KINDS)


@settings(deadline=None)
@given(arrays(float, st.tuples(st.integers(1, 4), st.integers(0, 5)), elements=amounts), st.sampled_from(KINDS))
@pytest.mark.parametrize("smoothing", [0.0, 1e-12, 1.0, 1e6])
def test_evidence_is_finite_and_variance_infinite_only_for_unsmoothed_zeros(smoothing, counts, kind):
    for class_weight in (None, counts.sum(axis=1)):
        evidence = log_evidence(counts, smoothing, kind, class_weight)
        assert np.isfinite(evidence).all()
        variance = evidence_variance(counts, smoothing, kind, class_weight)
        unsmoothed_zero = (counts == 0) & (smoothing == 0 or kind == "none")
        np.testing.assert_array_equal(np.isinf(variance), unsmoothed_zero)
        assert (variance >= 0).all()


@pytest.mark.parametrize("kind", KINDS)
def test_a_level_nobody_showed_says_nothing_when_classes_are_of_equal_size(kind):
    evidence = log_evidence([[2.0, 2.0, 0.0], [1.0, 3.0, 0.0]], 1.0, kind)
    assert evidence[0, 2] == pytest.approx(evidence[1, 2], abs=1e-14)


@pytest.mark.parametrize("kind", KINDS)
def test_a_class_without_rows_does_not_tell_levels_apart(kind):
    evidence = log_evidence([[0.0, 0.0], [4.0, 4.0]], 1.0, kind, [0, 8])
    assert evidence[0, 0] == pytest.approx(evidence[0, 1], abs=1e-14)


@pytest.mark.parametrize("kind", KINDS)
def test_order_of_levels_and_classes_does_not_matter(kind):
    for function in (log_evidence, evidence_variance):
        whole = function(COUNTS, 1.0, kind, [5, 10])
        mirrored = function(COUNTS[::-1, ::-1], 1.0, kind, [10, 5])
        np.testing.assert_allclose(mirrored, whole[::-1, ::-1], rtol=1e-14)


def test_the_variance_of_a_contrast_between_classes_is_that_of_simulated_posteriors():
    rng = np.random.default_rng(1)
    # Levels given class: one Dirichlet per class.
    draws = [np.log(rng.dirichlet(row + 1.0, size=200_000)) for row in COUNTS]
    expected = np.var(draws[0] - draws[1], axis=0)
    np.testing.assert_allclose(evidence_variance(COUNTS, 1.0, "level").sum(axis=0), expected, rtol=0.02)
    np.testing.assert_allclose(evidence_variance(COUNTS, 1.0, "likelihood").sum(axis=0), expected, rtol=0.02)
    # Class given level: one Dirichlet per level.
    for kind, added in (("class", 2.0 * PI), ("half", np.ones((2, 1)))):
        draws = [np.log(rng.dirichlet(column, size=200_000)) for column in (COUNTS + added).T]
        expected = [np.var(draw[:, 0] - draw[:, 1]) for draw in draws]
        variance = evidence_variance(COUNTS, 1.0, kind, [5, 10])
        np.testing.assert_allclose(variance.sum(axis=0), expected, rtol=0.02)


def test_the_pooled_variance_takes_the_column_distribution_as_known():
    overall = (COUNTS.sum(axis=0) + 1 / 3) / (COUNTS.sum() + 1)
    cell, total = COUNTS + overall, COUNTS.sum(axis=1, keepdims=True) + 1
    held = np.maximum(cell, 0.5)  # thinner cells are taken for half a count
    expected = polygamma(1, held) - polygamma(1, total + held - cell)
    np.testing.assert_allclose(evidence_variance(COUNTS, 1.0, "pooled"), expected, rtol=1e-12)


def test_an_unknown_kind_or_a_negative_smoothing_is_an_error():
    with pytest.raises(ValueError, match="smoothing_kind='laplace' is unknown; use one of level, pooled"):
        log_evidence(COUNTS, 1.0, "laplace")
    with pytest.raises(ValueError, match="smoothing=-1 must be"):
        log_evidence(COUNTS, -1)
