"""What a fitted model must offer so that it can be predicted with, explained, drawn and saved."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

import numpy as np

from seminaive.evidence.terms import Term
from seminaive.table.block import Block
from seminaive.table.schema import Floats, Schema


class Model(Protocol):
    """A sum of evidence, or an average of such sums."""

    @property
    def schema(self) -> Schema: ...

    @property
    def prior(self) -> Floats: ...

    @property
    def link(self) -> str:
        """ "softmax" or "ovr": how scores become probabilities."""

    def scores(self, block: Block) -> Floats:
        """Joint scores (classes, rows) of a block."""

    def probabilities(self, scores: Floats) -> Floats:
        """Class probabilities from scores, both (classes, rows)."""

    def log_probabilities(self, scores: Floats) -> Floats:
        """Their logarithms."""

    def term_names(self) -> list[str]:
        """One name per term."""

    def term_reads(self) -> list[tuple[int, ...]]:
        """The columns whose values are shown beside each term, its own first."""

    def said(self, block: Block) -> tuple[Floats, Floats]:
        """What every term says in every row, and its variance, (terms, classes, rows): with the prior, the scores."""

    def shown_terms(self) -> Sequence[Sequence[Term]]:
        """Per name the terms that show what the model learned there."""


def log_softmax(scores: Floats) -> Floats:
    """Logarithms of exponentials divided by their sum, over the first axis."""
    shifted = scores - scores.max(axis=0)
    return shifted - np.log(np.exp(shifted).sum(axis=0))
