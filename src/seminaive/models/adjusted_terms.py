"""What each predictor says before it is weighted: naive Bayes in the form whose weights are fitted.

With g_k(v) = ln P(k|v) - ln P(k) and q_k(v) = logit P(k|v) - logit P(k), the evidence of value v is

    logit      (0, q_2(v))               two classes: one score
    softmax    (g_1(v), ..., g_K(v))     scores ln P(k) + evidence
    ovr        (q_1(v), ..., q_K(v))     every class against the rest: scores logit P(k) + evidence

read from smoothed counts, or, for a numeric column with a density, from the bounded difference of log densities.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Literal

import numpy as np

from seminaive.evidence.contrast import ContrastTerm, Density
from seminaive.evidence.evidence import FLOOR, Evidence
from seminaive.evidence.terms import CurveTerm, GaussianTerm, TableTerm, Term
from seminaive.models.kde import density_terms
from seminaive.models.naive import Estimation, Sums, gaussian_terms, log_prior, missingness, varies
from seminaive.statistics.adjustment import CLIP, class_adjustments, log_odds_adjustments, one_against_rest
from seminaive.statistics.moments import Moments, arrays, pooled
from seminaive.statistics.smoothing import evidence_variance
from seminaive.table.schema import MISSING, Floats, Integers, Schema
from seminaive.table.table import Table

Form = Literal["logit", "softmax", "ovr"]


@dataclass(frozen=True)
class Reading:
    """How sums become evidence: the form, the classes told apart, and the estimates.

    Attributes
    ----------
    form : "logit", "softmax" or "ovr"
    present : int array
        Classes with rows; any other is told apart by its prior only.
    how : Estimation
    kde : bool
        Whether densities are kernel densities, else Gaussians.
    n_jobs : int, optional
    """

    form: Form
    present: Integers
    how: Estimation
    kde: bool
    n_jobs: int | None = None

    @property
    def lines(self) -> Integers:
        """The classes that have a score of their own."""
        return self.present[1:] if self.form == "logit" else self.present


def unweighted_evidence(table: Table, sums: Sums, reading: Reading) -> Evidence:
    """Prior and one term per column, in the form whose weights are fitted; all weights 1 are naive Bayes."""
    terms: dict[int, Term] = {**_tables(sums, reading), **_contrasts(table, sums, reading)}
    ordered = tuple(terms[j] for j in range(len(sums.schema.columns)))
    link = "ovr" if reading.form == "ovr" else "softmax"
    return Evidence(sums.schema, offsets(log_prior(sums.class_weight, "empirical"), reading), ordered, link)


def offsets(log_share: Floats, reading: Reading) -> Floats:
    """The fixed part of each class's score, from the logarithms of the class prior."""
    if reading.form == "softmax":
        return log_share
    if reading.form == "logit":
        return np.maximum(log_share - log_share[reading.present[0]], FLOOR)
    others = [np.logaddexp.reduce(np.delete(log_share, k)) for k in range(len(log_share))]
    return np.clip(log_share - np.array(others), FLOOR, -FLOOR)


def speaks(term: Term) -> bool:
    """Whether a term says anything about the classes."""
    if isinstance(term, TableTerm):
        return bool(term.table.any())
    density = term.density if isinstance(term, ContrastTerm) else term
    return not isinstance(density, CurveTerm) or len(density.knots) > 1 or bool(density.missing.any())


# --- tables -----------------------------------------------------------------------------------------------------------


def _tables(sums: Sums, reading: Reading) -> dict[int, TableTerm]:
    schema, how = sums.schema, reading.how
    coded = [j for j, column in enumerate(schema.columns) if column.is_coded]
    counts = np.array(sums.counts, dtype=np.float64)
    starts = np.append(schema.layout.starts[coded], schema.layout.width)
    if how.missing == "skip":
        counts[:, starts[:-1] + MISSING] = 0.0
    for start, end in pairwise(starts):
        if np.count_nonzero(counts[:, start:end].any(axis=0)) < 2:  # a constant column tells nothing apart
            counts[:, start:end] = 0.0
    table, variance = _by_form(counts, starts, sums, reading)
    terms = {}
    for j, start, end in zip(coded, starts[:-1], starts[1:], strict=True):
        terms[j] = TableTerm(j, table[:, start:end].copy(), variance[:, start:end].copy())
    return terms


def _by_form(counts: Floats, starts: Integers, sums: Sums, reading: Reading) -> tuple[Floats, Floats]:
    """Tables and their variances (classes, values)."""
    how, present = reading.how, reading.present
    rows = float(sums.class_weight.sum())
    prior = np.asarray(sums.class_weight, dtype=np.float64) / rows
    occurs = np.flatnonzero(counts.any(axis=0))
    bounds = np.searchsorted(occurs, starts)

    def spread(of: Floats, weight: Floats) -> Floats:
        out = np.zeros_like(of)
        out[:, occurs] = evidence_variance(of[:, occurs], how.smoothing, how.smoothing_kind, weight, bounds)
        return out

    table, variance = np.zeros((2, *counts.shape))
    if reading.form == "ovr":
        for i, k in enumerate(present):
            two, shares = one_against_rest(counts[present], i), one_against_rest(prior, k)
            table[k] = log_odds_adjustments(two, starts, shares, how.smoothing, how.smoothing_kind)
            variance[k] = spread(two, shares).sum(axis=0)
        return table, variance
    own, shares = counts[present], prior[present]
    if reading.form == "logit":
        table[present[1]] = log_odds_adjustments(own, starts, shares, how.smoothing, how.smoothing_kind)
        variance[present[1]] = spread(own, shares).sum(axis=0)
    else:
        table[present] = class_adjustments(own, starts, shares, how.smoothing, how.smoothing_kind)
        variance[present] = spread(own, shares)
    as_class = _told_as(sums, reading)
    return table[as_class], variance[as_class]


def _told_as(sums: Sums, reading: Reading) -> Integers:
    """The class whose evidence each class has: its own, or, where it is not told apart, that of the heaviest."""
    own = np.arange(len(sums.class_weight))
    return np.where(np.isin(own, reading.present), own, np.argmax(sums.class_weight))


# --- densities --------------------------------------------------------------------------------------------------------


def _contrasts(table: Table, sums: Sums, reading: Reading) -> dict[int, ContrastTerm]:
    """The compared densities of every valued column."""
    n_classes = len(sums.class_weight)
    weight = np.asarray(sums.class_weight, dtype=np.float64)
    if not len(sums.schema.layout.valued):
        return {}
    against = weight / weight.sum()
    counted = np.ones(n_classes)
    if reading.form == "logit":
        against = (np.arange(n_classes) == reading.present[0]).astype(np.float64)
    if reading.form == "ovr":
        counted[np.setdiff1d(np.arange(n_classes), reading.present)] = 0.0
        both = _densities(table, _with_rests(sums), reading, _and_rests(n_classes))
        own, rest = slice(None, n_classes), slice(n_classes, None)
        return {
            j: ContrastTerm(_rows(density, own), _rows(density, rest), CLIP, counted.copy(), np.zeros(n_classes))
            for j, density in both.items()
        }
    return {
        j: ContrastTerm(density, against.copy(), CLIP, counted.copy(), np.zeros(n_classes))
        for j, density in _densities(table, sums, reading).items()
    }


def _densities(table: Table, sums: Sums, reading: Reading, groups: Floats | None = None) -> dict[int, Density]:
    """Log densities of every valued column; of a constant one only what being observed or missing says."""
    how = reading.how
    varied = varies(sums.moments)
    found: dict[int, Density] = {}
    if reading.kde:
        found.update(density_terms(table, sums, how, reading.n_jobs, groups))
    else:
        gaussians = gaussian_terms(sums, how)
        found.update({j: term for j, term in gaussians.items() if isinstance(term, GaussianTerm)})
    observed, missing = missingness(sums, how)
    some = sums.moments.count.max(axis=0) > 0
    for i, j in enumerate(sums.schema.layout.valued.tolist()):
        if not varied[i]:
            says, gap = (np.where(some[i], part[:, i], 0.0) for part in (observed, missing))
            nothing = np.zeros((len(says), 1))
            found[j] = CurveTerm(j, np.zeros(1), says[:, None], nothing, gap, error=0.0)
    return found


def _and_rests(n_classes: int) -> Floats:
    """Groups of classes: each alone, then all but each."""
    own = np.eye(n_classes)
    return np.concatenate([own, 1.0 - own])


def _with_rests(sums: Sums) -> Sums:
    """The sums of every class, and after them those of all rows of other classes."""
    labels = [str(label) for label in sums.schema.classes.tolist()]
    named = np.array([*labels, *(f"not {label}" for label in labels)], dtype=object)
    groups = _and_rests(len(labels))
    rests = [pooled(sums.moments[np.flatnonzero(row)]) for row in groups[len(labels) :]]
    stacked = zip(*(arrays(part) for part in (sums.moments, *rests)), strict=True)
    return replace(
        sums,
        schema=Schema(sums.schema.columns, named),
        class_weight=groups @ sums.class_weight,
        counts=groups @ sums.counts,
        moments=Moments(*(np.concatenate(parts) for parts in stacked)),
    )


def _rows(density: Density, rows: slice) -> Density:
    """The densities of some of the classes."""
    if isinstance(density, CurveTerm):
        curve, variance, missing = (part[rows] for part in (density.curve, density.curve_variance, density.missing))
        return replace(density, curve=curve, curve_variance=variance, missing=missing)
    return replace(
        density,
        mean=density.mean[rows],
        precision=density.precision[rows],
        posterior=density.posterior[:, rows],
        observed=density.observed[rows],
        missing=density.missing[rows],
    )
