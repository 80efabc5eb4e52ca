"""Tables of adjustments from counts."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from seminaive.statistics.adjustment import (
    class_adjustments,
    density_adjustments,
    density_log_odds,
    left_out_log_odds,
    log_odds_adjustments,
    one_against_rest,
)

KINDS = ["class", "likelihood", "half", "level", "pooled", "none"]
COUNTS = np.array([[0, 2, 3, 1, 0, 6.0], [0, 0, 4, 0, 3, 1], [0, 1, 1, 2, 0, 4]])
STARTS = np.array([0, 4, 6])
PRIOR = COUNTS[:, :4].sum(axis=1) / COUNTS[:, :4].sum()


def test_formulas_of_every_smoothing():
    cell, value, own, card = COUNTS[:, 2], COUNTS[:, 2].sum(), COUNTS[:, :4].sum(axis=1), 3
    pooled = PRIOR * (cell + 2 * value / own.sum()) / (own + 2)
    likelihood = PRIOR * (cell + 2) / (own + 2 * card)
    expected = {
        "class": (cell + 2 * 3 * PRIOR) / (value + 2 * 3),
        "half": (cell + 2) / (value + 2 * 3),
        "likelihood": likelihood / likelihood.sum(),
        "level": likelihood / likelihood.sum(),
        "pooled": pooled / pooled.sum(),
        "none": cell / value,
    }
    for kind, posterior in expected.items():
        table = class_adjustments(COUNTS, STARTS, PRIOR, 2.0, kind)
        np.testing.assert_allclose(np.exp(table[:, 2]) * PRIOR, posterior, rtol=1e-13, err_msg=kind)


@pytest.mark.parametrize("kind", KINDS)
@given(counts=arrays(float, (3, 6), elements=st.integers(0, 5).map(float)), smoothing=st.sampled_from([0.0, 0.1, 1.0]))
def test_any_counts_give_finite_tables_and_unseen_values_say_nothing(kind, counts, smoothing):
    mass = counts[:, :4].sum(axis=1)
    prior = mass / mass.sum() if mass.sum() else np.ones(3) / 3
    table = class_adjustments(counts, STARTS, prior, smoothing, kind)
    assert np.isfinite(table).all()
    assert (table[:, counts.sum(axis=0) == 0] == 0).all()


@pytest.mark.parametrize("kind", KINDS)
def test_swapping_two_classes_turns_the_sign(kind):
    two = one_against_rest(COUNTS, 0)
    prior = one_against_rest(PRIOR, 0)
    table = log_odds_adjustments(two, STARTS, prior, 0.5, kind)
    np.testing.assert_allclose(log_odds_adjustments(two[::-1], STARTS, prior[::-1], 0.5, kind), -table, atol=1e-14)


def test_empty_cells_are_equally_certain_either_way():
    table = log_odds_adjustments(np.array([[2.0, 0.0], [0.0, 2.0]]), np.array([0, 2]), np.full(2, 0.5), 0, "none")
    np.testing.assert_allclose(table, np.array([-1, 1]) * np.log((1 - 1e-10) / 1e-10), rtol=1e-15)


def test_smoothing_may_be_one_over_the_rows():
    one_over_n = class_adjustments(COUNTS, STARTS, PRIOR, "1/n", "half", rows=14)
    np.testing.assert_array_equal(one_over_n, class_adjustments(COUNTS, STARTS, PRIOR, 1 / 14, "half"))
    np.testing.assert_array_equal(one_over_n[:, :4], class_adjustments(COUNTS, STARTS, PRIOR, "1/n", "half")[:, :4])


def test_a_class_without_rows_says_nothing():
    counts = COUNTS.copy()
    counts[1] = 0
    prior = np.array([0.5, 0.0, 0.5])
    assert (class_adjustments(counts, STARTS, prior)[1] == 0).all()


def test_left_out_row_is_missing_from_cell_value_and_prior():
    counts, rows = np.array([[3.0, 1.0, 2.0], [1.0, 4.0, 1.0]]), np.array([6.0, 6.0])
    table = left_out_log_odds(counts, np.array([0, 3]), rows, 1.0)
    less = counts.copy()
    less[1, 0] -= 1
    again = log_odds_adjustments(less, np.array([0, 3]), np.array([6, 5]) / 11, 1.0)
    assert table[1, 0] == again[0]


def test_unknown_or_negative_smoothing_is_refused():
    with pytest.raises(ValueError, match="smoothing_kind must be"):
        class_adjustments(COUNTS, STARTS, PRIOR, 1.0, "laplace")
    with pytest.raises(ValueError, match="0 or more, got -1"):
        class_adjustments(COUNTS, STARTS, PRIOR, -1.0)


def test_density_ratios_are_held_and_missing_says_nothing():
    log_density = np.array([[0.0, -1.0, np.nan], [-100.0, -0.5, np.nan]])
    np.testing.assert_array_equal(density_log_odds(log_density), [-8.0, 0.5, 0.0])
    prior = np.array([0.25, 0.75])
    table = density_adjustments(log_density, prior)
    np.testing.assert_allclose(table, [[6.0, -0.375, 0.0], [-2.0, 0.125, 0.0]])
    np.testing.assert_allclose(prior @ table, 0, atol=1e-15)
