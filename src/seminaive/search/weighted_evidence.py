"""Sums over rows for models that weight each predictor's evidence.

    score_k = offset_k + sum_j  w_jk g_jk(x_j)              p = softmax(score), or logistic of a single score

Everything a solver asks of the rows is a sum: the log loss, its gradient G'(p - y), its Hessian G'DG,
the loss of left-out rows. Each sum is made block by block and added, so rows may live in memory, on
disk or on a cluster; the evidence matrix G is never stored.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any, Protocol, TypeVar

import numpy as np
import numpy.typing as npt

from seminaive.kernels.newton import link_rows, look_up

__all__ = ["Design", "Lookup", "Rows", "Sums", "WeightedEvidence", "in_memory", "scores", "table_design"]

Float = npt.NDArray[np.float64]
Index = npt.NDArray[np.intp]
T = TypeVar("T", bound="Sums | float")

TILE = 2**16  # evidence values held at once: half a megabyte, which stays in a core's cache


@dataclass(frozen=True)
class Rows:
    """Coded rows: codes by column, class of every row, and weights unless all are 1.

    `dense` holds evidence that no table can give (density differences of numeric columns), one
    (columns, rows) layer per score.
    """

    codes: npt.NDArray[np.uint8]
    label: Index
    weight: Float | None = None
    codes16: npt.NDArray[np.uint16] | None = None
    dense: Float | None = None

    def __len__(self) -> int:
        return len(self.label)

    @property
    def total(self) -> float:
        return float(len(self)) if self.weight is None else float(self.weight.sum())

    def take(self, chosen: npt.NDArray[Any]) -> "Rows":
        """Copy the chosen rows (positions or a mask)."""
        return Rows(
            np.ascontiguousarray(self.codes[:, chosen]),
            self.label[chosen],
            None if self.weight is None else self.weight[chosen],
            None if self.codes16 is None else np.ascontiguousarray(self.codes16[:, chosen]),
            None if self.dense is None else np.ascontiguousarray(self.dense[:, :, chosen]),
        )


@dataclass(frozen=True)
class Lookup:
    """Which row of codes each predictor reads, where its table starts, and which predictor it is."""

    source: Index
    start: Index
    place: Index


NOTHING = np.empty(0, dtype=np.intp)


@dataclass(frozen=True)
class Design:
    """How codes become weighted evidence: offsets, flat tables (one line per score), and the predictors.

    One line of tables is a logit for class `positive`; several are a softmax, with a weight per class
    and predictor or, if `shared`, one weight per predictor.
    """

    offset: Float
    tables: Float
    predictors: int
    lookup: Lookup
    lookup16: Lookup | None = None
    dense_place: Index = field(default_factory=lambda: NOTHING)
    shared: bool = False
    positive: int = 1

    @property
    def size(self) -> int:
        """Number of weights."""
        return self.predictors if self.shared else self.predictors * len(self.offset)

    def by_class(self, weights: Float) -> Float:
        """Weights as one line of predictors per score."""
        shape = (len(self.offset), self.predictors)
        return np.ascontiguousarray(np.broadcast_to(weights.reshape(-1, self.predictors), shape))


def table_design(
    offset: Float,
    tables: Float,
    starts: Index,
    *,
    shared: bool = False,
    positive: int = 1,
    residual: float = 0.0,
    seen: npt.NDArray[np.bool_] | None = None,
) -> Design:
    """Design with one predictor per column of codes, read from flat tables that begin at `starts`.

    `residual` > 0 adds a predictor for every value that `seen` marks, worth `residual` where the value
    occurs: each table entry may then move on its own, under the same penalty.

    Examples
    --------
    >>> design = table_design(np.zeros(1), np.array([[0.0, 0.0, -1.0, 1.0]]), np.array([0, 4]))
    >>> rows = Rows(np.array([[2, 3, 3]], dtype=np.uint8), np.array([0, 1, 1]))
    >>> scores(rows, design, np.array([0.5]))
    array([[-0.5,  0.5,  0.5]])
    """
    columns = len(starts) - 1
    source, start = np.arange(columns), np.asarray(starts[:-1])
    if residual > 0:
        if shared:
            raise ValueError("residual needs one weight per class and predictor: use shared=False.")
        level = np.ones(tables.shape[1], dtype=bool) if seen is None else seen
        extra, position = [tables], tables.shape[1]
        for column in range(columns):
            first, width = starts[column], starts[column + 1] - starts[column]
            values = np.flatnonzero(level[first : first + width])
            one_hot = np.zeros((len(values), width))
            one_hot[np.arange(len(values)), values] = residual
            extra.append(np.broadcast_to(one_hot.reshape(1, -1), (len(tables), one_hot.size)))
            source = np.append(source, np.full(len(values), column))
            start = np.append(start, position + width * np.arange(len(values)))
            position += one_hot.size
        tables = np.concatenate(extra, axis=1)
    lookup = Lookup(source.astype(np.intp), start.astype(np.intp), np.arange(len(source)))
    flat = np.ascontiguousarray(tables, dtype=np.float64)
    return Design(np.asarray(offset, float), flat, len(source), lookup, shared=shared, positive=positive)


@dataclass(frozen=True)
class Sums:
    """Log loss in nats, its gradient and its Hessian at some weights; they add over blocks of rows."""

    value: float
    gradient: Float
    hessian: Float

    def __add__(self, other: "Sums") -> "Sums":
        return Sums(
            self.value + other.value, self.gradient + other.gradient, self.hessian + other.hessian
        )


@dataclass(frozen=True)
class _Tile:
    """A few rows: evidence (scores x predictors x rows) and what the link makes of their scores."""

    evidence: Float
    score: Float
    label: Index
    weight: Float
    probability: Float
    residual: Float
    curvature: Float
    loss: float


def _tiles(rows: Rows, design: Design, weights: Float, bounded: bool = False) -> Iterator[_Tile]:
    classes, predictors = len(design.offset), design.predictors
    step = int(np.clip(TILE // max(1, classes * predictors), 256, 4096))
    weight_of = design.by_class(weights)
    label = (rows.label == design.positive).astype(np.intp) if classes == 1 else rows.label
    for first in range(0, len(rows), step):
        here = slice(first, min(first + step, len(rows)))
        size = here.stop - first
        evidence = np.empty((classes, predictors, size))
        score = np.empty((classes, size))
        score[:] = design.offset[:, None]
        for k in range(classes):
            parts = ((rows.codes, design.lookup), (rows.codes16, design.lookup16))
            for codes, lookup in parts:
                if codes is not None and lookup is not None:
                    where = lookup.source, lookup.start, lookup.place
                    look_up(codes[:, here], *where, design.tables[k], weight_of[k], evidence[k], score[k])
            if rows.dense is not None:
                evidence[k, design.dense_place] = rows.dense[k, :, here]
                score[k] += weight_of[k, design.dense_place] @ rows.dense[k, :, here]
        weight = np.ones(size) if rows.weight is None else rows.weight[here]
        outcome = np.empty((3, classes, size))
        loss = link_rows(score, label[here], weight, bounded, outcome[0], outcome[1], outcome[2])
        yield _Tile(evidence, score, label[here], weight, outcome[0], outcome[1], outcome[2], loss)


def scores(rows: Rows, design: Design, weights: Float) -> Float:
    """Scores (scores x rows) under the given weights."""
    return np.concatenate([tile.score for tile in _tiles(rows, design, weights)], axis=1)


def loss_sums(rows: Rows, design: Design, weights: Float, order: int) -> Sums:
    """Loss (order 0), with gradient (1), with Hessian (2) of one block of rows."""
    value, size = 0.0, design.size
    gradient = np.zeros(size if order >= 1 else 0)
    hessian = np.zeros((size, size) if order >= 2 else (0, 0))
    for tile in _tiles(rows, design, weights):
        value += tile.loss
        if order >= 1:
            slope = np.matmul(tile.evidence, tile.residual[:, :, None])[:, :, 0]
            gradient += slope.sum(axis=0) if design.shared else slope.ravel()
        if order >= 2:
            _add_hessian(hessian, tile, design)
    return Sums(value, gradient, hessian)


def _add_hessian(hessian: Float, tile: _Tile, design: Design) -> None:
    """Add G'DG of a tile. Each product is a matrix with its own transpose: half the work, never indefinite."""
    evidence, classes, predictors = tile.evidence, len(design.offset), design.predictors
    if design.shared and classes > 1:
        # sum_k p_k (g_k - mean)(g_k - mean)',  mean = sum_k p_k g_k
        evidence -= np.einsum("kjr,kr->jr", evidence, tile.probability)
        evidence *= np.sqrt(tile.weight * tile.probability)[:, None, :]
        for layer in evidence:
            hessian += layer @ layer.T
        return
    blocks = hessian.reshape(classes, predictors, classes, predictors)
    if classes > 1:
        stacked = evidence * (np.sqrt(tile.weight) * tile.probability)[:, None, :]
        stacked = stacked.reshape(classes * predictors, -1)
        kept = [blocks[k, :, k, :].copy() for k in range(classes)]
        hessian -= stacked @ stacked.T
        for k in range(classes):  # p_k - p_k^2 without the loss of digits: the curvature says it directly
            blocks[k, :, k, :] = kept[k]
    evidence *= np.sqrt(tile.curvature)[:, None, :]
    for k, layer in enumerate(evidence):
        blocks[k, :, k, :] += layer @ layer.T


def bounded_loss(rows: Rows, design: Design, weights: Float) -> float:
    """Loss in nats with probabilities held between 1e-10 and 1 - 1e-10: what is reported."""
    return float(sum(tile.loss for tile in _tiles(rows, design, weights, bounded=True)))


def left_out_loss(rows: Rows, design: Design, weights: Float, inverse: Float) -> float:
    """Loss of every row as if one copy of it had been left out, to first order.

    With B = J H^-1 J' (J the derivative of the row's scores, H^-1 the `inverse`), W = diag p - pp':
    score + B (1 - W B)^-1 (p - y); for one score z + (p - y) h / (1 - v h).
    """
    classes, predictors = len(design.offset), design.predictors
    total = 0.0
    for tile in _tiles(rows, design, weights):
        evidence, size = tile.evidence, tile.score.shape[1]
        spread = np.empty((classes, classes, size))  # B of every row
        for k, layer in enumerate(evidence):
            of_k = inverse if design.shared else inverse[:, k * predictors : (k + 1) * predictors]
            pulled = (of_k @ layer).reshape(-1, predictors, size)
            spread[k] = np.einsum("kjr,kjr->kr", evidence, np.broadcast_to(pulled, evidence.shape))
        copy = np.minimum(tile.weight, 1.0)
        p = tile.probability
        if classes == 1:
            error = np.where(tile.label == 1, p[0] - 1.0, p[0])
            shrink = np.maximum(1.0 - copy * p[0] * (1.0 - p[0]) * spread[0, 0], 1e-6)
            moved = tile.score + copy * error * spread[0, 0] / shrink
        else:
            error = p.copy()
            error[tile.label, np.arange(size)] -= 1.0
            curve = -p[:, None] * p[None]
            curve[np.arange(classes), np.arange(classes)] += p
            spread_r = spread.transpose(2, 0, 1)
            system = -np.matmul(curve.transpose(2, 0, 1), spread_r) * copy[:, None, None]
            system += np.eye(classes) * (1.0 + 1e-9)  # a row that alone decides its fit: bounded, not singular
            pull = np.linalg.solve(system, (copy * error).T[:, :, None])
            moved = tile.score + np.matmul(spread_r, pull)[:, :, 0].T
        unused = np.empty((3, classes, size))
        moved = np.ascontiguousarray(moved)
        total += link_rows(moved, tile.label, tile.weight, False, unused[0], unused[1], unused[2])
    return total


class Fold(Protocol):
    """Apply a function to every block of rows, wherever it lives, and add up what it returns."""

    def __call__(self, function: Callable[[Rows], T], /) -> T: ...


def in_memory(blocks: Sequence[Rows]) -> Fold:
    """Fold over blocks held in memory, in their order."""

    def fold(function: Callable[[Rows], T], /) -> T:
        first, *rest = [function(block) for block in blocks]
        for result in rest:
            first = first + result  # type: ignore[assignment, operator]
        return first

    return fold


@dataclass(frozen=True)
class WeightedEvidence:
    """The fitting problem a solver sees: its size, the total weight of its rows, and its sums."""

    design: Design
    fold: Fold
    total: float

    @property
    def size(self) -> int:
        return self.design.size

    def sums(self, weights: Float, order: int = 2) -> Sums:
        """Loss, gradient and Hessian of all rows."""
        return self.fold(partial(loss_sums, design=self.design, weights=weights, order=order))

    def bounded_loss(self, weights: Float) -> float:
        """Loss as reported: probabilities are held between 1e-10 and 1 - 1e-10."""
        return self.fold(partial(bounded_loss, design=self.design, weights=weights))

    def left_out_loss(self, weights: Float, inverse: Float) -> float:
        """Approximate leave-one-out loss, given the inverse of the penalised Hessian."""
        return self.fold(partial(left_out_loss, design=self.design, weights=weights, inverse=inverse))
