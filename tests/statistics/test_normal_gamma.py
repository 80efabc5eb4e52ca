"""The Normal-Gamma posterior: reference values, limits, invariance and awkward data."""

import json
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.datasets import load_iris

from seminaive.statistics.moments import from_segments, moments_of
from seminaive.statistics.normal_gamma import (
    MAXIMUM_LIKELIHOOD,
    SAMPLE_VARIANCE,
    NormalGamma,
    Posterior,
    default_prior,
    evidence_variance,
    mode,
    posterior,
)

REFERENCE = json.loads((Path(__file__).parent / "normal_gamma.json").read_text())


def one_class(values):
    column = np.asarray(values, dtype=np.float64).reshape(-1, 1)
    return moments_of(column, np.zeros(len(column), dtype=int), 1)


@pytest.mark.parametrize("case", REFERENCE["small"], ids=lambda case: case["name"])
def test_small_samples_have_the_reference_posterior_and_mode(case):
    after = posterior(one_class(case["x"]), NormalGamma(**case["prior"]))
    for name, value in case["posterior"].items():
        assert getattr(after, name)[0, 0] == pytest.approx(value, rel=1e-11)
    mean, variance = mode(after)
    assert mean[0, 0] == pytest.approx(case["mode"]["mu"], rel=1e-11)
    assert variance[0, 0] == pytest.approx(case["mode"]["var"], rel=1e-11)


@pytest.mark.parametrize("case", REFERENCE["thesis"], ids=lambda case: case["name"])
def test_the_tables_of_the_thesis_have_a_thousand_rows_per_class(case):
    prior, printed = NormalGamma(**case["prior"]), case["posterior_printed"]
    moments = from_segments(*(np.array([[value]]) for value in (1000.0, 0.0, 0.0, 0.0)))
    after = posterior(moments, prior)
    assert (after.k[0, 0], after.alpha[0, 0]) == (printed["k"], printed["alpha"])
    after = Posterior(*(np.array([[printed[name]]]) for name in ("mu", "k", "alpha", "beta")))
    assert mode(after)[1][0, 0] == pytest.approx(case["mode_var"], rel=1e-11)


def test_iris_has_the_reference_values_under_the_default_prior():
    X, y = load_iris(return_X_y=True)
    moments = moments_of(X, y, 3)
    prior, expected = default_prior(moments), REFERENCE["iris"]
    np.testing.assert_allclose(prior.mu0, expected["prior"]["mu0"], rtol=1e-11)
    np.testing.assert_allclose(prior.beta0, expected["prior"]["beta0"], rtol=1e-11)
    after = posterior(moments, prior)
    _, variance = mode(after)
    for k, values in enumerate(expected["classes"]):
        np.testing.assert_allclose(after.mu[k], values["mu"], rtol=1e-11)
        np.testing.assert_allclose(after.beta[k], values["beta"], rtol=1e-11)
        np.testing.assert_allclose(after.k[k], values["k"], rtol=1e-11)
        np.testing.assert_allclose(after.alpha[k], values["alpha"], rtol=1e-11)
        np.testing.assert_allclose(variance[k], values["mode_var"], rtol=1e-11)


def test_the_limits_are_the_variances_with_ddof_zero_and_one():
    X, y = load_iris(return_X_y=True)
    moments = moments_of(X, y, 3)
    np.testing.assert_allclose(mode(posterior(moments, SAMPLE_VARIANCE))[1], REFERENCE["iris_ddof1"], rtol=1e-11)
    for prior, ddof in ((MAXIMUM_LIKELIHOOD, 0), (SAMPLE_VARIANCE, 1)):
        mean, variance = mode(posterior(moments, prior))
        for k in range(3):
            np.testing.assert_allclose(mean[k], X[y == k].mean(axis=0), rtol=1e-12)
            np.testing.assert_allclose(variance[k], X[y == k].var(axis=0, ddof=ddof), rtol=1e-12)


@pytest.mark.parametrize(
    ("prior", "values", "problem"),
    [
        (MAXIMUM_LIKELIHOOD, [[1.0, 4.0], [2.0, 4.0]], "'b' in class 'yes' is zero"),
        (SAMPLE_VARIANCE, [[1.0, 4.0]], "'a' in class 'yes' is undefined"),
        (MAXIMUM_LIKELIHOOD, [[np.nan, 4.0]], "'a' in class 'yes' is undefined"),
    ],
)
def test_a_limit_without_a_variance_is_an_error_naming_class_and_column(prior, values, problem):
    moments = moments_of(np.array(values), np.zeros(len(values), dtype=int), 1)
    with pytest.raises(ValueError, match=problem):
        mode(posterior(moments, prior), names=["a", "b"], labels=["yes"])


def test_a_class_without_rows_one_row_and_constant_or_missing_columns_have_finite_modes():
    values = np.array([[1.0, 5.0, np.nan, 0.0], [2.0, 5.0, np.nan, 0.0], [4.0, 5.0, np.nan, 0.0]])
    moments = moments_of(values, [0, 0, 1], 3)
    after = posterior(moments, default_prior(moments))
    mean, variance = mode(after)
    assert np.isfinite(mean).all()
    assert np.isfinite(variance).all()
    assert (variance > 0).all()
    assert np.isfinite(evidence_variance(3.0, after)).all()
    np.testing.assert_allclose(mean[:, 1], 5.0)


def test_a_column_that_equals_the_class_has_the_floor_of_its_own_variance():
    moments = moments_of(np.array([[0.0, 1e6], [0.0, -1e6], [2.0, 0.0], [2.0, 5.0]]), [0, 0, 1, 1], 2)
    assert default_prior(moments).beta0[0] == pytest.approx(1e-9)


@settings(deadline=None)
@given(st.integers(0, 1000), st.integers(-100, 100), st.sampled_from([1e-60, 1e-3, 3.0, 1e60]))
def test_shift_and_scale_of_a_column_shift_and_scale_its_mode(seed, shift, scale):
    rng = np.random.default_rng(seed)
    values, classes = rng.normal(size=(12, 1)), rng.integers(0, 3, size=12)
    plain, moved = (moments_of(x, classes, 3) for x in (values, scale * (values + shift)))
    mean, variance = mode(posterior(plain, default_prior(plain)))
    moved_mean, moved_variance = mode(posterior(moved, default_prior(moved)))
    np.testing.assert_allclose(moved_mean / scale, mean + shift, rtol=1e-9, atol=1e-9)
    np.testing.assert_allclose(moved_variance / scale**2, variance, rtol=1e-8)


def test_columns_up_to_1e150_do_not_overflow():
    moments = moments_of(np.array([[1e150, 1e-300], [-1e150, 0.0], [9e149, 1.0]]), [0, 1, 1], 2)
    after = posterior(moments, default_prior(moments))
    for values in (*after, *mode(after), evidence_variance(-1e150, after)):
        assert np.isfinite(values).all()


@pytest.mark.parametrize("x", [0.3, 2.0, -4.0])
def test_the_evidence_variance_is_that_of_simulated_parameters(x):
    mu, k, alpha, beta = 0.5, 3.0, 4.0, 6.0
    rng = np.random.default_rng(7)
    precision = rng.gamma(alpha, 1 / beta, size=1_000_000)
    mean = mu + rng.normal(size=1_000_000) / np.sqrt(k * precision)
    simulated = np.var(0.5 * np.log(precision) - 0.5 * precision * (x - mean) ** 2)
    after = Posterior(*(np.array([[value]]) for value in (mu, k, alpha, beta)))
    assert evidence_variance(x, after)[0, 0] == pytest.approx(simulated, rel=0.02)
