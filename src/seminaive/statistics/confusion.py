"""Promised class rates: read, counted exactly, and measured in cases.

All rates are functions of the counts M[true, predicted]. A row is right only if its class beats all others strictly. A
rate that is 0/0 (the precision of a class nobody predicts) counts as violated. Recall, specificity and accuracy of at
least a mean at least ceil(a n) rows; with a confidence, at least the smallest count whose Clopper-Pearson bound is a.
"""

from __future__ import annotations

import math
import numbers
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from seminaive.statistics.certificate import cases_needed, hoeffding_margin, lower_bound, smallest_count

Floats = npt.NDArray[np.float64]
Labels = npt.NDArray[np.int64]

OF_A_CLASS = ("recall", "specificity", "precision", "f1", "fbeta")
OVERALL = ("accuracy", "balanced_accuracy", "cost")
ALSO_CALLED = {
    "sensitivity": "recall", "tpr": "recall", "tnr": "specificity", "ppv": "precision", "positive predictive value":
    "precision", "f2": "fbeta", "balanced accuracy": "balanced_accuracy",
}  # fmt: skip
_ROUNDING = 1e-9  # absorbs a * n = 7.000000000000001


@dataclass(frozen=True)
class Constraint:
    """One promise: a metric of one class, or of all, is at least a rate (a mean cost: at most).

    Attributes
    ----------
    metric : str
    rate : float
    position : int
        Of the class among the sorted labels; -1 for all classes together.
    label : class label, or "*"
    beta : float
        Of F-beta: how many times recall counts more than precision.
    matrix : tuple of tuples
        Costs, ``matrix[true][predicted]``.
    """

    metric: str
    rate: float
    position: int = -1
    label: Any = "*"
    beta: float = 1.0
    matrix: tuple[tuple[float, ...], ...] = ()

    def __str__(self) -> str:
        name = f"f{self.beta:g}" if self.metric == "fbeta" else self.metric
        where = "overall" if self.position < 0 else f"of {self.label!r}"
        return f"{name} {where} {'<=' if self.metric == 'cost' else '>='} {self.rate:g}"


def read_constraints(constraints: Mapping[Any, Mapping[str, Any]] | None, classes: Sequence[Any]) -> list[Constraint]:
    """Constraints as users write them, checked; rates of 0 promise nothing and are dropped.

    Parameters
    ----------
    constraints : dict or None
        ``{label: {metric: rate}}``; the key ``"*"`` is for accuracy, balanced_accuracy and
        ``{"cost": {"matrix": C, "max": c}}``; a class whose label is ``"*"`` is written ``("*",)``.
    classes : sequence
        The labels.

    Examples
    --------
    >>> for c in read_constraints({"sick": {"recall": 0.95}, "*": {"accuracy": 0.8}}, ["sick", "well"]):
    ...     print(c)
    recall of 'sick' >= 0.95
    accuracy overall >= 0.8
    """
    if constraints is None:
        return []
    if not isinstance(constraints, Mapping):
        raise ValueError(f"constraints must be a dict such as {{'label': {{'recall': 0.9}}}}; got {constraints!r}")
    found: list[Constraint] = []
    for key, wishes in constraints.items():
        overall = isinstance(key, str) and key == "*"
        position, label = (-1, "*") if overall else _class_position(key, classes)
        known = OVERALL if overall else OF_A_CLASS
        if not isinstance(wishes, Mapping):
            raise ValueError(f"constraints[{key!r}] must be a dict such as {{{known[0]!r}: 0.9}}; got {wishes!r}")
        for metric, value in wishes.items():
            if metric not in known:
                same = ALSO_CALLED.get(metric) if isinstance(metric, str) else None
                hint = f" ({metric} is called {same!r} here)" if same in known else ""
                if overall and metric in OF_A_CLASS:
                    hint = " (rates of one class are asked for under its label; that of a class '*' is written ('*',))"
                raise ValueError(f"constraints[{key!r}]: {metric!r} is not one of {', '.join(known)}{hint}")
            found.append(_read_one(metric, value, position, label, len(classes)))
    seen = set()
    for c in found:
        if (c.position, c.metric, c.beta) in seen:
            raise ValueError(f"constraints: {c} and another rate for the same metric; keep one of them")
        seen.add((c.position, c.metric, c.beta))
    return [c for c in found if c.metric == "cost" or c.rate > 0]


def _class_position(key: Any, classes: Sequence[Any]) -> tuple[int, Any]:
    label = key[0] if isinstance(key, tuple) and len(key) == 1 else key
    for k, known in enumerate(classes):
        if known == label and isinstance(known, bool) == isinstance(label, (bool, np.bool_)):
            return k, known
    raise ValueError(f"constraints: {key!r} is not one of the classes {list(classes)} (nor '*' for all of them)")


def _read_one(metric: str, value: Any, position: int, label: Any, n_classes: int) -> Constraint:
    where = f"constraints[{label!r}][{metric!r}]"
    if metric == "cost":
        if not isinstance(value, Mapping) or set(value) != {"matrix", "max"}:
            raise ValueError(f"{where} must be {{'matrix': C, 'max': c}}; got {value!r}")
        matrix = np.asarray(value["matrix"], dtype=np.float64)
        if matrix.shape != (n_classes, n_classes) or not np.isfinite(matrix).all():
            raise ValueError(f"{where}['matrix'] must be {n_classes} x {n_classes} finite costs, [true, predicted]")
        if not isinstance(value["max"], numbers.Real) or not np.isfinite(float(value["max"])):
            raise ValueError(f"{where}['max'] must be a number; got {value['max']!r}")
        return Constraint(metric, float(value["max"]), matrix=tuple(map(tuple, matrix.tolist())))
    beta = 1.0
    if metric == "fbeta":
        if not isinstance(value, Sequence) or len(value) != 2 or not _is_number(value[0]) or not value[0] > 0:
            raise ValueError(f"{where} must be a pair (beta, rate) with beta > 0; got {value!r}")
        beta, value = float(value[0]), value[1]
    if not _is_number(value) or not 0 <= value <= 1:
        raise ValueError(f"{where} must be a rate between 0 and 1; got {value!r}")
    return Constraint("fbeta" if metric == "f1" else metric, float(value), position, label, beta)


def _is_number(value: Any) -> bool:
    return isinstance(value, numbers.Real) and not isinstance(value, (bool, np.bool_))


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
