"""The forward stagewise search: one dose at a time is raised by a small step, whichever is best.

At every model all candidates (column, number of steps) are compared; the best is taken even if it is no improvement,
and the walk ends when the criterion has not fallen below its best for `patience` models in succession.

Reference: Vidaurre, Bielza and Larrañaga, "Forward stagewise naïve Bayes", Progress in Artificial Intelligence 1, 2012.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, Protocol

import numpy as np
import numpy.typing as npt

from seminaive.search.dose_problem import DoseProblem
from seminaive.search.doses import DosePath
from seminaive.search.gains import SAME, Gains
from seminaive.search.greedy import Progress
from seminaive.search.path import EQUAL
from seminaive.search.step_errors import Errors
from seminaive.table.schema import Floats, Integers

__all__ = ["StagewiseCriterion", "Step", "StepTies", "stagewise_path"]

StagewiseCriterion = Literal["log_loss", "error", "error_log_loss"]
StepTies = Literal["first", "last"]


@dataclass(frozen=True)
class Step:
    """A column and the dose it was raised to, in steps."""

    column: int
    dose: int


def stagewise_path(
    problem: DoseProblem,
    criterion: StagewiseCriterion = "log_loss",
    *,
    lookahead: int = 1,
    patience: int = 1,
    ties: StepTies = "first",
    progress: Progress | None = None,
) -> tuple[DosePath, list[Step]]:
    """Walk from the model that says nothing.

    Parameters
    ----------
    problem : DoseProblem
    criterion : {"log_loss", "error", "error_log_loss"}
        What to lower on the training rows; the last are errors, equal ones compared by log loss.
    lookahead : int
        Candidates raise a dose by 1, 2, ... as many steps.
    patience : int
        End after so many models in succession that are no better than the best before.
    ties : {"first", "last"}
        Among equals the first column and the fewest steps, or the last column and the most.
    progress : callable, optional

    Returns
    -------
    path : DosePath
        Complete up to the model reached if the walk is interrupted from the keyboard.
    steps : list of Step
        What led from each model to the next.
    """
    chooser = _ByLogLoss(problem, lookahead) if criterion == "log_loss" else _ByErrors(problem, lookahead, criterion)
    weight = problem.total_weight
    record = _Record(problem, chooser)
    steps: list[Step] = []
    most = problem.steps * len(problem.columns)
    taken = np.zeros(len(problem.schema.columns), dtype=np.int64)
    best = np.inf if criterion == "log_loss" else record.values[0]
    without = 0
    evaluations = 0
    interrupted = False
    try:
        while taken.sum() < most:
            among = chooser.candidates()
            evaluations += int(among.sum())
            column, t = _pick(chooser.equals(among), ties)
            chooser.move(column, t + 1)
            taken[column] += t + 1
            steps.append(Step(column, int(taken[column])))
            record.note()
            value = record.values[-1]
            if progress is not None:
                progress(len(steps), most, value)
            without = 0 if value < best - EQUAL else without + 1
            best = min(best, value)
            if without >= patience:
                break
    except KeyboardInterrupt:
        interrupted = True
        del steps[len(record.values) - 1 :]
    path = record.path(criterion, steps, weight, evaluations, interrupted)
    return path, steps


class _Chooser(Protocol):
    """Where the walk is, and which steps are best from there."""

    def candidates(self) -> npt.NDArray[np.bool_]: ...

    def equals(self, among: npt.NDArray[np.bool_], /) -> npt.NDArray[np.bool_]:
        """The best of these steps, all of them if they are equal."""

    def move(self, column: int, steps: int, /) -> None: ...

    def sums(self) -> tuple[float, float, float]:
        """Criterion, weight of wrong rows, and log loss, all summed over rows."""


class _ByLogLoss:
    def __init__(self, problem: DoseProblem, lookahead: int) -> None:
        self.gains = Gains(problem, lookahead)
        self.same = SAME * problem.total_weight
        self.candidates = self.gains.candidates
        self.move = self.gains.move

    def equals(self, among: npt.NDArray[np.bool_]) -> npt.NDArray[np.bool_]:
        gains, least = self.gains.best(among)
        return np.asarray(gains <= least + self.same)

    def sums(self) -> tuple[float, float, float]:
        return self.gains.loss, self.gains.wrong, self.gains.loss


class _ByErrors:
    def __init__(self, problem: DoseProblem, lookahead: int, criterion: str) -> None:
        self.errors = Errors(problem, lookahead)
        self.by_loss = Gains(problem, lookahead) if criterion == "error_log_loss" else None
        self.same = SAME * problem.total_weight
        self.candidates = self.errors.candidates
        self.move = self.errors.move

    def equals(self, among: npt.NDArray[np.bool_]) -> npt.NDArray[np.bool_]:
        errors = self.errors.after(among)
        best = np.asarray(errors <= errors.min() + self.same)
        if self.by_loss is None or best.sum() == 1:
            return best
        self.by_loss.restart(self.errors.scores, self.errors.doses)
        gains, least = self.by_loss.best(best)
        return np.asarray(gains <= least + self.same)

    def sums(self) -> tuple[float, float, float]:
        return self.errors.wrong, self.errors.wrong, self.errors.log_loss


def _pick(equals: npt.NDArray[np.bool_], ties: StepTies) -> tuple[int, int]:
    """The column and the step taken among equals."""
    at = np.argwhere(equals)[0 if ties == "first" else -1]
    return int(at[0]), int(at[1])


class _Record:
    """Criterion, errors and log loss of all models so far, as means over rows."""

    def __init__(self, problem: DoseProblem, chooser: _Chooser) -> None:
        self.problem = problem
        self.chooser = chooser
        self.values: list[float] = []
        self.errors: list[float] = []
        self.log_losses: list[float] = []
        self.note()

    def note(self) -> None:
        value, wrong, loss = self.chooser.sums()
        weight = self.problem.total_weight
        self.errors.append(wrong / weight)
        self.log_losses.append(loss / weight)
        self.values.append(value / weight)

    def path(self, criterion: str, steps: list[Step], weight: float, evaluations: int, interrupted: bool) -> DosePath:
        n = len(steps) + 1
        doses: Integers = np.zeros((n, len(self.problem.schema.columns)), dtype=np.int64)
        for i, step in enumerate(steps, start=1):
            doses[i] = doses[i - 1]
            doses[i, step.column] = step.dose
        amounts: Floats = doses / self.problem.steps
        values, errors, losses = (np.array(part[:n]) for part in (self.values, self.errors, self.log_losses))
        return DosePath(
            criterion, amounts, values, errors, losses, weight, evaluations=evaluations, interrupted=interrupted
        )
