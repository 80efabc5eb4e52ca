"""From a table's sums to naive Bayes evidence: the step that every model of this library starts from."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from seminaive.evidence.evidence import FLOOR, Evidence
from seminaive.evidence.storage import storable
from seminaive.evidence.terms import CurveTerm, GaussianTerm, TableTerm, Term
from seminaive.models.level_priors import added_counts, strength_of
from seminaive.statistics.moments import Moments, columns_of, pooled, reclass
from seminaive.statistics.normal_gamma import MAXIMUM_LIKELIHOOD, NormalGamma, default_prior, mode, posterior
from seminaive.statistics.smoothing import SmoothingKind, evidence_variance, log_evidence
from seminaive.table.block import Block
from seminaive.table.schema import FIRST_LEVEL, MISSING, UNSEEN, Floats, Integers, Schema
from seminaive.table.sums import class_counts, class_moments, class_weights
from seminaive.table.table import Table, codes_among


@dataclass(frozen=True, eq=False)
class Sums:
    """All that naive Bayes needs of the rows; sums of two parts add up to the sums of the whole.

    Attributes
    ----------
    class_weight : array (classes,)
    counts : array (classes, layout.width)
        Weight of every code of every coded column.
    moments : Moments
        Of every valued column.
    """

    schema: Schema
    class_weight: npt.NDArray[Any]
    counts: npt.NDArray[Any]
    moments: Moments

    def by_column(self) -> dict[Any, npt.NDArray[Any]]:
        """Counts of each coded column's own levels, (classes, levels)."""
        layout = self.schema.layout
        return {
            column.name: self.counts[:, layout.starts[j] + FIRST_LEVEL : layout.starts[j] + column.n_codes]
            for j, column in enumerate(self.schema.columns)
            if column.is_coded
        }

    def on_classes(self, classes: npt.NDArray[Any]) -> Sums:
        """The same sums for a larger set of class labels."""
        return self.under(Schema(self.schema.columns, classes))

    def under(self, schema: Schema) -> Sums:
        """The same sums laid out for a schema with more levels or classes."""
        if schema is self.schema:
            return self
        rows = codes_among(self.schema.classes, schema.classes)
        counts = np.zeros((schema.n_classes, schema.layout.width), dtype=self.counts.dtype)
        for j, (old, new) in enumerate(zip(self.schema.columns, schema.columns, strict=True)):
            if not old.is_coded:
                continue
            own = range(FIRST_LEVEL, old.n_codes)
            codes = [new.code_of[level] for level in old.levels] if old.cuts is None else list(own)
            to = schema.layout.starts[j] + np.array([UNSEEN, MISSING, *codes])
            start = self.schema.layout.starts[j]
            counts[np.ix_(rows, to)] = self.counts[:, start : start + old.n_codes]
        weight = np.zeros(schema.n_classes, dtype=self.class_weight.dtype)
        weight[rows] = self.class_weight
        return Sums(schema, weight, counts, reclass(self.moments, rows, schema.n_classes))


@dataclass(frozen=True)
class Estimation:
    """How sums become evidence; the names and defaults are those of the estimators' parameters."""

    prior: Any = "empirical"
    smoothing: Any = 1.0
    smoothing_kind: SmoothingKind = "level"
    missing: str = "skip"
    variance_prior: str | NormalGamma | None = "normal-gamma"

    @classmethod
    def of(cls, model: Any) -> Estimation:
        """As an estimator's parameters say."""
        return cls(model.prior, model.smoothing, model.smoothing_kind, model.missing, model.variance_prior)


def gather_sums(table: Table, n_jobs: int | None = None) -> Sums:
    """One pass over the rows."""
    weight, counts, moments = table.fold(_block_sums, table.schema, n_jobs=n_jobs)
    return Sums(table.schema, weight, counts, moments)


def _block_sums(block: Block, schema: Schema) -> tuple[Any, Any, Moments]:
    k = schema.n_classes
    return class_weights(block, k), class_counts(block, schema.layout, k), class_moments(block, k)


def naive_evidence(sums: Sums, how: Estimation) -> Evidence:
    """Prior and one term per column; a column with nothing to tell apart says nothing."""
    schema = sums.schema
    terms: dict[int, Term] = {**table_terms(sums, how), **gaussian_terms(sums, how)}
    ordered = tuple(terms[j] for j in range(len(schema.columns)))
    return Evidence(schema, log_prior(sums.class_weight, how.prior), ordered)


def log_prior(class_weight: npt.NDArray[Any], prior: Any) -> Floats:
    """Logarithm of the class prior; a class without weight is at the floor, not at minus infinity."""
    if isinstance(prior, str):
        share = np.full(len(class_weight), 1.0) if prior == "uniform" else np.asarray(class_weight, dtype=np.float64)
    else:
        try:
            share = np.asarray(prior, dtype=np.float64)
        except (TypeError, ValueError):
            share = np.zeros(0)
        if share.shape != (len(class_weight),) or not np.all(share >= 0) or not np.isclose(share.sum(), 1):
            wanted = f"'empirical', 'uniform' or {len(class_weight)} probabilities that sum to 1"
            raise ValueError(f"prior must be {wanted}; got {prior!r}")
    with np.errstate(divide="ignore"):
        return np.maximum(np.log(share / share.sum()), FLOOR)


def dirichlet_prior(class_weight: npt.NDArray[Any], prior: Any, mass: float) -> Floats:
    """The same, but an empirical prior gets a mass, spread evenly over the classes that have rows."""
    if isinstance(prior, str) and prior == "empirical":
        present = np.asarray(class_weight) > 0
        class_weight = class_weight + mass / max(int(present.sum()), 1) * present
    return log_prior(class_weight, prior)


def described_as(sums: Sums, how: Estimation) -> Integers:
    """The class whose rows describe each class: its own, but those of the heaviest class where there are none.

    So a class without rows differs from the heaviest only by its prior, and not even a strange row is given to it.
    """
    own = np.arange(sums.schema.n_classes)
    if isinstance(how.prior, str) and how.prior == "empirical":
        return np.where(sums.class_weight > 0, own, np.argmax(sums.class_weight))
    return own


def table_terms(sums: Sums, how: Estimation) -> dict[int, TableTerm]:
    """The smoothed table of every coded column; missing is a level of its own if so wished and if it occurs."""
    layout = sums.schema.layout
    coded = [j for j, column in enumerate(sums.schema.columns) if column.is_coded]
    own: list[Integers] = []
    for j in coded:
        start, end = layout.starts[j], layout.starts[j] + sums.schema.columns[j].n_codes
        missing_occurs = how.missing == "value" and sums.counts[:, start + MISSING].any()
        own.append(np.arange(start + (MISSING if missing_occurs else FIRST_LEVEL), end))
    flat = np.concatenate(own) if own else np.zeros(0, dtype=np.int64)
    bounds = np.concatenate([[0], np.cumsum([len(part) for part in own])]).astype(np.int64)
    counts, smoothing = sums.counts[:, flat], how.smoothing
    if isinstance(smoothing, Mapping):  # counts of one's own are simply more rows
        counts, smoothing = counts + added_counts(sums.schema, smoothing)[:, flat], 0.0
    table, variance = np.zeros((2, sums.schema.n_classes, layout.width))
    table[:, flat] = log_evidence(counts, smoothing, how.smoothing_kind, sums.class_weight, bounds)
    variance[:, flat] = evidence_variance(counts, smoothing, how.smoothing_kind, sums.class_weight, bounds)
    as_class = described_as(sums, how)
    table, variance = table[as_class], variance[as_class]
    terms = {}
    for j in coded:
        start, end = layout.starts[j], layout.starts[j] + sums.schema.columns[j].n_codes
        terms[j] = TableTerm(j, table[:, start:end].copy(), variance[:, start:end].copy())
    return terms


LEAST_SPREAD = 1e-140
"""A column whose standard deviation is smaller counts as constant, since its square is hardly a number any more."""
LEAST_VARIANCE = 1e-300
"""The reciprocal of a smaller variance may not be finite; the default prior keeps well above it."""


def varies(moments: Moments) -> npt.NDArray[np.bool_]:
    """Which valued columns are not constant over all rows."""
    overall = pooled(moments)
    return overall.m2[0] > LEAST_SPREAD**2 * overall.count[0]


def gaussian_terms(sums: Sums, how: Estimation) -> dict[int, Term]:
    """One Gaussian per class for every valued column; a constant or empty column says nothing."""
    valued = sums.schema.layout.valued
    if len(valued) == 0:
        return {}
    varied = np.flatnonzero(varies(sums.moments))
    moments = columns_of(sums.moments, varied)
    names = [sums.schema.columns[valued[i]].name for i in varied]
    belief = belief_of(how.variance_prior, moments, varied, len(valued))
    after = posterior(moments[described_as(sums, how)], belief)
    mean, variance = mode(after, names, sums.schema.classes.tolist())
    if np.any(variance < LEAST_VARIANCE):
        k, at = np.argwhere(variance < LEAST_VARIANCE)[0]
        raise ValueError(
            f"the variance of column {names[at]!r} in class {sums.schema.classes.tolist()[k]!r} is too small "
            f"for float64 arithmetic ({variance[k, at]:.3g}); use variance_prior='normal-gamma' or rescale the column"
        )
    observed, missing = missingness(sums, how)
    terms: dict[int, Term] = {
        j: silent_term(j, sums.schema.n_classes, missing[:, i]) for i, j in enumerate(valued.tolist())
    }
    for at, i in enumerate(varied.tolist()):
        terms[valued[i]] = GaussianTerm(
            column=int(valued[i]),
            mean=mean[:, at].copy(),
            precision=1 / variance[:, at],
            posterior=np.stack([part[:, at] for part in after]),
            observed=observed[:, i].copy(),
            missing=missing[:, i].copy(),
        )
    return terms


def belief_of(prior: str | NormalGamma | None, moments: Moments, varied: Integers, n_columns: int) -> NormalGamma:
    """The Normal-Gamma prior of the columns that vary; a prior of one's own holds a number per numeric column."""
    if prior is None:
        return MAXIMUM_LIKELIHOOD
    if not isinstance(prior, NormalGamma):
        return default_prior(moments)
    shapes = ((), (n_columns,), (len(moments), n_columns))
    parts = [np.asarray(part, dtype=np.float64) for part in (prior.mu0, prior.k0, prior.alpha0, prior.beta0)]
    if any(part.shape not in shapes for part in parts):
        raise ValueError(
            f"variance_prior must hold numbers, {n_columns} (one per numeric column), or "
            f"{len(moments)} x {n_columns} (one per class and numeric column)"
        )
    whole = [np.broadcast_to(part, shapes[2])[:, varied] for part in parts]
    if not all(np.isfinite(part).all() for part in whole) or any((part < 0).any() for part in whole[1:]):
        raise ValueError("variance_prior must be finite, with k0, alpha0 and beta0 >= 0")
    return NormalGamma(*whole)


def missingness(sums: Sums, how: Estimation) -> tuple[Floats, Floats]:
    """log P(observed | k) and log P(missing | k) of each valued column; zero where missing says nothing."""
    present = sums.moments.count
    out = np.zeros((2, *present.shape))
    if how.missing == "value":
        absent = np.maximum(sums.class_weight[:, None] - present, 0)
        if sums.class_weight.dtype.kind == "f":  # sums of weights are rounded: what is left of that is no row
            absent = np.where(absent > 1e-9 * sums.class_weight[:, None], absent, 0.0)
        for i in np.flatnonzero(absent.any(axis=0)):
            both = np.stack([present[:, i], absent[:, i]], axis=1)
            strength = strength_of(how.smoothing, sums.schema.columns[sums.schema.layout.valued[i]].name)
            out[:, :, i] = log_evidence(both, strength, how.smoothing_kind, sums.class_weight).T
    observed, missing = out[:, described_as(sums, how)]
    return observed, missing


def silent_term(j: int, n_classes: int, missing: Floats | None = None) -> CurveTerm:
    """A numeric column that says nothing, except perhaps by being missing."""
    nothing = np.zeros((n_classes, 1))
    return CurveTerm(j, np.zeros(1), nothing, nothing, nothing[:, 0] if missing is None else missing, error=0.0)


for _kind in (Sums, Moments, NormalGamma):
    storable(_kind)
