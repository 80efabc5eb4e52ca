r"""Averages of many sums of evidence: what a Bayesian forest and averaged one-dependence predict with.

Every member g of a mixture is a prior plus a sum of families, and has a weight w_g:

    sum_gk(x) = prior_k + sum over the families f of g of  evidence_fk(x)

    normalise = True     score_k(x) = log  sum_g w_g softmax_k(sum_g(x))          log P(k | x), averaged over models
    normalise = False    score_k(x) = log  sum_g w_g exp(sum_gk(x))               log P(k, x), averaged over models

each divided by the weight of the members that have a say in the row: a member may need a column, and is silent where
the column's value may not lead, as an unseen super-parent. Where every member is silent, the last one stands alone.

Members share most of their families, so a member is kept as what changes from the one before it.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from seminaive.evidence.families import Families, is_partition, is_whole
from seminaive.evidence.model import log_softmax
from seminaive.evidence.storage import storable
from seminaive.evidence.terms import FamilyTerm, counted, is_floats, weighted
from seminaive.kernels.family import mix_sums
from seminaive.table.block import Block, column_codes
from seminaive.table.schema import UNSEEN, Floats, Integers, Schema

AVERAGING = "averaging"
"""The term that makes the mean evidence over the members add up to the mixture's score."""

MOST_SHOWN = 6
"""Families of one column that an explanation of the model shows, the most frequent first."""


@storable
@dataclass(frozen=True, eq=False)
class Mixture:
    """A weighted average of sums of families.

    Parameters
    ----------
    schema : Schema
    prior : array (classes,)
        Of every member.
    families : Families
    step_starts, steps : int64 arrays
        Member g differs from the member before it, or from a member without any family where ``fresh[g]``, by the
        families ``steps[step_starts[g]:step_starts[g + 1]]``: those not in come in, those in go.
    fresh : bool array (members,)
    weight : array (members,)
        Not negative. A last member of weight 0 speaks where all others are silent.
    needs : int64 array (members,)
        Column whose value decides whether the member has a say; -1: always.
    may_lead : bool array (layout.width,)
        For every code of every column, whether members that need the column have a say.
    normalise : bool
        Average class probabilities, or joint probabilities of class and row.
    """

    schema: Schema
    prior: Floats
    families: Families
    step_starts: Integers
    steps: Integers
    fresh: npt.NDArray[np.bool_]
    weight: Floats
    needs: Integers
    may_lead: npt.NDArray[np.bool_]
    normalise: bool

    link = "softmax"

    @classmethod
    def of(
        cls,
        schema: Schema,
        prior: Floats,
        families: Families,
        members: Sequence[npt.NDArray[np.integer[Any]]],
        weight: Floats,
        normalise: bool,
        needs: Sequence[int] | None = None,
        may_lead: npt.NDArray[np.bool_] | None = None,
    ) -> Mixture:
        """A mixture of members given as lists of families."""
        steps: list[Integers] = []
        fresh: list[bool] = []
        before = np.empty(0, dtype=np.int64)
        for member in members:
            now = np.unique(member).astype(np.int64)
            change = np.setxor1d(before, now, assume_unique=True)
            fresh.append(not steps or len(change) >= len(now))
            steps.append(now if fresh[-1] else change)
            before = now
        return cls(
            schema,
            prior,
            families,
            np.cumsum([0, *map(len, steps)]).astype(np.int64),
            np.concatenate([np.empty(0, dtype=np.int64), *steps]),
            np.array(fresh, dtype=np.bool_),
            np.asarray(weight, dtype=np.float64),
            np.asarray([-1] * len(steps) if needs is None else needs, dtype=np.int64),
            np.ones(schema.layout.width, dtype=np.bool_) if may_lead is None else may_lead,
            normalise,
        )

    def __post_init__(self) -> None:
        m, d = len(self.fresh), len(self.schema.columns)
        if not is_floats(self.prior, (self.schema.n_classes,)) or not np.isfinite(self.prior).all():
            raise ValueError(f"the prior must be {self.schema.n_classes} finite numbers, one per class")
        self.families.check(self.schema)
        if not all(is_whole(part) for part in (self.step_starts, self.steps, self.needs)):
            raise ValueError("the members' families must be lists of 64-bit whole numbers")
        if not is_truth(self.fresh, m) or m == 0 or not self.fresh[0]:
            raise ValueError("a mixture has at least one member, and the first begins without families")
        if not is_partition(self.step_starts, m, len(self.steps)):
            raise ValueError("the members' changes do not fit their number")
        if np.any((self.steps < 0) | (self.steps >= len(self.families))):
            raise ValueError(f"a member has a family that is not among the {len(self.families)} there are")
        weights = is_floats(self.weight, (m,)) and np.isfinite(self.weight).all() and np.all(self.weight >= 0)
        if not weights or not 0 < self.weight.sum() < np.inf:
            raise ValueError(f"the weights must be {m} numbers >= 0, one per member, and not all be 0")
        if len(self.needs) != m or np.any((self.needs < -1) | (self.needs >= d)):
            raise ValueError(f"every member must need one of the {d} columns, or none (-1)")
        if not all(self.schema.columns[j].is_coded for j in np.unique(self.needs[self.needs >= 0])):
            raise ValueError("a member needs a column that is not coded")
        if not is_truth(self.may_lead, self.schema.layout.width) or type(self.normalise) is not bool:
            raise ValueError("which codes may lead, and whether to normalise, must be truth values")

    # --- predicting ---------------------------------------------------------------------------------------------------

    def scores(self, block: Block) -> Floats:
        """Log of the average (classes, rows) of a block."""
        scores = np.empty((self.schema.n_classes, block.n_rows))
        with np.errstate(divide="ignore"):
            log_weight = np.log(self.weight)
        mix_sums(
            column_codes(block, self.schema),
            *self.families.layout(self.schema),
            self._centred,
            self.prior,
            self.step_starts,
            self.steps,
            self.fresh,
            log_weight,
            self.needs,
            self.may_lead,
            self.schema.layout.starts,
            self.normalise,
            scores,
        )
        return scores

    def log_probabilities(self, scores: Floats) -> Floats:
        """Logarithms of the class probabilities from scores, both (classes, rows)."""
        return log_softmax(scores)

    def probabilities(self, scores: Floats) -> Floats:
        """Class probabilities from scores."""
        return np.exp(log_softmax(scores))

    # --- explaining ---------------------------------------------------------------------------------------------------

    def members(self) -> Iterator[Integers]:
        """The families of every member."""
        inside = np.zeros(len(self.families), dtype=np.bool_)
        for g in range(len(self.fresh)):
            if self.fresh[g]:
                inside[:] = False
            inside[self.steps[self.step_starts[g] : self.step_starts[g + 1]]] ^= True
            yield np.flatnonzero(inside)

    @cached_property
    def share(self) -> Floats:
        """The share of the members, by weight, that each family is in."""
        share = np.zeros(len(self.families))
        for weight, member in zip(self.weight / self.weight.sum(), self.members(), strict=True):
            share[member] += weight
        return share

    @cached_property
    def columns(self) -> list[int]:
        """The columns that say something in some member."""
        return np.unique(self.families.column).tolist()

    def term_names(self) -> list[str]:
        """One per column that says something, and what averaging adds."""
        return [*(str(self.schema.columns[j].name) for j in self.columns), AVERAGING]

    def term_reads(self) -> list[tuple[int, ...]]:
        """The columns to show beside each term; parents vary from member to member, so they are not among them."""
        return [*((j,) for j in self.columns), ()]

    def shown_terms(self) -> list[list[FamilyTerm]]:
        """Per term the families that speak for it, each counted by its share of the members; none for averaging."""
        by_column: list[list[FamilyTerm]] = []
        for j in self.columns:
            own = np.flatnonzero(self.families.column == j)
            often = own[np.argsort(-self.share[own], kind="stable")][:MOST_SHOWN]
            terms = [weighted(self.families.term(int(f), self.schema), float(self.share[f])) for f in often]
            by_column.append(terms)  # type: ignore[arg-type]
        return [*by_column, []]

    def said(self, block: Block) -> tuple[Floats, Floats]:
        """The mean evidence of every term over the members that have a say, and its variance, (terms, classes, rows).

        The variance is that of the evidence of one member drawn by weight: how uncertain a family's evidence is, plus
        how much the members differ. Averaging adds what is missing to the score.
        """
        k, n, n_terms = self.schema.n_classes, block.n_rows, len(self.columns)
        values, squares = np.zeros((2, n_terms + 1, k, n))
        codes = column_codes(block, self.schema)
        for t, part, in_force in self._parts(codes):
            for tables, total in ((part.tables, values[t]), (part.variances, squares[t])):
                said = np.zeros((k, n))
                part.add(tables, codes, self.schema, said)
                total += said if in_force is None else counted(said, in_force)
        centred = values - values.mean(axis=1, keepdims=True)
        variances = np.maximum(squares - _contrast_share(k) * centred**2, 0.0)
        values[-1] = self.scores(block) - self.prior[:, None] - values.sum(axis=0)
        variances[-1] = 0.0
        return values, variances

    def _parts(self, codes: npt.NDArray[Any]) -> Iterator[tuple[int, Families, Floats | None]]:
        """Families of one term each, with mean and mean square in their tables, and their members' say in each row."""
        if np.all(self.needs < 0):
            for t, j in enumerate(self.columns):
                own = np.flatnonzero(self.families.column == j)
                yield t, self._moments(own, self.share[own]), None
            return
        term_of = {j: t for t, j in enumerate(self.columns)}
        for member, in_force in zip(self.members(), self._say(codes), strict=True):
            for f in member.tolist():
                yield term_of[int(self.families.column[f])], self._moments(np.array([f]), np.ones(1)), in_force

    def _say(self, codes: npt.NDArray[Any]) -> Floats:
        """The weight of every member in every row, adding up to 1 over the members."""
        say = np.repeat(self.weight[:, None], codes.shape[1], axis=1)
        for g in np.flatnonzero(self.needs >= 0):
            j = self.needs[g]
            say[g] *= self.may_lead[self.schema.layout.starts[j] + codes[j].astype(np.int64)]
        total = say.sum(axis=0)
        say[-1, total == 0] = 1.0
        return say / np.where(total == 0, 1.0, total)

    def _moments(self, chosen: Integers, share: Floats) -> Families:
        """Some families, each counted by a share, with the mean of the squared evidence in place of the variance."""
        families = self.families.some(chosen)
        by_cell = np.repeat(share, np.diff(families.starts))
        centred = families.tables - families.tables.mean(axis=0)
        squares = families.variances + _contrast_share(self.schema.n_classes) * centred**2
        return replace(families, tables=families.tables * by_cell, variances=counted(squares, by_cell))

    @cached_property
    def _centred(self) -> Floats:
        """Tables for predicting: where only shares of the classes count, sums stay small if tables are centred."""
        return self.families.tables - self.families.tables.mean(axis=0) if self.normalise else self.families.tables


def _contrast_share(n_classes: int) -> float:
    """Members move the classes together, while a contrast adds their variances as if they moved apart.

    With this factor the contrast of two classes comes out right; of several, on average over the pairs.
    """
    return n_classes / (n_classes - 1) if n_classes > 1 else 0.0


def is_truth(array: Any, length: int) -> bool:
    """Whether it is a list of so many truth values."""
    return isinstance(array, np.ndarray) and array.dtype == np.bool_ and array.shape == (length,)


def leading_codes(schema: Schema, weight_of_codes: Floats, min_count: float) -> npt.NDArray[np.bool_]:
    """Which codes occur often enough for their column to lead a member; a value never seen never does."""
    may_lead = weight_of_codes >= min_count
    coded = schema.layout.starts[schema.layout.starts >= 0]
    may_lead[coded + UNSEEN] = False
    return may_lead
