"""Promised class rates: counted exactly, and measured in cases.

All rates are functions of the counts M[true, predicted]. A row is right only if its class beats all others strictly. A
rate that is 0/0 (the precision of a class nobody predicts) counts as violated. Recall, specificity and accuracy of at
least a mean at least ceil(a n) rows; with a confidence, at least the smallest count whose Clopper-Pearson bound is a.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from seminaive.statistics.certificate import cases_needed, hoeffding_margin, lower_bound, smallest_count
from seminaive.statistics.constraints import OVERALL, Constraint

Floats = npt.NDArray[np.float64]
Labels = npt.NDArray[np.int64]

_ROUNDING = 1e-9  # absorbs a * n = 7.000000000000001


def required_count(rate: float, cases: float) -> int:
    """The fewest right rows that make a rate: ceil(rate x cases), free of rounding.

    Examples
    --------
    >>> required_count(0.95, 35), required_count(0.07, 100)
    (34, 7)
    """
    return math.ceil(rate * cases - _ROUNDING)


def margins(scores: Floats, labels: Labels) -> tuple[Floats, Labels]:
    """By how much each row's class beats the best other one, and which that is; scores are (classes, rows)."""
    rows = np.arange(len(labels))
    others = scores.copy()
    others[labels, rows] = -np.inf
    rival = others.argmax(axis=0)
    return scores[labels, rows] - others[rival, rows], rival


def count_confusion(scores: Floats, labels: Labels, weights: Floats | None = None, safe: float = 0.0) -> Floats:
    """The counts M[true, predicted] of strict decisions: a row whose class does not win by more than ``safe`` is wrong.

    Examples
    --------
    >>> scores = np.array([[1.0, 2.0, 0.0], [0.5, 2.0, 3.0]])
    >>> count_confusion(scores, np.array([0, 0, 1]))
    array([[1., 1.],
           [0., 1.]])
    """
    margin, rival = margins(scores, labels)
    predicted = np.where(margin > safe, labels, rival)
    k = len(scores)
    flat = np.bincount(labels * k + predicted, weights=weights, minlength=k * k)
    return flat.reshape(k, k).astype(np.float64)


def measure(constraint: Constraint, confusion: Floats) -> float:
    """The metric's value; NaN for 0/0.

    Examples
    --------
    >>> measure(Constraint("precision", 0.5, 1, "sick"), np.array([[5.0, 0.0], [2.0, 0.0]]))
    nan
    """
    total = confusion.sum()
    with np.errstate(invalid="ignore", divide="ignore"):
        if constraint.metric == "accuracy":
            return float(np.trace(confusion) / total)
        if constraint.metric == "balanced_accuracy":
            return float(np.mean(np.diag(confusion) / confusion.sum(axis=1)))
        if constraint.metric == "cost":
            return float((confusion * np.array(constraint.matrix)).sum() / total)
        right, missed, false = _one_against_rest(constraint.position, confusion)
        if constraint.metric == "recall":
            return float(right / (right + missed))
        if constraint.metric == "specificity":
            return float((total - right - missed - false) / (total - right - missed))
        if constraint.metric == "precision":
            return float(right / (right + false))
        square = constraint.beta**2
        return float((1 + square) * right / ((1 + square) * right + square * missed + false))


def _one_against_rest(k: int, confusion: Floats) -> tuple[Any, Any, Any]:
    """True positives, false negatives and false positives of class k; leading axes pass through."""
    right = confusion[..., k, k]
    return right, confusion[..., k, :].sum(-1) - right, confusion[..., :, k].sum(-1) - right


@dataclass(frozen=True, eq=False)
class Demand:
    """A constraint on a sample: what the confusion counts of that sample must fulfil.

    Attributes
    ----------
    constraint : Constraint
    class_weight : array (classes,)
        Rows (or weight) of each class in the sample.
    delta : float
        One minus the confidence of a promise that shall be certified; 0: the sample's own rate is asked for.
    weighted : bool
        Whether the rows have weights, so that counts are not whole.
    """

    constraint: Constraint
    class_weight: Floats
    delta: float = 0.0
    weighted: bool = False

    @property
    def cases(self) -> float:
        """What the rate is a share of: rows of the class, of the other classes, or all."""
        c, total = self.constraint, float(self.class_weight.sum())
        if c.metric in OVERALL:
            return total
        own = float(self.class_weight[c.position])
        return total - own if c.metric == "specificity" else own

    @cached_property
    def least(self) -> float:
        """The right side of ``sum(weight * M) >= least``."""
        c = self.constraint
        if c.metric in ("recall", "specificity", "accuracy"):
            if self.delta > 0:
                return float(smallest_count(c.rate, np.int64(self.cases), self.delta))
            return c.rate * self.cases - _ROUNDING * self.cases if self.weighted else required_count(c.rate, self.cases)
        if c.metric == "balanced_accuracy":
            return c.rate * len(self.class_weight) - _ROUNDING
        if c.metric == "cost":
            spread = float(np.ptp(np.array(c.matrix)))
            kept = hoeffding_margin(spread, self.cases, self.delta) if self.delta > 0 else 0.0
            return -(c.rate - kept) * self.cases - _ROUNDING * max(self.cases, 1.0)
        return -_ROUNDING * max(self.cases, 1.0)

    @cached_property
    def weight(self) -> Floats:
        """The coefficients (classes, classes) of the counts in ``sum(weight * M) >= least``."""
        c, k = self.constraint, len(self.class_weight)
        own = np.arange(k) == c.position
        if c.metric == "accuracy":
            return np.eye(k)
        if c.metric == "balanced_accuracy":
            return np.diag(1 / self.class_weight)
        if c.metric == "cost":
            return -np.array(c.matrix)
        if c.metric == "recall":
            return np.outer(own, own).astype(np.float64)
        if c.metric == "specificity":
            return np.outer(~own, ~own).astype(np.float64)
        a, square = c.rate, c.beta**2 if c.metric == "fbeta" else 0.0
        form = np.zeros((k, k))
        form[:, own] = -a
        form[own, :] = -a * square
        form[own, own] = (1 + square) * (1 - a)
        return form

    @property
    def linear(self) -> bool:
        """Whether the linear form is the whole demand; else it is necessary, not sufficient."""
        c = self.constraint
        return c.metric not in ("precision", "fbeta", "balanced_accuracy") or (
            c.metric == "balanced_accuracy" and self.delta == 0
        )

    def slack(self, confusion: Floats) -> Any:
        """By how many cases the demand is exceeded (negative: missed); leading axes of counts pass through."""
        c = self.constraint
        linear = confusion.reshape(*confusion.shape[:-2], -1) @ self.weight.ravel() - self.least
        if c.metric == "balanced_accuracy" and self.delta > 0:
            k = len(self.class_weight)
            bounds = lower_bound(np.diagonal(confusion, axis1=-2, axis2=-1), self.class_weight, self.delta / k)
            return (bounds.mean(axis=-1) - c.rate) * self.cases
        if c.metric == "balanced_accuracy":
            return linear * float(self.class_weight.mean())
        if self.linear:
            return linear
        right, missed, false = _one_against_rest(c.position, confusion)
        found = np.asarray(right + false)
        if self.delta > 0 and c.metric == "precision":
            counts, back = np.unique(np.rint(found).astype(np.int64), return_inverse=True)
            linear = right - smallest_count(c.rate, counts, self.delta)[back].reshape(found.shape)
        elif self.delta > 0:
            precision = lower_bound(right, np.maximum(found, 1), self.delta / 2)
            recall = lower_bound(right, right + missed, self.delta / 2)
            square = c.beta**2
            score = (1 + square) * precision * recall / np.maximum(square * precision + recall, 1e-300)
            linear = (score - c.rate) * self.cases
        return np.where(found > 0, linear, np.minimum(linear, -1.0))

    def satisfied(self, confusion: Floats) -> Any:
        """Whether the counts keep the promise."""
        return self.slack(confusion) >= 0

    def bound(self, confusion: Floats) -> float:
        """The confidence bound on the rate behind the counts; NaN without a confidence."""
        c, delta = self.constraint, self.delta
        if delta <= 0:
            return math.nan
        if c.metric == "cost":
            spread = float(np.ptp(np.array(c.matrix)))
            return measure(c, confusion) + hoeffding_margin(spread, self.cases, delta)
        if c.metric in ("recall", "specificity", "accuracy"):
            return float(lower_bound((self.weight * confusion).sum(), self.cases, delta))
        if c.metric == "balanced_accuracy":
            k = len(self.class_weight)
            return float(lower_bound(np.diag(confusion), self.class_weight, delta / k).mean())
        right, missed, false = _one_against_rest(c.position, confusion)
        if right + false == 0:
            return 0.0
        if c.metric == "precision":
            return float(lower_bound(right, right + false, delta))
        precision = float(lower_bound(right, right + false, delta / 2))
        recall = float(lower_bound(right, right + missed, delta / 2))
        square = c.beta**2
        return (1 + square) * precision * recall / max(square * precision + recall, 1e-300)

    def cases_to_certify(self) -> int | None:
        """The fewest cases with which this confidence is possible at all; None if no number is enough."""
        c, k = self.constraint, len(self.class_weight)
        if c.metric == "cost":
            room = c.rate - float(np.min(np.array(c.matrix)))
            spread = float(np.ptp(np.array(c.matrix)))
            return math.ceil(spread**2 * math.log(1 / self.delta) / (2 * room**2)) if room > 0 else None
        share = 2.0 if c.metric == "fbeta" else float(k) if c.metric == "balanced_accuracy" else 1.0
        return cases_needed(c.rate, self.delta / share)

    @property
    def certifiable(self) -> bool:
        """Whether the sample has cases enough, were every one of them right."""
        if self.delta <= 0:
            return True
        needed = self.cases_to_certify()
        cases = float(self.class_weight.min()) if self.constraint.metric == "balanced_accuracy" else self.cases
        return needed is not None and cases >= needed


def demands_on(
    constraints: Sequence[Constraint], class_weight: Floats, confidence: float | None, weighted: bool = False
) -> list[Demand]:
    """The constraints on a sample; the confidence is shared equally among them."""
    for c in constraints:
        absent = c.position if c.position >= 0 else -1
        if absent >= 0 and class_weight[absent] == 0:
            raise ValueError(f"constraints: class {c.label!r} has no row in the evaluation sample")
        if c.metric == "specificity" and class_weight.sum() == class_weight[absent]:
            raise ValueError(f"constraints: {c} needs rows of other classes in the evaluation sample")
        if c.metric == "balanced_accuracy" and np.any(class_weight == 0):
            raise ValueError(f"constraints: {c} needs rows of every class in the evaluation sample")
    delta = 0.0 if confidence is None else (1 - confidence) / max(len(constraints), 1)
    return [Demand(c, np.asarray(class_weight, dtype=np.float64), delta, weighted) for c in constraints]


def worst_slack(demands: Sequence[Demand], confusion: Floats) -> Any:
    """The smallest slack of all demands, in cases."""
    return np.min([demand.slack(confusion) for demand in demands], axis=0)
