"""Weighted naive Bayes: every predictor counts as often as it tells about the class, by a formula.

    log P(x, k) = log P(k) + sum over columns j of  w_j log P(x_j | k)

A weight compares what one predictor alone says of the class, P(k | x_j), with the class shares P(k). With D_j(x) = sum
over k of (P(k | x_j) - P(k))^2,

    tau         w_j = sqrt( mean of D_j / (1 - sum of P(k)^2) )      Goodman and Kruskal's tau, between 0 and 1
    deviation   w_j = sqrt( sum of D_j over the levels )             the original rule

The mean of a nominal column runs over its levels with their probabilities, that of a numeric column over the training
rows. The original rule is for levels only; of a numeric column it takes three times the mean, as if it had three.

Reference: Ferreira, Denison and Hand, "Data mining with products of trees", IDA 2001, as in Vidaurre, Bielza and
Larrañaga, "Forward stagewise naïve Bayes", Progress in Artificial Intelligence 1, 2012, eq. 6 and 7.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from seminaive.evidence.evidence import Evidence
from seminaive.evidence.terms import TableTerm, Term, weighted
from seminaive.models.base import EvidenceClassifier
from seminaive.models.checks import check_choice, check_pooled_parameters
from seminaive.models.naive import Estimation, Sums, gather_sums, log_prior, naive_evidence
from seminaive.models.numeric import as_modelled
from seminaive.models.search_rows import columns_that_vary
from seminaive.statistics.smoothing import SmoothingKind
from seminaive.table.block import Block, row_weights
from seminaive.table.schema import FIRST_LEVEL, MISSING, Floats
from seminaive.table.table import Table

LEVELS_OF_A_NUMBER = 3
"""As many levels a numeric column counts for by the original rule, which sums over levels."""


class WeightedNB(EvidenceClassifier):
    """Naive Bayes in which every predictor counts as often as it alone tells about the class.

    As quick as naive Bayes. Irrelevant predictors are turned down, but copies of a good one are not: each gets the full
    weight of its own. `StagewiseNB` and `AdjustedNB` find weights that answer for each other.

    Parameters
    ----------
    weights : "tau" or "deviation"
        Goodman and Kruskal's tau, whose root lies between 0 and 1; or the original rule, which sums over the levels
        whatever their share of the rows, so that rare levels can make it larger than 1. Test errors hardly differ.
    numeric : "gaussian", "bins" or "mdl"
        How numeric columns are modelled: a Gaussian per class, quantile bins, or bins whose cuts look at the class.
    n_bins : int
        Quantile bins per numeric column when ``numeric="bins"``.
    missing : "skip" or "value"
        A missing value says nothing, or is learned like any level.
    prior : "empirical", "uniform" or probabilities
        Class prior, in the order of the sorted labels. The weights always compare with the shares of the training rows.
    smoothing : float
        Mass added to the counts; 0 leaves plain frequencies.
    smoothing_kind : "pooled", "level" or "none"
        "pooled" spreads the mass as the column's overall distribution; "level" adds it to every level.
    variance_prior : "normal-gamma" or None
        Prior of means and variances; None is maximum likelihood, which refuses a class without variance.
    nominal : names, positions or mask, optional
        Columns that are nominal whatever their type. Text, categories and booleans always are.
    levels : dict, optional
        Per column, all levels it can have.
    max_levels : int, optional
        Fold the rarest levels of a column into one beyond this number.
    n_jobs : int, optional
        Threads that read large tables; the result does not depend on it.
    random_state : int
        Seeds the sample of rows that MDL cuts of a very large table are learned from.

    Attributes
    ----------
    weights_ : array (columns,)
        How often each column counts; 0 for a column that is the same in all rows.
    class_count_ : array
        Total weight of each class.
    evidence_ : Evidence
        Prior and one weighted term per column.

    Examples
    --------
    >>> import numpy as np
    >>> from seminaive.models.weighted import WeightedNB
    >>> rng = np.random.default_rng(0)
    >>> y = rng.integers(0, 2, 500)
    >>> X = np.column_stack([y + rng.normal(size=500), rng.normal(size=500)])  # useful, and noise
    >>> WeightedNB().fit(X, y).weights_.round(2)
    array([0.39, 0.08])
    """

    weights_: Floats

    def __init__(
        self,
        *,
        weights: str = "tau",
        numeric: str = "gaussian",
        n_bins: int = 10,
        missing: str = "skip",
        prior: Any = "empirical",
        smoothing: float = 1.0,
        smoothing_kind: SmoothingKind = "pooled",
        variance_prior: str | None = "normal-gamma",
        nominal: Sequence[Any] | None = None,
        levels: Mapping[Any, Sequence[Any]] | None = None,
        max_levels: int | None = None,
        n_jobs: int | None = None,
        random_state: int = 0,
    ) -> None:
        self.weights = weights
        self.numeric = numeric
        self.n_bins = n_bins
        self.missing = missing
        self.prior = prior
        self.smoothing = smoothing
        self.smoothing_kind = smoothing_kind
        self.variance_prior = variance_prior
        self.nominal = nominal
        self.levels = levels
        self.max_levels = max_levels
        self.n_jobs = n_jobs
        self.random_state = random_state

    def _check_parameters(self) -> None:
        check_choice("weights", self.weights, ("tau", "deviation"))
        check_pooled_parameters(self)

    def _learn(self, table: Table) -> None:
        table = as_modelled(table, self.numeric, self.n_bins, self.random_state, self.n_jobs)
        how = Estimation.of(self)
        sums = gather_sums(table, self.n_jobs)
        plain = naive_evidence(sums, how)
        self.weights_ = formula_weights(table, sums, plain, self.weights, self.missing, self.n_jobs)
        self.class_count_ = sums.class_weight
        terms = tuple(weighted(term, float(self.weights_[term.column])) for term in plain.terms)
        self.evidence_ = replace(plain, terms=terms)

    def summary(self) -> str:
        """What was learned, in words."""
        names = self._fitted().schema.names
        loudest = [f"{names[j]} {self.weights_[j]:.2f}" for j in np.argsort(-self.weights_, kind="stable")[:5]]
        return self._in_words("Weighted naive Bayes", f"largest weights: {', '.join(loudest)}")


def formula_weights(
    table: Table, sums: Sums, evidence: Evidence, formula: str, missing: str, n_jobs: int | None = None
) -> Floats:
    """The weight of each column; numeric columns need one more pass over the rows."""
    log_shares = log_prior(sums.class_weight, "empirical")
    shares = np.exp(log_shares)
    spread = 1 - float(shares @ shares)
    vary = columns_that_vary(sums, missing).tolist()
    weights = np.zeros(len(evidence.schema.columns))
    if spread <= 0:
        return weights
    for j in vary:
        term = evidence.by_column[j]
        if isinstance(term, TableTerm):
            codes = np.arange(MISSING if term.table[:, MISSING].any() else FIRST_LEVEL, term.table.shape[1])
            joint = term.table[:, codes] + log_shares[:, None]
            squares = squared_deviation(joint, shares)
            mean, total = np.exp(joint).sum(axis=0) @ squares, squares.sum()
            weights[j] = np.sqrt(mean / spread if formula == "tau" else total)
    valued = [evidence.by_column[j] for j in vary if not isinstance(evidence.by_column[j], TableTerm)]
    if valued:
        rows, squares = table.fold(_squares_of_rows, evidence.schema, valued, log_shares, missing, n_jobs=n_jobs)
        means = squares / rows
        columns = [term.column for term in valued]
        weights[columns] = np.sqrt(means / spread if formula == "tau" else LEVELS_OF_A_NUMBER * means)
    return weights


def squared_deviation(joint: Floats, shares: Floats) -> Floats:
    """How far class probabilities, from joint scores (classes, cases), are from the shares: a sum of squares per case.

    Examples
    --------
    >>> squared_deviation(np.log([[0.3, 0.1], [0.1, 0.5]]), np.array([0.4, 0.6])).round(4)
    array([0.245 , 0.1089])
    """
    posterior = np.exp(joint - joint.max(axis=0))
    posterior /= posterior.sum(axis=0)
    return ((posterior - shares[:, None]) ** 2).sum(axis=0)


def _squares_of_rows(
    block: Block, schema: Any, terms: Sequence[Term], log_shares: Floats, missing: str
) -> tuple[Floats, Floats]:
    """Weight of the rows that say something in each column, and the weighted sum of their squared deviations."""
    weights = row_weights(block)
    rows, sums = np.zeros((2, len(terms)))
    for i, term in enumerate(terms):
        says = np.ones(block.n_rows, dtype=bool)
        if missing == "skip":
            says = ~np.isnan(block.values[schema.layout.slot[term.column]])
        squares = squared_deviation(term.evidence(block, schema) + log_shares[:, None], np.exp(log_shares))
        rows[i], sums[i] = weights[says].sum(), weights[says] @ squares[says]
    return rows, sums
