"""How strongly to hold weights: the best of a path of penalties, judged by rows left out.

lambda = s 10^t walks from strong to weak, every fit starting from the last, until the criterion
(approximate leave-one-out, or cross-validation) stops improving.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Protocol

import numpy as np
import numpy.typing as npt

from seminaive.search.linear import one_blas_thread
from seminaive.search.ridge import (
    FINAL,
    FREE,
    PATH,
    Fit,
    Problem,
    Restraint,
    begin,
    newton,
    penalised_inverse,
)

__all__ = ["Chosen", "Folds", "PathStep", "Solver", "choose_penalty", "cross_validated", "left_out"]

Float = npt.NDArray[np.float64]
Folds = Sequence[tuple[Problem, Problem]]  # (training rows, held-out rows)

BITS = float(np.log(2.0))
WEAKEST = 1e-10  # in units of s: where a path ends


@dataclass(frozen=True)
class PathStep:
    """One penalty of a path: lambda, lambda / s, m = |alpha|^2, the criterion in bits, and the weights."""

    penalty: float
    relative: float
    m: float
    criterion: float
    weights: Float


@dataclass(frozen=True)
class Chosen:
    """The fit at the best penalty, the path, and whether the best was the weakest penalty allowed."""

    fit: Fit
    path: tuple[PathStep, ...]
    at_the_end: bool


Criterion = Callable[[Fit], float]


class Solver(Protocol):
    """Minimise the penalised loss: `newton`, or `gradient_only` when predictors are many."""

    def __call__(
        self,
        problem: Problem,
        penalty: float,
        start: Fit,
        restraint: Restraint = FREE,
        tolerance: float = PATH,
    ) -> Fit: ...


def left_out(problem: Problem) -> Criterion:
    """Approximate leave-one-out loss in bits per row: one more pass over the rows, no folds.

    The row leaves the weights, not the tables: where these have few rows per entry they seem surer than they are. Hence
    `AdjustedNB` asks folds instead where rows are few (`seminaive reproduce adjusted-choice`).
    """

    def criterion(fit: Fit) -> float:
        return problem.left_out_loss(fit.weights, penalised_inverse(fit)) / (problem.total * BITS)

    return criterion


def cross_validated(
    problem: Problem,
    folds: Folds,
    restraints: Restraint | Sequence[Restraint] = FREE,
    solve: Solver = newton,
) -> Criterion:
    """Loss in bits per held-out row; in every fold the penalty is scaled by the fold's share of the rows.

    Folds may be problems of their own, with as many weights as their rows ask for, and `restraints` of their own.
    """
    of_fold = [restraints] * len(folds) if isinstance(restraints, Restraint) else restraints
    latest = [begin(training, own.centre) for (training, _), own in zip(folds, of_fold, strict=True)]
    rows = sum(held_out.total for _, held_out in folds)

    def criterion(fit: Fit) -> float:
        loss = 0.0
        for number, (training, held_out) in enumerate(folds):
            penalty = fit.penalty * training.total / problem.total
            latest[number] = solve(training, penalty, latest[number], of_fold[number])
            loss += held_out.bounded_loss(latest[number].weights)
        return loss / (rows * BITS)

    return criterion


@one_blas_thread()
def choose_penalty(
    problem: Problem,
    criterion: Criterion,
    scale: float,
    restraint: Restraint = FREE,
    solve: Solver = newton,
) -> Chosen:
    """Walk from lambda = 100 s down in steps of 10^(1/3) and keep the penalty with the lowest criterion.

    Stops after four penalties without improvement, at 1e-6 s, or, while the weakest is the best, at 1e-10 s.
    """
    fit = best = begin(problem, restraint.centre)
    path: list[PathStep] = []
    lowest = 0
    for third in range(6, -31, -1):
        relative = 10 ** (third / 3)
        # Evidence that is 0 everywhere has no scale, and every penalty leaves its weights at the centre.
        fit = solve(problem, relative * (scale or 1.0), fit, restraint)
        path.append(PathStep(fit.penalty, relative, fit.size, criterion(fit), fit.weights))
        if best.penalty == np.inf or path[-1].criterion < path[lowest].criterion:
            best, lowest = fit, len(path) - 1
        since = len(path) - 1 - lowest
        if since >= 4 or (third <= -18 and since > 0):
            break
    chosen = solve(problem, best.penalty, best, restraint, FINAL)
    path[lowest] = replace(path[lowest], m=chosen.size, weights=chosen.weights)
    return Chosen(chosen, tuple(path), path[lowest].relative <= 1.01 * WEAKEST)
