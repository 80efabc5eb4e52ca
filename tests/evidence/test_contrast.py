"""Bounded differences of densities."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from seminaive.evidence.contrast import ContrastTerm
from seminaive.evidence.contributions import contributions
from seminaive.evidence.evidence import CurveTerm, Evidence, GaussianTerm
from seminaive.show.explain import explain_model
from seminaive.table.block import Block
from seminaive.table.schema import Column, Schema

LABELS = np.array(["p", "q", "r"])
SCHEMA = Schema((Column("x", "numeric"),), LABELS)
MEAN, PRECISION = np.array([0.0, 1.0, 3.0]), np.array([1.0, 4.0, 0.25])
POSTERIOR = np.array([MEAN, [9.0] * 3, [5.0] * 3, 5.0 / PRECISION])
GAUSSIAN = GaussianTerm(0, MEAN, PRECISION, POSTERIOR, np.zeros(3), np.array([0.0, 0.5, -0.5]))
REST = replace(GAUSSIAN, mean=MEAN + 1.0, missing=np.zeros(3))
SHARES, WEIGHT = np.array([0.5, 0.2, 0.3]), np.array([0.4, 2.0, -1.0])
MIXTURE = ContrastTerm(GAUSSIAN, SHARES, 8.0, WEIGHT, np.array([0.1, 0.0, 0.2]))
RIVAL = ContrastTerm(GAUSSIAN, REST, 8.0, WEIGHT, np.zeros(3))
LOGIT = ContrastTerm(GAUSSIAN, np.array([1.0, 0.0, 0.0]), 8.0, np.ones(3), np.zeros(3))


def block(x):
    x = np.array([x], dtype=float)
    no8, no16, n = np.empty((0, x.size), np.uint8), np.empty((0, x.size), np.uint16), x.size
    return Block(no8, no16, x, None, np.array([0, n]), np.array([-1]), None, 0)


def log_density(x, mean=MEAN):
    return 0.5 * np.log(PRECISION / (2 * np.pi)) - 0.5 * PRECISION * (x - mean) ** 2


@given(x=st.floats(-1e3, 1e3))
@settings(deadline=None)
def test_it_is_the_clipped_difference_to_the_mixture(x):
    density = log_density(x)
    floored = np.maximum(density - density.max(), -8.0)
    expected = WEIGHT * (floored - SHARES @ floored)
    np.testing.assert_allclose(MIXTURE.evidence(block([x]), SCHEMA)[:, 0], expected, rtol=1e-9, atol=1e-9)


@given(x=st.floats(-1e3, 1e3))
@settings(deadline=None)
def test_it_is_the_clipped_log_odds_against_the_rest(x):
    expected = WEIGHT * np.clip(log_density(x) - log_density(x, MEAN + 1.0), -8, 8)
    np.testing.assert_allclose(RIVAL.evidence(block([x]), SCHEMA)[:, 0], expected, rtol=1e-9, atol=1e-9)


def test_classes_compared_with_one_of_them_leave_it_without_evidence():
    x = np.array([-100.0, 0.3, 100.0, np.nan])
    said = LOGIT.evidence(block(x), SCHEMA)
    assert not said[0].any()
    density = np.array([log_density(value) for value in x]).T
    floored = np.maximum(density - density.max(axis=0), -8.0)[:, :3]
    np.testing.assert_allclose(said[:, :3], floored - floored[0])
    np.testing.assert_allclose(said[1:, 3], [0.5, -0.5])
    variance = LOGIT.variance(block(x[1:2]), SCHEMA)
    single = GAUSSIAN.variance(block(x[1:2]), SCHEMA)
    np.testing.assert_allclose(variance[:, 0], [0.0, single[0, 0] + single[1, 0], single[0, 0] + single[2, 0]])


def test_uncertain_weights_make_uncertain_evidence():
    rows = block([0.3, np.nan])
    certain = replace(MIXTURE, weight_variance=np.zeros(3))
    said = replace(certain, weight=np.ones(3)).evidence(rows, SCHEMA)
    more = MIXTURE.variance(rows, SCHEMA) - certain.variance(rows, SCHEMA)
    np.testing.assert_allclose(more, said**2 * MIXTURE.weight_variance[:, None])


def test_a_bounded_difference_has_a_bounded_variance():
    rows = block([1e140, -1e140, 0.0])
    assert (MIXTURE.variance(rows, SCHEMA) <= 64 * WEIGHT[:, None] ** 2 + 64 * 0.2).all()
    assert (replace(RIVAL, weight=np.zeros(3)).variance(rows, SCHEMA) == 0).all()


@pytest.mark.parametrize("term", [MIXTURE, RIVAL, LOGIT])
def test_contributions_add_up_to_scores_and_are_shown_along_the_values(term):
    rows = block([0.0, 2.5, np.nan, 1e100])
    evidence = Evidence(SCHEMA, np.log(SHARES), (term,))
    parts = contributions(evidence, [rows], 4)
    np.testing.assert_array_equal(parts.scores, evidence.scores(rows).T)
    shown = explain_model(evidence, None)
    assert shown.positions[0].min() < -2
    assert shown.positions[0].max() > 7


def test_curves_can_be_compared_too():
    curve = CurveTerm(0, np.array([0.0, 1.0]), np.array([[0.0, 0.0], [0.0, 20.0], [0.0, 2.0]]), np.zeros((3, 2)),
                      np.zeros(3), 0.0)  # fmt: skip
    term = ContrastTerm(curve, np.array([1.0, 0.0, 0.0]), 8.0, np.ones(3), np.zeros(3))
    said = term.evidence(block([0.5, 1.0]), SCHEMA)  # the third class is more than 8 below the second
    np.testing.assert_allclose(said, [[0.0, 0.0], [8.0, 8.0], [0.0, 0.0]])


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"weight": np.ones(2)}, "one finite weight per class"),
        ({"weight": np.array([1.0, np.nan, 1.0])}, "one finite weight per class"),
        ({"weight_variance": np.array([1.0, -1.0, 1.0])}, "one finite weight per class"),
        ({"against": np.ones(4)}, "one finite weight per class"),
        ({"against": replace(REST, mean=np.zeros(2))}, "Gaussian of column 'x'"),
        ({"density": replace(GAUSSIAN, precision=-PRECISION)}, "Gaussian of column 'x'"),
        ({"clip": 0.0}, "clip must be"),
        ({"clip": np.inf}, "clip must be"),
    ],
)
def test_parts_that_do_not_fit_together_are_refused(change, message):
    with pytest.raises(ValueError, match=message):
        Evidence(SCHEMA, np.zeros(3), (replace(MIXTURE, **change),))
