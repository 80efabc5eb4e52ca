"""What the models have in common in which columns depend on one another: binned rows, families, words."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from seminaive.evidence.evidence import Evidence
from seminaive.evidence.terms import FamilyTerm, TableTerm, Term
from seminaive.models.base import EvidenceClassifier
from seminaive.models.checks import check_choice, check_nonnegative, check_whole
from seminaive.models.naive import Estimation, Sums, described_as, dirichlet_prior, gather_sums
from seminaive.models.numeric import as_modelled
from seminaive.statistics.conditional import FamilySmoothing, conditional_evidence
from seminaive.table.families import family_counts
from seminaive.table.schema import MISSING, Floats, Integers
from seminaive.table.table import Table

SHOWN_PAIRS = 5
"""Pairs of columns that a summary names."""


class _DependenceClassifier(EvidenceClassifier):
    """A classifier that reads some columns together with others; it implements ``_learn_families(table, sums)``."""

    pairs_: Integers
    pair_information_: Floats
    class_count_: npt.NDArray[Any]

    _title = ""
    """What the model is, in a summary."""

    def __init__(
        self,
        *,
        numeric: str = "mdl",
        n_bins: int = 10,
        missing: str = "value",
        prior: Any = "empirical",
        smoothing: float = 1.0,
        smoothing_kind: FamilySmoothing = "shrink",
        nominal: Sequence[Any] | None = None,
        levels: Mapping[Any, Sequence[Any]] | None = None,
        max_levels: int | None = None,
        n_jobs: int | None = None,
        random_state: int = 0,
    ) -> None:
        self.numeric = numeric
        self.n_bins = n_bins
        self.missing = missing
        self.prior = prior
        self.smoothing = smoothing
        self.smoothing_kind = smoothing_kind
        self.nominal = nominal
        self.levels = levels
        self.max_levels = max_levels
        self.n_jobs = n_jobs
        self.random_state = random_state

    def _check_parameters(self) -> None:
        check_choice("numeric", self.numeric, ("mdl", "bins"))
        check_choice("missing", self.missing, ("value", "skip"))
        check_choice("smoothing_kind", self.smoothing_kind, ("shrink", "bd"))
        check_nonnegative("smoothing", self.smoothing)
        check_whole("n_bins", self.n_bins, at_least=1)
        check_whole("random_state", self.random_state, at_least=0)
        if isinstance(self.prior, str):
            check_choice("prior", self.prior, ("empirical", "uniform"))

    def _learn(self, table: Table) -> None:
        rows = as_modelled(table.kept(self.n_jobs), self.numeric, self.n_bins, self.random_state, self.n_jobs)
        sums = gather_sums(rows, self.n_jobs)
        self.class_count_ = sums.class_weight
        self._learn_families(rows, sums)

    def _learn_families(self, table: Table, sums: Sums) -> None:
        """Learn which columns depend on which, and what they say, from coded rows and their counts."""
        raise NotImplementedError

    def _log_prior(self, sums: Sums) -> Floats:
        """Log class shares; with "bd" smoothed like everything else."""
        return dirichlet_prior(sums.class_weight, self.prior, self.smoothing if self.smoothing_kind == "bd" else 0.0)

    def _described_as(self, sums: Sums) -> Integers:
        """The class whose rows describe each class (see `described_as`)."""
        return described_as(sums, Estimation(prior=self.prior))

    def _evidence(self, table: Table, sums: Sums, families: Sequence[tuple[int, ...]]) -> Evidence:
        """One term per family: a column, then its parents."""
        counted = family_counts(table, families, self.n_jobs)
        as_class = self._described_as(sums)
        terms: list[Term] = []
        for f, reads in enumerate(families):
            counts = known(counted.of(f, table.schema), self.missing)
            said, variance = conditional_evidence(counts, self.smoothing, self.smoothing_kind)
            said, variance = said[as_class], variance[as_class]
            alone = len(reads) == 1
            terms.append(
                TableTerm(reads[0], said, variance) if alone else FamilyTerm(reads[0], reads[1:], said, variance)
            )
        return Evidence(table.schema, self._log_prior(sums), tuple(terms))

    def _note_pairs(self, pairs: Integers, information: Floats) -> None:
        """Keep the pairs of columns that are read together, the strongest first."""
        order = np.lexsort((pairs[:, 1], pairs[:, 0], -information))
        self.pairs_, self.pair_information_ = pairs[order], information[order]

    def summary(self) -> str:
        """What was learned, in words."""
        self._fitted()
        return self._in_words(self._title, self._dependence_in_words())

    def _dependence_in_words(self) -> str:
        names = [str(column.name) for column in self.evidence_.schema.columns]
        shown = zip(self.pairs_[:SHOWN_PAIRS].tolist(), self.pair_information_.tolist(), strict=False)
        strongest = ", ".join(f"{names[j]} | {names[p]} {told:.3g}" for (j, p), told in shown)
        if not strongest:
            return "no two columns depend on one another given the class: this is naive Bayes"
        return f"strongest dependences (column | parent, {self._unit()}): {strongest}"

    def _unit(self) -> str:
        """What the strength of a pair is, in words."""
        return "shared information given the class in nats"


def known(counts: Floats, missing: str) -> Floats:
    """Counts (classes, codes of the column, codes of each parent ...), those of gaps left out if they say nothing."""
    if missing == "skip":
        counts = counts.copy()
        for axis in range(1, counts.ndim):
            np.moveaxis(counts, axis, 0)[MISSING] = 0.0
    return counts
