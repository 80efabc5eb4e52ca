"""Terms: what one predictor says for each class, as a table over codes, a Gaussian, or a curve.

Every term is about one column of a block, which a family reads together with the column's parents, and gives an array
(classes, rows); values never seen in training, and missing values unless they were learned, give exactly 0.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, Protocol

import numpy as np

from seminaive.kernels.score import add_curve, add_gaussians
from seminaive.statistics.normal_gamma import Posterior, evidence_variance
from seminaive.table.block import Block, codes_of
from seminaive.table.schema import UNSEEN, Floats, Schema

ONE = np.zeros(1, dtype=np.int64)


class Term(Protocol):
    """The evidence of one predictor."""

    @property
    def column(self) -> int:
        """Position of the column the term is about."""

    @property
    def reads(self) -> tuple[int, ...]:
        """The columns it looks at, its own first."""

    def evidence(self, block: Block, schema: Schema) -> Floats:
        """What the term adds to each class's score: (classes, rows)."""

    def variance(self, block: Block, schema: Schema) -> Floats:
        """Posterior variance of the evidence, per class: the variance of a contrast of two classes is their sum."""

    def check(self, schema: Schema) -> None:
        """Refuse a term that does not fit the schema, so that no kernel can read outside its tables."""


@dataclass(frozen=True, eq=False)
class TableTerm:
    """Evidence looked up by code: ``table[k, code]``.

    Parameters
    ----------
    column : int
        Position of the coded column in the schema.
    table : array (classes, codes)
        Entry 0 (never seen) is 0; entry 1 is missing.
    table_variance : array of the same shape
    """

    column: int
    table: Floats
    table_variance: Floats

    @property
    def reads(self) -> tuple[int, ...]:
        return (self.column,)

    def evidence(self, block: Block, schema: Schema) -> Floats:
        return self.table[:, codes_of(block, schema, self.column)]

    def variance(self, block: Block, schema: Schema) -> Floats:
        return self.table_variance[:, codes_of(block, schema, self.column)]

    def check(self, schema: Schema) -> None:
        column = column_of(self.column, schema)
        shape = (schema.n_classes, column.n_codes)
        if not column.is_coded or not is_floats(self.table, shape) or not is_floats(self.table_variance, shape):
            raise ValueError(f"the evidence table of column {column.name!r} must have shape {shape}")
        if np.any(self.table[:, UNSEEN] != 0):
            raise ValueError(f"the evidence of a value never seen in column {column.name!r} must be 0")


@dataclass(frozen=True, eq=False)
class FamilyTerm:
    """Evidence of a column given its parents: ``table[k, code, code of parent, ...]``.

    Parameters
    ----------
    column : int
        Position of the coded column in the schema.
    parents : tuple of int
        Positions of the columns it is read together with; usually one.
    table : array (classes, codes of the column, codes of each parent ...)
        Entries 0 (never seen) are 0 along every axis; entries 1 are missing.
    table_variance : array of the same shape

    Examples
    --------
    "b" given "a", both with the codes never seen, missing and one level; only "both have their level" says something:

    >>> table = np.zeros((2, 3, 3))
    >>> table[1, 2, 2] = 0.7
    >>> FamilyTerm(1, (0,), table, np.zeros_like(table)).reads
    (1, 0)
    """

    column: int
    parents: tuple[int, ...]
    table: Floats
    table_variance: Floats

    @property
    def reads(self) -> tuple[int, ...]:
        return (self.column, *self.parents)

    def evidence(self, block: Block, schema: Schema) -> Floats:
        return self._look_up(self.table, block, schema)

    def variance(self, block: Block, schema: Schema) -> Floats:
        return self._look_up(self.table_variance, block, schema)

    def _look_up(self, table: Floats, block: Block, schema: Schema) -> Floats:
        at: tuple[Any, ...] = (slice(None), *(codes_of(block, schema, j) for j in self.reads))
        return np.asarray(table[at])

    def check(self, schema: Schema) -> None:
        columns = [column_of(j, schema) for j in self.reads]
        names = " given ".join(repr(column.name) for column in columns)
        if len(set(self.reads)) < len(self.reads):
            raise ValueError(f"the evidence of {names} reads a column twice")
        shape = (schema.n_classes, *(column.n_codes for column in columns))
        coded = all(column.is_coded for column in columns)
        if not coded or not is_floats(self.table, shape) or not is_floats(self.table_variance, shape):
            raise ValueError(f"the evidence table of {names} must have shape {shape}")
        if speaks_unseen(self.table):
            raise ValueError(f"the evidence of {names} must be 0 where a value was never seen")


@dataclass(frozen=True, eq=False)
class GaussianTerm:
    """Evidence ``log N(x; mean_k, 1 / precision_k)``, plus what observing or missing the value says by itself.

    ``posterior`` holds the Normal-Gamma posterior, rows mu, k, alpha and beta with one entry per class, from which
    the uncertainty is read. ``observed`` and ``missing`` are log P(observed | k) and log P(missing | k) when missing is
    modelled as a value, else 0. All of it counts ``weight`` times, a number per class (None: once).
    """

    column: int
    mean: Floats
    precision: Floats
    posterior: Floats
    observed: Floats
    missing: Floats
    weight: Floats | None = None

    @property
    def reads(self) -> tuple[int, ...]:
        return (self.column,)

    @property
    def loudness(self) -> Floats:
        """How often the evidence for each class counts."""
        return np.ones_like(self.mean) if self.weight is None else self.weight

    @property
    def constant(self) -> Floats:
        """The part of the evidence, counted once, that does not depend on x."""
        return self.observed + 0.5 * np.log(self.precision / (2 * np.pi))

    def evidence(self, block: Block, schema: Schema) -> Floats:
        x = block.values[schema.layout.slot[self.column]]
        scores = np.zeros((len(self.mean), len(x)))
        root = np.sqrt(self.precision)
        add_gaussians(x[None], ONE, self.mean[:, None], root[:, None], self.constant[:, None], scores)
        scores[:, np.isnan(x)] = self.missing[:, None]
        return scores if self.weight is None else scores * self.weight[:, None]

    def variance(self, block: Block, schema: Schema) -> Floats:
        x = block.values[schema.layout.slot[self.column]]
        spread = evidence_variance(np.where(np.isnan(x), 0.0, x), Posterior(*self.posterior[..., None]))
        return counted(np.where(np.isnan(x), 0.0, spread), self.loudness[:, None] ** 2)

    def check(self, schema: Schema) -> None:
        column = column_of(self.column, schema)
        parts = (self.mean, self.precision, self.observed, self.missing)
        fits = all(is_floats(part, (schema.n_classes,)) for part in parts) and is_floats(
            self.posterior, (4, schema.n_classes)
        )
        fits = fits and (self.weight is None or is_floats(self.weight, (schema.n_classes,)))
        if column.is_coded or not fits or np.any(self.precision <= 0):
            raise ValueError(f"the Gaussian of column {column.name!r} must have one mean and precision per class")


@dataclass(frozen=True, eq=False)
class CurveTerm:
    """A piecewise-linear curve of evidence per class, flat beyond its end knots.

    ``curve`` and ``curve_variance`` have shape (classes, knots); ``error`` is the largest difference to the function
    the curve stands for, measured between knots.
    """

    column: int
    knots: Floats
    curve: Floats
    curve_variance: Floats
    missing: Floats
    error: float

    @property
    def reads(self) -> tuple[int, ...]:
        return (self.column,)

    def evidence(self, block: Block, schema: Schema) -> Floats:
        return self._read(block, schema, self.curve, self.missing)

    def variance(self, block: Block, schema: Schema) -> Floats:
        return self._read(block, schema, self.curve_variance, np.zeros_like(self.missing))

    def _read(self, block: Block, schema: Schema, curve: Floats, missing: Floats) -> Floats:
        x = block.values[schema.layout.slot[self.column]]
        scores = np.zeros((len(curve), len(x)))
        add_curve(x, self.knots, curve, scores)
        scores[:, np.isnan(x)] = missing[:, None]
        return scores

    def check(self, schema: Schema) -> None:
        column = column_of(self.column, schema)
        shape = (schema.n_classes, len(self.knots))
        fits = (
            is_floats(self.curve, shape)
            and is_floats(self.curve_variance, shape)
            and is_floats(self.missing, shape[:1])
        )
        if column.is_coded or not fits or len(self.knots) == 0 or np.any(np.diff(self.knots) < 0):
            raise ValueError(f"the curve of column {column.name!r} must have one value per class and rising knot")


def weighted(term: Term, weight: float | Floats) -> Term:
    """The same term, counted ``weight`` times: one number, or one per class.

    Examples
    --------
    >>> term = TableTerm(0, np.array([[0.0, 0.0, -1.0], [0.0, 0.0, -2.0]]), np.ones((2, 3)))
    >>> weighted(term, 0.5).table
    array([[ 0. ,  0. , -0.5],
           [ 0. ,  0. , -1. ]])
    """
    if isinstance(term, (TableTerm, FamilyTerm)):
        by_class = _per_class(weight, len(term.table)).reshape(-1, *(1 for _ in term.reads))
        return replace(term, table=term.table * by_class, table_variance=counted(term.table_variance, by_class**2))
    if isinstance(term, CurveTerm):
        by_class = _per_class(weight, len(term.curve))[:, None]
        return replace(
            term,
            curve=term.curve * by_class,
            curve_variance=counted(term.curve_variance, by_class**2),
            missing=term.missing * by_class[:, 0],
            error=float(term.error * np.abs(by_class).max()),
        )
    if isinstance(term, GaussianTerm):
        return replace(term, weight=term.loudness * _per_class(weight, len(term.mean)))
    raise TypeError(f"a {type(term).__name__} cannot be weighted")


def speaks_unseen(table: Floats) -> bool:
    """Whether a table (classes, codes, codes of parents ...) says something where a value was never seen."""
    return any(bool(np.take(table, UNSEEN, axis=axis).any()) for axis in range(1, table.ndim))


def _per_class(weight: float | Floats, n_classes: int) -> Floats:
    """A weight as one number for each class."""
    return np.broadcast_to(np.asarray(weight, dtype=np.float64), (n_classes,)).copy()


def counted(variance: Floats, factor: Floats) -> Floats:
    """A variance may be infinite; of evidence that does not count it is 0 all the same."""
    return np.where(factor > 0, variance, 0.0) * factor


def column_of(position: int, schema: Schema) -> Any:
    """The column a term reads."""
    if not 0 <= position < len(schema.columns):
        raise ValueError(f"a term reads column {position}, but there are {len(schema.columns)}")
    return schema.columns[position]


def is_floats(array: Any, shape: tuple[int, ...]) -> bool:
    """Float64 numbers of the right shape; +inf is legal only in a variance and NaN nowhere."""
    return (
        isinstance(array, np.ndarray)
        and array.dtype == np.float64
        and array.shape == shape
        and not np.isnan(array).any()
    )
