"""The zone kernels equal their definitions in NumPy."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from seminaive.kernels.offsets import bound_zone, nearest_change


def bound_zone_in_numpy(scores: Any, labels: Any, weights: Any, upper: Any, forms: Any, width: float) -> Any:
    """Possible classes of every row from all pairs at once."""
    k = len(scores)
    reach = scores[:, None] - scores[None] + upper[:, :, None] > width
    reach[np.arange(k), np.arange(k)] = True
    possible = reach.all(axis=1)
    possible[:, ~possible.any(axis=0)] = True
    worth = forms[:, labels, :].transpose(0, 2, 1)
    high = np.where(possible, worth, -np.inf).max(axis=1)
    low = np.where(possible, worth, np.inf).min(axis=1)
    matters = (high > low).any(axis=0)
    inside, total = np.zeros((2, k, k))
    for p in range(k):
        for q in range(p + 1, k):
            change = scores[q] - scores[p]
            open_ = matters & possible[p] & possible[q]
            open_ &= (change > -upper[q, p] + width) & (change < upper[p, q] - width)
            inside[p, q], total[p, q] = open_.sum(), change[open_].sum()
    return (high * weights).sum(axis=1), (low * weights).sum(axis=1), inside, total


@pytest.mark.parametrize("seed", range(5))
def test_bounds_of_a_zone_equal_their_definition(seed: int) -> None:
    rng = np.random.default_rng(seed)
    k, n = 3 + seed % 3, 40
    scores, labels = rng.normal(size=(k, n)), rng.integers(0, k, n)
    weights, forms = rng.uniform(0.5, 2, n), rng.normal(size=(2, k, k))
    b = rng.normal(size=k)
    upper = b[:, None] - b + rng.uniform(0.1, 1, (k, k)) * (1 - np.eye(k))
    most, least = np.zeros((2, 2))
    inside, total = np.zeros((2, k, k))
    bound_zone(scores, labels, weights, upper, forms, 1e-9, most, least, inside, total)
    expected = bound_zone_in_numpy(scores, labels, weights, upper, forms, 1e-9)
    for got, wanted in zip((most, least, inside, total), expected, strict=True):
        assert got == pytest.approx(wanted, abs=1e-9)


def test_the_nearest_change_is_the_nearest() -> None:
    scores = np.array([[0.0, 0.0, 0.0], [1.0, 2.0, 5.0]])
    assert nearest_change(scores, 0, 1, 0.5, 4.0, 3.6) == 2.0
