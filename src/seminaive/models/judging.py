"""Models at their mode, and the rows on which promises are judged: the training rows, held-out rows, or all rows
scored by models that did not see them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from seminaive.evidence.evidence import Evidence
from seminaive.evidence.terms import GaussianTerm, TableTerm
from seminaive.models.level_priors import added_counts
from seminaive.models.naive import Estimation, Sums, gather_sums, naive_evidence
from seminaive.models.numeric import as_modelled
from seminaive.search.movable import Movable, movable, moved_evidence, own_codes
from seminaive.search.promises import Problem
from seminaive.statistics.confusion import demands_on
from seminaive.statistics.constraints import Constraint
from seminaive.table.block import same_block
from seminaive.table.discretize import binned_like
from seminaive.table.folds import stratified_folds, stratified_share
from seminaive.table.gather import GatheredRows, gather_rows, without_rows
from seminaive.table.schema import Floats
from seminaive.table.table import Table

MOST_ROWS = 50_000
"""Promises are counted on no more rows than about this many: a seeded sample of larger tables."""


@dataclass(frozen=True)
class Recipe:
    """How a table becomes naive Bayes, and with which seed rows are drawn."""

    estimation: Estimation
    numeric: str
    seed: int
    n_jobs: int | None = None


@dataclass(frozen=True, eq=False)
class Fitted:
    """Naive Bayes at its mode; ``table`` holds the rows it was learned from, coded as it needs them."""

    table: Table
    sums: Sums
    evidence: Evidence
    recipe: Recipe

    @property
    def mode_counts(self) -> Floats:
        """Counts of every code as the mode sees them: those of the rows and what the prior adds."""
        return self.sums.counts + added_counts(self.sums.schema, self.recipe.estimation.smoothing)

    def log_posterior(self) -> float:
        """Log posterior density of all parameters at their mode, up to a constant."""
        total = 0.0
        for term in self.evidence.terms:
            if isinstance(term, GaussianTerm):
                _, _, alpha, beta = term.posterior
                total += float(((alpha - 0.5) * np.log(term.precision) - term.precision * beta).sum())
            elif isinstance(term, TableTerm):
                codes = own_codes(term)
                start = self.evidence.schema.layout.starts[term.column]
                total += float((self.mode_counts[:, start + codes] * term.table[:, codes]).sum())
        return total

    def scores(self, rows: GatheredRows, evidence: Evidence | None = None) -> Floats:
        """Scores (classes, rows) of rows that may still hold values where this model has bins."""
        block = self.coded(rows).block
        return (self.evidence if evidence is None else evidence).scores(block)

    def coded(self, rows: GatheredRows) -> GatheredRows:
        """The rows under this model's schema."""
        (block,) = binned_like(rows.as_table(), self.evidence.schema).map(same_block)
        return GatheredRows(self.evidence.schema, block, rows.numbers)

    def problem(self, constraints: Sequence[Constraint], confidence: float | None = None) -> Problem:
        """Moving this model's parameters until the rows it was learned from (or a sample of them) keep promises."""
        return self.problem_on(rows_to_judge(self.table, self.recipe), constraints, confidence)

    def problem_on(self, rows: GatheredRows, constraints: Sequence[Constraint], confidence: float | None) -> Problem:
        """The same, judged on given rows."""
        weights = rows.block.weights
        demands = demands_on(constraints, class_weight(rows, self.evidence), confidence, weights is not None)
        return Problem(self.movable(rows), rows.labels, demands, weights)

    def movable(self, rows: GatheredRows) -> Movable:
        """The model ready to move, over some rows."""
        return movable(self.evidence, self.mode_counts, self.coded(rows).block)


def class_weight(rows: GatheredRows, evidence: Evidence) -> Floats:
    """Rows (or weight) of each class."""
    return np.bincount(rows.labels, weights=rows.block.weights, minlength=evidence.schema.n_classes).astype(np.float64)


def fit_mode(table: Table, recipe: Recipe) -> Fitted:
    """Naive Bayes at the posterior mode; MDL bins are learned from these rows."""
    if recipe.numeric == "mdl":
        table = as_modelled(table, "mdl", seed=recipe.seed, n_jobs=recipe.n_jobs)
    sums = gather_sums(table, recipe.n_jobs)
    return Fitted(table, sums, naive_evidence(sums, recipe.estimation), recipe)


def rows_to_judge(table: Table, recipe: Recipe) -> GatheredRows:
    """The rows that promises are counted on: all, or of very many a sample."""
    return gather_rows(table, MOST_ROWS, recipe.seed, recipe.n_jobs)


@dataclass(frozen=True, eq=False)
class Judge:
    """Who scores which of the judged rows.

    Attributes
    ----------
    rows : GatheredRows
        The rows on which promises are judged.
    parts : list of (Fitted, mask)
        Each model with the rows that it scores; together they score all rows once.
    served : Fitted
        The model that is handed to the user.
    place : str
        "train", "cv" or "holdout".
    """

    rows: GatheredRows
    parts: list[tuple[Fitted, npt.NDArray[np.bool_]]]
    served: Fitted
    place: str

    @property
    def one_model(self) -> bool:
        """Whether the judged rows are scored by the model that is served."""
        return self.place != "cv"

    def scores(self, evidence_of: Callable[[Fitted], Evidence] | None = None) -> Floats:
        """Scores of all judged rows; ``evidence_of`` gives each model's evidence if it is not the mode's."""
        out = np.empty((self.served.evidence.schema.n_classes, len(self.rows.numbers)))
        for fitted, mask in self.parts:
            evidence = fitted.evidence if evidence_of is None else evidence_of(fitted)
            out[:, mask] = fitted.scores(self.rows.where(mask), evidence)
        return out


def judge_by(table: Table, recipe: Recipe, place: str, folds: int, share: float) -> Judge:
    """Fit the models that the promises need."""
    rows = rows_to_judge(table, recipe)
    everywhere = np.ones(len(rows.numbers), dtype=bool)
    if place == "train":
        served = fit_mode(table, recipe)
        return Judge(rows, [(served, everywhere)], served, place)
    if place == "holdout":
        held = stratified_share(rows.labels, share, recipe.seed) == 1
        served = fit_mode(without_rows(table, rows.numbers[held], recipe.n_jobs), recipe)
        kept = rows.where(held)
        return Judge(kept, [(served, np.ones(int(held.sum()), dtype=bool))], served, place)
    fold = stratified_folds(rows.labels, folds, recipe.seed)
    parts = []
    for f in np.unique(fold):
        out = fold == f
        if out.all():
            raise ValueError("evaluate_on='cv' needs at least two rows; use evaluate_on='train'")
        parts.append((fit_mode(without_rows(table, rows.numbers[out], recipe.n_jobs), recipe), out))
    return Judge(rows, parts, fit_mode(table, recipe), place)


def with_offsets(evidence: Evidence, offsets: Any) -> Evidence:
    """The evidence with class offsets in its prior."""
    return replace(evidence, prior=evidence.prior + offsets) if np.any(offsets) else evidence


def with_parameters(fitted: Fitted, model: Movable, z: Floats, offsets: Any) -> Evidence:
    """The evidence with moved parameters, and offsets in its prior."""
    return moved_evidence(model, fitted.evidence, z, offsets)
