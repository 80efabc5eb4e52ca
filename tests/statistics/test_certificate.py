"""Bounds and counts that certify a rate, against frozen values and the binomial distribution."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from scipy.stats import binom

from seminaive.statistics.certificate import cases_needed, hoeffding_margin, lower_bound, smallest_count

FROZEN = json.loads((Path(__file__).parent.parent / "search" / "constrained.json").read_text())


def test_lower_bounds_are_the_frozen_ones() -> None:
    for case in FROZEN["clopper_pearson_lower"]:
        assert lower_bound(case["k"], case["n"], case["delta"]) == pytest.approx(case["lower"], rel=1e-11)


def test_counts_that_certify_are_the_frozen_ones() -> None:
    for case in FROZEN["counts_required_for_certificate"]:
        impossible = case["n"] + 1
        expected = impossible if case["required"] is None else case["required"]
        assert smallest_count(case["rate"], case["n"], case["delta"]) == expected


@pytest.mark.parametrize(("rate", "delta"), [(0.5, 0.05), (0.9, 0.05), (0.95, 0.025), (0.99, 0.1)])
def test_the_smallest_count_is_the_first_whose_bound_reaches_the_rate(rate: float, delta: float) -> None:
    for n in (1, 5, 30, 59, 200, 1000):
        count = int(smallest_count(rate, n, delta))
        bounds = lower_bound(np.arange(n + 1), n, delta)
        expected = int(np.argmax(bounds >= rate)) if (bounds >= rate).any() else n + 1
        assert count == expected


def test_a_certified_count_is_reached_by_chance_at_most_as_often_as_delta() -> None:
    for n in (59, 100, 400):
        count = int(smallest_count(0.95, n, 0.05))
        assert binom.sf(count - 1, n, 0.95) <= 0.05 < binom.sf(count - 2, n, 0.95)


def test_a_rate_of_one_cannot_be_certified_and_a_rate_of_zero_always_is() -> None:
    assert cases_needed(1.0, 0.05) is None
    assert smallest_count(1.0, 1000, 0.05) == 1001
    assert cases_needed(0.0, 0.05) == 0
    assert smallest_count(0.0, 10, 0.05) == 0


def test_no_case_gives_no_hoeffding_bound() -> None:
    assert hoeffding_margin(1.0, 0, 0.05) == np.inf
