"""Class offsets that keep promised rates: the model stays, only b_k is added to the score of class k.

Two classes: every gap between neighbouring values of the scores' difference is looked at, so the answer is exact.

More classes: branch and bound over zones {b : b_p - b_q < u_pq}. Over a zone, each row can be given some classes and
not others, which bounds every demand's count from above and below. A zone that cannot fulfil a demand is dropped; one
that fulfils all is a solution as a whole; else it is split where a row changes sides. When no zone is left, the answer
is proved; when the limit on zones is reached, only the bounds are.

The offsets returned sum to zero. A threshold is never put on a tie: gaps narrower than 1e-9 are skipped.
"""

from __future__ import annotations

import heapq
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import count
from typing import Any

import numpy as np
import numpy.typing as npt

from seminaive.kernels.offsets import bound_zone, nearest_change
from seminaive.statistics.confusion import Demand, count_confusion, worst_slack

Floats = npt.NDArray[np.float64]
Labels = npt.NDArray[np.int64]

NARROWEST = 1e-9
"""Gaps no wider than this, relative to the largest score difference, are ties."""
STEP = 1.0
"""Offsets go to the middle of a gap, but no further than this (in nats) beyond its nearer end."""


@dataclass(frozen=True, eq=False)
class Offsets:
    """The best offsets found, and what is known about all others.

    Attributes
    ----------
    offsets : array (classes,)
        Sum to zero.
    confusion : array (classes, classes)
        Counts under these offsets.
    slack : float
        Cases by which the tightest demand is exceeded; negative: missed.
    best_slack : float
        No offsets reach a larger slack.
    exact : bool
        Whether every possibility was looked at: then a negative ``slack`` proves that offsets alone cannot do it.
    shortest : float
        Length that no feasible offsets undercut; 0 when nothing is known.
    """

    offsets: Floats
    confusion: Floats
    slack: float
    best_slack: float
    exact: bool
    shortest: float = 0.0

    @property
    def feasible(self) -> bool:
        return self.slack >= 0


def find_offsets(
    scores: Floats,
    labels: Labels,
    demands: Sequence[Demand],
    weights: Floats | None = None,
    objective: str = "length",
    max_zones: int | None = None,
) -> Offsets:
    """The shortest offsets that fulfil the demands, or, if none do, those that miss them least.

    Parameters
    ----------
    scores : array (classes, rows)
    labels : int array (rows,)
    demands : sequence of Demand
    weights : array (rows,), optional
    objective : "length", "accuracy" or "slack"
        Among feasible offsets: the shortest, the most accurate, or those that exceed the demands most.
    max_zones : int, optional
        Limit for three and more classes; the default grows as the rows get fewer.

    Examples
    --------
    >>> from seminaive.statistics.confusion import demands_on
    >>> from seminaive.statistics.constraints import read_constraints
    >>> scores = np.array([[0.0, 0.0, 0.0, 0.0], [-3.0, -1.0, -2.0, 1.0]])
    >>> labels = np.array([0, 0, 1, 1])
    >>> found = find_offsets(scores, labels, demands_on(read_constraints({1: {"recall": 1}}, [0, 1]), [2, 2], None))
    >>> found.offsets, found.confusion, found.exact
    (array([-1.25,  1.25]), array([[1., 1.], [0., 2.]]), True)
    """
    k = len(scores)
    zero = np.zeros(k)
    start = count_confusion(scores, labels, weights)
    if not demands or k == 1:
        return Offsets(zero, start, 0.0, 0.0, True)
    if k == 2:
        return _two_classes(scores, labels, demands, weights, objective)
    return _Zones(scores, labels, demands, weights, max_zones).search(objective)


def _two_classes(
    scores: Floats, labels: Labels, demands: Sequence[Demand], weights: Floats | None, objective: str
) -> Offsets:
    """Class 1 wins where the difference S_0 - S_1 is below t = b_1 - b_0: try t in every gap."""
    counts, ends = _cumulative(scores[0] - scores[1], labels, np.ones_like(labels), labels * 0, 2, weights)
    low, high = np.concatenate([[-np.inf], ends]), np.concatenate([ends, [np.inf]])
    t = _into_gap(low, high)
    wide = (high - low > NARROWEST * max(1.0, float(np.abs(ends).max(initial=0)))) & np.isfinite(t)
    slack = np.where(wide, worst_slack(demands, counts), -np.inf)
    errors, length = -(counts[:, 0, 0] + counts[:, 1, 1]), np.abs(t)
    if slack.max() < 0 or objective == "slack":
        best = _first_of(-slack, length, errors)
    else:
        keys = (length, errors) if objective == "length" else (errors, length)
        best = _first_of(slack < 0, *keys)
    b = np.array([-0.5, 0.5]) * t[best]
    return Offsets(b, counts[best], float(slack[best]), float(slack.max()), True, _length(b))


def _first_of(*keys: npt.NDArray[Any]) -> int:
    """The position that is least in the first key, among these in the second, and so on."""
    rows = np.arange(len(keys[0]))
    for key in keys:
        rows = rows[key[rows] == key[rows].min()]
    return int(rows[0])


def _cumulative(
    change: Floats, labels: Labels, given: Labels, before: Labels, k: int, weights: Floats | None
) -> tuple[Floats, Floats]:
    """Counts M as an offset passes the sorted values at which rows change from class ``before`` to ``given``."""
    order = np.argsort(change)
    w = np.ones(len(labels)) if weights is None else weights
    steps = np.zeros((k * k, len(labels) + 1))
    steps[:, 0] = np.bincount(labels * k + before, weights=w, minlength=k * k)
    y, old, new, w = labels[order], before[order], given[order], w[order]
    rows = np.arange(1, len(labels) + 1)
    steps[y * k + old, rows] -= w
    steps[y * k + new, rows] += w
    return np.ascontiguousarray(np.cumsum(steps, axis=1).T).reshape(-1, k, k), change[order]


def _into_gap(low: Any, high: Any) -> Any:
    """The point of each open interval nearest to zero that keeps its distance to the ends; 0 if it is well inside."""
    with np.errstate(invalid="ignore"):
        room = np.minimum((high - low) / 2, STEP)
        return np.clip(np.zeros_like(low), low + room, high - room)


def _length(b: Floats) -> float:
    return float(np.sqrt((b**2).sum()))


class _Zones:
    """Branch and bound over zones, for one set of rows and demands."""

    def __init__(
        self,
        scores: Floats,
        labels: Labels,
        demands: Sequence[Demand],
        weights: Floats | None,
        max_zones: int | None,
    ) -> None:
        self.scores, self.labels, self.demands = np.ascontiguousarray(scores), labels, demands
        self.k, n = scores.shape
        self.weights = weights
        self.row_weights = np.ones(n) if weights is None else weights
        forms = [(demand.weight, demand.least, demand) for demand in demands]
        for demand in demands:  # precision and F: somebody must be given the class
            if demand.constraint.metric in ("precision", "fbeta"):
                column = np.zeros((self.k, self.k))
                column[:, demand.constraint.position] = 1.0
                forms.append((column, 0.5 * float(self.row_weights.min()), demand))
        self.forms = np.array([form for form, _, _ in forms])
        self.least = np.array([least for _, least, _ in forms])
        # slack is told in cases; linear forms of balanced accuracy are in units of the mean class
        self.unit = np.array(
            [d.class_weight.mean() if d.constraint.metric == "balanced_accuracy" else 1.0 for _, _, d in forms]
        )
        self.linear = all(demand.linear for demand in demands) and len(forms) == len(demands)
        self.max_zones = int(np.clip(1e8 / (n * self.k**2), 300, 5_000)) if max_zones is None else max_zones
        spread = float(np.abs(scores[:, None] - scores[None]).max())
        self.widest = spread + 2 * STEP
        self.narrow = NARROWEST * max(1.0, spread)
        self.best: tuple[tuple[float, ...], Floats, Floats, float] | None = None
        self.objective = "slack"

    def search(self, objective: str) -> Offsets:
        self.objective = "slack"
        self._consider(np.zeros(self.k))
        self._sweep(3)
        reach, done = self._explore(stop_when_feasible=objective != "slack")
        assert self.best is not None
        if objective == "slack" or self.best[3] < 0:
            _, b, confusion, slack = self.best
            return Offsets(b, confusion, slack, max(reach, slack), done)
        self.objective = objective
        self._consider(self.best[1], restart=True)
        self._consider(np.zeros(self.k))
        bound, done = self._explore()
        self._sweep(10)
        _, b, confusion, slack = self.best
        return Offsets(b, confusion, slack, np.inf, done, bound if objective == "length" else 0.0)

    def _consider(self, b: Floats, restart: bool = False) -> None:
        """Count at a point, and keep it if it is the best so far."""
        confusion = count_confusion(self.scores + b[:, None], self.labels, self.weights, safe=self.narrow)
        slack = float(worst_slack(self.demands, confusion))
        key = self._key(b, confusion, slack)
        if restart or self.best is None or key < self.best[0]:
            self.best = (key, b - b.mean(), confusion, slack)

    def _key(self, b: Floats, confusion: Floats, slack: float) -> tuple[float, ...]:
        length, right = _length(b - b.mean()), float(np.trace(confusion))
        if self.objective == "slack":
            return (-slack, length)
        short = (length, -right) if self.objective == "length" else (-right, length)
        return (float(slack < 0), *short)

    def _sweep(self, rounds: int) -> None:
        """Exact in one offset at a time: a good first answer, and the last steps of a good one."""
        assert self.best is not None
        for _ in range(rounds):
            before = self.best[0]
            for p in range(self.k):
                b = self.best[1]
                moved = self.scores + b[:, None]
                moved[p] = -np.inf
                change = moved.max(axis=0) - (self.scores[p] + b[p])
                given = np.full_like(self.labels, p)
                counts, ends = _cumulative(change, self.labels, given, moved.argmax(axis=0), self.k, self.weights)
                low, high = np.concatenate([[-np.inf], ends]), np.concatenate([ends, [np.inf]])
                slack = np.where(high - low > self.narrow, worst_slack(self.demands, counts), -np.inf)
                others = (b.sum() - b[p]) / (self.k - 1)
                t = _into_gap(low + b[p] - others, high + b[p] - others)  # 0 would be the mean of the other offsets
                right = np.einsum("nii->n", counts)
                aims = {"length": (slack < 0, np.abs(t)), "accuracy": (slack < 0, -right, np.abs(t))}
                best = _first_of(*aims.get(self.objective, (-slack, np.abs(t))))
                b = b.copy()
                b[p] = others + t[best]
                self._consider(b)
            if self.best[0] >= before or (self.objective == "slack" and self.best[3] >= 0):
                return

    def _explore(self, stop_when_feasible: bool = False) -> tuple[float, bool]:
        """Best zone first. Returns the bound on the objective that no offsets beat, and whether the search ended."""
        assert self.best is not None
        numbers = count()
        whole = np.full((self.k, self.k), self.widest)
        np.fill_diagonal(whole, 0.0)
        heap: list[tuple[float, int, Floats, Any]] = []
        settled: list[float] = []

        def add(upper: Floats) -> None:
            assert self.best is not None
            if np.any(upper + upper.T + np.eye(self.k) <= 2 * self.narrow):
                return
            most, least = np.zeros((2, len(self.forms)))
            inside, total = np.zeros((2, self.k, self.k))
            bound_zone(
                self.scores, self.labels, self.row_weights, upper, self.forms, self.narrow, most, least, inside, total
            )
            high, low = (float(((side - self.least) * self.unit).min()) for side in (most, least))
            if self.objective != "slack" and high < 0:
                return
            self._consider(_point_of(upper))
            whole_is_feasible = self.linear and low >= 0 and self.objective == "length"
            bound = self._bound(upper, high)
            if not inside.any() or whole_is_feasible or (self.objective == "slack" and high == low and self.linear):
                settled.append(bound)
                return
            heapq.heappush(heap, (bound, next(numbers), upper, (inside, total)))

        add(whole)
        zones = 0
        while heap and zones < self.max_zones:
            if stop_when_feasible and self.best[3] >= 0:
                return np.inf, False
            bound, _, upper, (inside, total) = heap[0]
            if bound >= self._best_bound():
                break
            heapq.heappop(heap)
            zones += 1
            p, q = np.unravel_index(int(inside.argmax()), inside.shape)
            target = total[p, q] / inside[p, q]
            low, high = -upper[q, p] + self.narrow, upper[p, q] - self.narrow
            at = nearest_change(self.scores, int(p), int(q), low, high, target)
            add(_tightened(upper, int(p), int(q), at))
            add(_tightened(upper, int(q), int(p), -at))
        ended = not heap or heap[0][0] >= self._best_bound()
        bound = min([entry[0] for entry in heap] + settled + [self._best_bound()])
        return (-bound if self.objective == "slack" else bound), ended

    def _best_bound(self) -> float:
        assert self.best is not None
        return self.best[0][0 if self.objective == "slack" else 1] if self.best[3] >= 0 else -self.best[3]

    def _bound(self, upper: Floats, slack: float) -> float:
        """A lower bound of the objective's first key over a zone."""
        if self.objective == "slack":
            return -slack
        if self.objective == "accuracy":
            most, least = np.zeros((2, 1))
            unused = np.zeros((2, self.k, self.k))
            form = np.eye(self.k)[None]
            bound_zone(self.scores, self.labels, self.row_weights, upper, form, self.narrow, most, least, *unused)
            return -float(most[0])
        # |b|^2 for offsets of sum zero is the sum over pairs of (b_p - b_q)^2 / k
        away = np.maximum(np.maximum(-upper, -upper.T), 0.0)
        return float(np.sqrt(np.triu(away**2).sum() / self.k))


def _tightened(upper: Floats, p: int, q: int, value: float) -> Floats:
    """The zone with b_p - b_q < value, and all that follows from it."""
    new = upper.copy()
    new[p, q] = value
    return np.minimum(new, (new[:, [p]] + value) + new[[q], :])


def _point_of(upper: Floats) -> Floats:
    """Offsets inside a zone, near zero: one after the other, each as near to zero as the ones before allow."""
    b = np.zeros(len(upper))
    for p in range(1, len(b)):
        low = max(b[q] - upper[q, p] for q in range(p))
        high = min(b[q] + upper[p, q] for q in range(p))
        b[p] = _into_gap(np.float64(low), np.float64(high))
    return b - b.mean()
