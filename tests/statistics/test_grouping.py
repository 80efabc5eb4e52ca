"""Groups by complete linkage."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.cluster.hierarchy import fcluster, linkage
from scipy.spatial.distance import squareform

from seminaive.statistics.grouping import complete_linkage


def random_similarity(seed, d):
    upper = np.triu(np.random.default_rng(seed).random((d, d)), 1)
    return upper + upper.T + np.eye(d)


@given(st.integers(0, 10_000), st.integers(2, 12), st.floats(0, 1))
@settings(deadline=None)
def test_groups_are_those_of_a_complete_linkage_tree(seed, d, threshold):
    similarity = random_similarity(seed, d)
    tree = linkage(squareform(1 - similarity, checks=False), "complete")
    label = fcluster(tree, 1 - threshold, "distance")
    expected = sorted(np.flatnonzero(label == group).tolist() for group in np.unique(label))
    assert complete_linkage(similarity, threshold) == expected


@given(st.integers(0, 10_000), st.integers(1, 12), st.sampled_from([0.0, 0.2, 0.5, 0.8]))
def test_members_of_a_group_all_reach_the_threshold(seed, d, threshold):
    similarity = random_similarity(seed, d).round(1)
    for group in complete_linkage(similarity, threshold):
        assert similarity[np.ix_(group, group)].min() >= threshold


@pytest.mark.parametrize(("threshold", "groups"), [(0.7, [[0, 1], [2]]), (0.71, [[0], [1], [2]])])
def test_a_pair_at_the_threshold_is_joined(threshold, groups):
    similarity = np.array([[1.0, 0.7, 0.0], [0.7, 1.0, 0.0], [0.0, 0.0, 1.0]])
    assert complete_linkage(similarity, threshold) == groups


def test_no_columns_give_no_groups():
    assert complete_linkage(np.zeros((0, 0)), 0.5) == []
