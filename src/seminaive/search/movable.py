"""Naive Bayes whose parameters can move: scores, cost and gradients in coordinates where every step costs alike.

z = 0 is the posterior mode. Class by class and column by column,

    mean       mu = mu_n + z / sqrt(k_n lambda)
    precision  lambda = lambda_n exp(u),  u = z / sqrt(alpha_n - 1/2)
    levels     phi = softmax_v(log phi_v + z_v / sqrt(c_v)),  c_v the mode's counts

and the log posterior falls by

    loss(z) = sum (alpha_n - 1/2) (e^u - 1 - u) + 1/2 sum e^u z_mu^2 + sum c_v log(phi_n,v / phi_v)

which near 0 is about |z|^2 / 2. Scores are linear in natural parameters, S = base + theta(z) F with the features
F = [x^2, x, observed, level], so scores and gradients are one matrix product each. A missing value has no features.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from seminaive.evidence.evidence import Evidence
from seminaive.evidence.terms import GaussianTerm, TableTerm, Term
from seminaive.statistics.normal_gamma import Posterior
from seminaive.table.block import Block, codes_of
from seminaive.table.schema import FIRST_LEVEL, Integers, Schema

Floats = npt.NDArray[np.float64]

LARGEST_U = 30.0
"""Precisions move by at most a factor exp(30): beyond, the search would only overflow."""
DENSE_CELLS = 4_000_000
"""Level indicators up to this many cells are a dense matrix, which is faster; beyond, a sparse one."""


class Point(NamedTuple):
    """The parameters at one z, and what they cost."""

    mean: Floats
    precision: Floats
    log_phi: Floats
    phi: Floats
    theta: Floats
    loss: float
    slope: Floats


@dataclass(frozen=True, eq=False)
class Movable:
    """A naive Bayes model over the rows it is judged on.

    Attributes
    ----------
    base : array (classes, rows) or (classes, 1)
        What does not move: prior, and terms that say nothing.
    x : array (columns, rows)
        Gaussian columns, standardised; 0 where missing.
    seen : array (columns, rows)
        1, and 0 where missing.
    after : Posterior
        Normal-Gamma parameters of each Gaussian column, (classes, columns), in the standardised unit.
    log_phi : array (classes, levels)
        Log probabilities of the levels of all nominal columns, side by side.
    counts : array (classes, levels)
        The mode's counts c_v; a level with count 0 does not move.
    starts : int array
        Where each nominal column's levels begin.
    level : array or sparse matrix (levels, rows)
        Which level each row has.
    shift, scale : arrays (columns,)
        The standardisation: x = (value - shift) / scale.
    """

    base: Floats
    x: Floats
    seen: Floats
    after: Posterior
    log_phi: Floats
    counts: Floats
    starts: Integers
    level: Any
    shift: Floats
    scale: Floats

    @property
    def n_rows(self) -> int:
        return int(self.x.shape[1])

    @property
    def n_classes(self) -> int:
        return len(self.base)

    @property
    def size(self) -> int:
        """The number of coordinates z: means, log precisions (class after class), levels."""
        return 2 * self.after.mu.size + self.log_phi.size

    @cached_property
    def features(self) -> Floats:
        return np.concatenate([self.x**2, self.x, self.seen])

    @cached_property
    def _steps(self) -> tuple[Floats, Floats, Floats, Floats]:
        """Mode precision; change of mean, log precision and log level probability per unit of z."""
        half = self.after.alpha - 0.5
        precision = half / self.after.beta
        with np.errstate(divide="ignore"):
            level = np.where(self.counts > 0, 1 / np.sqrt(self.counts), 0.0)
        return precision, 1 / np.sqrt(self.after.k * precision), 1 / np.sqrt(half), level

    @cached_property
    def _widths(self) -> Integers:
        return np.diff(np.append(self.starts, self.log_phi.shape[1]))

    def at(self, z: Floats) -> Point:
        """The parameters, their cost, and its gradient."""
        k, p = self.after.mu.shape
        z_mean, z_precision = z[: k * p].reshape(k, p), z[k * p : 2 * k * p].reshape(k, p)
        mode, per_mean, per_precision, per_level = self._steps
        u = z_precision * per_precision
        free = np.abs(u) <= LARGEST_U
        u = np.clip(u, -LARGEST_U, LARGEST_U)
        grown = np.exp(u)
        half = self.after.alpha - 0.5
        mean, precision = self.after.mu + z_mean * per_mean, mode * grown
        loss = float((half * (grown - 1 - u)).sum() + 0.5 * (grown * z_mean**2).sum())
        slope_u = half * (grown - 1) + 0.5 * grown * z_mean**2
        slope = [(grown * z_mean).ravel(), (slope_u * per_precision * free).ravel()]
        log_phi, phi = self.log_phi, self.log_phi
        theta = [-0.5 * precision, precision * mean, 0.5 * np.log(precision) - 0.5 * precision * mean**2]
        if self.log_phi.size:
            z_level = z[2 * k * p :].reshape(k, -1)
            moved = self.log_phi + z_level * per_level
            largest = np.repeat(np.maximum.reduceat(moved, self.starts, axis=1), self._widths, axis=1)
            log_phi = moved - largest - self._spread(np.log(self._sums(np.exp(moved - largest))))
            phi = np.exp(log_phi)
            loss += float((self.counts * (self.log_phi - log_phi)).sum())
            slope.append(((phi * self._spread(self._sums(self.counts)) - self.counts) * per_level).ravel())
        return Point(mean, precision, log_phi, phi, np.concatenate(theta, axis=1), loss, np.concatenate(slope))

    def scores(self, point: Point) -> Floats:
        """Joint scores (classes, rows)."""
        scores = self.base + point.theta @ self.features
        return scores + point.log_phi @ self.level if self.log_phi.size else scores

    def pull(self, point: Point, slope: Floats) -> Floats:
        """The gradient in z of sum(slope * scores), slope being (classes, rows)."""
        p = self.after.mu.shape[1]
        _, per_mean, per_precision, per_level = self._steps
        natural = slope @ self.features.T
        square, plain, constant = natural[:, :p], natural[:, p : 2 * p], natural[:, 2 * p :]
        by_mean = point.precision * (plain - point.mean * constant)
        by_u = point.precision * (point.mean * plain - 0.5 * square - 0.5 * point.mean**2 * constant) + 0.5 * constant
        parts = [(by_mean * per_mean).ravel(), (by_u * per_precision).ravel()]
        if self.log_phi.size:
            by_level = (self.level @ slope.T).T
            by_level = by_level - point.phi * self._spread(self._sums(by_level))
            parts.append((by_level * per_level).ravel())
        return np.concatenate(parts)

    def row_slopes(self, point: Point, rows: Integers, classes: Integers) -> Floats:
        """The gradient in z of the score of one class in each of some rows, (pairs, coordinates)."""
        k, p = self.after.mu.shape
        _, per_mean, per_precision, per_level = self._steps
        pairs = np.arange(len(rows))
        seen, precision = self.seen[:, rows].T, point.precision[classes]
        away = (self.x[:, rows].T - point.mean[classes]) * seen
        means, precisions = np.zeros((2, len(rows), k, p))
        means[pairs, classes] = precision * away * per_mean[classes]
        precisions[pairs, classes] = 0.5 * (seen - precision * away**2) * per_precision[classes]
        parts = [means.reshape(len(rows), -1), precisions.reshape(len(rows), -1)]
        if self.log_phi.size:
            has = self.level[:, rows]
            has = np.asarray(has.todense() if hasattr(has, "todense") else has).T
            levels = np.zeros((len(rows), k, self.log_phi.shape[1]))
            levels[pairs, classes] = (has - point.phi[classes] * self._spread(self._sums(has))) * per_level[classes]
            parts.append(levels.reshape(len(rows), -1))
        return np.concatenate(parts, axis=1)

    def _sums(self, table: Floats) -> Floats:
        return np.add.reduceat(table, self.starts, axis=1)

    def _spread(self, by_column: Floats) -> Floats:
        return np.repeat(by_column, self._widths, axis=1)


def movable(evidence: Evidence, mode_counts: Floats, block: Block) -> Movable:
    """The model at its mode, over the rows of a block.

    Parameters
    ----------
    evidence : Evidence
        Tables of probabilities, and Gaussians with their posterior.
    mode_counts : array (classes, layout.width)
        Of every code, what its probability is proportional to: counts and what the prior adds.
    """
    schema = evidence.schema
    gaussians = [term for term in evidence.terms if isinstance(term, GaussianTerm)]
    tables = [term for term in evidence.terms if isinstance(term, TableTerm)]
    base = np.repeat(evidence.prior[:, None], block.n_rows, axis=1)
    for term in evidence.terms:
        if not isinstance(term, (GaussianTerm, TableTerm)):
            base += term.evidence(block, schema)
    x, after, shift, scale = _standardised(gaussians, block, schema)
    for term, row in zip(gaussians, x, strict=True):
        base += np.where(np.isnan(row), term.missing[:, None], term.observed[:, None])
    base -= 0.5 * (~np.isnan(x)).sum(axis=0) * np.log(2 * np.pi)
    # The standardised density is the density times the scale: the same constant for every class.
    base -= (np.log(scale)[:, None] * ~np.isnan(x)).sum(axis=0)
    log_phi, counts, starts, level = _levels(tables, mode_counts, block, schema)
    seen = (~np.isnan(x)).astype(np.float64)
    if np.ptp(base, axis=1).max(initial=0) == 0:
        base = np.ascontiguousarray(base[:, :1])
    return Movable(base, np.nan_to_num(x), seen, after, log_phi, counts, starts, level, shift, scale)


def _standardised(terms: list[GaussianTerm], block: Block, schema: Schema) -> tuple[Floats, Posterior, Floats, Floats]:
    k = schema.n_classes
    parts = np.array([term.posterior for term in terms]).reshape(len(terms), 4, k).transpose(1, 2, 0)
    mu, strength, alpha, beta = (np.ascontiguousarray(part) for part in parts)
    mode_variance = beta / (alpha - 0.5)
    shift = mu.mean(axis=0)
    scale = np.sqrt(mode_variance.mean(axis=0) + mu.var(axis=0))
    values = block.values[[schema.layout.slot[term.column] for term in terms]] if terms else block.values[:0]
    x = (values - shift[:, None]) / scale[:, None]
    return x, Posterior((mu - shift) / scale, strength, alpha, beta / scale**2), shift, scale


def _levels(
    terms: list[TableTerm], mode_counts: Floats, block: Block, schema: Schema
) -> tuple[Floats, Floats, Integers, Any]:
    """The tables side by side, without the code of values never seen, and the rows' levels among them."""
    k, layout = schema.n_classes, schema.layout
    own = [own_codes(term) for term in terms]
    width = sum(map(len, own))
    log_phi, counts = np.zeros((2, k, width))
    starts = np.cumsum([0, *map(len, own)])[:-1].astype(np.int64)
    places = np.full((len(terms), block.n_rows), -1)
    for i, (term, codes) in enumerate(zip(terms, own, strict=True)):
        to = slice(starts[i], starts[i] + len(codes))
        log_phi[:, to] = term.table[:, codes]
        counts[:, to] = mode_counts[:, layout.starts[term.column] + codes]
        place = np.full(term.table.shape[1], -1)
        place[codes] = starts[i] + np.arange(len(codes))
        places[i] = place[codes_of(block, schema, term.column)]
    _, rows = np.nonzero(places >= 0)
    at = places[places >= 0]
    if width * block.n_rows <= DENSE_CELLS:
        level: Any = np.zeros((width, block.n_rows))
        level[at, rows] = 1.0
    else:
        from scipy.sparse import csr_array

        level = csr_array((np.ones(len(at)), (at, rows)), shape=(width, block.n_rows))
    occupied = np.array([len(codes) > 0 for codes in own], dtype=bool)
    return log_phi, counts, starts[occupied] if len(own) else starts, level


def own_codes(term: TableTerm) -> Integers:
    """The codes that a table gives a probability: its levels, and missing where it is one of them."""
    codes = np.arange(FIRST_LEVEL - 1, term.table.shape[1])
    return codes if term.table[:, FIRST_LEVEL - 1].any() else codes[1:]


def moved_evidence(model: Movable, evidence: Evidence, z: Floats, offsets: Floats) -> Evidence:
    """The evidence with its parameters moved to z, and the class offsets in the prior."""
    point = model.at(z)
    terms: list[Term] = []
    gaussian = start = 0
    for term in evidence.terms:
        if isinstance(term, GaussianTerm):
            i = gaussian
            gaussian += 1
            mean = model.shift[i] + model.scale[i] * point.mean[:, i]
            precision = point.precision[:, i] / model.scale[i] ** 2
            terms.append(GaussianTerm(term.column, mean, precision, term.posterior, term.observed, term.missing))
        elif isinstance(term, TableTerm):
            codes = own_codes(term)
            table = term.table.copy()
            table[:, codes] = np.maximum(point.log_phi[:, start : start + len(codes)], -700.0)
            start += len(codes)
            terms.append(TableTerm(term.column, table, term.table_variance))
        else:
            terms.append(term)
    return Evidence(evidence.schema, evidence.prior + offsets, tuple(terms), evidence.link)
