from itertools import combinations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from seminaive.evaluate.adjust import adjust, bergmann_hommel, holm, partitions, shaffer
from seminaive.evaluate.ranks import pairs

p_values_of_pairs = st.integers(2, 5).flatmap(
    lambda k: st.lists(st.floats(0, 1), min_size=k * (k - 1) // 2, max_size=k * (k - 1) // 2)
)


def exhaustive_sets(k):
    """The definition: among all sets of pairs, those that are closed under A = B, B = C -> A = C."""
    all_pairs = list(combinations(range(k), 2))
    found = []
    for size in range(1, len(all_pairs) + 1):
        for chosen in combinations(all_pairs, size):
            equal = np.eye(k, dtype=bool)
            for i, j in chosen:
                equal[i, j] = equal[j, i] = True
            if not ((equal.astype(int) @ equal.astype(int) > 0) & ~equal).any():
                found.append([all_pairs.index(pair) for pair in chosen])
    return found


SETS = {k: exhaustive_sets(k) for k in range(2, 6)}


def n_models(p):
    return {1: 2, 3: 3, 6: 4, 10: 5}[len(p)]


@given(p_values_of_pairs)
def test_bergmann_hommel_equals_its_definition_over_all_subsets(p):
    expected = np.zeros(len(p))
    for members in SETS[n_models(p)]:
        expected[members] = np.maximum(expected[members], len(members) * min(p[i] for i in members))
    np.testing.assert_allclose(bergmann_hommel(p), np.minimum(1, expected), rtol=1e-13)


@given(p_values_of_pairs)
def test_shaffer_equals_its_definition_over_all_subsets(p):
    sizes = {len(members) for members in SETS[n_models(p)]}
    highest, expected = 0.0, np.empty(len(p))
    for place, i in enumerate(np.argsort(p, kind="stable")):
        highest = max(highest, max(s for s in sizes if s <= len(p) - place) * p[i])
        expected[i] = min(1.0, highest)
    np.testing.assert_allclose(shaffer(p), expected, rtol=1e-13)


@given(p_values_of_pairs)
def test_each_procedure_is_at_least_as_sharp_as_the_next(p):
    raw, dynamic, static, general = np.array(p), bergmann_hommel(p), shaffer(p), holm(p)
    slack = 1 + 1e-12
    assert (raw <= dynamic * slack).all()
    assert (dynamic <= static * slack).all()
    assert (static <= general * slack).all()


@given(st.lists(st.floats(0, 1), min_size=10, max_size=10), st.permutations(range(5)))
def test_the_order_of_the_classifiers_does_not_matter(p, order):
    first, second = pairs(5)
    square = np.zeros((5, 5))
    square[first, second] = square[second, first] = p
    adjusted = np.zeros((5, 5))
    adjusted[first, second] = adjusted[second, first] = bergmann_hommel(p)
    shuffled = square[np.ix_(order, order)][first, second]
    np.testing.assert_array_equal(bergmann_hommel(shuffled), adjusted[np.ix_(order, order)][first, second])


def test_holm_by_hand():
    assert holm([0.03, 0.01, 0.02]).tolist() == pytest.approx([0.04, 0.03, 0.04])


def test_partitions_are_counted_by_bell_numbers_and_all_differ():
    for k, bell in enumerate([1, 2, 5, 15, 52, 203, 877, 4140, 21147], start=1):
        columns = partitions(k)
        assert columns.shape == (k, bell)
        assert len({column.tobytes() for column in columns.T}) == bell


def test_nine_classifiers_are_done_exactly():
    p = np.full(36, 0.02)
    p[0] = 0.0001
    # The 35 other pairs can never all be equal while the first differs: one group of eight at most.
    adjusted = bergmann_hommel(p)
    assert adjusted[0] == pytest.approx(36 * 0.0001)
    assert adjusted[1:].tolist() == pytest.approx([28 * 0.02] * 35)


def test_auto_turns_to_shaffer_beyond_eleven_classifiers():
    p = np.random.default_rng(0).random(66) * 0.01
    np.testing.assert_array_equal(adjust(p), shaffer(p))
    with pytest.raises(ValueError, match="at most 11"):
        bergmann_hommel(p)


def test_auto_is_bergmann_hommel_for_few_classifiers():
    p = [0.001, 0.2, 0.03, 0.004, 0.5, 0.01]
    np.testing.assert_array_equal(adjust(p), bergmann_hommel(p))
    assert (adjust(p) != adjust(p, "shaffer")).any()


def test_an_unknown_method_is_named():
    with pytest.raises(ValueError, match="method is 'nemenyi'"):
        adjust([0.1], method="nemenyi")


def test_a_number_of_values_that_no_classifiers_give_is_refused():
    with pytest.raises(ValueError, match="p_values has 4 values"):
        bergmann_hommel([0.1] * 4)


@pytest.mark.parametrize("bad", [-0.1, 1.5, np.nan])
def test_a_value_that_is_no_p_value_is_named(bad):
    with pytest.raises(ValueError, match=r"p_values\[1\]"):
        holm([0.1, bad, 0.2])
