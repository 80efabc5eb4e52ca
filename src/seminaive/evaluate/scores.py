"""How good predictions are: accuracy, error, log loss, area under the curve, Brier score.

accuracy   share of rows whose predicted label is right                error   1 - accuracy
log_loss   mean of -log p(true class), p floored at 2.2e-16
auc        P(score of a row of the class > score of a row of another), each class against the rest,
           averaged with the share of the class; classes not among the rows do not count
brier      mean over rows of  1/2 sum_k (p_k - [true class is k])^2    in [0, 1]
"""

from collections.abc import Callable

import numpy as np
import numpy.typing as npt
from sklearn.metrics import roc_auc_score

__all__ = ["HIGHER_IS_BETTER", "METRICS", "score_predictions"]

Floats = npt.NDArray[np.float64]
Positions = npt.NDArray[np.intp]

HIGHER_IS_BETTER = {"accuracy": True, "error": False, "log_loss": False, "auc": True, "brier": False}


def score_predictions(metric: str, truth: Positions, predicted: Positions, probabilities: Floats | None) -> float:
    """Score one set of predictions.

    Parameters
    ----------
    metric : {"accuracy", "error", "log_loss", "auc", "brier"}
        The score.
    truth : array of shape (rows,)
        Position of the true class.
    predicted : array of shape (rows,)
        Position of the predicted class.
    probabilities : array of shape (rows, classes) or None
        Predicted probabilities; None if the model has none, which leaves only accuracy and error.

    Returns
    -------
    float, NaN where the score is not defined: no probabilities, or AUC with one class among the rows

    Examples
    --------
    >>> truth, predicted = np.array([0, 1, 1]), np.array([0, 1, 0])
    >>> p = np.array([[0.9, 0.1], [0.2, 0.8], [0.6, 0.4]])
    >>> [round(score_predictions(m, truth, predicted, p), 3) for m in ("error", "log_loss", "auc", "brier")]
    [0.333, 0.415, 1.0, 0.137]
    """
    if metric in _OF_LABELS:
        return _OF_LABELS[metric](truth, predicted)
    if probabilities is None:
        return float("nan")
    return _OF_PROBABILITIES[metric](truth, probabilities)


def _accuracy(truth: Positions, predicted: Positions) -> float:
    return float(np.mean(truth == predicted))


def _error(truth: Positions, predicted: Positions) -> float:
    return float(np.mean(truth != predicted))


def _log_loss(truth: Positions, probabilities: Floats) -> float:
    p = probabilities[np.arange(len(truth)), truth]
    return float(-np.log(np.maximum(p, np.finfo(np.float64).eps)).mean())


def _auc(truth: Positions, probabilities: Floats) -> float:
    n_classes = probabilities.shape[1]
    counts = np.bincount(truth, minlength=n_classes)
    present = np.flatnonzero(counts)
    if len(present) < 2:
        return float("nan")
    # With two classes one curve says it all, and no rounding of 1 - p can break its ties.
    asked = present[-1:] if n_classes == 2 else present
    curves = [roc_auc_score(truth == k, probabilities[:, k]) for k in asked]
    return float(np.average(curves, weights=counts[asked]))


def _brier(truth: Positions, probabilities: Floats) -> float:
    hit = np.zeros_like(probabilities)
    hit[np.arange(len(truth)), truth] = 1.0
    return float(0.5 * ((probabilities - hit) ** 2).sum(axis=1).mean())


_OF_LABELS: dict[str, Callable[[Positions, Positions], float]] = {"accuracy": _accuracy, "error": _error}
_OF_PROBABILITIES: dict[str, Callable[[Positions, Floats], float]] = {
    "log_loss": _log_loss,
    "auc": _auc,
    "brier": _brier,
}
METRICS = tuple(HIGHER_IS_BETTER)
