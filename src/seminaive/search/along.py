"""The models along a path of doses, judged on any rows in one pass, and the choice of one of them.

Three rules. "aic" needs the training rows only. "cv" walks again on the other rows of every fold and takes the number
of steps (or the penalty) with the least mean log loss on the rows held out; a path that ends early goes on with its
last model. "validation" holds out one such fold only. Both then walk on all rows, as far as was best.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from itertools import islice

import numpy as np

from seminaive.evidence.evidence import Evidence
from seminaive.evidence.model import log_softmax
from seminaive.evidence.terms import Term
from seminaive.search.doses import DosePath, first_least
from seminaive.table.block import Block, row_classes, row_weights
from seminaive.table.discretize import binned_like
from seminaive.table.folds import hold_out_in_turn
from seminaive.table.schema import Floats
from seminaive.table.table import Table

__all__ = ["Walk", "choose_along", "held_out_curve", "judge"]

FOLDS = 5
Changes = Sequence[Sequence[Term]]


@dataclass(frozen=True, eq=False)
class Walk:
    """A path and its models.

    Attributes
    ----------
    path : DosePath
    start : Evidence
        The first model.
    changes : for every further model, the terms that take the place of those of their columns
    """

    path: DosePath
    start: Evidence
    changes: Changes

    def evidence(self, step: int | None = None) -> Evidence:
        """The model after some steps, the chosen one if not told; only columns with a dose have a term."""
        step = self.path.chosen if step is None else step
        terms = dict(self.start.by_column)
        for changed in self.changes[:step]:
            terms.update({term.column: term for term in changed})
        speak = np.flatnonzero(self.path.doses[step] > 0).tolist()
        return replace(self.start, terms=tuple(terms[j] for j in speak))


def judge(table: Table, start: Evidence, changes: Changes, n_jobs: int | None = None) -> tuple[float, Floats, Floats]:
    """Total weight of the rows, and error and mean of -log P(y | x) of all models on them, in one pass.

    Rows still held as values are coded as the evidence needs them.
    """
    rows = binned_like(table, start.schema, n_jobs)
    weight, wrong, loss = rows.fold(_sums_along, start, tuple(map(tuple, changes)), n_jobs=n_jobs)
    return float(weight), wrong / weight, loss / weight


def _sums_along(block: Block, start: Evidence, changes: Changes) -> tuple[float, Floats, Floats]:
    """Weight of the rows, and per model the weight of wrong ones and the sum of their losses."""
    truth, weights = row_classes(block), row_weights(block)
    rows = np.arange(block.n_rows)
    wrong, loss = np.zeros((2, len(changes) + 1))
    scores, terms = start.scores(block), dict(start.by_column)
    for step in range(len(changes) + 1):
        if step:
            changed = changes[step - 1]
            if len(changed) >= len(terms.keys() | {term.column for term in changed}):
                scores = replace(start, terms=tuple(changed)).scores(block)
            else:
                for term in changed:
                    scores += term.evidence(block, start.schema)
                    if term.column in terms:
                        scores -= terms[term.column].evidence(block, start.schema)
            terms.update({term.column: term for term in changed})
        wrong[step] = weights[scores.argmax(axis=0) != truth].sum()
        loss[step] = -(weights @ log_softmax(scores)[truth, rows])
    return float(weights.sum()), wrong, loss


def choose_along(
    table: Table,
    walk: Callable[[Table], Walk],
    select: str,
    *,
    whole: Walk | None = None,
    folds: int = FOLDS,
    seed: int = 0,
    n_jobs: int | None = None,
) -> Walk:
    """Walk on all rows, and choose a model: "aic", "cv" or "validation".

    Parameters
    ----------
    table : Table
        Numeric columns still held as values where their cuts look at the class.
    walk : function
        From rows to a path and its models; called anew for every part of the rows.
    whole : Walk, optional
        The walk on all rows where it was made already.
    folds : int
        Of "cv"; "validation" holds out one of as many.
    seed : int
        Deals the rows to folds.
    """
    whole = walk(table) if whole is None else whole
    if select == "aic":
        return replace(whole, path=whole.path.chosen_by_aic())
    curves, weights = [], []
    turns = hold_out_in_turn(table, folds, seed, n_jobs)
    for training, held_out in islice(turns, 1 if select == "validation" else None):
        if training.n_rows and held_out.n_rows:
            part = walk(training)
            weight, _, losses = judge(held_out, part.start, part.changes, n_jobs)
            curves.append(losses)
            weights.append(weight)
    if not curves:  # too few rows to hold any out
        return replace(whole, path=whole.path.chosen_by_aic())
    longest = max(len(curve) for curve in curves)
    best = first_least(held_out_curve(curves, weights, longest))
    shown = held_out_curve(curves, weights, len(whole.path))
    chosen = min(best, len(whole.path) - 1)
    return replace(whole, path=replace(whole.path, chosen=chosen, held_out=shown, select=select))


def held_out_curve(curves: Sequence[Floats], weights: Sequence[float], length: int) -> Floats:
    """Mean loss over all held-out rows after every number of steps; a curve that ends goes on as it ended.

    Examples
    --------
    >>> held_out_curve([np.array([1.0, 0.5]), np.array([1.0, 0.7, 0.6])], [10, 30], 4)
    array([1.   , 0.65 , 0.575, 0.575])
    """
    steps = np.arange(length)
    return np.average([curve[np.minimum(steps, len(curve) - 1)] for curve in curves], axis=0, weights=weights)
