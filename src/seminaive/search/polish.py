"""From a model that keeps its promises to the nearest one that does: stage Q and the swap search.

Stage Q freezes which rows are required (those with the largest margins) and minimises the loss subject to
S_y - S_k >= 1e-6 for these rows and every other class k, by sequential quadratic programming on the rows that are
tight; then it chooses the rows anew, until they stay the same.

The swap search gives up one row that is only just kept, in a class that can spare it, and polishes again.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt
from scipy.optimize import minimize

from seminaive.search.promises import Problem
from seminaive.statistics.confusion import margins

Floats = npt.NDArray[np.float64]
Labels = npt.NDArray[np.int64]

MOST_VARIABLES = 60
CLEAR = 1e-6
JUST_KEPT = 1e-3
GAIN = 1e-4
STEPS = 50


def polish(problem: Problem, start: Floats, banned: Sequence[int] | Labels = ()) -> Floats | None:
    """Stage Q: the best point found that keeps the promises; None if there is none among them."""
    if not problem.about_rows or len(start) > MOST_VARIABLES:
        return start if problem.slack(start) >= 0 else None
    best, least = (start, problem.loss(start)) if problem.slack(start) >= 0 and not len(banned) else (None, np.inf)
    z, before = start, None
    for _ in range(12):
        margin, _ = _margins(problem, z)
        chosen = problem.required(margin, banned)
        required = np.unique(np.concatenate(chosen))
        if before is not None and np.array_equal(required, before):
            break
        before = required
        z = _nearest_keeping(problem, z, required)
        if problem.slack(z) < 0:
            break
        loss = problem.loss(z)
        if loss < least:
            best, least = z, loss
    return best


def _margins(problem: Problem, z: Floats) -> tuple[Floats, Labels]:
    return margins(problem.model.scores(problem.model.at(z)), problem.labels)


def _nearest_keeping(problem: Problem, z: Floats, required: Labels) -> Floats:
    """The least loss at which every required row is right, found with the tight rows only."""
    margin, _ = _margins(problem, z)
    required = _one_of_a_kind(problem, required)
    tight = required[np.argsort(margin[required], kind="stable")[: len(z) + 1]]
    for _ in range(6):
        z = _solve(problem, z, tight)
        margin, _ = _margins(problem, z)
        loose = np.setdiff1d(required[margin[required] < 0.5 * CLEAR], tight)
        if len(loose) == 0:
            break
        tight = np.concatenate([tight, loose[np.argsort(margin[loose], kind="stable")[:50]]])
    return z


def _one_of_a_kind(problem: Problem, rows: Labels) -> Labels:
    return rows[np.unique(problem.kinds[rows], return_index=True)[1]]


def _solve(problem: Problem, start: Floats, rows: Labels) -> Floats:
    """Sequential quadratic programming on the loss, the given rows being right."""
    model, k = problem.model, problem.model.n_classes
    pairs = np.array([(n, problem.labels[n], other) for n in rows for other in range(k) if other != problem.labels[n]])
    at, own, other = pairs.reshape(-1, 3).T

    def value(z: Floats) -> tuple[float, Floats]:
        point = model.at(z)
        return point.loss, point.slope

    def clear(z: Floats) -> Floats:
        scores = model.scores(model.at(z))
        return scores[own, at] - scores[other, at] - CLEAR

    def slopes(z: Floats) -> Floats:
        point = model.at(z)
        return model.row_slopes(point, at, own) - model.row_slopes(point, at, other)

    with np.errstate(all="ignore"):
        found = minimize(
            value,
            start,
            jac=True,
            method="SLSQP",
            constraints={"type": "ineq", "fun": clear, "jac": slopes},
            options={"maxiter": STEPS, "ftol": 1e-9},
        )
    return found.x if np.isfinite(found.x).all() else start


def swap(problem: Problem, z: Floats, tries: int = 6, rounds: int = 10) -> Floats:
    """Give up rows that are only just kept, one at a time, as long as that lowers the loss."""
    if not problem.about_rows or len(z) > MOST_VARIABLES:
        return z
    loss = problem.loss(z)
    for _ in range(rounds):
        for rows in _just_kept(problem, z)[:tries]:
            without = polish(problem, z, banned=rows)
            again = polish(problem, without) if without is not None else None
            if again is not None and problem.loss(again) < loss - GAIN:
                z, loss = again, problem.loss(again)
                break
        else:
            return z
    return z


def _just_kept(problem: Problem, z: Floats) -> list[Labels]:
    """Rows on the edge whose demands can all spare them, the tightest first; equal rows go together."""
    margin, _ = _margins(problem, z)
    rows = _one_of_a_kind(problem, np.flatnonzero((margin >= 0) & (margin < JUST_KEPT)))
    groups = [np.flatnonzero(problem.kinds == problem.kinds[n]) for n in rows[np.argsort(margin[rows], kind="stable")]]
    return [group for group in groups if all(_can_spare(problem, j, group) for j in range(len(problem.needs)))]


def _can_spare(problem: Problem, j: int, group: Labels) -> bool:
    rows, needed = problem.needs[j]
    weights = np.ones(len(problem.labels)) if problem.weights is None else problem.weights
    return float(weights[rows].sum() - needed) >= float(weights[np.intersect1d(rows, group)].sum())
