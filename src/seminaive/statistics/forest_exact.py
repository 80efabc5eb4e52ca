r"""The exact posterior over forests, for up to 14 columns: no sampling, no convergence to worry about.

Given the split of the columns into noise and signal, the weights of all rooted forests on a group add up to a
determinant (matrix-tree theorem), w_jk = exp(W_g[jk] - penalty_g), L_g their graph Laplacian:

    Z = sum over 2^d splits of  exp(sum_j R_g(j)[j])  det(I + L_0)  det(I + L_1)

The determinant is worked out by removing one column after the other (Grassmann, Taksar and Heyman), which
only adds, multiplies and divides positive numbers, so it is done in logarithms and nothing can overflow or
cancel. The posterior probability of an edge is the derivative of log det with respect to its log weight;
differentiating the same steps backwards gives all edges at once.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy.special import logsumexp

from seminaive.statistics.family import ForestTables

__all__ = ["MOST_COLUMNS", "NEVER", "ExactForest", "eliminate", "exact_forest_posterior", "split_weights"]

Floats = npt.NDArray[np.float64]

MOST_COLUMNS = 14
NEVER = -1e30  # log of zero that survives being added and subtracted
BATCH = 1024  # splits worked on together; bounds the memory of the backward pass


@dataclass(frozen=True)
class ExactForest:
    """What the posterior over forests says, exactly.

    Attributes
    ----------
    log_normaliser : float
        Log of the sum of exp(log posterior) over all rooted forests.
    inclusion : (d,) array
        Probability that a column is in the signal group.
    edges : (2, d, d) array
        Probability of each edge in the noise (0) and the signal (1) group, symmetric.
    mean_log_posterior : float
        What the trace of a converged chain averages to.
    best_log_posterior : float
        Highest log posterior of any forest.
    best_parent, best_group : (d,) int arrays
        A forest that has it; -1 is a root.
    """

    log_normaliser: float
    inclusion: Floats
    edges: Floats
    mean_log_posterior: float
    best_log_posterior: float
    best_parent: npt.NDArray[np.int32]
    best_group: npt.NDArray[np.uint8]


def exact_forest_posterior(tables: ForestTables) -> ExactForest:
    """Sum the posterior over every forest of at most 14 columns.

    Parameters
    ----------
    tables : ForestTables

    Examples
    --------
    One column that says something about the class and one that does not, with no edge worth having:

    >>> root = np.array([[-10.0, -10.0], [-7.0, -13.0]])
    >>> tables = ForestTables(root, np.full((2, 2, 2), -50.0), np.zeros(2))
    >>> exact_forest_posterior(tables).inclusion.round(3)
    array([0.953, 0.047])
    """
    d = tables.n_columns
    if d > MOST_COLUMNS:
        raise ValueError(f"the exact posterior needs at most {MOST_COLUMNS} columns, got {d}: sample instead")
    in_signal = _splits(d)
    weights = [tables.weights(group) for group in (0, 1)]
    log_joint = split_weights(tables)
    log_normaliser = float(logsumexp(log_joint))
    probability = np.exp(log_joint - log_normaliser)
    inclusion = probability @ in_signal
    edges = np.zeros((2, d, d))
    for group, members in enumerate((~in_signal, in_signal)):
        likely = probability > 1e-18  # all others together change no edge in the 13th digit
        for part, share in zip(_batches(members[likely]), _batches(probability[likely]), strict=True):
            edges[group] += np.einsum("b,bij->ij", share, _edge_probabilities(_masked(weights[group], part)))
    present = np.where(np.isfinite(weights), weights, 0.0)
    mean = (1 - inclusion) @ tables.root[0] + inclusion @ tables.root[1] + (edges * present).sum() / 2
    best, parent, group_of = _best(tables, weights, in_signal)
    return ExactForest(log_normaliser, inclusion, edges, float(mean), best, parent, group_of)


def _splits(d: int) -> npt.NDArray[np.bool_]:
    """All splits into noise and signal, (2^d, d): column j is signal in those whose number has bit j."""
    return (np.arange(2**d)[:, None] >> np.arange(d)) & 1 == 1


def split_weights(tables: ForestTables) -> Floats:
    """Log of the total weight of all rooted forests of every split of the columns."""
    in_signal = _splits(tables.n_columns)
    log_joint: Floats = np.where(in_signal, tables.root[1], tables.root[0]).sum(axis=1)
    for group, members in enumerate((~in_signal, in_signal)):
        weights = tables.weights(group)
        log_joint += np.concatenate([_log_forests(_masked(weights, part)) for part in _batches(members)])
    return log_joint


def _batches(array: npt.NDArray[Any]) -> list[npt.NDArray[Any]]:
    return [array[first : first + BATCH] for first in range(0, len(array), BATCH)]


def _masked(weights: Floats, members: npt.NDArray[Any]) -> Floats:
    """Log weights between members only, (splits, d, d)."""
    both = (members[:, :, None] & members[:, None, :]) & np.isfinite(weights)
    return np.where(both, weights, NEVER)


def eliminate(log_weights: Floats) -> list[tuple[Floats, Floats, Floats]]:
    """Remove the columns from last to first; per step: weights and root weights before it, its log pivot."""
    weights, root = log_weights, np.zeros(log_weights.shape[:2])
    steps = []
    for q in range(weights.shape[1] - 1, -1, -1):
        edge = weights[:, :q, q]
        pivot = np.logaddexp.reduce(np.concatenate([root[:, q : q + 1], edge], axis=1), axis=1)
        steps.append((weights, root, pivot))
        share = edge - pivot[:, None]
        root = np.logaddexp(root[:, :q], share + root[:, q : q + 1])
        weights = np.logaddexp(weights[:, :q, :q], share[:, :, None] + edge[:, None, :])
    return steps


def _log_forests(log_weights: Floats) -> Floats:
    """Log of the total weight of all rooted forests, log det(I + L), one per batch entry."""
    return np.asarray(sum(pivot for _, _, pivot in eliminate(log_weights)))


def _edge_probabilities(log_weights: Floats) -> Floats:
    """Derivative of `_log_forests` with respect to every log weight, (batch, d, d), symmetric."""
    steps = eliminate(log_weights)
    batch, d, _ = log_weights.shape
    of_edge = np.zeros((batch, 0, 0))  # derivatives with respect to what is left after step q
    of_root = np.zeros((batch, 0))
    for q, (weights, root, pivot) in enumerate(reversed(steps)):
        edge = weights[:, :q, q]
        share = edge - pivot[:, None]
        through_root = share + root[:, q : q + 1]
        through_edge = share[:, :, None] + edge[:, None, :]
        kept_root = np.logaddexp(root[:, :q], through_root)
        kept_edge = np.logaddexp(weights[:, :q, :q], through_edge)
        by_root = of_root * np.exp(through_root - kept_root)
        by_edge = of_edge * np.exp(through_edge - kept_edge)
        of_pivot = 1 - by_root.sum(axis=1) - by_edge.sum(axis=(1, 2)) / 2
        before_edge = np.zeros((batch, q + 1, q + 1))
        before_root = np.empty((batch, q + 1))
        before_edge[:, :q, :q] = of_edge * np.exp(weights[:, :q, :q] - kept_edge)
        before_root[:, :q] = of_root * np.exp(root[:, :q] - kept_root)
        of_q = by_edge.sum(axis=2) + by_root + of_pivot[:, None] * np.exp(share)
        before_edge[:, :q, q] = before_edge[:, q, :q] = of_q
        before_root[:, q] = by_root.sum(axis=1) + of_pivot * np.exp(root[:, q] - pivot)
        of_edge, of_root = before_edge, before_root
    of_edge[:, np.arange(d), np.arange(d)] = 0.0
    return of_edge


def _best(
    tables: ForestTables, weights: list[Floats], in_signal: npt.NDArray[np.bool_]
) -> tuple[float, npt.NDArray[np.int32], npt.NDArray[np.uint8]]:
    """The best split of maximum spanning forests, grown for all splits at once (Prim, from a free root)."""
    total = np.where(in_signal, tables.root[1], tables.root[0]).sum(axis=1)
    parents = np.full(in_signal.shape, -1, dtype=np.int32)
    every = np.arange(len(in_signal))
    for group, members in enumerate((~in_signal, in_signal)):
        waiting = members.copy()
        gain = np.zeros(members.shape)
        parent = np.full(members.shape, -1, dtype=np.int32)
        for _ in range(members.shape[1]):
            node = np.where(waiting, gain, -np.inf).argmax(axis=1)
            some = waiting[every, node]
            total += np.where(some, gain[every, node], 0.0)
            waiting[every, node] = False
            better = waiting & some[:, None] & (weights[group][node] > gain)
            gain = np.where(better, weights[group][node], gain)
            parent = np.where(better, node[:, None].astype(np.int32), parent)
        parents = np.where(members, parent, parents)
    best = int(total.argmax())
    return float(total[best]), parents[best], in_signal[best].astype(np.uint8)
