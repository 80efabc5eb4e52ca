"""Naive Bayes whose tables and Gaussians are pulled towards those that all classes share, column by column.

From the sums of the rows to what each class knows by itself (smoothing and prior included) and what all classes share;
and from a penalty to the evidence in between. Where a missing value of a numeric column is a value, that it is missing
is pulled by itself, like a column of two levels; the column's dose is the larger of the two.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from seminaive.evidence.evidence import FLOOR, Evidence
from seminaive.evidence.terms import CurveTerm, GaussianTerm, TableTerm, Term
from seminaive.models.naive import Estimation, Sums, described_as, naive_evidence
from seminaive.models.search_rows import columns_that_vary
from seminaive.statistics.moments import pooled
from seminaive.statistics.pull_gaussians import Gaussians, gaussians_on_line, pull_gaussians
from seminaive.statistics.pull_levels import Levels, levels_on_line, pull_levels
from seminaive.table.schema import FIRST_LEVEL, MISSING, Floats, Integers


@dataclass(frozen=True)
class Pull:
    """How columns are pulled.

    Attributes
    ----------
    adaptive : bool
        The penalty counts a distance in units of that of the classes' own parameters, else as it is.
    exact : bool
        Parameters are free; else they stay on the line between the shared and the classes' own.
    """

    adaptive: bool = True
    exact: bool = True

    def weights(self, distance: Floats) -> Floats:
        """What the penalty is multiplied with, for columns whose classes' own parameters are so far from the shared."""
        return 1 / np.where(distance > 0, distance, 1.0) if self.adaptive else np.ones_like(distance)


@dataclass(frozen=True, eq=False)
class Pulled:
    """What can be pulled: the columns that vary, described by the classes that have rows of their own.

    Attributes
    ----------
    plain : Evidence
        Naive Bayes: where nothing is pulled.
    as_class : array (classes,)
        Which of the classes below describes each class.
    levels : Levels
        Tables side by side: nominal columns and bins, and whether numeric columns are observed or missing.
    tables : list of (column, codes)
        What each table is about; no codes where it is about being missing.
    gaussians : Gaussians
        In units of the shared mean and deviation.
    valued : array
        The column of each Gaussian.
    shared : array (2, Gaussians)
        Mean and deviation that all classes share.
    """

    plain: Evidence
    as_class: Integers
    levels: Levels
    tables: list[tuple[int, Integers]]
    gaussians: Gaussians
    valued: Integers
    shared: Floats

    @classmethod
    def of(cls, sums: Sums, how: Estimation) -> Pulled:
        """From the sums of the rows."""
        plain = naive_evidence(sums, how)
        classes, as_class = np.unique(described_as(sums, how), return_inverse=True)
        vary = columns_that_vary(sums, how.missing).tolist() if len(classes) > 1 else []
        counts, tables = _counts(sums, how, vary, classes)
        valued = np.array([j for j in vary if isinstance(plain.by_column[j], GaussianTerm)], dtype=np.int64)
        slots = sums.schema.layout.slot[valued]
        overall = pooled(sums.moments)
        shared = np.stack([overall.mean[0, slots], np.sqrt(overall.variance()[0, slots])])
        gaussians = _gaussians([plain.by_column[j] for j in valued.tolist()], classes, shared)
        return cls(plain, as_class, _levels(counts, how, len(classes)), tables, gaussians, valued, shared)

    @property
    def n_columns(self) -> int:
        return len(self.plain.schema.columns)

    def least_penalty_of_nothing(self, pull: Pull) -> float:
        """The least penalty under which, to first order, no column says anything."""
        most = 0.0
        for part in (self.levels, self.gaussians):
            if len(part.distance):
                weights, moves = pull.weights(part.distance), part.distance > 0
                along = np.where(moves, part.chi_square / np.where(moves, part.distance, 1.0), 0.0)
                most = max(most, float(((part.threshold if pull.exact else along) / weights)[moves].max(initial=0.0)))
        return most

    def at(self, penalty: float, pull: Pull) -> tuple[tuple[Term, ...], Floats]:
        """The terms under a penalty, of all columns that can be pulled, and the dose of every column."""
        doses = np.zeros(self.n_columns)
        theta, x = self.levels.own, self.gaussians.own
        if self.tables:
            theta, dose = self._pulled_levels(penalty * pull.weights(self.levels.distance), pull.exact)
            np.maximum.at(doses, [j for j, _ in self.tables], dose)
        if len(self.valued):
            x, dose = self._pulled_gaussians(penalty * pull.weights(self.gaussians.distance), pull.exact)
            np.maximum.at(doses, self.valued, dose)
        return self._terms(theta, x), doses

    def _pulled_levels(self, prices: Floats, exact: bool) -> tuple[Floats, Floats]:
        levels = self.levels
        if exact:
            theta = pull_levels(levels, prices)
            return theta, _share(levels.distance_of(theta), levels.distance)
        alpha = levels_on_line(levels, prices * levels.distance)
        share = levels.spread(alpha)
        return (1 - share) * levels.pooled + share * levels.own, alpha

    def _pulled_gaussians(self, prices: Floats, exact: bool) -> tuple[Floats, Floats]:
        gaussians = self.gaussians
        if exact:
            x = pull_gaussians(gaussians, prices)
            return x, _share(gaussians.distance_of(x), gaussians.distance)
        alpha = gaussians_on_line(gaussians, prices * gaussians.distance)
        return (1 - alpha) * gaussians.pooled + alpha * gaussians.own, alpha

    def _terms(self, theta: Floats, x: Floats) -> tuple[Term, ...]:
        """The evidence of pulled parameters; their standard errors stay those of the classes' own."""
        terms: dict[int, Term] = {}
        by_column = self.plain.by_column
        mean, deviation = (self.shared[1] * part for part in x)
        mean, deviation = (self.shared[0] + mean)[self.as_class], deviation[self.as_class]
        for at, j in enumerate(self.valued.tolist()):
            own = by_column[j]
            assert isinstance(own, GaussianTerm)
            variance = deviation[:, at] ** 2
            after = own.posterior.copy()
            after[0], after[3] = mean[:, at], variance * (after[2] - 0.5)
            nothing = np.zeros_like(own.observed)
            terms[j] = GaussianTerm(j, mean[:, at].copy(), 1 / variance, after, nothing, nothing)
        log_theta = np.log(np.where(theta > 0, theta, 1.0))
        log_theta = np.where(theta > 0, np.maximum(log_theta, FLOOR), FLOOR)[self.as_class]
        for (j, codes), start, end in zip(self.tables, self.levels.starts, self.levels.starts[1:], strict=False):
            own, says = by_column[j], log_theta[:, start:end]
            if isinstance(own, TableTerm):
                table = np.zeros_like(own.table)
                table[:, codes] = says
                terms[j] = replace(own, table=table)
            elif isinstance(own, GaussianTerm):
                terms[j] = replace(terms[j], observed=says[:, 0].copy(), missing=says[:, 1].copy())  # type: ignore[type-var]
            else:  # the same wherever it is observed: only being missing tells anything
                assert isinstance(own, CurveTerm)
                curve = np.repeat(says[:, :1], own.curve.shape[1], axis=1)
                terms[j] = replace(own, curve=curve, missing=says[:, 1].copy())
        return tuple(terms[j] for j in sorted(terms))


def _share(distance: Floats, whole: Floats) -> Floats:
    return np.where(whole > 0, distance / np.where(whole > 0, whole, 1.0), 0.0)


def _counts(
    sums: Sums, how: Estimation, vary: Sequence[int], classes: Integers
) -> tuple[list[Floats], list[tuple[int, Integers]]]:
    """The counts (classes, levels) of everything that has levels, and what each is about."""
    counts: list[Floats] = []
    tables: list[tuple[int, Integers]] = []
    layout = sums.schema.layout
    smooth = how.smoothing > 0 and how.smoothing_kind != "none"
    for j in vary:
        column = sums.schema.columns[j]
        if column.is_coded:
            own = np.asarray(sums.counts[:, layout.starts[j] : layout.starts[j] + column.n_codes], dtype=np.float64)
            occurs = own.sum(axis=0) > 0
            codes = np.arange(FIRST_LEVEL, column.n_codes)
            codes = codes if smooth else codes[occurs[codes]]
            if how.missing == "value" and occurs[MISSING]:
                codes = np.append(MISSING, codes)
            counts.append(own[np.ix_(classes, codes)])
            tables.append((j, codes))
        elif how.missing == "value":
            present = np.asarray(sums.moments.count[:, layout.slot[j]], dtype=np.float64)
            weight = np.asarray(sums.class_weight, dtype=np.float64)
            absent = np.maximum(weight - present, 0.0)
            absent = np.where(absent > 1e-9 * weight, absent, 0.0)  # sums of weights are rounded
            if absent.any() and present.any():
                counts.append(np.stack([present, absent], axis=1)[classes])
                tables.append((j, np.zeros(0, dtype=np.int64)))
    return counts, tables


def _levels(counts: Sequence[Floats], how: Estimation, n_classes: int) -> Levels:
    """Tables side by side, smoothed; what all classes share is smoothed likewise, as if there were one class."""
    starts = np.cumsum([0, *(part.shape[1] for part in counts)]).astype(np.int64)
    smoothing = 0.0 if how.smoothing_kind == "none" else float(how.smoothing)
    with_mass, pooled_of = [np.zeros((n_classes, 0))], [np.zeros(0)]
    for part in counts:
        n_levels, total = part.shape[1], part.sum(axis=0)
        each = smoothing / n_levels if how.smoothing_kind == "pooled" else smoothing
        overall = (total + each) / (total + each).sum()
        added = smoothing * (overall if how.smoothing_kind == "pooled" else np.ones(n_levels))
        with_mass.append(part + added)
        pooled_of.append(overall)
    return Levels(np.concatenate(with_mass, axis=1), np.concatenate(pooled_of), starts)


def _gaussians(terms: Sequence[Term], classes: Integers, shared: Floats) -> Gaussians:
    """The classes' own Gaussians in units of the shared ones."""
    if not terms:
        return Gaussians(*np.zeros((4, len(classes), 0)))
    own = [term for term in terms if isinstance(term, GaussianTerm)]
    mean, precision = (np.stack([getattr(t, part) for t in own], axis=1)[classes] for part in ("mean", "precision"))
    _, strength, alpha, _ = np.stack([term.posterior for term in own], axis=2)[:, classes]
    return Gaussians((mean - shared[0]) / shared[1], 1 / (np.sqrt(precision) * shared[1]), 2 * alpha - 1, strength)
