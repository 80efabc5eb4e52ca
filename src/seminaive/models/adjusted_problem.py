"""From unweighted evidence to the problem of weighting it, and back from weights to evidence."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from seminaive.evidence.contrast import ContrastTerm
from seminaive.evidence.evidence import Evidence
from seminaive.evidence.terms import TableTerm, Term
from seminaive.models.adjusted_terms import Reading, speaks
from seminaive.search.block_rows import over_blocks
from seminaive.search.design import Design, table_design
from seminaive.search.ridge import Restraint
from seminaive.search.weighted_evidence import WeightedEvidence
from seminaive.table.block import Block
from seminaive.table.schema import Floats, Integers, Schema
from seminaive.table.scratch import scratch
from seminaive.table.table import Table


@dataclass(frozen=True, eq=False)
class Part:
    """What is fitted together: all classes' scores, or, one class against the rest, a single one.

    Attributes
    ----------
    evidence : Evidence
        Unweighted.
    lines : int array
        The classes whose scores are fitted.
    coded, dense : int arrays
        Columns that say something: read by code, and with densities. Their predictors come in this order.
    values : int array
        Entries of the side-by-side tables that have a residual of their own.
    starts : int array
        Where the table of each coded column starts, and the end.
    kappa : float
        What a residual is worth.
    shared : bool
    """

    evidence: Evidence
    lines: Integers
    coded: Integers
    dense: Integers
    values: Integers
    starts: Integers
    kappa: float
    shared: bool

    @property
    def columns(self) -> Integers:
        """The column of each weighted predictor."""
        return np.concatenate([self.coded, self.dense])

    @property
    def own_lines(self) -> int:
        """How many sets of weights there are."""
        return 1 if self.shared else len(self.lines)

    def design(self, bare: bool = False) -> Design:
        """Offsets and tables for the solver; ``bare``: without residuals."""
        evidence, layout, lines = self.evidence, self.evidence.schema.layout, self.lines
        tables = [np.zeros((len(lines), 0))]
        for term in self._terms(self.coded):
            assert isinstance(term, TableTerm)
            tables.append(term.table[lines])
        seen = np.zeros(int(self.starts[-1]), dtype=bool)
        seen[self.values] = True
        return table_design(
            evidence.prior[lines],
            np.concatenate(tables, axis=1),
            self.starts,
            source=layout.slot[self.coded],
            wide=np.array([evidence.schema.columns[j].n_codes > 256 for j in self.coded], dtype=bool),
            dense=len(self.dense),
            shared=self.shared,
            positive=int(lines[0]),
            residual=0.0 if bare else self.kappa,
            seen=seen,
        )

    def problem(self, table: Table, owner: str, bare: bool = False, n_jobs: int | None = None) -> WeightedEvidence:
        """The problem on the rows of a table, which is coded as the evidence wants it."""
        evidence, n_classes = self.evidence, self.evidence.schema.n_classes
        places = None
        if len(self.lines) not in (1, n_classes):
            places = np.searchsorted(self.lines, np.arange(n_classes))
        terms = tuple(self._terms(self.dense))
        dense = Dense(terms, evidence.schema, self.lines, owner) if terms else None
        fold = over_blocks(table.blocks, dense, places, n_jobs)
        return WeightedEvidence(self.design(bare), fold, float(table.class_weights(n_jobs).sum()))

    def restraint(self, centre: float, nonnegative: bool) -> Restraint:
        """Weights are drawn to the centre, residuals to 0; only weights are bounded."""
        weights, residuals = len(self.columns), len(self.values) if self.kappa else 0
        if not residuals:
            return Restraint(centre, nonnegative)
        weighs = np.tile(np.repeat([True, False], [weights, residuals]), self.own_lines)
        return Restraint(np.where(weighs, centre, 0.0), weighs & nonnegative)

    def by_column(self, fitted: Floats, otherwise: float) -> Floats:
        """Weights of all columns of the schema, one row per line (or one in all)."""
        predictors = fitted.reshape(self.own_lines, -1)
        out = np.full((self.own_lines, len(self.evidence.schema.columns)), otherwise)
        out[:, self.columns] = predictors[:, : len(self.columns)]
        return out

    def gram(self, hessian: Floats) -> Floats:
        """How the evidence of the weighted columns goes together: their share of the Hessian, summed over the lines."""
        weights = len(self.columns)
        if not len(hessian):
            return np.zeros((weights, weights))
        size = len(hessian) // self.own_lines
        by_line = hessian.reshape(self.own_lines, size, self.own_lines, size)
        return np.asarray(sum(by_line[k, :weights, k, :weights] for k in range(self.own_lines)))

    def _terms(self, columns: Integers) -> list[Term]:
        return [self.evidence.by_column[j] for j in columns.tolist()]


@dataclass(frozen=True, eq=False)
class Dense:
    """Unweighted evidence of the numeric columns of a block, (scores, columns, rows); kept while there is room."""

    terms: tuple[Term, ...]
    schema: Schema
    lines: Integers
    owner: str

    def __call__(self, block: Block) -> Floats:
        return scratch(self.owner, block, 0, lambda: self._evaluated(block))

    def _evaluated(self, block: Block) -> Floats:
        return np.stack([term.evidence(block, self.schema)[self.lines] for term in self.terms], axis=1)


def parts_of(evidence: Evidence, reading: Reading, occurs: Floats, kappa: float, shared: bool) -> list[Part]:
    """The problems a model consists of: one for each class against the rest, else one in all.

    ``occurs`` (layout.width) is the weight of the rows with each code.
    """
    lines = reading.lines
    if reading.form == "ovr":
        return [_part(evidence, lines[i : i + 1], occurs, kappa, False) for i in range(len(lines))]
    return [_part(evidence, lines, occurs, kappa, shared)]


def _part(evidence: Evidence, lines: Integers, occurs: Floats, kappa: float, shared: bool) -> Part:
    layout = evidence.schema.layout
    coded: list[int] = []
    dense: list[int] = []
    values, starts = [np.zeros(0, dtype=np.int64)], [0]
    for term in evidence.terms:
        if isinstance(term, TableTerm) and term.table[lines].any():
            first, width = layout.starts[term.column], term.table.shape[1]
            said = occurs[first : first + width] > 0
            # A missing value that is skipped has an empty entry, and keeps it.
            said &= term.table_variance[lines].any(axis=0) | term.table[lines].any(axis=0)
            values.append(starts[-1] + np.flatnonzero(said))
            coded.append(term.column)
            starts.append(starts[-1] + width)
        elif not isinstance(term, TableTerm) and speaks(term):
            dense.append(term.column)
    return Part(
        evidence,
        lines,
        coded=np.array(coded, dtype=np.int64),
        dense=np.array(dense, dtype=np.int64),
        values=np.concatenate(values) if kappa else values[0],
        starts=np.array(starts, dtype=np.int64),
        kappa=kappa,
        shared=shared,
    )


@dataclass(frozen=True, eq=False)
class Weighted:
    """Fitted weights of a part: by predictor, residuals last; and their covariance where it is known."""

    part: Part
    fitted: Floats
    covariance: Floats | None

    def by_line(self) -> tuple[Floats, Floats]:
        """Weights and residuals of each line."""
        part = self.part
        predictors = np.broadcast_to(self.fitted.reshape(part.own_lines, -1), (len(part.lines), self._size))
        return predictors[:, : len(part.columns)], predictors[:, len(part.columns) :]

    @property
    def _size(self) -> int:
        return len(self.fitted) // self.part.own_lines

    def errors(self) -> Floats:
        """Standard error of every fitted number; infinite where it is not known."""
        if self.covariance is None:
            return np.full(len(self.fitted), np.inf)
        return np.sqrt(np.maximum(np.diag(self.covariance), 0.0))

    def of_line(self, line: int) -> Floats | None:
        """Covariance of the predictors of one line."""
        if self.covariance is None:
            return None
        first = 0 if self.part.own_lines == 1 else line * self._size
        return self.covariance[first : first + self._size, first : first + self._size]


def weighted_evidence(parts: Sequence[Weighted], present: Integers, prior: Floats, heaviest: int) -> Evidence:
    """The evidence as weighted. A class that was not fitted has that of the heaviest, or, with "ovr", none."""
    evidence = parts[0].part.evidence
    terms = {term.column: _silenced(term) for term in evidence.terms}
    for weighted in parts:
        for line in range(len(weighted.part.lines)):
            _count_line(terms, weighted, line)
    if evidence.link != "ovr":
        own = np.arange(evidence.schema.n_classes)
        told_as = np.where(np.isin(own, present), own, heaviest)
        return Evidence(evidence.schema, prior, tuple(_by_class(term, told_as) for term in terms.values()))
    return Evidence(evidence.schema, prior, tuple(terms.values()), evidence.link)


def _silenced(term: Term) -> TableTerm | ContrastTerm:
    if isinstance(term, TableTerm):
        return replace(term, table=np.zeros_like(term.table), table_variance=np.zeros_like(term.table))
    assert isinstance(term, ContrastTerm)
    return replace(term, weight=np.zeros_like(term.weight), weight_variance=np.zeros_like(term.weight))


def _count_line(terms: dict[int, TableTerm | ContrastTerm], weighted: Weighted, line: int) -> None:
    """Enter the weighted evidence for one class into the terms, which are this function's to change."""
    part, k = weighted.part, int(weighted.part.lines[line])
    weights, residuals = (every[line] for every in weighted.by_line())
    covariance = weighted.of_line(line)
    columns = len(part.columns)
    own = np.searchsorted(part.starts, part.values, side="right") - 1  # the coded column of every residual
    for i, j in enumerate(part.columns.tolist()):
        before, term = part.evidence.by_column[j], terms[j]
        variance = 0.0 if covariance is None else max(float(covariance[i, i]), 0.0)
        if isinstance(term, ContrastTerm):
            term.weight[k], term.weight_variance[k] = weights[i], variance
            continue
        assert isinstance(before, TableTerm)
        said = before.table[k]
        term.table[k] = weights[i] * said
        of_table = np.where(weights[i] != 0, before.table_variance[k], 0.0) * weights[i] ** 2
        of_weight = said**2 * variance
        mine = np.flatnonzero(own == i)
        at = part.values[mine] - part.starts[i] if len(mine) else mine
        term.table[k, at] += part.kappa * residuals[mine]
        if covariance is not None:
            of_residual = np.diag(covariance)[columns + mine]
            of_weight[at] += part.kappa * (2 * said[at] * covariance[i, columns + mine] + part.kappa * of_residual)
        term.table_variance[k] = of_table + np.maximum(of_weight, 0.0)


def _by_class(term: TableTerm | ContrastTerm, classes: Integers) -> Term:
    if isinstance(term, TableTerm):
        return replace(term, table=term.table[classes], table_variance=term.table_variance[classes])
    return replace(term, weight=term.weight[classes], weight_variance=term.weight_variance[classes])
