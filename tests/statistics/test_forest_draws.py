"""Draws from the exact posterior have the exact posterior's shares."""

from __future__ import annotations

import numpy as np
import pytest

from forest_data import random_tables
from seminaive.statistics.family import ForestTables
from seminaive.statistics.forest_draws import draw_forests
from seminaive.statistics.forest_exact import exact_forest_posterior


def edge_shares(parent, group):
    n, d = parent.shape
    shares = np.zeros((2, d, d))
    draw, child = np.nonzero(parent >= 0)
    np.add.at(shares, (group[draw, child], child, parent[draw, child]), 1 / n)
    return shares + shares.transpose(0, 2, 1)


@pytest.mark.parametrize("d", [1, 2, 5, 9])
@pytest.mark.parametrize("seed", [0, 1])
def test_shares_of_splits_and_edges_are_exact(d, seed):
    tables = random_tables(seed, d)
    exact = exact_forest_posterior(tables)
    parent, group = draw_forests(tables, 40_000, np.random.default_rng(seed))
    np.testing.assert_allclose(group.mean(axis=0), exact.inclusion, atol=0.002)
    np.testing.assert_allclose(edge_shares(parent, group), exact.edges, atol=0.01)


def test_every_rooted_forest_of_three_columns_is_drawn_by_its_weight():
    tables = random_tables(3, 3, scale=1.0)
    parent, group = draw_forests(tables, 200_000, np.random.default_rng(0))
    found: dict[tuple[int, ...], int] = {}
    for key in map(tuple, np.concatenate([parent, group], axis=1).tolist()):
        found[key] = found.get(key, 0) + 1
    keys = sorted(found)

    def log_weight(key):
        total = sum(tables.root[key[3 + j], j] for j in range(3))
        return total + sum(tables.weights(key[3 + j])[j, key[j]] for j in range(3) if key[j] >= 0)

    weight = np.exp([log_weight(key) for key in keys])
    share = np.array([found[key] for key in keys]) / 200_000
    np.testing.assert_allclose(share, weight / weight.sum(), atol=0.004)
    assert len(keys) == 16 + 16 + 6 * 3  # all three in one group, or two in one and one in the other


def test_columns_that_hang_together_by_thousands_of_nats_are_drawn_at_once():
    edge = np.zeros((2, 4, 4))
    edge[:, 0, 1] = edge[:, 1, 0] = edge[:, 1, 2] = edge[:, 2, 1] = 5000.0
    tables = ForestTables(np.zeros((2, 4)), edge, np.full(2, 3.0))
    parent, group = draw_forests(tables, 500, np.random.default_rng(0))
    shares = edge_shares(parent, group).sum(axis=0)
    assert shares[0, 1] == pytest.approx(1)
    assert shares[1, 2] == pytest.approx(1)
    roots = (parent[:, :3] == -1).mean(axis=0)
    np.testing.assert_allclose(roots, 1 / 3, atol=0.08)


def test_the_order_of_the_columns_only_permutes_the_draws():
    tables = random_tables(5, 6)
    turn = np.array([3, 1, 5, 0, 2, 4])
    turned = ForestTables(tables.root[:, turn], tables.edge[:, turn[:, None], turn[None, :]], tables.edge_penalty)
    parent, group = draw_forests(tables, 100, np.random.default_rng(1))
    parent_turned, group_turned = draw_forests(turned, 100, np.random.default_rng(1))
    np.testing.assert_array_equal(group_turned, group[:, turn])
    back = np.append(turn, -1)
    np.testing.assert_array_equal(back[parent_turned], parent[:, turn])
