"""Keeping promises: the mode if it does, else class offsets, else moved parameters, each judged by counting."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from seminaive.evidence.evidence import Evidence
from seminaive.evidence.terms import GaussianTerm
from seminaive.models.judging import Fitted, Judge, class_weight, with_offsets, with_parameters
from seminaive.search.constrained import Moved, move_parameters
from seminaive.search.mads import move_by_mesh
from seminaive.search.movable import Movable
from seminaive.search.offsets import find_offsets
from seminaive.search.promises import Problem
from seminaive.search.proofs import prove_infeasible
from seminaive.statistics.confusion import Demand, count_confusion, demands_on, worst_slack
from seminaive.statistics.constraints import Constraint
from seminaive.table.schema import Floats


@dataclass(frozen=True, eq=False)
class Answer:
    """A model and its counts on the judged rows.

    Attributes
    ----------
    method : "mode", "offset", "density" or "mads"
    evidence : Evidence
        Of the served model.
    confusion : array (classes, classes)
    slack : float
        Of the tightest demand, in cases.
    offsets : array (classes,)
    loss : float
        Log posterior at the mode minus here.
    restarts : int
    """

    method: str
    evidence: Evidence
    confusion: Floats
    slack: float
    offsets: Floats
    loss: float = 0.0
    restarts: int = 0

    @property
    def feasible(self) -> bool:
        return self.slack >= 0


@dataclass(eq=False)
class Keeper:
    """One fit: the judged rows, the promises, and what has been worked out so far.

    Parameters
    ----------
    judge : Judge
    constraints : sequence of Constraint
    method : "auto", "offset", "density" or "mads"
    objective : "length" or "accuracy"
        Which of several feasible offsets to take.
    """

    judge: Judge
    constraints: Sequence[Constraint]
    method: str
    objective: str
    proof: str | None = None
    _moved: dict[tuple[int, float | None], tuple[Moved, Movable]] = field(default_factory=dict)

    def demands(self, confidence: float | None) -> list[Demand]:
        """The promises on the judged rows; weighted rows are no cases, so they carry no confidence."""
        rows, served = self.judge.rows, self.judge.served
        weighted = rows.block.weights is not None
        return demands_on(
            self.constraints, class_weight(rows, served.evidence), None if weighted else confidence, weighted
        )

    def keep(self, confidence: float | None) -> Answer:
        """The first way that keeps the promises, or the one that misses them least."""
        demands = self.demands(confidence)
        served, k = self.judge.served, self.judge.served.evidence.schema.n_classes
        scores = self.judge.scores()
        start = self._count(scores)
        best = Answer("mode", served.evidence, start, float(worst_slack(demands, start)), np.zeros(k))
        if best.feasible:
            return best
        if self.method in ("auto", "offset"):
            found = find_offsets(scores, self.judge.rows.labels, demands, self.judge.rows.block.weights, self.objective)
            if found.feasible:
                answer = self._with_offsets("offset", found.offsets, demands)
                if answer.feasible:
                    return answer
            elif found.exact and self.method == "offset":
                self.proof = self.proof or (
                    "all class offsets were enumerated exactly; "
                    f"the best of them misses a promise by {-found.best_slack:.3g} cases (method='offset' only)"
                )
            best = max(best, self._with_offsets("offset", found.offsets, demands), key=_slack)
        if self.method != "offset" and not self._proved(demands):
            best = max(best, self._by_density(demands, confidence), key=_slack)
        return best

    def _count(self, scores: Floats) -> Floats:
        return count_confusion(scores, self.judge.rows.labels, self.judge.rows.block.weights)

    def _with_offsets(self, method: str, offsets: Floats, demands: Sequence[Demand]) -> Answer:
        """Recounted through the evidence that is served (or its siblings')."""
        confusion = self._count(self.judge.scores(lambda fitted: with_offsets(fitted.evidence, offsets)))
        evidence = with_offsets(self.judge.served.evidence, offsets)
        return Answer(method, evidence, confusion, float(worst_slack(demands, confusion)), offsets)

    def _proved(self, demands: Sequence[Demand]) -> bool:
        """A proof for any parameters needs all judged rows to be scored by one model."""
        if not self.judge.one_model:
            return False
        rows = self.judge.served.coded(self.judge.rows)
        terms = self.judge.served.evidence.terms
        one_gaussian = len(terms) == 1 and isinstance(terms[0], GaussianTerm)
        found = prove_infeasible(rows.block, rows.labels, demands, one_gaussian)
        self.proof = self.proof or found
        return found is not None

    def _by_density(self, demands: Sequence[Demand], confidence: float | None) -> Answer:
        """Parameters moved on the rows each model was fitted to; unless these are the judged rows, offsets follow."""
        judge, k = self.judge, self.judge.served.evidence.schema.n_classes
        method = "mads" if self.method == "mads" else "density"
        if judge.place == "train":
            moved, model = self._move(judge.served, confidence)
            evidence = with_parameters(judge.served, model, moved.z, np.zeros(k))
            confusion = self._count(judge.scores(lambda _: evidence))
            slack = float(worst_slack(demands, confusion))
            return Answer(method, evidence, confusion, slack, np.zeros(k), moved.loss, moved.restarts)

        def moved_to(offsets: Floats) -> Floats:
            return judge.scores(lambda fitted: self._moved_evidence(fitted, offsets))

        scores = moved_to(np.zeros(k))
        found = find_offsets(scores, judge.rows.labels, demands, judge.rows.block.weights, self.objective)
        confusion = self._count(moved_to(found.offsets))
        moved, _ = self._move(judge.served, None)
        slack = float(worst_slack(demands, confusion))
        evidence = self._moved_evidence(judge.served, found.offsets)
        return Answer(method, evidence, confusion, slack, found.offsets, moved.loss, moved.restarts)

    def _moved_evidence(self, fitted: Fitted, offsets: Floats) -> Evidence:
        moved, model = self._move(fitted, None)
        return with_parameters(fitted, model, moved.z, offsets)

    def _move(self, fitted: Fitted, confidence: float | None) -> tuple[Moved, Movable]:
        """Each model is moved once."""
        key = (id(fitted), confidence)
        if key not in self._moved:
            if self.judge.place == "train":
                rows = self.judge.rows
                weighted = rows.block.weights is not None
                problem: Problem = fitted.problem_on(rows, self.constraints, None if weighted else confidence)
            else:
                problem = fitted.problem(self._present(fitted), None)
            seed = fitted.recipe.seed
            # Models that only score the others' rows need not be the very nearest.
            thorough = fitted is self.judge.served
            mesh = self.method == "mads"
            moved = move_by_mesh(problem, seed) if mesh else move_parameters(problem, seed, thorough)
            self._moved[key] = moved, problem.model
        return self._moved[key]

    def _present(self, fitted: Fitted) -> list[Constraint]:
        """The constraints on classes that have rows to move for."""
        weight = np.asarray(fitted.sums.class_weight)
        return [c for c in self.constraints if c.position < 0 or weight[c.position] > 0]


def _slack(answer: Answer) -> float:
    return answer.slack
