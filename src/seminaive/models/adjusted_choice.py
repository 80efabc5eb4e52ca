"""How strongly weights are held, and the weights that follow.

Left-out rows choose the penalty ("alo": each row in turn, to first order; "cv": folds, each with evidence, cuts and
centre of its own), or the sum of squares m ("paper": on the evidence of all rows), or nothing does (m given; None).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Literal

import numpy as np

from seminaive.models.adjusted_problem import Part
from seminaive.models.adjusted_terms import Form
from seminaive.search.gradient_only import MANY, gradient_only
from seminaive.search.penalty import BITS, PathStep, choose_penalty, cross_validated, left_out
from seminaive.search.ridge import Fit, Restraint, common_weight, newton, penalised_inverse, scale
from seminaive.search.size import choose_size, fit_size
from seminaive.search.unrestricted import fit_unrestricted
from seminaive.search.weighted_evidence import WeightedEvidence
from seminaive.table.schema import Floats
from seminaive.table.scratch import new_owner
from seminaive.table.table import Table

FOLDS = 5
FEW_ROWS: dict[Form, int] = {"softmax": 5000, "logit": 250, "ovr": 250}
"""Below, leave-one-out to first order takes the tables for more certain than they are. With softmax it chose up to .02
bits worse than ten folds on 300 rows (with shared weights .09, and .007 on 1,500), the same on 5,000; with a logit or
one-versus-rest .004 to .4 on 120 rows, .0002 to .02 on 300, within .001 on 1,000, where its speed is worth more."""
LARGEST = 8000
"""Weights above which the matrix of their second derivatives (half a gigabyte) is not made."""
KNOWN = 3000
"""Weights up to which their covariance is worth that matrix where the fit did without."""

LEFT_OUT = "bits on rows left out one by one, to first order"
HELD_OUT = "bits on rows held out in {} folds"
TRAINING = "bits on the training rows"

Select = Literal["alo", "cv", "paper"]


@dataclass(frozen=True)
class Wishes:
    """What the estimator's parameters ask for."""

    select: Select | None
    m: float | None
    centre: float | Literal["auto"]
    nonnegative: bool


@dataclass(frozen=True, eq=False)
class PartRows:
    """A part of a model and the rows it is fitted or judged on."""

    part: Part
    table: Table
    n_jobs: int | None = None

    @cached_property
    def problem(self) -> WeightedEvidence:
        return self.part.problem(self.table, new_owner(), n_jobs=self.n_jobs)

    @cached_property
    def bare(self) -> WeightedEvidence:
        """The problem without residuals."""
        return self.part.problem(self.table, new_owner(), bare=True, n_jobs=self.n_jobs)

    def on(self, table: Table) -> PartRows:
        """The same part on other rows."""
        return PartRows(self.part, table, self.n_jobs)

    def restraint(self, wishes: Wishes) -> Restraint:
        """What holds the weights; the "auto" centre is learned from these rows."""
        centre = common_weight(self.bare) if wishes.centre == "auto" else float(wishes.centre)
        return self.part.restraint(centre, wishes.nonnegative)


FoldRows = Callable[[], Sequence[tuple[PartRows, PartRows]]]
"""Makes the folds: (training, held-out) rows, each with the part that is fitted there."""


@dataclass(frozen=True)
class Choice:
    """The chosen fit of one part, and how it was found.

    Attributes
    ----------
    fit : Fit
    criterion : str
        What the compared fits were judged by.
    path : dict of arrays
        Penalty, penalty relative to s ("relative"), m and criterion of the compared fits; "paper" knows the last two.
    chosen : int
        Which of them won.
    endless : bool
        The weakest penalty that is tried was best, or, where none is asked for, had to be kept: classes are separable.
    centre : float
        What the weights were drawn to.
    covariance : array or None
    """

    fit: Fit
    criterion: str
    path: dict[str, Floats]
    chosen: int
    endless: bool
    centre: float
    covariance: Floats | None


def choose(rows: PartRows, wishes: Wishes, in_folds: FoldRows, on_all: FoldRows) -> Choice:
    """Fit one part of the model.

    ``in_folds`` are folds that learned everything from their own training rows, ``on_all`` the paper's: rows held out
    of the weights, but not of the evidence.
    """
    restraint = rows.restraint(wishes)
    centre = float(np.max(restraint.centre, initial=0.0))
    problem, unit = rows.problem, scale(rows.bare)
    if problem.size == 0:
        nothing = Fit(np.zeros(0), 0.0, problem.sums(np.zeros(0)), np.zeros(0, dtype=bool))
        return Choice(nothing, "nothing", _lines([]), 0, False, centre, np.zeros((0, 0)))
    if wishes.m is not None or wishes.select in (None, "paper"):
        if problem.size > LARGEST:
            raise ValueError(
                f"{problem.size} weights are too many for an exact fit (at most {LARGEST}): use select='alo' or 'cv'"
            )
        return _of_size(problem, unit, wishes, restraint, centre, on_all)
    if wishes.select == "cv" or problem.size > MANY:
        solve = gradient_only if problem.size > MANY else newton
        folds = in_folds()
        restraints = [training.restraint(wishes) for training, _ in folds]
        pairs = [(training.problem, held_out.problem) for training, held_out in folds]
        criterion, name = cross_validated(problem, pairs, restraints, solve), HELD_OUT.format(len(folds))
        chosen = choose_penalty(problem, criterion, unit, restraint, solve)
    else:
        name = LEFT_OUT
        chosen = choose_penalty(problem, left_out(problem), unit, restraint)
    path = _lines(chosen.path)
    best = int(np.argmin(path["criterion"]))
    return Choice(chosen.fit, name, path, best, chosen.at_the_end, centre, _covariance(problem, chosen.fit))


def _of_size(
    problem: WeightedEvidence, unit: float, wishes: Wishes, restraint: Restraint, centre: float, on_all: FoldRows
) -> Choice:
    """Weights without a penalty, with a given sum of squares, or with the one that the paper's search finds."""
    free, separable = fit_unrestricted(problem, unit, restraint)
    fit = free
    if wishes.m is not None:
        fit = fit_size(problem, wishes.m, free, nonnegative=restraint.nonnegative)
    elif wishes.select == "paper":
        pairs = [(training.problem, held_out.problem) for training, held_out in on_all()]
        found = choose_size(pairs, free.size, nonnegative=restraint.nonnegative)
        fit = fit_size(problem, found.m, free, nonnegative=restraint.nonnegative)
        order = np.argsort(found.sizes, kind="stable")
        path = {"m": found.sizes[order], "criterion": found.mean_bits[order]}
        best = int(np.argmin(path["criterion"]))
        endless = separable and fit is free
        return Choice(fit, HELD_OUT.format(FOLDS), path, best, endless, centre, _covariance(problem, fit))
    bits = problem.bounded_loss(fit.weights) / (problem.total * BITS)
    path = _lines([PathStep(fit.penalty, fit.penalty / (unit or 1.0), fit.size, bits, fit.weights)])
    return Choice(fit, TRAINING, path, 0, separable and fit is free, centre, _covariance(problem, fit))


def _lines(steps: Sequence[PathStep]) -> dict[str, Floats]:
    names = ("penalty", "relative", "m", "criterion")
    return {name: np.array([getattr(step, name) for step in steps]) for name in names}


def _covariance(problem: WeightedEvidence, fit: Fit) -> Floats | None:
    """Covariance of the weights: the inverse of the penalised Hessian; None where it would be too large."""
    if len(fit.sums.hessian) != problem.size:
        if problem.size > KNOWN:
            return None
        fit = replace(fit, sums=problem.sums(fit.weights))
    return penalised_inverse(fit)
