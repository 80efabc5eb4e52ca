import numpy as np
import pytest
from sklearn import metrics

from seminaive.evaluate.scores import score_predictions


@pytest.fixture
def predictions():
    rng = np.random.default_rng(5)
    p = rng.dirichlet([1.0, 1.0, 1.0], size=60).round(1)
    p = (p + 0.01) / (p + 0.01).sum(axis=1, keepdims=True)
    return rng.integers(0, 3, size=60), p.argmax(axis=1), p


def test_three_classes_score_as_in_scikit_learn(predictions):
    truth, label, p = predictions
    assert score_predictions("accuracy", truth, label, p) == pytest.approx(metrics.accuracy_score(truth, label))
    assert score_predictions("error", truth, label, p) == pytest.approx(metrics.zero_one_loss(truth, label))
    assert score_predictions("log_loss", truth, label, p) == pytest.approx(metrics.log_loss(truth, p))
    expected = metrics.roc_auc_score(truth, p, multi_class="ovr", average="weighted")
    assert score_predictions("auc", truth, label, p) == pytest.approx(expected)


def test_two_classes_score_as_in_scikit_learn(predictions):
    truth, label, p = predictions[0] > 0, predictions[1] > 0, predictions[2][:, 0]
    truth, label, p = truth.astype(int), label.astype(int), np.column_stack([p, 1 - p])
    assert score_predictions("auc", truth, label, p) == pytest.approx(metrics.roc_auc_score(truth, p[:, 1]))
    assert score_predictions("brier", truth, label, p) == pytest.approx(metrics.brier_score_loss(truth, p[:, 1]))


def test_a_class_that_does_not_occur_does_not_count_in_the_auc():
    truth = np.array([0, 0, 1, 1])
    p = np.array([[0.7, 0.2, 0.1], [0.2, 0.3, 0.5], [0.3, 0.6, 0.1], [0.1, 0.4, 0.5]])
    by_class = [metrics.roc_auc_score(truth == k, p[:, k]) for k in (0, 1)]
    assert score_predictions("auc", truth, truth, p) == pytest.approx(np.mean(by_class))


def test_the_auc_of_a_single_class_is_not_defined():
    assert np.isnan(score_predictions("auc", np.array([1, 1]), np.array([1, 0]), np.full((2, 2), 0.5)))


def test_a_zero_probability_costs_much_but_not_everything():
    loss = score_predictions("log_loss", np.array([1]), np.array([0]), np.array([[1.0, 0.0]]))
    assert loss == pytest.approx(-np.log(2.0**-52))


def test_labels_alone_give_no_log_loss():
    assert np.isnan(score_predictions("log_loss", np.array([0]), np.array([0]), None))
    assert score_predictions("error", np.array([0]), np.array([0]), None) == 0.0
