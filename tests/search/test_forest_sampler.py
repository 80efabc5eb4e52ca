"""Chains find the exact posterior, are repeatable, and can be stopped."""

from __future__ import annotations

import time

import numpy as np
import pytest

from forest_data import blocks_of, random_rows, random_tables, reference
from seminaive.search import forest_sampler
from seminaive.search.forest_sampler import (
    LEAST_SHARE,
    _shares,
    count_draws,
    sample_forests,
    step,
)
from seminaive.search.forest_start import init, sampler_tables, spanning_forest, start_forest
from seminaive.statistics.diagnostics import split_rhat
from seminaive.statistics.family import family_scores, forest_tables, log_posterior
from seminaive.statistics.forest_exact import exact_forest_posterior


def edge_shares(draws):
    """How often each edge occurs in either group, (2, d, d)."""
    chains, n, d = draws.parent.shape
    shares = np.zeros((2, d, d))
    chain, draw, child = np.nonzero(draws.parent >= 0)
    parent, group = draws.parent[chain, draw, child], draws.group[chain, draw, child]
    np.add.at(shares, (group, child, parent), 1 / (chains * n))
    return shares + shares.transpose(0, 2, 1)


def agrees_with_exact(forest, tolerance, mean_tolerance, **options):
    exact = exact_forest_posterior(forest)
    draws = sample_forests(sampler_tables(forest), seed=0, **options)
    np.testing.assert_allclose(draws.group.mean(axis=(0, 1)), exact.inclusion, atol=tolerance)
    np.testing.assert_allclose(edge_shares(draws), exact.edges, atol=tolerance)
    assert draws.log_posterior.mean() == pytest.approx(exact.mean_log_posterior, abs=mean_tolerance)


@pytest.mark.parametrize("moves", ["joint", "paper"])
@pytest.mark.parametrize("d", [1, 2, 6])
def test_chains_agree_with_the_exact_posterior(moves, d):
    agrees_with_exact(random_tables(d, d), 0.01, 0.05, n_iter=100_000, thin=5, moves=moves)


def test_a_cap_on_joint_moves_keeps_the_posterior():
    agrees_with_exact(random_tables(9, 6), 0.01, 0.05, n_iter=100_000, thin=5, most_nodes=2)


def test_short_lists_of_partners_keep_the_posterior():
    forest = random_tables(10, 8)
    exact = exact_forest_posterior(forest)
    draws = sample_forests(sampler_tables(forest, n_near=2), 100_000, thin=5, seed=1)
    np.testing.assert_allclose(edge_shares(draws), exact.edges, atol=0.01)


@pytest.mark.slow
@pytest.mark.parametrize("moves", ["joint", "paper"])
@pytest.mark.parametrize("name", ["corral", "heart_mdl"])
def test_a_million_iterations_come_within_five_thousandths(name, moves):
    codes, classes, _ = reference(name)
    forest = forest_tables(*family_scores(blocks_of(codes, classes), 2), 2)
    agrees_with_exact(forest, 0.005, 0.05, n_iter=1_000_000, thin=10, chains=1, moves=moves)


def test_the_same_seed_gives_the_same_draws_on_one_thread_or_three():
    tables = sampler_tables(random_tables(0, 30))
    runs = [sample_forests(tables, 3000, thin=10, seed=5, threads=threads) for threads in (1, 3)]
    for field in ("parent", "group", "trace"):
        np.testing.assert_array_equal(getattr(runs[0], field), getattr(runs[1], field))
    other = sample_forests(tables, 3000, thin=10, seed=6)
    assert (other.parent != runs[0].parent).any()


def test_chains_are_different_draws():
    draws = sample_forests(sampler_tables(random_tables(0, 10)), 2000, thin=10, seed=0, starts=("noise",) * 4)
    assert (draws.parent[0] != draws.parent[1]).any()


def test_the_recorded_log_posterior_is_that_of_the_recorded_forest():
    forest = random_tables(1, 40)
    draws = sample_forests(sampler_tables(forest), 5000, thin=50, seed=0, chains=2)
    for chain in range(2):
        for i in range(draws.log_posterior.shape[1]):
            expected = log_posterior(forest, draws.parent[chain, i], draws.group[chain, i])
            assert draws.log_posterior[chain, i] == pytest.approx(expected, abs=2e-6)
    np.testing.assert_array_equal(draws.trace[:, -draws.group.shape[1] :, 1], draws.group.sum(axis=2))


@pytest.mark.parametrize(
    ("n_iter", "thin", "burn_in", "expected"),
    [(10000, 50, 2000, 160), (10060, 50, 2012, 161), (10050, 50, 2010, 160), (100, 7, 20, 12), (1, 50, 0, 1)],
)
def test_draws_are_the_thinned_iterations_after_burn_in(n_iter, thin, burn_in, expected):
    assert count_draws(n_iter, thin, burn_in) == expected
    tables = sampler_tables(random_tables(2, 3))
    draws = sample_forests(tables, n_iter, thin, burn_in, chains=1, seed=0)
    assert draws.parent.shape == (1, expected, 3)
    assert draws.complete


def test_no_draw_to_keep_is_refused_before_any_work():
    with pytest.raises(ValueError, match="no draw would be kept: n_iter=1000, thin=1000, burn_in=200"):
        sample_forests(sampler_tables(random_tables(2, 3)), 1000, 1000, 200)


def test_a_chain_out_of_time_returns_what_it_has():
    draws = sample_forests(sampler_tables(random_tables(3, 20)), 10**9, thin=10**5, burn_in=0, seed=0, max_time=0.3)
    assert not draws.complete
    assert draws.parent.shape[1] == draws.log_posterior.shape[1] == draws.trace.shape[1]
    assert draws.parent.shape[1] < 10**4


def test_interrupting_returns_the_draws_so_far(monkeypatch):
    tables = sampler_tables(random_tables(3, 20))
    whole = sample_forests(tables, 20_000, thin=10, burn_in=0, chains=1, seed=0)

    class Interrupted:
        def __init__(self, task):
            self.task = task

        def result(self):
            time.sleep(0.05)
            raise KeyboardInterrupt

    original = forest_sampler.ThreadPoolExecutor.submit
    monkeypatch.setattr(
        forest_sampler.ThreadPoolExecutor, "submit", lambda *task: Interrupted(original(*task)), raising=True
    )
    part = sample_forests(tables, 10**7, thin=10, burn_in=0, chains=1, seed=0)
    assert not part.complete
    same = min(part.parent.shape[1], whole.parent.shape[1])
    np.testing.assert_array_equal(part.parent[:, :same], whole.parent[:, :same])


def test_progress_is_told_of_every_iteration():
    told = []
    sample_forests(sampler_tables(random_tables(4, 5)), 1234, thin=10, chains=3, seed=0, progress=told.append)
    assert sum(told) == 3 * 1234


def test_the_spanning_forest_is_the_best_one_for_its_groups():
    forest = random_tables(5, 7, scale=1.0)
    tables = sampler_tables(forest)
    best = exact_forest_posterior(forest)
    parent = spanning_forest(tables, best.best_group)
    assert log_posterior(forest, parent, best.best_group) == pytest.approx(best.best_log_posterior)


@pytest.mark.parametrize("start", ["noise", "random", "greedy", "naive"])
@pytest.mark.parametrize("grown", [True, False])
def test_every_start_is_a_forest_within_its_groups(start, grown):
    forest = random_tables(6, 25)
    tables = sampler_tables(forest)
    parent, group = start_forest(tables, start, np.random.SeedSequence(0), grown)
    below = parent >= 0
    assert below.any() == grown
    np.testing.assert_array_equal(group[below], group[parent[below]])
    state = init(tables, parent, group, np.random.SeedSequence(0))
    assert state.log_posterior[0] == pytest.approx(log_posterior(forest, parent, group))


@pytest.mark.parametrize("d", [1, 1006])
def test_odd_numbers_of_columns_and_iterations_work(d):
    tables = sampler_tables(random_tables(7, d))
    draws = sample_forests(tables, 1003, thin=7, seed=0, chains=2)
    assert draws.parent.shape == (2, count_draws(1003, 7, 200), d)
    assert np.isfinite(draws.log_posterior).all()


def test_chains_from_all_starts_meet_on_data():
    codes, classes = random_rows(8, n=500, levels=(2, 3, 2, 4) * 4)
    forest = forest_tables(*family_scores(blocks_of(codes, classes), 3), 3)
    draws = sample_forests(sampler_tables(forest), 20_000, seed=0)
    assert split_rhat(draws.log_posterior) < 1.05


def test_unsettled_columns_are_visited_more_often_and_none_less_than_half_as_often():
    share = _shares(np.array([0.0, 4.0, 1.0, 0.0]), np.array([2, 2, 2, 0]))
    assert share.mean() == pytest.approx(1)
    assert share[0] == share.min() == LEAST_SHARE
    assert share[1] - LEAST_SHARE == pytest.approx(2 * (share[2] - LEAST_SHARE))
    assert share[3] == pytest.approx(1)  # never visited: taken for the average
    np.testing.assert_array_equal(_shares(np.zeros(3), np.ones(3, dtype=int)), 1)


def test_a_step_leaves_the_state_it_was_given_and_many_make_one():
    tables = sampler_tables(random_tables(11, 12))
    seed = np.random.SeedSequence(0)
    state = init(tables, *start_forest(tables, "greedy", seed), seed)
    once = step(tables, state, 30)
    twice = step(tables, step(tables, state, 10), 20)
    assert (once.parent != state.parent).any()
    for a, b in zip(once, twice, strict=True):
        np.testing.assert_array_equal(a, b)
