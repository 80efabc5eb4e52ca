"""Two ways to move a model until it keeps its promises: an exact penalty on the rows it needs, and softened counts.

Stage P is for demands on rows (recall, accuracy). R_j, the rows demand j needs, are those with the largest margins,
chosen anew at every evaluation; minimise loss + rho sum over R of h(epsilon + delta - margin), h a rounded hinge.

Stage A is for every demand. Decisions are softened to softmax(S / tau), which makes the counts smooth; an augmented
Lagrangian drives the softened demands to hold while tau falls to .1.

Whether a point keeps the promises is always decided by the hard counts.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
import numpy.typing as npt
from scipy.optimize import minimize

from seminaive.search.movable import Movable
from seminaive.statistics.certificate import smallest_count
from seminaive.statistics.confusion import Demand, count_confusion, margins, worst_slack
from seminaive.statistics.constraints import Constraint

Floats = npt.NDArray[np.float64]
Labels = npt.NDArray[np.int64]

SAFE = 1e-7
"""A row counts as right in the search only with this margin, so that the served model's rounding cannot undo it."""
EPSILON, DELTA = 1e-4, 0.02
PENALTIES = (1.0, 10.0, 100.0)
HUGE = 1e100


@dataclass(frozen=True, eq=False)
class Problem:
    """A model that can move, the rows it is judged on, and what is demanded of it."""

    model: Movable
    labels: Labels
    demands: Sequence[Demand]
    weights: Floats | None = None

    @cached_property
    def needs(self) -> list[tuple[Labels, float]]:
        """Per demand on rows: which rows can serve it, and how many (or how much weight) it needs."""
        found = []
        for demand in self.demands:
            c = demand.constraint
            if c.metric == "accuracy":
                found.append((np.arange(len(self.labels)), demand.least))
            elif c.metric == "recall":
                found.append((np.flatnonzero(self.labels == c.position), demand.least))
            elif c.metric == "specificity" and self.model.n_classes == 2:
                found.append((np.flatnonzero(self.labels != c.position), demand.least))
        return found

    @property
    def about_rows(self) -> bool:
        """Whether every demand is one on rows, so that rows can be required one by one."""
        return len(self.needs) == len(self.demands)

    @cached_property
    def kinds(self) -> Labels:
        """A number per row that equal rows of the same class share: what holds for one holds for all of them."""
        level = self.model.level.toarray() if hasattr(self.model.level, "toarray") else self.model.level
        base = np.broadcast_to(self.model.base, (self.model.n_classes, len(self.labels)))
        cells = np.concatenate([self.model.x, self.model.seen, level, base, self.labels[None]])
        return np.unique(cells, axis=1, return_inverse=True)[1].ravel().astype(np.int64)

    def required(self, margin: Floats, banned: Sequence[int] | Labels = ()) -> list[Labels]:
        """Per demand, the needed number of rows with the largest margins."""
        if len(banned):
            margin = margin.copy()
            margin[list(banned)] = -np.inf
        return [self._top(rows, needed, margin) for rows, needed in self.needs]

    def _top(self, rows: Labels, needed: float, margin: Floats) -> Labels:
        if self.weights is None:
            left_out = len(rows) - int(needed)
            if left_out <= 0:
                return rows
            return rows[np.argpartition(margin[rows], left_out - 1)[left_out:]]
        order = rows[np.argsort(-margin[rows], kind="stable")]
        return order[: int(np.searchsorted(np.cumsum(self.weights[order]), needed)) + 1]

    def confusion(self, z: Floats) -> Floats:
        scores = self.model.scores(self.model.at(z))
        return count_confusion(scores, self.labels, self.weights, safe=SAFE)

    def slack(self, z: Floats) -> float:
        """Of the tightest demand, in cases, by hard counts."""
        return float(worst_slack(self.demands, self.confusion(z)))

    def loss(self, z: Floats) -> float:
        return self.model.at(z).loss


def penalised(
    problem: Problem, start: Floats, seek_only: bool = False, banned: Sequence[int] | Labels = ()
) -> Iterator[Floats]:
    """Stage P: the minimisers for rising penalties; with ``seek_only``, without the loss."""
    z = start
    for rho in (10.0,) if seek_only else PENALTIES:
        z = descend(_penalty(problem, rho, seek_only, banned), z, 150)
        yield z


def _penalty(
    problem: Problem, rho: float, seek_only: bool, banned: Sequence[int] | Labels
) -> Callable[[Floats], tuple[float, Floats]]:
    model, labels = problem.model, problem.labels

    def value(z: Floats) -> tuple[float, Floats]:
        point = model.at(z)
        margin, rival = margins(model.scores(point), labels)
        missing = np.zeros(len(labels))
        total = 0.0
        for rows in problem.required(margin, banned):
            t = EPSILON + DELTA - margin[rows]
            t = np.maximum(t, 0.0)
            hinge = np.where(t < 2 * DELTA, t * t / (4 * DELTA), t - DELTA)
            steep = np.minimum(t / (2 * DELTA), 1.0)
            if problem.weights is not None:
                hinge, steep = hinge * problem.weights[rows], steep * problem.weights[rows]
            total += float(hinge.sum())
            missing[rows] += steep
        short = np.flatnonzero(missing)
        slope = np.zeros((model.n_classes, len(labels)))
        slope[labels[short], short] -= rho * missing[short]
        slope[rival[short], short] += rho * missing[short]
        cost, tilt = (5e-6 * float(z @ z), 1e-5 * z) if seek_only else (point.loss, point.slope)
        return cost + rho * total, tilt + model.pull(point, slope)

    return value


def descend(value: Callable[[Floats], tuple[float, Floats]], start: Floats, steps: int) -> Floats:
    """L-BFGS; points where anything overflows are rejected, without a warning."""

    def guarded(z: Floats) -> tuple[float, Floats]:
        total, slope = value(z)
        return (total, slope) if np.isfinite(total) and np.isfinite(slope).all() else (HUGE, np.zeros_like(z))

    with np.errstate(all="ignore"):
        return np.asarray(minimize(guarded, start, jac=True, method="L-BFGS-B", options={"maxiter": steps}).x)


def softened(problem: Problem, start: Floats, seek_only: bool = False, quick: bool = False) -> Iterator[Floats]:
    """Stage A: the minimiser after each round."""
    model, labels = problem.model, problem.labels
    forms = [_form(demand) for demand in problem.demands]
    worth = np.array([form[labels].T for form, _, _ in forms])  # (demands, classes, rows)
    if problem.weights is not None:
        worth = worth * problem.weights
    least = np.array([least for _, least, _ in forms])
    unit = np.array([unit for _, _, unit in forms])
    worth, least = worth / unit[:, None, None], least / unit
    multiplier, rho, z = np.zeros(len(forms)), 200.0, start

    def excess(z: Floats, tau: float) -> tuple[Floats, Floats]:
        scores = model.scores(model.at(z)) / tau
        shares = np.exp(scores - scores.max(axis=0))
        shares /= shares.sum(axis=0)
        return np.einsum("jkn,kn->j", worth, shares) - least, shares

    for tau in (1.0, 0.2) if quick else (3.0, 1.0, 0.3, 0.1):
        for _ in range(2 if quick else 4):

            def value(
                z: Floats, tau: float = tau, rho: float = rho, multiplier: Floats = multiplier
            ) -> tuple[float, Floats]:
                point = model.at(z)
                over, shares = excess(z, tau)
                short = np.maximum(0.0, multiplier / rho - over)
                gain = np.einsum("j,jkn->kn", -rho * short, worth)
                slope = shares * (gain - (shares * gain).sum(axis=0)) / tau
                cost, tilt = (5e-6 * float(z @ z), 1e-5 * z) if seek_only else (point.loss, point.slope)
                return cost + 0.5 * rho * float(short @ short), tilt + model.pull(point, slope)

            z = descend(value, z, 60)
            yield z
            over, _ = excess(z, tau)
            multiplier = np.maximum(0.0, multiplier - rho * over)
            if over.min() < -1e-3:
                rho = min(3 * rho, 1e6)


def _form(demand: Demand) -> tuple[Floats, float, float]:
    """Linear form, its right side, and the unit that turns both into rates."""
    c = demand.constraint
    if not demand.linear and demand.delta > 0:
        # The bound is not linear in the counts: ask for the rate at which it would hold for as many cases as there are.
        cases = max(int(demand.class_weight.min() if c.position < 0 else demand.class_weight[c.position]), 1)
        rate = min(float(smallest_count(c.rate, np.int64(cases), demand.delta / 2)) / cases, 1.0)
        raised: Constraint = replace(c, rate=rate)
        demand = Demand(raised, demand.class_weight, 0.0, demand.weighted)
    unit = len(demand.class_weight) if c.metric == "balanced_accuracy" else max(demand.cases, 1.0)
    return demand.weight, demand.least, float(unit)
