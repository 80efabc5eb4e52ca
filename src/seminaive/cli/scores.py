"""How good a model is on rows it has not seen, by cross-validation, beside what always saying the majority would give."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
from sklearn.base import clone

from seminaive.table.frames import take_rows
from seminaive.table.schema import Floats, Integers

FOLDS = 5
FEWEST_ROWS = 10
"""Below this number of rows scores would say nothing."""


@dataclass(frozen=True)
class Scores:
    """Accuracy and log loss over all rows, each predicted by a model that was not fitted on it.

    ``lonely`` lists labels that have one row only: no model ever saw another such row, so it counts as an error and is
    left out of the log loss.
    """

    accuracy: float
    log_loss: float
    n_rows: int
    lonely: list[Any]

    @property
    def accuracy_error(self) -> float:
        """Standard error of the accuracy."""
        return float(np.sqrt(self.accuracy * (1 - self.accuracy) / self.n_rows))


def cross_validated(model: Any, X: Any, y: npt.NDArray[Any], folds: int = FOLDS, seed: int = 0) -> Scores:
    """Score any scikit-learn classifier on rows of any kind of table.

    Rows are shuffled within their class and dealt to the folds in turn, so that every fold has its share of each class,
    and a label with two rows is still learned and tested.

    Examples
    --------
    >>> from sklearn.dummy import DummyClassifier
    >>> y = np.array(["a"] * 8 + ["b"] * 2)
    >>> scores = cross_validated(DummyClassifier(strategy="prior"), np.zeros((10, 1)), y)
    >>> scores.accuracy, round(scores.log_loss, 3)
    (0.8, 0.615)
    """
    labels, codes = np.unique(y, return_inverse=True)
    fold = deal(codes, folds, seed)
    right, log_probability = np.zeros(len(y), dtype=bool), np.full(len(y), np.nan)
    for f in range(folds):
        held_out = fold == f
        fitted = clone(model).fit(take_rows(X, ~held_out), y[~held_out])
        known = np.searchsorted(labels, fitted.classes_)
        scores: Floats = np.full((int(held_out.sum()), len(labels)), np.nan)
        scores[:, known] = fitted.predict_log_proba(take_rows(X, held_out))
        truth = codes[held_out]
        log_probability[held_out] = scores[np.arange(len(truth)), truth]
        right[held_out] = np.nan_to_num(scores, nan=-np.inf).argmax(axis=1) == truth
    counts = np.bincount(codes)
    return Scores(
        accuracy=float(right.mean()),
        log_loss=float(-np.nanmean(log_probability)),
        n_rows=len(y),
        lonely=labels[counts == 1].tolist(),
    )


def deal(codes: npt.NDArray[Any], folds: int, seed: int) -> Integers:
    """A fold for every row: rows shuffled, sorted by class, dealt in turn."""
    shuffled = np.random.default_rng(seed).permutation(len(codes))
    in_turn = shuffled[np.argsort(codes[shuffled], kind="stable")]
    fold = np.empty(len(codes), dtype=np.int64)
    fold[in_turn] = np.arange(len(codes)) % folds
    return fold
