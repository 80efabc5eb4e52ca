"""Proofs of impossibility agree with trying everything, and never claim too much."""

from __future__ import annotations

from itertools import combinations_with_replacement

import numpy as np
import pytest

from seminaive.search.proofs import interval_slack, label_sequences, prove_infeasible
from seminaive.statistics.confusion import demands_on
from seminaive.statistics.constraints import read_constraints
from seminaive.table.door import encode
from seminaive.table.gather import gather_rows


def by_trying(values: list[float], labels: list[int], budget: dict[int, int]) -> int:
    """Every label sequence with every choice of cuts."""
    distinct = sorted(set(values))
    best = -len(values)
    for sequence in label_sequences(3):
        for cuts in combinations_with_replacement(range(len(distinct) + 1), len(sequence) - 1):
            place = np.searchsorted(cuts, np.arange(len(distinct)), side="right")
            winner = {v: sequence[p] for v, p in zip(distinct, place, strict=True)}
            errors = {k: sum(y == k and winner[v] != k for v, y in zip(values, labels, strict=True)) for k in budget}
            best = max(best, min(budget[k] - errors[k] for k in budget))
    return best


@pytest.mark.parametrize("seed", range(4))
def test_the_interval_bound_equals_trying_all_cuts(seed: int) -> None:
    rng = np.random.default_rng(seed)
    values, labels = rng.integers(0, 7, 14).astype(float), rng.integers(0, 3, 14)
    budget = {0: 1, 1: 0, 2: 2}
    expected = by_trying(values.tolist(), labels.tolist(), budget)
    assert interval_slack(values, labels, 3, budget) == expected
    asked = interval_slack(values, labels, 3, budget, least=0)
    assert asked == (0 if expected >= 0 else -1)


def test_no_label_sequence_alternates_twice() -> None:
    for sequence in label_sequences(4):
        assert len(sequence) <= 7
        for a in range(4):
            for b in range(4):
                text = "".join("a" if k == a else "b" for k in sequence if k in (a, b) and a != b)
                squeezed = [c for i, c in enumerate(text) if i == 0 or text[i - 1] != c]
                assert len(squeezed) <= 3


def test_equal_rows_of_two_classes_prove_that_both_cannot_be_kept() -> None:
    table = encode([["a"], ["a"], ["a"], ["b"]], [0, 1, 1, 1])
    rows = gather_rows(table, 1000, 0)
    both = demands_on(read_constraints({0: {"recall": 1}, 1: {"recall": 1}}, [0, 1]), np.array([1.0, 3.0]), None)
    proof = prove_infeasible(rows.block, rows.labels, both, one_gaussian=False)
    assert proof is not None
    assert proof.startswith("equal rows: 1 rows")
    less = demands_on(read_constraints({0: {"recall": 1}, 1: {"recall": 0.3}}, [0, 1]), np.array([1.0, 3.0]), None)
    assert prove_infeasible(rows.block, rows.labels, less, one_gaussian=False) is None


def test_a_table_too_large_gives_no_proof(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("seminaive.search.proofs.MOST_WORK", 10)
    assert interval_slack(np.arange(9.0), np.arange(9) % 2, 2, {0: 1, 1: 1}, least=0) is None
