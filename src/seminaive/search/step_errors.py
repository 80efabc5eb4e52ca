"""Training errors after every possible step, counted exactly.

A row of class c is right as long as no rival k passes it. A step moves the margin between the two by the same amount in
all rows with the same code, so the margin that is needed at every dose is a small table, and no score is formed.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from seminaive.kernels.stagewise import errors_of_codes, errors_of_numbers
from seminaive.search.dose_problem import DoseProblem
from seminaive.search.gains import margins
from seminaive.table.schema import Floats

__all__ = ["Errors"]

AT_ONCE = 8192
"""So many rows are sorted by code at a time; their margins stay in the second-level cache."""
KEPT = 10_000
"""Needs of a column are kept until its dose changes, unless they are more numbers than this."""


class Errors:
    """Errors of the model with the present doses, and of those a step away.

    Attributes
    ----------
    doses : (columns,) ints
        In steps.
    scores : (classes, rows)
    wrong : float
        Weight of the rows that are wrong.
    """

    def __init__(self, problem: DoseProblem, lookahead: int) -> None:
        self.problem = problem
        self.lookahead = lookahead
        self.doses = np.zeros(len(problem.schema.columns), dtype=np.int64)
        self.work = np.empty((problem.n_classes + 3, AT_ONCE))
        self.place = np.empty(AT_ONCE, dtype=np.int64)
        self._needed: dict[int, tuple[Floats, ...]] = {}
        self._settle(problem.scores(self.doses))

    def _settle(self, scores: Floats) -> None:
        self.scores = scores
        self.margins = margins(self.problem, scores)
        self.wrong = self.problem.total(np.any(self.margins < 0, axis=0).astype(np.float64))
        self.log_loss = self.problem.total(self.problem.log_losses(scores))

    def move(self, column: int, steps: int) -> None:
        """Raise the dose of a column by some steps, all at once."""
        dose = int(self.doses[column])
        scores = self.scores + self.problem.evidence(column, dose + steps)
        if dose:
            scores -= self.problem.evidence(column, dose)
        self.doses[column] += steps
        self._needed.pop(column, None)
        self._settle(scores)

    def candidates(self) -> npt.NDArray[np.bool_]:
        """Which steps there are, (columns, lookahead)."""
        there = np.zeros((len(self.doses), self.lookahead), dtype=bool)
        columns = self.problem.columns
        there[columns] = self.doses[columns, None] + np.arange(1, self.lookahead + 1) <= self.problem.steps
        return there

    def after(self, among: npt.NDArray[np.bool_]) -> Floats:
        """Weight of wrong rows after every step, (columns, lookahead); infinite where there is none."""
        out = np.full(among.shape, np.inf)
        for column in np.flatnonzero(among.any(axis=1)).tolist():
            n = int(among[column].sum())
            out[column, :n] = self._after_steps_of(column, n)
        return out

    def _after_steps_of(self, column: int, n: int) -> Floats:
        problem, total = self.problem, np.zeros(n)
        where = problem.starts, problem.classes, self.margins, problem.weights, self.work, self.place
        if problem.is_coded(column):
            needs = self._needs(column, n)[0]
            errors_of_codes(problem.codes(column), needs, *where, np.zeros(needs.shape[2], dtype=np.int64), total)
        else:
            errors_of_numbers(problem.values(column), *self._needs(column, n), *where, total)
        return total

    def _needs(self, column: int, n: int) -> tuple[Floats, ...]:
        """Margins needed after each of the next steps; they are the same until the column's dose changes."""
        if column in self._needed:
            return self._needed[column]
        says, dose = self.problem.says, int(self.doses[column])
        doses = np.arange(dose, dose + n + 1) / self.problem.steps
        if self.problem.is_coded(column):
            tables = says.tables(column, doses)
            logs = tables[1:] - tables[0]
            needs: tuple[Floats, ...] = ((logs[:, None] - logs[:, :, None]).transpose(1, 2, 3, 0),)
        else:
            forms, missing = (part[1:] - part[0] for part in says.forms(column, doses))
            needs = (
                (forms[:, None] - forms[:, :, None]).transpose(1, 2, 0, 3),
                (missing[:, None] - missing[:, :, None]).transpose(1, 2, 0),
            )
        needs = tuple(np.ascontiguousarray(part) for part in needs)
        if needs[0].size <= KEPT:
            self._needed[column] = needs
        return needs
