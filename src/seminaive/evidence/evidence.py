"""What a fitted model is: a prior, terms, and a link. Scores, probabilities and contributions follow from it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from seminaive.evidence.families import Families
from seminaive.evidence.model import log_softmax
from seminaive.evidence.storage import storable
from seminaive.evidence.terms import CurveTerm, FamilyTerm, GaussianTerm, TableTerm, Term
from seminaive.kernels.score import add_gaussians, add_tables
from seminaive.table.block import Block, column_codes
from seminaive.table.schema import Column, Floats, Integers, Schema

FLOOR = -700.0
"""A probability of zero counts as exp(-700): finite, so that evidence can be added and taken away again."""


@dataclass(frozen=True, eq=False)
class Evidence:
    """A prior plus a sum of terms.

    .. math:: score_k(x) = prior_k + \\sum_t evidence_{tk}(x), \\qquad P(k | x) = link_k(score)

    Parameters
    ----------
    schema : Schema
    prior : array (classes,)
    terms : tuple of terms
        At most one per column; a column without a term says nothing.
    link : "softmax" or "ovr"
        How scores become probabilities: exponentials divided by their sum; or, each score being the logit of one class
        against the rest, logistic functions divided by their sum.
    """

    schema: Schema
    prior: Floats
    terms: tuple[Term, ...]
    link: str = "softmax"

    def __post_init__(self) -> None:
        if self.link not in ("softmax", "ovr"):
            raise ValueError(f"link must be 'softmax' or 'ovr', not {self.link!r}")
        if self.prior.shape != (self.schema.n_classes,) or not np.isfinite(self.prior).all():
            raise ValueError(f"the prior must be {self.schema.n_classes} finite numbers, one per class")
        for term in self.terms:
            term.check(self.schema)

    def scores(self, block: Block) -> Floats:
        """Joint scores (classes, rows) of a block."""
        scores = np.repeat(self.prior[:, None], block.n_rows, axis=1)
        packed = self._packed
        if len(packed.rows8):
            add_tables(block.codes8, packed.rows8, packed.starts8, packed.tables, scores)
        if len(packed.rows16):
            add_tables(block.codes16, packed.rows16, packed.starts16, packed.tables, scores)
        if len(packed.gaussians):
            add_gaussians(block.values, packed.gaussians, packed.mean, packed.root, packed.constant, scores)
        if len(packed.families):
            packed.families.add(packed.families.tables, column_codes(block, self.schema), self.schema, scores)
        for term in packed.others:
            scores += term.evidence(block, self.schema)
        return scores

    def probabilities(self, scores: Floats) -> Floats:
        """Class probabilities from scores, both (classes, rows)."""
        return np.exp(self.log_probabilities(scores))

    def log_probabilities(self, scores: Floats) -> Floats:
        """Their logarithms, by log-sum-exp."""
        if self.link == "ovr":
            scores = -np.logaddexp(0.0, -scores)  # log of each class's own probability
        return log_softmax(scores)

    @cached_property
    def by_column(self) -> dict[int, Term]:
        """The term of each column that has one."""
        return {term.column: term for term in self.terms}

    def term_names(self) -> list[str]:
        """One name per term: its column's."""
        return [str(self.schema.columns[term.column].name) for term in self.terms]

    def term_reads(self) -> list[tuple[int, ...]]:
        """The columns each term looks at, its own first."""
        return [term.reads for term in self.terms]

    def said(self, block: Block) -> tuple[Floats, Floats]:
        """What every term says in every row, and its variance, both (terms, classes, rows)."""
        values, variances = np.empty((2, len(self.terms), self.schema.n_classes, block.n_rows))
        for i, term in enumerate(self.terms):
            values[i], variances[i] = term.evidence(block, self.schema), term.variance(block, self.schema)
        return values, variances

    def shown_terms(self) -> list[list[Term]]:
        """Every term speaks for itself."""
        return [[term] for term in self.terms]

    @cached_property
    def _packed(self) -> _Packed:
        return _pack(self.schema, self.terms)


@dataclass(frozen=True)
class _Packed:
    """Terms laid out for the kernels: all tables in one flat array, all Gaussians without missing evidence together,
    and all families together.
    """

    tables: Floats
    rows8: Integers
    starts8: Integers
    rows16: Integers
    starts16: Integers
    gaussians: Integers
    mean: Floats
    root: Floats
    constant: Floats
    families: Families
    others: tuple[Term, ...]


def _pack(schema: Schema, terms: Sequence[Term]) -> _Packed:
    layout = schema.layout
    tables = np.zeros((schema.n_classes, layout.width))
    narrow: list[int] = []
    wide: list[int] = []
    gaussians: list[GaussianTerm] = []
    families: list[FamilyTerm] = []
    others: list[Term] = []
    for term in terms:
        if isinstance(term, TableTerm):
            start = layout.starts[term.column]
            tables[:, start : start + term.table.shape[1]] = term.table
            (narrow if schema.columns[term.column].is_narrow else wide).append(term.column)
        elif isinstance(term, GaussianTerm) and not term.missing.any() and not (term.loudness < 0).any():
            gaussians.append(term)
        elif isinstance(term, FamilyTerm):
            families.append(term)
        else:
            others.append(term)
    columns = np.array([term.column for term in gaussians], dtype=np.int64)

    def stack(parts: list[Any]) -> npt.NDArray[Any]:
        rows = np.array(parts, dtype=np.float64).reshape(len(parts), schema.n_classes)
        return np.ascontiguousarray(rows.T)

    rows8, rows16 = np.array(narrow, dtype=np.int64), np.array(wide, dtype=np.int64)
    return _Packed(
        tables=tables,
        rows8=layout.slot[rows8],
        starts8=layout.starts[rows8],
        rows16=layout.slot[rows16],
        starts16=layout.starts[rows16],
        gaussians=layout.slot[columns],
        mean=stack([term.mean for term in gaussians]),
        root=stack([np.sqrt(term.precision * term.loudness) for term in gaussians]),
        constant=stack([term.constant * term.loudness for term in gaussians]),
        families=Families.of(families, schema.n_classes),
        others=tuple(others),
    )


for _kind in (Column, Schema, TableTerm, GaussianTerm, CurveTerm, FamilyTerm, Evidence):
    storable(_kind)

__all__ = ["FLOOR", "CurveTerm", "Evidence", "FamilyTerm", "GaussianTerm", "TableTerm", "Term"]
