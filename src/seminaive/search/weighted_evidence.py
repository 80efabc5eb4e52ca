"""Sums over rows for models that weight each predictor's evidence.

Everything a solver asks of the rows is a sum: the log loss, its gradient G'(p - y), its Hessian G'DG,
the loss of left-out rows. Each sum is made block by block and added, so rows may live in memory, on
disk or on a cluster; the evidence matrix G is never stored.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt

from seminaive.kernels.newton import link_rows, look_up
from seminaive.search.design import Design, Rows

__all__ = ["Fold", "Sums", "WeightedEvidence", "in_memory", "scores"]

Float = npt.NDArray[np.float64]
Index = npt.NDArray[np.intp]

TILE = 2**16  # evidence values held at once: half a megabyte, which stays in a core's cache


@dataclass(frozen=True)
class Sums:
    """Log loss in nats, its gradient and its Hessian at some weights; they add over blocks of rows."""

    value: float
    gradient: Float
    hessian: Float

    def __add__(self, other: "Sums") -> "Sums":
        return Sums(self.value + other.value, self.gradient + other.gradient, self.hessian + other.hessian)


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
        if order >= 2 and design.size:
            _add_hessian(hessian, tile, design)
    return Sums(value, gradient, hessian)


def _add_hessian(hessian: Float, tile: _Tile, design: Design) -> None:
    """Add G'DG of a tile. Each product is a matrix with its own transpose, which is half the work."""
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


def hessian_diagonal(rows: Rows, design: Design, weights: Float) -> Float:
    """Diagonal of G'DG of one block."""
    total = np.zeros(design.size)
    for tile in _tiles(rows, design, weights):
        if design.shared and len(design.offset) > 1:
            away = tile.evidence - np.einsum("kjr,kr->jr", tile.evidence, tile.probability)
            total += np.einsum("kjr,kr->j", away**2, tile.weight * tile.probability)
        else:
            total += np.einsum("kjr,kr->kj", tile.evidence**2, tile.curvature).ravel()
    return total


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

    def __call__(self, function: Callable[[Rows], Any], /) -> Any: ...


def in_memory(blocks: Sequence[Rows]) -> Fold:
    """Fold over blocks held in memory, in their order."""

    def fold(function: Callable[[Rows], Any], /) -> Any:
        total, *others = (function(block) for block in blocks)
        for result in others:
            total = total + result
        return total

    return fold


@dataclass(frozen=True)
class WeightedEvidence:
    """The fitting problem a solver sees: its number of weights, its rows' total weight, and its sums.

    Examples
    --------
    >>> from seminaive.search.design import table_design
    >>> design = table_design(np.zeros(1), np.array([[0.0, 0.0, -1.0, 1.0]]), np.array([0, 4]))
    >>> rows = Rows(np.array([[2, 3, 3, 2]], dtype=np.uint8), np.array([0, 1, 1, 1]))
    >>> problem = WeightedEvidence(design, in_memory([rows]), rows.total)
    >>> problem.sums(np.zeros(1)).gradient
    array([-1.])
    """

    design: Design
    fold: Fold
    total: float

    @property
    def size(self) -> int:
        return self.design.size

    def sums(self, weights: Float, order: int = 2, /) -> Sums:
        """Loss in nats (order 0), with gradient (1), with Hessian (2)."""
        sums: Sums = self.fold(partial(loss_sums, design=self.design, weights=weights, order=order))
        return sums

    def diagonal(self, weights: Float, /) -> Float:
        """Diagonal of the Hessian, when the whole would be too large."""
        diagonal: Float = self.fold(partial(hessian_diagonal, design=self.design, weights=weights))
        return diagonal

    def bounded_loss(self, weights: Float, /) -> float:
        """Loss as reported: probabilities are held between 1e-10 and 1 - 1e-10."""
        return float(self.fold(partial(bounded_loss, design=self.design, weights=weights)))

    def left_out_loss(self, weights: Float, inverse: Float, /) -> float:
        """Approximate leave-one-out loss, given the inverse of the penalised Hessian."""
        return float(self.fold(partial(left_out_loss, design=self.design, weights=weights, inverse=inverse)))
