"""Log loss, Brier score, reliability and calibration error."""

import numpy as np
import pytest
from sklearn.metrics import brier_score_loss, log_loss

from seminaive.evaluate.calibration import (
    brier_score,
    expected_calibration_error,
    log_loss_bits,
    plot_reliability,
    reliability_curve,
)


@pytest.fixture
def sample():
    rng = np.random.default_rng(0)
    p = rng.random(500)
    return (rng.random(500) < p).astype(int), p, rng.integers(0, 3, 500)


def test_log_loss_is_scikit_learns_in_bits(sample):
    y, p, w = sample
    assert log_loss_bits(y, p, w) == pytest.approx(log_loss(y, p, sample_weight=w) / np.log(2))
    many = np.random.default_rng(1).dirichlet(np.ones(4), 500)
    label = np.random.default_rng(2).integers(0, 4, 500)
    assert log_loss_bits(label, many) == pytest.approx(log_loss(label, many) / np.log(2))


def test_a_certain_mistake_costs_33_bits():
    assert log_loss_bits([1], [0.0]) == pytest.approx(np.log2(1e10))


def test_brier_score_of_one_or_two_columns_is_the_same(sample):
    y, p, w = sample
    assert brier_score(y, p, w) == pytest.approx(brier_score_loss(y, p, sample_weight=w))
    assert brier_score(y, np.column_stack([1 - p, p]), w) == pytest.approx(brier_score(y, p, w))
    assert brier_score([0, 1], np.array([[0.0, 1.0, 0.0], [1.0, 0.0, 0.0]])) == 1.0


@pytest.mark.parametrize("strategy", ["width", "quantile"])
def test_bins_hold_all_rows_and_their_means(sample, strategy):
    y, p, w = sample
    curve = reliability_curve(y, p, strategy=strategy, sample_weight=w)
    assert curve.weight.sum() == w.sum()
    assert curve.predicted @ curve.weight == pytest.approx((w * p).sum())
    assert curve.observed @ curve.weight == pytest.approx((w * y).sum())
    assert (curve.low <= curve.observed).all()
    assert (curve.observed <= curve.high).all()
    assert list(curve.to_frame()) == ["predicted", "observed", "low", "high", "weight"]
    if strategy == "quantile":
        assert np.ptp(curve.weight) < 0.05 * w.sum()


def test_weight_two_equals_the_row_twice(sample):
    y, p, w = sample
    weighted = reliability_curve(y, p, strategy="quantile", sample_weight=w)
    repeated = reliability_curve(np.repeat(y, w), np.repeat(p, w), strategy="quantile")
    np.testing.assert_allclose(weighted.edges, repeated.edges)
    np.testing.assert_allclose(weighted.observed, repeated.observed)


def test_wilson_interval_of_one_in_four():
    curve = reliability_curve([1, 0, 0, 0], [0.3] * 4, bins=1)
    np.testing.assert_allclose([curve.low[0], curve.high[0]], [0.045587, 0.699358], atol=1e-6)


def test_calibration_error_is_the_mean_distance():
    y, p = [1, 1, 0, 0, 0, 0], [0.9, 0.9, 0.4, 0.4, 0.4, 0.4]
    assert expected_calibration_error(y, p) == pytest.approx((2 * 0.1 + 4 * 0.4) / 6)
    assert expected_calibration_error([0, 1], [0.0, 1.0]) == 0.0


def test_with_several_classes_the_most_probable_is_judged():
    p = np.array([[0.6, 0.3, 0.1], [0.1, 0.8, 0.1], [0.2, 0.2, 0.6]])
    curve = reliability_curve([0, 2, 2], p, bins=1)
    np.testing.assert_allclose([curve.predicted[0], curve.observed[0]], [2 / 3, 2 / 3])


def test_labels_are_looked_up_among_the_classes(sample):
    y, p, w = sample
    labels = np.array(["no", "yes"])[y]
    both = np.column_stack([1 - p, p])
    for score in (log_loss_bits, brier_score, expected_calibration_error):
        assert score(labels, both, sample_weight=w, classes=["no", "yes"]) == score(y, p, sample_weight=w)
        assert score(labels, p, sample_weight=w, classes=["no", "yes"]) == score(y, p, sample_weight=w)
    curve = reliability_curve(labels, both, classes=["no", "yes"])
    np.testing.assert_array_equal(curve.observed, reliability_curve(y, p).observed)
    with pytest.raises(ValueError, match=r"classes=model\.classes_"):
        log_loss_bits(labels, p)
    with pytest.raises(ValueError, match="y holds 'maybe', which is not among the classes"):
        log_loss_bits(["maybe"], [0.5], classes=["no", "yes"])
    with pytest.raises(ValueError, match="classes has 1 labels, probability 2 columns"):
        log_loss_bits(["no"], [0.5], classes=["no"])


def test_wrong_inputs_are_named():
    with pytest.raises(ValueError, match="y has 1 rows, probability 2"):
        log_loss_bits([1], [0.5, 0.5])
    with pytest.raises(ValueError, match="positions from 0 to 1, got 1 to 2"):
        brier_score([1, 2], [0.5, 0.5])
    with pytest.raises(ValueError, match="'width' or 'quantile', got 'area'"):
        reliability_curve([1], [0.5], strategy="area")
    with pytest.raises(ValueError, match="at least 1, got 0"):
        reliability_curve([1], [0.5], bins=0)
    for wrong in (1.5, -0.2, np.nan):
        with pytest.raises(ValueError, match=f"probability, row 1, holds {wrong:g}, but probabilities lie between"):
            brier_score([1, 0], [0.5, wrong])


def test_a_curve_is_told_in_one_line():
    assert repr(reliability_curve([1, 0], [1.0, 0.25])) == "ReliabilityCurve(2 bins, calibration error 0.125)"


def test_reliability_is_drawn_with_its_error(sample):
    from matplotlib.figure import Figure

    curve = reliability_curve(sample[0], sample[1])
    axes = plot_reliability(curve, ax=Figure().subplots())
    assert f"{100 * curve.error:.1f} %" in axes.get_title()
    plot_reliability(curve, label="model", ax=axes)
    assert axes.get_legend().get_texts()[0].get_text() == f"model (calibration error {100 * curve.error:.1f} %)"
    np.testing.assert_allclose(axes.collections[-1].get_offsets()[:, 1], curve.observed)
