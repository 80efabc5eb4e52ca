"""Promises are read with care and counted exactly."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from seminaive.statistics.confusion import count_confusion, demands_on, measure, required_count
from seminaive.statistics.constraints import Constraint, read_constraints

FROZEN = json.loads((Path(__file__).parent.parent / "search" / "constrained.json").read_text())
CLASSES = ["a", "b", "c"]


def demand(wish: dict[Any, Any], class_weight: list[float], confidence: float | None = None) -> Any:
    return demands_on(read_constraints(wish, CLASSES[: len(class_weight)]), np.array(class_weight), confidence)[0]


def test_required_counts_are_the_frozen_ones() -> None:
    for case in FROZEN["required_counts"]:
        assert required_count(case["rate"], case["n"]) == case["required"]


def test_rounding_does_not_ask_for_one_case_more() -> None:
    assert 0.07 * 100 > 7
    assert required_count(0.07, 100) == 7


def test_all_metrics_of_one_table_are_the_frozen_ones() -> None:
    frozen = FROZEN["confusion_metrics"]
    table = np.array(frozen["confusion_rows_true_cols_pred"], dtype=float)
    for name in ("recall", "precision", "specificity"):
        values = [measure(Constraint(name, 0.5, k, k), table) for k in range(3)]
        assert values == pytest.approx(frozen[name], rel=1e-11)
    for beta in (1.0, 2.0):
        values = [measure(Constraint("fbeta", 0.5, k, k, beta), table) for k in range(3)]
        assert values == pytest.approx(frozen[f"f{beta:g}"], rel=1e-11)
    for name in ("accuracy", "balanced_accuracy"):
        assert measure(Constraint(name, 0.5), table) == pytest.approx(frozen[name], rel=1e-11)
    cost = Constraint("cost", 0.5, matrix=tuple(map(tuple, frozen["cost_matrix"])))
    assert measure(cost, table) == pytest.approx(frozen["mean_cost"], rel=1e-11)


def test_a_tie_is_an_error() -> None:
    scores = np.zeros((3, 3))
    assert np.trace(count_confusion(scores, np.arange(3))) == 0


def test_equal_rows_of_different_classes_are_never_both_right() -> None:
    scores = np.random.default_rng(0).normal(size=(3, 1)).repeat(3, axis=1)
    assert np.trace(count_confusion(scores, np.arange(3))) <= 1


def test_precision_of_a_class_nobody_predicts_is_violated() -> None:
    nobody = np.array([[5.0, 0.0], [3.0, 0.0]])
    wanted = demand({"b": {"precision": 0.1}}, [5, 3])
    assert not wanted.satisfied(nobody)
    assert not demand({"b": {"f1": 0.1}}, [5, 3]).satisfied(nobody)
    assert not demand({"b": {"precision": 0.1}}, [5, 3], 0.95).satisfied(nobody)


metrics = st.sampled_from(["recall", "specificity", "precision", "f1", "accuracy", "balanced_accuracy", "cost"])


@settings(max_examples=200, deadline=None)
@given(metrics, st.floats(0.01, 1), st.lists(st.integers(1, 9), min_size=9, max_size=9))
def test_counting_agrees_with_the_rate(metric: str, rate: float, cells: list[int]) -> None:
    table = np.array(cells, dtype=float).reshape(3, 3)
    matrix = [[0, 1, 2], [1, 0, 1], [3, 1, 0]]
    of_class = metric in ("recall", "specificity", "precision", "f1")
    wish: dict[Any, Any] = {
        "b" if of_class else "*": {metric: {"matrix": matrix, "max": rate} if metric == "cost" else rate}
    }
    wanted = demand(wish, table.sum(axis=1).tolist())
    value = measure(wanted.constraint, table)
    if abs(value - rate) > 1e-7:
        assert wanted.satisfied(table) == (value <= rate if metric == "cost" else value >= rate)


@settings(max_examples=100, deadline=None)
@given(metrics, st.floats(0.05, 0.95), st.lists(st.integers(0, 60), min_size=4, max_size=4))
def test_a_certified_promise_is_also_a_kept_one(metric: str, rate: float, cells: list[int]) -> None:
    table = np.array(cells, dtype=float).reshape(2, 2) + 1
    of_class = metric in ("recall", "specificity", "precision", "f1")
    inner: Any = {"matrix": [[0, 1], [2, 0]], "max": rate} if metric == "cost" else rate
    wish: dict[Any, Any] = {"b" if of_class else "*": {metric: inner}}
    sizes = table.sum(axis=1).tolist()
    certified = demand(wish, sizes, 0.9)
    if certified.satisfied(table):
        assert demand(wish, sizes).satisfied(table)
        assert certified.certifiable
        bound = certified.bound(table)
        assert bound <= rate + 1e-9 if metric == "cost" else bound >= rate - 1e-9


def test_slack_is_counted_for_many_tables_at_once() -> None:
    tables = np.random.default_rng(0).integers(1, 9, (7, 2, 2)).astype(float)
    for wish in (
        {"b": {"precision": 0.4}},
        {"b": {"recall": 0.4}},
        {"b": {"f1": 0.4}},
        {"*": {"balanced_accuracy": 0.4}},
    ):
        for confidence in (None, 0.9):
            wanted = demand(wish, [9, 9], confidence)
            assert wanted.slack(tables) == pytest.approx([float(wanted.slack(table)) for table in tables])


@pytest.mark.parametrize(
    ("wish", "message"),
    [
        ({"z": {"recall": 0.5}}, "'z' is not one of the classes"),
        ({"a": {"recal": 0.5}}, "'recal' is not one of recall"),
        ({"a": {"recall": 1.5}}, "between 0 and 1"),
        ({"a": {"recall": True}}, "between 0 and 1"),
        ({"a": {"accuracy": 0.5}}, "'accuracy' is not one of recall"),
        ({"*": {"recall": 0.5}}, "'recall' is not one of accuracy"),
        ({"a": {"fbeta": 0.5}}, "pair"),
        ({"a": {"f1": 0.5, "fbeta": (1, 0.6)}}, "another rate for the same metric"),
        ({"a": 0.5}, "must be a dict"),
        ({"*": {"cost": {"matrix": [[0, 1]], "max": 1}}}, "3 x 3"),
        ({"*": {"cost": 3}}, "matrix"),
        (["a"], "must be a dict"),
    ],
)
def test_what_makes_no_sense_is_refused_in_one_sentence(wish: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        read_constraints(wish, CLASSES)


def test_a_class_without_rows_is_named() -> None:
    with pytest.raises(ValueError, match="class 'b' has no row"):
        demand({"b": {"recall": 0.5}}, [3, 0])


def test_a_class_called_star_can_be_promised_something() -> None:
    (found,) = read_constraints({("*",): {"recall": 0.5}}, ["*", "b"])
    assert found.position == 0


def test_a_rate_of_zero_promises_nothing() -> None:
    assert read_constraints({"a": {"recall": 0}}, CLASSES) == []
