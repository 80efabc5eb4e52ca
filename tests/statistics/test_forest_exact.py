"""The exact posterior equals the frozen values and an enumeration of every forest."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest
from scipy.special import logsumexp

from forest_data import blocks_of, random_tables, reference
from seminaive.statistics.family import ForestTables, family_scores, forest_tables, log_posterior
from seminaive.statistics.forest_exact import exact_forest_posterior


def every_forest(d):
    """All rooted forests with groups: parents without cycles, edges within groups."""
    for parent in product(range(-1, d), repeat=d):
        if all(not _meets_itself(parent, j) for j in range(d)):
            for group in product((0, 1), repeat=d):
                if all(p < 0 or group[p] == group[j] for j, p in enumerate(parent)):
                    yield np.array(parent), np.array(group)


def _meets_itself(parent, j):
    node, steps = parent[j], 0
    while node >= 0 and node != j and steps <= len(parent):
        node, steps = parent[node], steps + 1
    return node >= 0


def by_enumeration(tables):
    forests = list(every_forest(tables.n_columns))
    scores = np.array([log_posterior(tables, parent, group) for parent, group in forests])
    probability = np.exp(scores - logsumexp(scores))
    d = tables.n_columns
    inclusion, edges = np.zeros(d), np.zeros((2, d, d))
    for share, (parent, group) in zip(probability, forests, strict=True):
        inclusion += share * group
        for j in np.flatnonzero(parent >= 0):
            edges[group[j], j, parent[j]] += share
            edges[group[j], parent[j], j] += share
    return scores, probability, inclusion, edges


def equals_enumeration(tables):
    scores, probability, inclusion, edges = by_enumeration(tables)
    exact = exact_forest_posterior(tables)
    assert exact.log_normaliser == pytest.approx(logsumexp(scores), abs=1e-9)
    np.testing.assert_allclose(exact.inclusion, inclusion, atol=1e-11)
    np.testing.assert_allclose(exact.edges, edges, atol=1e-11)
    assert exact.mean_log_posterior == pytest.approx(probability @ scores, abs=1e-9)
    assert exact.best_log_posterior == pytest.approx(scores.max(), abs=1e-9)
    assert log_posterior(tables, exact.best_parent, exact.best_group) == pytest.approx(scores.max(), abs=1e-9)


@pytest.mark.parametrize("d", [1, 2, 4])
def test_it_equals_the_sum_over_every_forest(d):
    equals_enumeration(random_tables(d, d))


@pytest.mark.slow
def test_it_equals_the_sum_over_all_forests_of_corral():
    codes, classes, _ = reference("corral")
    equals_enumeration(forest_tables(*family_scores(blocks_of(codes, classes), 2, dtype=np.float64), 2))


@pytest.mark.parametrize("name", ["corral", "heart_mdl"])
def test_it_equals_the_frozen_values(name):
    codes, classes, values = reference(name)
    exact = exact_forest_posterior(forest_tables(*family_scores(blocks_of(codes, classes), 2, dtype=np.float64), 2))
    frozen = values["exact"]
    assert exact.log_normaliser == pytest.approx(frozen["log_normaliser"], abs=1e-9)
    assert exact.mean_log_posterior == pytest.approx(frozen["mean_log_posterior"], abs=1e-9)
    assert exact.best_log_posterior == pytest.approx(frozen["map_log_posterior"], abs=1e-9)
    assert exact.best_group.tolist() == frozen["map_groups"]
    np.testing.assert_allclose(exact.inclusion, frozen["inclusion"], atol=1e-9)
    for group, field in enumerate(("edge_noise", "edge_signal")):
        for j, k, value in frozen[field]:
            assert exact.edges[group, j, k] == pytest.approx(value, abs=1e-9)


def test_a_duplicated_column_with_a_huge_edge_neither_overflows_nor_cancels():
    edge = np.zeros((2, 3, 3))
    edge[:, 0, 1] = edge[:, 1, 0] = 5000.0
    exact = exact_forest_posterior(ForestTables(np.zeros((2, 3)), edge, np.array([1.0, 1.0])))
    assert exact.edges[:, 0, 1].sum() == pytest.approx(1, abs=1e-12)
    assert np.isfinite(exact.log_normaliser)


def test_more_columns_than_can_be_enumerated_are_refused():
    with pytest.raises(ValueError, match="at most 14 columns, got 15"):
        exact_forest_posterior(random_tables(0, 15))
