"""The naive Bayes model nearest to what the data say that keeps every promise on a sample.

Stages, each in its own file: P and A move the parameters until the promises hold, Q and the swap search bring them
back as near to the mode as the promises allow; restarts guard against local answers. All limits are counts, never a
clock, and all randomness comes from one generator, so that the result repeats.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from seminaive.search.linear import one_blas_thread
from seminaive.search.polish import polish, swap
from seminaive.search.promises import Problem, penalised, softened

Floats = npt.NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Moved:
    """What the search found.

    Attributes
    ----------
    z : array
        The point of least loss that keeps the promises; if none was found, the one that misses them least.
    loss : float
        Log posterior at the mode minus at z, in nats.
    slack : float
        Cases by which the tightest demand is exceeded; negative: missed.
    restarts : int
        Starts from elsewhere than the mode.
    """

    z: Floats
    loss: float
    slack: float
    restarts: int

    @property
    def feasible(self) -> bool:
        return self.slack >= 0


class _Best:
    """The best point seen: least loss among those that keep the promises, else least missed."""

    def __init__(self, problem: Problem) -> None:
        self.problem = problem
        self.z = np.zeros(problem.model.size)
        self.loss, self.slack = 0.0, problem.slack(self.z)
        self.restarts = 0

    def feasible(self) -> bool:
        return self.slack >= 0

    def offer(self, z: Floats | None) -> bool:
        """Keep a point if it is better; says whether it keeps the promises."""
        if z is None:
            return False
        slack = self.problem.slack(z)
        loss = self.problem.loss(z)
        if (slack >= 0, min(slack, 0.0), -loss) > (self.feasible(), min(self.slack, 0.0), -self.loss):
            self.z, self.loss, self.slack = z, loss, slack
        return slack >= 0

    def first_feasible(self, points: Iterable[Floats]) -> Floats | None:
        return next((z for z in points if self.offer(z)), None)

    def result(self) -> Moved:
        return Moved(self.z, self.loss, self.slack, self.restarts)


MANY_ROWS = 5_000
"""Beyond this many rows one restart instead of two, and no swap search: single rows matter little there."""


@one_blas_thread()
def move_parameters(problem: Problem, random_state: int = 0, thorough: bool = True, starts: int = 6) -> Moved:
    """Find the model of least loss that keeps the promises.

    Parameters
    ----------
    problem : Problem
    random_state : int
    thorough : bool
        Once something was found, look for something nearer: by swaps, and from random points.
    starts : int
        Runs from random points as long as nothing was found.
    """
    best = _Best(problem)
    if best.feasible():
        return best.result()
    rng = np.random.default_rng(random_state)
    zero = np.zeros(problem.model.size)
    if problem.about_rows:
        _by_rows(best, zero)
    _by_softening(best, zero, quick=problem.about_rows)
    if best.feasible():
        best.offer(polish(problem, best.z))
    else:
        _from_elsewhere(best, rng, starts)
    if thorough and best.feasible() and problem.about_rows:
        few = len(problem.labels) <= MANY_ROWS
        nearer = swap if few else _as_it_is
        best.offer(nearer(problem, best.z))
        for _ in range(2 if few else 1):
            best.restarts += 1
            found = _by_rows(best, rng.normal(0.0, 2.0, problem.model.size))
            polished = polish(problem, found) if found is not None else None
            if polished is not None:
                best.offer(nearer(problem, polished))
    return best.result()


def _as_it_is(problem: Problem, z: Floats) -> Floats:
    return z


def _by_rows(best: _Best, start: Floats) -> Floats | None:
    """Stage P, and if it fails without the loss first."""
    found = best.first_feasible(penalised(best.problem, start))
    if found is not None:
        return found
    reached = best.first_feasible(penalised(best.problem, start, seek_only=True))
    if reached is None:
        return None
    again = best.first_feasible(penalised(best.problem, reached))
    return reached if again is None else again


def _by_softening(best: _Best, start: Floats, quick: bool) -> None:
    """Stage A; of every round's point, the shortest feasible part of the way to it."""
    for z in softened(best.problem, start, quick=quick):
        best.offer(z)
    if best.feasible():
        whole = best.z
        best.first_feasible(whole * (t / 40) for t in range(40))


def _from_elsewhere(best: _Best, rng: np.random.Generator, starts: int) -> None:
    """Nothing found from the mode: look without the loss from around zero and around the least missing point."""
    problem = best.problem
    for s in range(starts):
        best.restarts += 1
        centre = best.z if s % 2 else np.zeros_like(best.z)
        start = centre + rng.normal(0.0, 1 + s / 2, len(centre))
        found = best.first_feasible(softened(problem, start, seek_only=True))
        if problem.about_rows:
            _by_rows(best, best.z if found is None else found)
        elif found is not None:
            best.first_feasible(softened(problem, found))
        if best.feasible():
            best.offer(polish(problem, best.z))
            return
