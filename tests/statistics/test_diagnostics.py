"""R-hat and effective sample size say what they should on chains whose answer is known."""

from __future__ import annotations

import numpy as np
import pytest

from seminaive.statistics.diagnostics import bulk_ess, split_rhat


def autoregressive(phi, chains=4, draws=4000, seed=0):
    rng = np.random.default_rng(seed)
    x = np.zeros((chains, draws))
    noise = rng.normal(size=x.shape) * np.sqrt(1 - phi**2)
    x[:, 0] = rng.normal(size=chains)
    for i in range(1, draws):
        x[:, i] = phi * x[:, i - 1] + noise[:, i]
    return x


def test_rhat_equals_the_formula_on_two_small_chains():
    draws = np.array([[1.0, 2.0, 3.0, 5.0], [2.0, 2.0, 4.0, 7.0]])
    halves = np.array([[1.0, 2.0], [2.0, 2.0], [3.0, 5.0], [4.0, 7.0]])
    within = halves.var(axis=1, ddof=1).mean()
    between = 2 * halves.mean(axis=1).var(ddof=1)
    assert split_rhat(draws) == pytest.approx(np.sqrt((within / 2 + between / 2) / within))


def test_chains_that_agree_have_rhat_one_and_chains_apart_do_not():
    together = autoregressive(0.3)
    assert split_rhat(together) == pytest.approx(1, abs=0.01)
    assert split_rhat(together + 3 * np.arange(4)[:, None]) > 2


def test_a_drift_shared_by_all_chains_is_seen():
    assert split_rhat(autoregressive(0.0) + np.linspace(0, 5, 4000)) > 1.3


def test_chains_standing_still_at_different_values_are_infinitely_apart():
    assert split_rhat(np.zeros((2, 10))) == 1
    assert split_rhat(np.repeat([[0.0], [1.0]], 10, axis=1)) == np.inf


@pytest.mark.parametrize("phi", [0.0, 0.5, 0.9])
def test_effective_size_of_an_autoregressive_chain_is_known(phi):
    expected = 16_000 * (1 - phi) / (1 + phi)
    assert bulk_ess(autoregressive(phi)) == pytest.approx(expected, rel=0.2)


def test_effective_size_ignores_how_the_values_are_scaled():
    draws = autoregressive(0.5, draws=500)
    assert bulk_ess(np.exp(draws)) == pytest.approx(bulk_ess(draws), rel=1e-12)


def test_many_quantities_are_worked_out_at_once():
    draws = np.stack([autoregressive(0.0, draws=100), autoregressive(0.9, draws=100), np.ones((4, 100))], axis=2)
    assert split_rhat(draws).shape == bulk_ess(draws).shape == (3,)
    assert bulk_ess(draws)[1] == pytest.approx(bulk_ess(draws[:, :, 1]), rel=1e-12)
    assert bulk_ess(draws)[2] == 400


def test_too_few_draws_are_refused():
    with pytest.raises(ValueError, match="at least 4 draws per chain, got 3"):
        split_rhat(np.zeros((4, 3)))
