import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from scipy import stats

from seminaive.evaluate.ranks import average_ranks, friedman, pairs, rank_tests

tables = st.tuples(st.integers(2, 8), st.integers(2, 6)).flatmap(
    lambda shape: arrays(np.float64, shape, elements=st.integers(0, 5).map(float))
)


@given(tables)
def test_ties_share_their_mean_rank(scores):
    np.testing.assert_allclose(average_ranks(scores), stats.rankdata(scores, axis=1).mean(axis=0))


@given(tables)
def test_ranks_of_accuracies_are_ranks_of_errors(scores):
    np.testing.assert_array_equal(average_ranks(scores, higher_is_better=True), average_ranks(-scores))


def test_friedman_without_ties_equals_scipy():
    scores = np.random.default_rng(3).random((12, 4))
    ours = friedman(average_ranks(scores), n_sets=12)
    statistic, p_value = stats.friedmanchisquare(*scores.T)
    assert ours.statistic == pytest.approx(statistic, rel=1e-12)
    assert ours.p_value == pytest.approx(p_value, rel=1e-10)


def test_iman_davenport_is_the_f_test_of_the_ranks():
    scores = np.random.default_rng(4).random((9, 3))
    ranks = stats.rankdata(scores, axis=1)
    between = 9 * ((ranks.mean(axis=0) - 2) ** 2).sum() / 2
    residual = ((ranks - ranks.mean(axis=0)) ** 2).sum() / (2 * 8)
    ours = friedman(average_ranks(scores), n_sets=9)
    assert ours.iman_davenport == pytest.approx(between / residual)
    assert ours.iman_davenport_p_value == pytest.approx(stats.f.sf(between / residual, 2, 16))


def test_the_same_order_on_every_data_set_is_as_probable_as_orders_are_many():
    ours = friedman([1.0, 2.0, 3.0], n_sets=7)
    assert ours.statistic == pytest.approx(14.0)
    assert ours.iman_davenport == np.inf
    assert ours.iman_davenport_p_value == pytest.approx(6.0**-6)  # six sets repeat the order of the first
    assert friedman([1.0, 2.0, 3.0], n_sets=2).iman_davenport_p_value == pytest.approx(1 / 6)


def test_equal_ranks_show_nothing():
    ours = friedman([2.0, 2.0, 2.0], n_sets=7)
    assert (ours.statistic, ours.p_value, ours.iman_davenport_p_value) == (0.0, 1.0, 1.0)
    z, p = rank_tests([2.0, 2.0, 2.0], n_sets=7)
    assert z.tolist() == [0.0] * 3
    assert p.tolist() == [1.0] * 3


def test_pair_tests_follow_the_normal_distribution():
    z, p = rank_tests([1.5, 2.75, 1.75], n_sets=8)
    first, second = pairs(3)
    for i, j, z_ij, p_ij in zip(first, second, z, p, strict=True):
        by_hand = ([1.5, 2.75, 1.75][i] - [1.5, 2.75, 1.75][j]) / np.sqrt(3 * 4 / (6 * 8))
        assert z_ij == pytest.approx(by_hand)
        assert p_ij == pytest.approx(2 * stats.norm.sf(abs(by_hand)))


def test_a_missing_score_is_named():
    with pytest.raises(ValueError, match="no value for data set 1, classifier 0"):
        average_ranks([[0.1, 0.2], [np.nan, 0.3]])


def test_one_data_set_cannot_be_tested():
    with pytest.raises(ValueError, match="at least two data sets"):
        friedman([1.0, 2.0], n_sets=1)


@pytest.mark.parametrize("scores", [[0.1, 0.2], [[0.1], [0.2]], np.empty((0, 3))])
def test_scores_of_another_shape_are_refused(scores):
    with pytest.raises(ValueError, match="data sets, classifiers"):
        average_ranks(scores)
