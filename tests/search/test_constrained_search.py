"""Moving parameters until promises hold, as near to the mode as can be; the frozen Iris problems."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from iris_problems import CONSTRAINTS, FROZEN, X, Y, fitted, training_rows

from seminaive.search.constrained import move_parameters
from seminaive.search.offsets import find_offsets
from seminaive.search.polish import polish
from seminaive.search.promises import Problem, penalised, softened
from seminaive.search.proofs import interval_slack
from seminaive.statistics.confusion import Demand, count_confusion, worst_slack
from seminaive.statistics.constraints import read_constraints

CASES = FROZEN["iris_constrained"]


def test_the_recipe_of_the_splits_is_the_frozen_one() -> None:
    for frozen in FROZEN["iris_splits"]:
        rows = training_rows(frozen["split"])
        assert rows[:5].tolist() == frozen["train_head"]
        assert rows.sum() == frozen["train_sum"]
        assert (rows**2).sum() == frozen["train_square_sum"]


def check_case(case: Any) -> float | None:
    """Status, offsets and loss of one problem; gives the loss of an active one."""
    model = fitted(case["split"], case["features"])
    problem = model.problem(CONSTRAINTS)
    scores = model.evidence.scores(model.table.blocks.blocks[0])  # type: ignore[attr-defined]
    offsets = find_offsets(scores, problem.labels, problem.demands, objective="slack")
    assert offsets.exact
    assert offsets.slack == case["offset_best_slack"]
    if "interval_bound_slack" in case and len(case["features"]) == 1:
        rows = training_rows(case["split"])
        slack = interval_slack(X[rows, case["features"][0]], Y[rows], 3, {0: 8, 1: 14, 2: 1})
        assert slack == case["interval_bound_slack"] < 0
    if case["status"] == "proved_infeasible":
        return None
    found = move_parameters(problem)
    assert found.feasible == (case["status"] in ("feasible", "map_feasible"))
    if not found.feasible:
        return None
    scores = problem.model.scores(problem.model.at(found.z))
    assert worst_slack(problem.demands, count_confusion(scores, problem.labels)) >= 0
    assert found.loss <= 1.05 * case["loss_best_found"] + 0.05
    return found.loss if case["status"] == "feasible" else None


@pytest.mark.parametrize("case", [c for c in CASES if c["split"] == 0], ids=lambda c: str(c["features"]))
def test_problems_of_the_first_split(case: Any) -> None:
    loss = check_case(case)
    if loss is not None:
        assert loss <= case["loss_best_found"] + 1e-3


@pytest.mark.slow
def test_all_150_problems_of_iris() -> None:
    losses = [loss for case in CASES if (loss := check_case(case)) is not None]
    assert len(losses) == 110
    assert np.mean(losses) <= 4.8645


def test_the_frozen_witnesses_keep_the_promises() -> None:
    for case in CASES:
        if "witness_z" in case:
            problem = fitted(case["split"], case["features"]).problem(CONSTRAINTS)
            z = np.array(case["witness_z"])
            scores = problem.model.scores(problem.model.at(z))
            assert worst_slack(problem.demands, count_confusion(scores, problem.labels)) >= 0
            assert problem.loss(z) == pytest.approx(case["loss_best_found"], rel=1e-6)


def problem_of(wish: Any, features: tuple[int, ...] = (1, 3)) -> Problem:
    return fitted(0, list(features)).problem(read_constraints(wish, [0, 1, 2]))


def finite_differences(value: Any, z: Any) -> Any:
    steps = 1e-5 * np.eye(len(z))
    return np.array([(value(z + step)[0] - value(z - step)[0]) / 2e-5 for step in steps])


def test_the_gradients_of_both_stages_match_finite_differences(monkeypatch: Any) -> None:
    seen = []

    def spy(value: Any, start: Any, steps: int) -> Any:
        z = start + 0.3 * np.random.default_rng(len(seen)).normal(size=len(start))
        seen.append(np.abs(value(z)[1] - finite_differences(value, z)).max() / (1 + np.abs(value(z)[1]).max()))
        return z

    monkeypatch.setattr("seminaive.search.promises.descend", spy)
    problem = problem_of({2: {"recall": 0.95}, "*": {"accuracy": 0.9}})
    list(penalised(problem, np.zeros(problem.model.size)))
    list(softened(problem, np.zeros(problem.model.size)))
    assert len(seen) == 3 + 16
    assert max(seen) <= 1e-6


@pytest.mark.parametrize(
    "wish",
    [
        {2: {"precision": 0.97}},
        {1: {"f1": 0.95}},
        {1: {"specificity": 0.99}},
        {"*": {"balanced_accuracy": 0.98}},
        {"*": {"accuracy": 0.97}},
        {"*": {"cost": {"matrix": [[0, 1, 1], [1, 0, 1], [1, 5, 0]], "max": 0.1}}},
    ],
)
def test_every_metric_can_be_promised(wish: Any) -> None:
    problem = problem_of(wish, (1, 2, 3))
    assert problem.slack(np.zeros(problem.model.size)) < 0
    found = move_parameters(problem)
    assert found.feasible
    assert found.loss > 0


def test_the_same_seed_gives_the_same_bits() -> None:
    results = [move_parameters(problem_of({2: {"recall": 0.95}, 1: {"recall": 0.8}}), 7).z for _ in range(2)]
    assert np.array_equal(*results)


def test_polishing_never_returns_a_point_that_breaks_a_promise() -> None:
    problem = problem_of({2: {"recall": 0.95}})
    far = np.zeros(problem.model.size)
    polished = polish(problem, far)
    assert polished is None or problem.slack(polished) >= 0


def test_required_rows_of_weighted_rows_are_the_smallest_prefix_that_suffices() -> None:
    problem = problem_of({2: {"recall": 0.5}})
    weights = np.where(np.arange(105) % 2, 1.0, 3.0)
    class_weight = np.bincount(problem.labels, weights)
    demand = Demand(problem.demands[0].constraint, class_weight, 0.0, True)
    weighted = Problem(problem.model, problem.labels, [demand], weights)
    margin = np.random.default_rng(0).normal(size=105)
    (rows,) = weighted.required(margin)
    assert weights[rows].sum() >= demand.least > weights[rows].sum() - weights[rows[-1]]
    assert margin[rows].min() >= np.delete(margin, rows)[problem.labels[np.setdiff1d(np.arange(105), rows)] == 2].max()


def test_weights_are_obeyed_by_the_search() -> None:
    problem = problem_of({2: {"recall": 0.95}, 1: {"recall": 0.7}})
    weights = np.where(np.arange(105) % 2, 1.0, 2.0)
    class_weight = np.bincount(problem.labels, weights)
    demands = [Demand(d.constraint, class_weight, 0.0, True) for d in problem.demands]
    found = move_parameters(Problem(problem.model, problem.labels, demands, weights))
    assert found.feasible
    scores = problem.model.scores(problem.model.at(found.z))
    assert worst_slack(demands, count_confusion(scores, problem.labels, weights)) >= 0


def test_the_mesh_search_of_the_literature_agrees_and_finds_nothing_better() -> None:
    pytest.importorskip("PyNomad")
    from seminaive.search.mads import move_by_mesh

    problem = problem_of({0: {"recall": 0.75}, 1: {"recall": 0.6}, 2: {"recall": 0.95}}, (2, 3))
    ours = move_parameters(problem)
    for steps in (False, True):
        theirs = move_by_mesh(problem, 0, 1000, steps)
        assert not theirs.feasible or ours.loss <= theirs.loss + 1e-3
