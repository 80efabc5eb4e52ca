"""Lift and profit of acting on the most probable rows first."""

import numpy as np
import pytest
from sklearn.metrics import roc_auc_score

from seminaive.evaluate.lift import lift_curve, plot_lift, plot_profit, profit_curve


@pytest.fixture
def sample():
    rng = np.random.default_rng(0)
    p = rng.integers(0, 20, 300) / 20
    return (rng.random(300) < p).astype(int), p, rng.integers(0, 3, 300)


def test_perfect_order_finds_all_positives_first():
    curve = lift_curve([0, 1, 0, 1], [0.1, 0.9, 0.2, 0.8])
    assert curve.at(0.5) == 1.0
    np.testing.assert_allclose(curve.lift[1:], [2, 2, 4 / 3, 1])


def test_area_follows_the_area_under_the_roc_curve(sample):
    y, p, w = sample
    rate = (w * y).sum() / w.sum()
    roc = roc_auc_score(y, p, sample_weight=w)
    assert lift_curve(y, p, w).area == pytest.approx(rate / 2 + (1 - rate) * roc)


def test_rows_of_equal_probability_are_taken_together():
    curve = lift_curve([1, 0, 0, 1], [0.5] * 4)
    np.testing.assert_array_equal(curve.share, [0, 1])
    assert curve.area == 0.5


def test_weight_two_equals_the_row_twice(sample):
    y, p, w = sample
    some = w > 0
    weighted, repeated = lift_curve(y[some], p[some], w[some]), lift_curve(np.repeat(y, w), np.repeat(p, w))
    np.testing.assert_allclose(weighted.found, repeated.found)
    np.testing.assert_allclose(weighted.share, repeated.share)


def test_calibrated_probabilities_promise_what_they_keep():
    y, p = np.array([1, 1, 1, 0, 1, 0, 0, 0]), np.repeat([0.75, 0.25], 4)
    curve = profit_curve(y, p, gain=4, cost=2)
    np.testing.assert_allclose(curve.profit, curve.promised)
    assert curve.best == 1
    assert curve.threshold[curve.best] == 0.75


def test_profit_is_gain_minus_cost(sample):
    y, p, w = sample
    curve = profit_curve(y, p, 5.0, 2.0, w)
    assert curve.profit[0] == 0
    assert curve.profit[-1] == pytest.approx(5 * (w * y).sum() - 2 * w.sum())
    assert list(curve.to_frame()) == ["share", "profit", "promised", "threshold"]
    assert list(lift_curve(y, p).to_frame()) == ["share", "found", "lift", "threshold"]


def test_wrong_inputs_are_named():
    with pytest.raises(ValueError, match="equal length"):
        lift_curve([1, 0], [0.5])
    with pytest.raises(ValueError, match="positions from 0 to 1, got 1 to 2"):
        lift_curve([1, 2], [0.5, 0.4])
    with pytest.raises(ValueError, match="of='maybe' is not among the classes"):
        lift_curve(["yes"], [0.5], classes=["no", "yes"], of="maybe")


def test_a_curve_is_told_in_one_line():
    y, p = [1, 1, 0], [0.9, 0.8, 0.1]
    assert repr(lift_curve(y, p)) == "LiftCurve(4 points, area 0.667)"
    assert repr(profit_curve(y, p, gain=3, cost=1)) == "ProfitCurve(4 points, highest profit 4 at share 0.667)"


def test_a_class_can_be_looked_for_by_its_label():
    y, p = ["a", "b", "c", "a"], np.array([[0.5, 0.3, 0.2], [0.4, 0.6, 0.0], [0.3, 0.0, 0.7], [0.1, 0.2, 0.7]])
    found = lift_curve(y, p, classes=["a", "b", "c"], of="a")
    np.testing.assert_allclose(found.found, [0.0, 0.5, 0.5, 0.5, 1.0])
    last = lift_curve(y, p, classes=["a", "b", "c"])
    np.testing.assert_allclose(last.found, lift_curve([0, 0, 1, 0], p[:, 2]).found)
    profit = profit_curve(y, p, 3, 1, classes=["a", "b", "c"], of="a")
    np.testing.assert_allclose(profit.profit, [0, 2, 1, 0, 2])


def test_curves_are_drawn(sample):
    from matplotlib.figure import Figure

    y, p, _ = sample
    lift, profit = lift_curve(y, p), profit_curve(y, p, 5, 2)
    lines = plot_lift(lift, label="model", ax=Figure().subplots()).lines
    np.testing.assert_allclose(lines[-1].get_ydata(), lift.found)
    lines = plot_profit(profit, ax=Figure().subplots()).lines
    np.testing.assert_allclose(lines[-1].get_ydata(), [profit.profit[profit.best]])
