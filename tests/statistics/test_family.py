"""Family scores and information equal their formulas and the frozen values."""

from __future__ import annotations

import numpy as np
import pytest

from forest_data import blocks_of, count_pair, family_score, random_rows, random_tables, reference
from seminaive.statistics import family
from seminaive.statistics.family import family_scores, forest_tables, log_posterior, pair_information

ALPHA = 5.0


def direct_scores(cells):
    """Root and child scores of the second column in either group, from the family formula."""
    noise, signal = cells.sum(axis=0), cells.reshape(-1, cells.shape[2])
    root = family_score(noise.sum(axis=0, keepdims=True), ALPHA), family_score(cells.sum(axis=1), ALPHA)
    child = family_score(noise, ALPHA), family_score(signal, ALPHA)
    return np.array(root), np.array(child)


@pytest.mark.parametrize(("dtype", "tolerance"), [(np.float64, 1e-9), (np.float32, 1e-5)])
@pytest.mark.parametrize("weighted", [False, True])
def test_tables_equal_the_dirichlet_formula_for_every_family_in_both_directions(dtype, tolerance, weighted):
    codes, classes = random_rows(0)
    weights = np.random.default_rng(0).uniform(0.5, 2, len(classes)) if weighted else None
    root, edge = family_scores(blocks_of(codes, classes, weights=weights), 3, ALPHA, dtype)
    assert edge.dtype == dtype
    for parent in range(5):
        for child in range(5):
            if parent != child:
                direct_root, direct_child = direct_scores(count_pair(codes, classes, parent, child, weights))
                np.testing.assert_allclose(root[:, child], direct_root, rtol=0, atol=1e-9)
                np.testing.assert_allclose(
                    root[:, child] + edge[:, parent, child], direct_child, rtol=0, atol=tolerance
                )


@pytest.mark.parametrize("name", ["corral", "heart_mdl"])
def test_scores_and_information_equal_the_frozen_values(name):
    codes, classes, values = reference(name)
    blocks = blocks_of(codes, classes)
    root, edge = family_scores(blocks, 2, dtype=np.float64)
    np.testing.assert_allclose(root, [values["root_score_noise"], values["root_score_signal"]], atol=1e-9)
    with_class, between = pair_information(blocks, 2)
    np.testing.assert_allclose(with_class, values["mi_class_nats"], atol=1e-12)
    tables = [
        (edge[0], "edge_bf_noise", 1e-9),
        (edge[1], "edge_bf_signal", 1e-9),
        (between, "cmi_nats", 1e-12),
    ]
    for table, field, tolerance in tables:
        for j, k, value in values[field]:
            assert table[j, k] == pytest.approx(value, abs=tolerance)
            assert table[k, j] == table[j, k]
    scored = forest_tables(root, edge, 2)
    d = len(codes)
    alone, noise = np.full(d, -1), np.zeros(d, dtype=int)
    np.testing.assert_allclose(scored.edge_penalty, values["edge_penalty"], rtol=1e-12)
    assert log_posterior(scored, alone, noise) == pytest.approx(values["log_posterior_empty_noise"], abs=1e-9)
    assert log_posterior(scored, alone, noise + 1) == pytest.approx(values["log_posterior_naive_bayes"], abs=1e-9)


def test_a_tree_scores_the_same_from_any_root():
    tables = random_tables(0, 4)
    group = np.ones(4, dtype=int)
    from_first, from_last = np.array([-1, 0, 1, 2]), np.array([1, 2, 3, -1])
    assert log_posterior(tables, from_first, group) == pytest.approx(log_posterior(tables, from_last, group))


def test_blocks_threads_and_missing_tables_change_nothing(monkeypatch):
    codes, classes = random_rows(1, levels=(2, 3, 4) * 30)
    root, edge = family_scores(blocks_of(codes, classes), 3)
    for other in (
        family_scores(blocks_of(codes, classes, n_blocks=4), 3),
        family_scores(blocks_of(codes, classes), 3, threads=2),
    ):
        np.testing.assert_array_equal(other[0], root)
        np.testing.assert_array_equal(other[1], edge)
    monkeypatch.setattr(family, "TABLE_BYTES", 0)
    np.testing.assert_allclose(family_scores(blocks_of(codes, classes), 3)[1], edge, atol=1e-5)


def test_a_constant_column_says_nothing():
    codes, classes = random_rows(2, levels=(2, 1, 3))
    root, edge = family_scores(blocks_of(codes, classes), 3, dtype=np.float64)
    np.testing.assert_allclose(root[:, 1], 0, atol=1e-10)
    np.testing.assert_allclose(edge[:, 1], 0, atol=1e-10)


def test_a_duplicate_column_is_worth_its_own_surprise():
    codes, classes = random_rows(3, n=2000, levels=(2, 2))
    codes[1] = codes[0]
    root, edge = family_scores(blocks_of(codes, classes), 3, dtype=np.float64)
    assert np.isfinite(edge).all()
    assert edge[0, 0, 1] == pytest.approx(-root[0, 0], rel=0.02)


def test_a_class_without_rows_is_legal():
    codes, classes = random_rows(4, n_classes=2)
    blocks = blocks_of(codes, classes)
    root, edge = family_scores(blocks, 3)
    assert np.isfinite(root).all()
    assert np.isfinite(edge).all()
    assert np.isfinite(pair_information(blocks, 3)[1]).all()


def test_one_column_has_a_flat_prior():
    root, edge = family_scores(blocks_of(*random_rows(5, levels=(2,))), 3)
    tables = forest_tables(root, edge, 3)
    np.testing.assert_array_equal(tables.root, root)
    np.testing.assert_array_equal(tables.edge_penalty, [0, 0])
