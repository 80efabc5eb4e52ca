"""Contributions: the score of every row taken apart into what each term says."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from seminaive.evidence.model import Model
from seminaive.table.block import Block
from seminaive.table.schema import Floats


@dataclass(frozen=True, eq=False)
class Contributions:
    """What each term adds to each class's score.

    Attributes
    ----------
    values : array (rows, terms, classes)
        With the prior they sum to the scores: ``prior + values.sum(axis=1)``.
    terms : list of str
    prior : array (classes,)
    classes : array
    variances : array (rows, terms, classes)
        Posterior variance of each value; the variance of a difference of two classes is the sum of theirs.
    """

    values: Floats
    terms: list[str]
    prior: Floats
    classes: npt.NDArray[Any]
    variances: Floats

    @property
    def scores(self) -> Floats:
        """The joint scores (rows, classes)."""
        return self.prior + self.values.sum(axis=1)

    def __repr__(self) -> str:
        n, t, k = self.values.shape
        return f"Contributions({n} rows x {t} terms x {k} classes)"


def contributions(model: Model, blocks: Iterable[Block], n_rows: int) -> Contributions:
    """Evaluate every term of a model on blocks, rows in their original order."""
    k, names = model.schema.n_classes, model.term_names()
    values, variances = np.empty((2, n_rows, len(names), k))
    done = 0
    for block in blocks:
        rows = slice(done, done + block.n_rows)
        done += block.n_rows
        for of_block, into in zip(model.said(block), (values, variances), strict=True):
            into[rows] = block.in_row_order(of_block).transpose(2, 0, 1)
    values, variances = values[:done], variances[:done]  # files hold rows of weight 0, too
    return Contributions(values, names, model.prior, model.schema.classes, variances)


def contrast(values: Floats, variances: Floats, reference: int | None, link: str = "softmax") -> tuple[Floats, Floats]:
    """Evidence relative to a reference class, or centred over the classes, with its standard errors.

    Only differences between classes mean anything: a constant added to every class changes no probability. Both arrays
    have classes on the last axis; the classes' errors are independent. With the link "ovr" every class has evidence
    against the rest, which is shown as it is.
    """
    if link == "ovr":
        return values, np.sqrt(variances)
    if reference is not None:
        relative = values - values[..., [reference]]
        spread = variances + variances[..., [reference]]
        spread[..., reference] = 0.0
        return relative, np.sqrt(spread)
    k = values.shape[-1]
    share = np.full((k, k), 1 / k**2) + np.diag(np.full(k, (1 - 1 / k) ** 2 - 1 / k**2))
    # A product would take infinite times zero somewhere; where one class knows nothing, no contrast does.
    known = np.isfinite(variances)
    spread = np.where(known, variances, 0.0) @ share
    return values - values.mean(axis=-1, keepdims=True), np.sqrt(np.where(known.all(-1, keepdims=True), spread, np.inf))
