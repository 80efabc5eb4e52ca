"""Class offsets: exact for two classes, proved by branch and bound for more."""

from __future__ import annotations

from itertools import product
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from seminaive.search.attainable import attainable_rates
from seminaive.search.offsets import find_offsets
from seminaive.statistics.confusion import count_confusion, demands_on, worst_slack
from seminaive.statistics.constraints import read_constraints


def sample(seed: int, k: int, n: int) -> tuple[Any, Any]:
    rng = np.random.default_rng(seed)
    labels = np.arange(n) % k
    scores = rng.normal(size=(k, n)) + 0.8 * (np.arange(k)[:, None] == labels)
    return scores, labels


def demands(wish: Any, labels: Any, confidence: float | None = None) -> Any:
    counts = np.bincount(labels)
    return demands_on(read_constraints(wish, list(range(len(counts)))), counts.astype(float), confidence)


def every_cell(scores: Any) -> Any:
    """Offsets in every cell that the rows' changes of sides cut the plane of three classes into."""
    first = np.sort(scores[0] - scores[1])
    second = np.sort(scores[0] - scores[2])
    third = np.sort(scores[1] - scores[2])  # b_2 - b_1
    corners = [*((a, b) for a, b in product(first, second)), *((a, a + c) for a, c in product(first, third))]
    corners += [(b - c, b) for b, c in product(second, third)]
    for a, b in corners:
        for i, j in product((-1e-6, 1e-6, 3e-6, -3e-6), (-2e-6, 2e-6)):
            yield np.array([0.0, a + i, b + j])


@pytest.mark.parametrize("seed", range(6))
def test_three_classes_agree_with_looking_at_every_cell(seed: int) -> None:
    scores, labels = sample(seed, 3, 15)
    wanted = demands({0: {"recall": 0.8}, 1: {"recall": 0.6}, 2: {"recall": 0.8}}, labels)
    best = max(float(worst_slack(wanted, count_confusion(scores + b[:, None], labels))) for b in every_cell(scores))
    found = find_offsets(scores, labels, wanted, objective="slack")
    assert found.exact
    assert found.slack == best == found.best_slack
    assert find_offsets(scores, labels, wanted).feasible == (best >= 0)


WISHES: list[Any] = [
    {1: {"recall": 0.8}},
    {0: {"recall": 0.7}, 1: {"recall": 0.6}},
    {1: {"precision": 0.8}},
    {1: {"f1": 0.7}},
    {0: {"specificity": 0.9}},
    {"*": {"accuracy": 0.7}},
    {"*": {"balanced_accuracy": 0.7}},
]


@pytest.mark.parametrize("wish", WISHES)
@pytest.mark.parametrize("k", [2, 3, 4])
def test_what_is_returned_was_counted_under_the_offsets(wish: Any, k: int) -> None:
    scores, labels = sample(1, k, 60)
    for confidence in (None, 0.8):
        wanted = demands(wish, labels, confidence)
        found = find_offsets(scores, labels, wanted)
        counted = count_confusion(scores + found.offsets[:, None], labels)
        assert np.array_equal(counted, found.confusion)
        assert found.slack == pytest.approx(float(worst_slack(wanted, counted)))
        assert found.offsets.sum() == pytest.approx(0, abs=1e-12)


@settings(max_examples=60, deadline=None)
@given(st.integers(0, 10**6), st.floats(0.3, 1))
def test_two_classes_find_the_shortest_offsets(seed: int, rate: float) -> None:
    scores, labels = sample(seed, 2, 21)
    wanted = demands({1: {"recall": rate}}, labels)
    found = find_offsets(scores, labels, wanted)
    assert found.feasible
    nearer = found.offsets * 0.0 if count_right(scores, labels, 0.0, wanted) else None
    if nearer is not None:
        assert np.abs(found.offsets).max() <= 0.5 + 1e-9
    else:
        # half a gap (at most one nat) before the offsets stop being enough
        edge = np.linspace(0, 1, 2001)[:, None] * found.offsets
        enough = [count_right(scores, labels, float(b[1] - b[0]), wanted) for b in edge]
        assert not enough[0]
        assert enough[-1]


def count_right(scores: Any, labels: Any, t: float, wanted: Any) -> bool:
    return bool(worst_slack(wanted, count_confusion(scores + np.array([[0.0], [t]]), labels)) >= 0)


def test_accuracy_can_be_preferred_to_short_offsets() -> None:
    scores, labels = sample(3, 3, 120)
    wanted = demands({1: {"recall": 0.7}}, labels)
    short = find_offsets(scores, labels, wanted)
    right = find_offsets(scores, labels, wanted, objective="accuracy")
    assert short.feasible
    assert right.feasible
    assert np.linalg.norm(short.offsets) <= np.linalg.norm(right.offsets) + 1e-12
    assert np.trace(right.confusion) >= np.trace(short.confusion)


def test_no_threshold_is_put_on_a_tie() -> None:
    scores = np.array([[0.0, 0.0, 0.0, 0.0], [1.0, 1.0, 1.0, 1.0]])
    labels = np.array([0, 0, 1, 1])
    found = find_offsets(scores, labels, demands({0: {"recall": 0.5}, 1: {"recall": 0.5}}, labels))
    assert found.exact
    assert not found.feasible
    assert abs(found.offsets[0] - found.offsets[1] - 1.0) > 1e-3


def test_the_limit_on_zones_leaves_a_bound_and_no_proof() -> None:
    rng = np.random.default_rng(0)
    labels = np.arange(300) % 5
    scores = rng.normal(size=(5, 300))
    wanted = demands({k: {"recall": 0.9} for k in range(5)}, labels)
    found = find_offsets(scores, labels, wanted, max_zones=3)
    assert not found.exact
    assert found.best_slack >= found.slack


def test_weights_count_as_copies() -> None:
    scores, labels = sample(5, 3, 30)
    weights = np.array([1.0, 2.0, 3.0] * 10)
    rows = np.repeat(np.arange(30), weights.astype(int))
    constraints = read_constraints({0: {"recall": 0.9}, 1: {"recall": 0.5}}, [0, 1, 2])
    weighted = demands_on(constraints, np.bincount(labels, weights), None, weighted=True)
    copies = demands_on(constraints, np.bincount(labels[rows]).astype(float), None)
    a = find_offsets(scores, labels, weighted, weights, "slack")
    b = find_offsets(scores[:, rows], labels[rows], copies, None, "slack")
    assert a.exact
    assert b.exact
    assert a.slack == pytest.approx(b.slack, abs=1)  # weights are asked for to the fraction, copies to whole ones
    assert (a.slack >= 0) == (b.slack >= 0)


def test_nothing_shorter_than_the_bound_is_feasible_and_the_answer_is_near_it() -> None:
    for seed in range(8):
        scores, labels = sample(seed, 3, 60)
        wanted = demands({0: {"recall": 0.8}, 1: {"recall": 0.5}}, labels)
        found = find_offsets(scores, labels, wanted)
        if found.feasible and found.exact:
            length = np.linalg.norm(found.offsets)
            assert found.shortest <= length + 1e-12
            assert length <= found.shortest + 0.5


def test_relabelling_permutes_the_offsets() -> None:
    scores, labels = sample(2, 3, 45)
    order = np.array([2, 0, 1])
    place = np.argsort(order)
    a = find_offsets(scores, labels, demands({0: {"recall": 0.9}}, labels), objective="slack")
    b = find_offsets(scores[order], place[labels], demands({int(place[0]): {"recall": 0.9}}, labels), objective="slack")
    assert a.slack == b.slack


def test_the_front_of_two_classes_is_what_all_thresholds_reach() -> None:
    scores, labels = sample(4, 2, 40)
    t = np.concatenate([np.sort(scores[0] - scores[1]) + 1e-9, [-99.0]])
    pairs = []
    for b in t:
        m = count_confusion(scores + np.array([[0.0], [b]]), labels)
        pairs.append((m[0, 0] / 20, m[1, 1] / 20))
    front = attainable_rates(scores, labels, 0, 1)
    for a, b in pairs:
        assert ((front[:, 0] >= a) & (front[:, 1] >= b)).any()
    assert {tuple(p) for p in front} <= {(float(a), float(b)) for a, b in pairs}
