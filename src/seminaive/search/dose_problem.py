"""What a stagewise search works on: rows sorted by class, and what every column would say of them at every dose."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt

from seminaive.evidence.model import log_softmax
from seminaive.table.block import Block, codes_of, row_classes, row_weights
from seminaive.table.schema import Floats, Integers, Schema

__all__ = ["DoseProblem", "Says"]

BINS = 64
"""Values of a numeric column are bounded in so many stretches."""


class Says(Protocol):
    """What a column says at any dose between 0 (nothing) and 1."""

    def tables(self, column: int, doses: Floats, /) -> Floats:
        """Evidence of a coded column, (doses, classes, codes)."""

    def forms(self, column: int, doses: Floats, /) -> tuple[Floats, Floats]:
        """Evidence of a numeric column: coefficients of 1, z and z^2 (doses, classes, 3), and that of a missing value
        (doses, classes)."""

    def unit(self, column: int, /) -> tuple[float, float]:
        """Centre and scale of z."""


@dataclass(frozen=True, eq=False)
class DoseProblem:
    """Rows of one block, sorted by class, and the doses their columns can have.

    Attributes
    ----------
    schema : Schema
    block : Block
    prior : (classes,)
        Log prior.
    says : Says
    columns : ints
        Those that may get a dose.
    steps : int
        How many steps lead from dose 0 to dose 1.
    """

    schema: Schema
    block: Block
    prior: Floats
    says: Says
    columns: Integers
    steps: int

    @property
    def n_classes(self) -> int:
        return self.schema.n_classes

    @cached_property
    def starts(self) -> Integers:
        return self.block.starts.astype(np.int64)

    @cached_property
    def classes(self) -> Integers:
        return self.block.classes.astype(np.int64)

    @cached_property
    def truth(self) -> Integers:
        """The class of every row."""
        return row_classes(self.block)

    @cached_property
    def weights(self) -> Floats:
        """Weight of every row; empty if all are 1."""
        return np.zeros(0) if self.block.weights is None else self.block.weights

    @cached_property
    def total_weight(self) -> float:
        return float(row_weights(self.block).sum())

    def is_coded(self, column: int) -> bool:
        return self.schema.columns[column].is_coded

    def codes(self, column: int) -> npt.NDArray[Any]:
        """The codes of a coded column."""
        return codes_of(self.block, self.schema, column)

    @cached_property
    def _values(self) -> dict[int, Floats]:
        return {}

    def values(self, column: int) -> Floats:
        """The values of a numeric column, in its own unit."""
        if column not in self._values:
            centre, scale = self.says.unit(column)
            self._values[column] = (self.block.values[self.schema.layout.slot[column]] - centre) / scale
        return self._values[column]

    def evidence(self, column: int, dose: int) -> Floats:
        """What a column says of every row after so many steps, (classes, rows)."""
        at = np.array([dose / self.steps])
        if self.is_coded(column):
            return self.says.tables(column, at)[0][:, self.codes(column)]
        forms, missing = (part[0] for part in self.says.forms(column, at))
        z = self.values(column)
        here = forms[:, 0, None] + z * (forms[:, 1, None] + z * forms[:, 2, None])
        return np.where(np.isnan(z), missing[:, None], here)

    def scores(self, doses: Integers) -> Floats:
        """Scores (classes, rows) of the model with these doses, counted in steps."""
        scores = np.repeat(self.prior[:, None], self.block.n_rows, axis=1)
        for column in np.flatnonzero(doses).tolist():
            scores += self.evidence(column, int(doses[column]))
        return scores

    def log_losses(self, scores: Floats) -> Floats:
        """-log P(true class) of every row."""
        return -np.asarray(log_softmax(scores)[self.truth, np.arange(self.block.n_rows)])

    def total(self, per_row: npt.NDArray[Any]) -> float:
        """Weighted sum over rows."""
        return float(per_row.sum() if self.weights.size == 0 else self.weights @ per_row)
