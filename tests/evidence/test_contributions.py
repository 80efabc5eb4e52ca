"""Evidence is a prior plus terms; contributions take scores apart, contrasts make them readable."""

from dataclasses import replace

import numpy as np
import pytest

from seminaive.evidence.contributions import contrast, contributions
from seminaive.evidence.evidence import CurveTerm, Evidence, GaussianTerm, TableTerm
from seminaive.evidence.terms import weighted
from seminaive.table.block import Block
from seminaive.table.schema import Column, Schema

COLUMNS = (Column("w", "nominal", levels=("a", "b")), Column("x", "numeric"), Column("z", "numeric"))
SCHEMA = Schema(COLUMNS, np.array(["p", "q"]))
TABLE = TableTerm(0, np.array([[0.0, 0.5, 1.0, -1.0], [0.0, -0.5, 2.0, -2.0]]), np.full((2, 4), 0.1))
GAUSSIAN = GaussianTerm(
    1,
    np.zeros(2),
    np.array([1.0, 4.0]),
    np.array([[0.0, 0.0], [9, 9], [5, 5], [5, 5]]),
    np.zeros(2),
    np.array([0.0, 0.3]),
)
CURVE = CurveTerm(2, np.array([0.0, 1.0]), np.array([[0.0, 1.0], [1.0, 0.0]]), np.zeros((2, 2)), np.zeros(2), 0.0)


def block(codes, x, z):
    n = len(codes)
    values = np.array([x, z], dtype=float)
    codes8, wide = np.array([codes], dtype=np.uint8), np.empty((0, n), dtype=np.uint16)
    return Block(codes8, wide, values, None, np.array([0, n]), np.array([-1]), None, 0)


def test_scores_are_the_prior_plus_what_every_term_says():
    evidence = Evidence(SCHEMA, np.log([0.25, 0.75]), (TABLE, GAUSSIAN, CURVE))
    rows = block([2, 0, 1], [0.0, np.nan, 1.0], [0.5, np.nan, 7.0])
    constant = 0.5 * np.log(np.array([1.0, 4.0]) / (2 * np.pi))
    said = [
        [1.0 + constant[0] + 0.5, 2.0 + constant[1] + 0.5],
        [0.0, 0.3],
        [0.5 + constant[0] - 0.5 + 1.0, -0.5 + constant[1] - 2.0 + 0.0],
    ]
    expected = np.log([0.25, 0.75]) + np.array(said)
    np.testing.assert_allclose(evidence.scores(rows).T, expected, rtol=1e-14)
    parts = contributions(evidence, [rows], 3)
    np.testing.assert_allclose(parts.scores, expected, rtol=1e-14)
    assert parts.terms == ["w", "x", "z"]
    assert repr(parts) == "Contributions(3 rows x 3 terms x 2 classes)"


@pytest.mark.parametrize("weight", [0.0, 0.4, 3.0, np.array([0.5, -2.0])])
@pytest.mark.parametrize("missing", [0.0, 0.3])
def test_a_weighted_term_says_the_same_that_many_times(weight, missing):
    gaussian = replace(GAUSSIAN, missing=np.array([0.0, missing]))
    endless = replace(TABLE, table_variance=np.full((2, 4), np.inf))
    rows = block([2, 0, 1], [0.0, np.nan, 1.0], [0.5, np.nan, 7.0])
    times = np.broadcast_to(weight, 2)[:, None]
    for term in (TABLE, endless, gaussian, CURVE):
        once, often = weighted(term, weight), weighted(weighted(term, weight), 2.0)
        np.testing.assert_allclose(once.evidence(rows, SCHEMA), times * term.evidence(rows, SCHEMA), atol=1e-14)
        np.testing.assert_allclose(often.evidence(rows, SCHEMA), 2 * times * term.evidence(rows, SCHEMA), atol=1e-14)
        variance = np.where(times == 0, 0.0, term.variance(rows, SCHEMA)) * np.where(times == 0, 1.0, times) ** 2
        np.testing.assert_allclose(once.variance(rows, SCHEMA), variance)
        evidence = Evidence(SCHEMA, np.zeros(2), (once,))
        np.testing.assert_allclose(evidence.scores(rows), times * term.evidence(rows, SCHEMA), atol=1e-14)


def test_a_weight_that_does_not_fit_the_classes_is_refused():
    with pytest.raises(ValueError, match="Gaussian of column 'x'"):
        Evidence(SCHEMA, np.zeros(2), (replace(GAUSSIAN, weight=np.ones(3)),))


def test_probabilities_do_not_overflow():
    evidence = Evidence(SCHEMA, np.zeros(2), ())
    scores = np.array([[-1e6, 1e300, 0.0], [-1e6 - np.log(3), -1e300, 0.0]])
    np.testing.assert_allclose(evidence.probabilities(scores), [[0.75, 1.0, 0.5], [0.25, 0.0, 0.5]])
    np.testing.assert_allclose(evidence.log_probabilities(scores)[:, 0], np.log([0.75, 0.25]))


def test_classes_with_a_logit_of_their_own_share_their_logistic_probabilities():
    schema = Schema(COLUMNS, np.array(["p", "q", "r"]))
    evidence = Evidence(schema, np.zeros(3), (), "ovr")
    scores = np.array([[2.0, -50.0, 800.0], [0.0, -51.0, -800.0], [-1.0, -52.0, 800.0]])
    own = 1 / (1 + np.exp(-scores[:, :2]))
    found = evidence.probabilities(scores)
    np.testing.assert_allclose(found[:, :2], own / own.sum(axis=0), rtol=1e-12)
    np.testing.assert_allclose(found[:, 2], [0.5, 0.0, 0.5])
    np.testing.assert_allclose(np.exp(evidence.log_probabilities(scores)), found, rtol=1e-12)
    with pytest.raises(ValueError, match="link must be"):
        Evidence(schema, np.zeros(3), (), "probit")


def test_evidence_against_the_rest_is_shown_as_it_is():
    evidence, error = contrast(np.array([1.0, 3.0, 4.0]), np.array([1.0, 4.0, 9.0]), None, "ovr")
    assert evidence.tolist() == [1.0, 3.0, 4.0]
    assert error.tolist() == [1.0, 2.0, 3.0]


def test_a_contrast_with_a_reference_adds_the_variances_of_both():
    evidence, error = contrast(np.array([1.0, 3.0, 4.0]), np.array([1.0, 3.0, 8.0]), 0)
    assert evidence.tolist() == [0.0, 2.0, 3.0]
    assert error.tolist() == [0.0, 2.0, 3.0]


def test_a_centred_contrast_has_mean_zero_and_the_error_of_a_difference_to_the_mean():
    rng = np.random.default_rng(0)
    variances = np.array([1.0, 4.0, 9.0])
    draws = rng.normal(size=(200_000, 3)) * np.sqrt(variances)
    evidence, error = contrast(draws, np.broadcast_to(variances, draws.shape), None)
    np.testing.assert_allclose(evidence.mean(axis=1), 0, atol=1e-14)
    np.testing.assert_allclose(evidence.std(axis=0), error[0], rtol=0.01)


@pytest.mark.parametrize(
    ("prior", "terms", "message"),
    [
        (np.zeros(3), (), "the prior must be 2 finite numbers"),
        (np.array([0.0, -np.inf]), (), "the prior must be 2 finite numbers"),
        (np.zeros(2), (TableTerm(0, np.zeros((2, 3)), np.zeros((2, 3))),), "evidence table of column 'w'"),
        (np.zeros(2), (TableTerm(0, np.ones((2, 4)), np.zeros((2, 4))),), "never seen in column 'w' must be 0"),
        (np.zeros(2), (TableTerm(1, np.zeros((2, 4)), np.zeros((2, 4))),), "evidence table of column 'x'"),
        (np.zeros(2), (TableTerm(7, np.zeros((2, 4)), np.zeros((2, 4))),), "reads column 7, but there are 3"),
        (
            np.zeros(2),
            (CurveTerm(1, np.array([1.0, 0.0]), *np.zeros((2, 2, 2)), np.zeros(2), 0.0),),
            "curve of column 'x'",
        ),
    ],
)
def test_parts_that_do_not_fit_together_are_refused(prior, terms, message):
    with pytest.raises(ValueError, match=message):
        Evidence(SCHEMA, prior, terms)


@pytest.mark.parametrize("k", [2, 3, 4, 7])
def test_what_one_class_knows_nothing_of_has_no_bound_and_makes_no_noise(k):
    values = np.zeros((5, 9, k))
    variances = np.ones((5, 9, k))
    variances[2, 3, k - 1] = np.inf
    _, error = contrast(values, variances, None)
    assert np.isinf(error[2, 3]).all()
    assert np.isfinite(np.delete(error.reshape(-1, k), 2 * 9 + 3, axis=0)).all()
