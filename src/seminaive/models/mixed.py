"""What naive Bayes says at every dose: parameters mixed with those that all classes share, or evidence weighted.

With w the dose of a column, between 0 and 1,

    parameters   theta = w theta_class + (1 - w) theta_shared     (means and deviations likewise)
    exponent     evidence = w log P(x | class)

Either way a column says nothing at dose 0 and what naive Bayes says at dose 1.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from seminaive.evidence.evidence import FLOOR, Evidence
from seminaive.evidence.terms import CurveTerm, GaussianTerm, TableTerm, Term, weighted
from seminaive.models.level_priors import strength_of
from seminaive.models.naive import Estimation, Sums
from seminaive.statistics.moments import pooled
from seminaive.statistics.smoothing import overall_probability
from seminaive.table.schema import FIRST_LEVEL, MISSING, Floats


@dataclass(frozen=True, eq=False)
class Mixed:
    """Naive Bayes ready to speak at any dose.

    Attributes
    ----------
    plain : Evidence
        Every column at dose 1.
    sums : Sums
    how : Estimation
    mix : "parameters" or "exponent"
    """

    plain: Evidence
    sums: Sums
    how: Estimation
    mix: str

    # --- the columns as the search sees them --------------------------------------------------------------------------

    def tables(self, column: int, doses: Floats) -> Floats:
        """Evidence of a coded column, (doses, classes, codes)."""
        term = self.plain.by_column[column]
        assert isinstance(term, TableTerm)
        if self.mix == "exponent":
            return np.asarray(doses)[:, None, None] * term.table
        own, shared = self._levels(column)
        at = slice(term.table.shape[1] - own.shape[1], None)
        out = np.zeros((len(doses), *term.table.shape))
        out[:, :, at] = _log_between(own, shared, doses)
        return out

    def forms(self, column: int, doses: Floats) -> tuple[Floats, Floats]:
        """Evidence of a numeric column: coefficients of 1, z and z^2, (doses, classes, 3), and that of a missing value,
        (doses, classes); see `unit`."""
        term = self.plain.by_column[column]
        doses = np.asarray(doses, dtype=np.float64)
        if not isinstance(term, GaussianTerm):
            assert isinstance(term, CurveTerm)
            return np.zeros((len(doses), len(term.missing), 3)), self._presence(column, doses)[1]
        centre, scale = self.unit(column)
        observed, missing = self._presence(column, doses)
        mean, deviation = (term.mean - centre) / scale, 1 / np.sqrt(term.precision) / scale
        if self.mix == "exponent":
            mean, deviation = (np.repeat(part[None], len(doses), axis=0) for part in (mean, deviation))
        else:
            mean, deviation = doses[:, None] * mean, doses[:, None] * deviation + (1 - doses[:, None])
        half = 0.5 / deviation**2
        forms = np.stack([-half * mean**2 - np.log(deviation), 2 * half * mean, -half], axis=2)
        if self.mix == "exponent":
            forms *= doses[:, None, None]
        else:
            forms[doses == 0] = 0.0
        forms[:, :, 0] += observed
        return forms, missing

    def unit(self, column: int) -> tuple[float, float]:
        """Mean and deviation of a numeric column in all rows: z = (x - mean) / deviation."""
        slot = self.sums.schema.layout.slot[column]
        if not isinstance(self.plain.by_column[column], GaussianTerm):
            return 0.0, 1.0
        return float(self._overall[0][slot]), float(self._overall[1][slot])

    # --- the columns as terms -----------------------------------------------------------------------------------------

    def term(self, column: int, dose: float) -> Term:
        """What a column says at a dose above 0."""
        term = self.plain.by_column[column]
        if dose == 1:
            return term
        if self.mix == "exponent":
            return weighted(term, dose)
        if isinstance(term, TableTerm):
            table = self.tables(column, np.array([dose]))[0]
            share = dose * np.exp(np.minimum(term.table - table, 0.0))  # of theta that is the class's own
            with np.errstate(invalid="ignore"):
                variance = np.where(table == 0, 0.0, term.table_variance * np.minimum(share, 1.0) ** 2)
            return replace(term, table=table, table_variance=np.nan_to_num(variance, nan=np.inf, posinf=np.inf))
        observed, missing = (part[0] for part in self._presence(column, np.array([dose])))
        if not isinstance(term, GaussianTerm):
            assert isinstance(term, CurveTerm)
            return replace(term, missing=missing)
        centre, scale = self.unit(column)
        own = 1 / np.sqrt(term.precision)
        deviation = dose * own + (1 - dose) * scale
        rows = (deviation / (dose * own)) ** 2  # so many more rows the same certainty takes
        posterior = np.stack([
            dose * term.posterior[0] + (1 - dose) * centre,
            term.posterior[1] * rows,
            term.posterior[2] * rows,
            deviation**2 * np.maximum(term.posterior[2] * rows - 0.5, 0.0),
        ])  # fmt: skip
        mean = dose * term.mean + (1 - dose) * centre
        return replace(
            term, mean=mean, precision=deviation**-2, posterior=posterior, observed=observed, missing=missing
        )

    # --- parameters ---------------------------------------------------------------------------------------------------

    def _levels(self, column: int) -> tuple[Floats, Floats]:
        """Probabilities of a coded column's own codes, the last ones: per class, and shared."""
        term = self.plain.by_column[column]
        assert isinstance(term, TableTerm)
        schema = self.sums.schema
        start, end = schema.layout.starts[column], schema.layout.starts[column] + schema.columns[column].n_codes
        counts = self.sums.counts[:, start:end]
        first = MISSING if self.how.missing == "value" and counts[:, MISSING].any() else FIRST_LEVEL
        own = np.exp(term.table[:, first:])
        strength = strength_of(self.how.smoothing, schema.columns[column].name)
        return own, overall_probability(counts[:, first:], strength, self.how.smoothing_kind)[0]

    def _presence(self, column: int, doses: Floats) -> tuple[Floats, Floats]:
        """log P(observed | class) and log P(missing | class) of a numeric column, (doses, classes) each."""
        term = self.plain.by_column[column]
        assert isinstance(term, (GaussianTerm, CurveTerm))
        n_classes = len(term.missing)
        if not term.missing.any():
            return np.zeros((len(doses), n_classes)), np.zeros((len(doses), n_classes))
        observed = term.observed if isinstance(term, GaussianTerm) else np.zeros(n_classes)
        if self.mix == "exponent":
            return doses[:, None] * observed, doses[:, None] * term.missing
        present = self.sums.moments.count[:, self.sums.schema.layout.slot[column]]
        both = np.stack([present, np.maximum(self.sums.class_weight - present, 0)], axis=1)
        strength = strength_of(self.how.smoothing, self.sums.schema.columns[column].name)
        shared = overall_probability(both, strength, self.how.smoothing_kind)[0]
        missing = _log_between(np.exp(term.missing)[:, None], shared[1:], doses)[:, :, 0]
        if not isinstance(term, GaussianTerm):
            return np.zeros_like(missing), missing
        return _log_between(np.exp(observed)[:, None], shared[:1], doses)[:, :, 0], missing

    @cached_property
    def _overall(self) -> tuple[Floats, Floats]:
        whole = pooled(self.sums.moments)
        return whole.mean[0], np.sqrt(whole.variance()[0])


def _log_between(own: Floats, shared: Floats, doses: Sequence[float] | Floats) -> Floats:
    """log(w own + (1 - w) shared), (doses, classes, levels); 0 at dose 0."""
    w = np.asarray(doses)[:, None, None]
    theta = w * own + (1 - w) * shared
    some = theta > 0
    logs = np.maximum(np.where(some, np.log(np.where(some, theta, 1.0)), FLOOR), FLOOR)
    return np.where(w > 0, logs, 0.0)
