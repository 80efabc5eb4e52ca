r"""Bayesian-Dirichlet scores of columns and pairs of columns, and the information they share.

A family is a column with its parents: none, another column, the class, or both. With Dirichlet mass alpha
spread over the family's cells, its log marginal likelihood is likelihood equivalent, so that the score of a
forest needs no directions and everything is read from two tables, one entry per column and one per pair of
columns:

    LG(c, q) = ln Gamma(c + alpha / q) - ln Gamma(alpha / q)
    S_0[j]  = sum_a  LG(n_a,  v_j)        S_1[j]  = sum_ay  LG(n_ay,  v_j m)         T_0 = LG(n, 1)
    S_0[jk] = sum_ab LG(n_ab, v_j v_k)    S_1[jk] = sum_aby LG(n_aby, v_j v_k m)     T_1 = sum_y LG(n_y, m)
    root score         r_g[j]  = S_g[j] - T_g
    edge Bayes factor  W_g[jk] = S_g[jk] - S_g[j] - S_g[k] + T_g

where g = 0 are columns without, g = 1 columns with the class as a parent, and m is the number of classes. A
graph's log marginal likelihood is the sum of r over its columns and of W over its edges.

Krakovna, Du and Liu (2015), Selective Bayesian Forest Classifier.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from scipy.special import gammaln

from seminaive.kernels.pair import conditional_information, dirichlet_edges
from seminaive.statistics.pair_counts import PairRows, Span, each_tile

__all__ = ["EdgeScores", "ForestTables", "family_scores", "forest_tables", "log_posterior", "pair_information"]

Floats = npt.NDArray[np.float64]
Edges = npt.NDArray[np.float32] | npt.NDArray[np.float64]
Integers = npt.NDArray[np.int64]

TABLE_BYTES = 64 << 20
"""Above this the log-gamma ratios are worked out one by one instead of being looked up."""


@dataclass(frozen=True)
class ForestTables:
    """Everything the posterior of a forest is read from.

    Attributes
    ----------
    root : (2, d) float64
        Log score of each column as a root of the noise (0) or the signal (1) group, the prior's penalty
        included.
    edge : (2, d, d) float32 or float64
        Log Bayes factor of each edge in either group, without penalty; symmetric, 0 on the diagonal.
    edge_penalty : (2,) float64
        What the prior takes off for one edge of either group.
    """

    root: Floats
    edge: Edges
    edge_penalty: Floats

    @property
    def n_columns(self) -> int:
        return int(self.root.shape[1])

    def weights(self, group: int) -> Floats:
        """Log weight of every edge of a group, penalty taken off, (d, d), -inf on the diagonal."""
        weights: Floats = self.edge[group].astype(np.float64) - self.edge_penalty[group]
        np.fill_diagonal(weights, -np.inf)
        return weights


def _log_gamma_ratio(counts: Floats, q: npt.ArrayLike, concentration: float) -> Floats:
    share = concentration / np.asarray(q, dtype=np.float64)
    return np.asarray(gammaln(counts + share) - gammaln(share), dtype=np.float64)


def _log_gamma_tables(
    n_levels: Integers, n_classes: int, n_rows: float, concentration: float
) -> tuple[Integers, Floats, Integers]:
    """One table LG(., q) for every product q of level counts that occurs, if counts are whole and few."""
    sizes, kinds = np.unique(n_levels, return_inverse=True)
    noise = np.outer(sizes, sizes)
    products, table_of = np.unique(np.stack([noise, noise * n_classes]), return_inverse=True)
    table_of = table_of.reshape(2, len(sizes), len(sizes)).astype(np.int64)
    whole = float(n_rows).is_integer()
    if not whole or len(products) * (n_rows + 1) * 8 > TABLE_BYTES:
        return kinds.astype(np.int64), np.empty((len(products), 0)), table_of
    counts = np.arange(n_rows + 1.0)
    tables = np.stack([_log_gamma_ratio(counts, q, concentration) for q in products])
    return kinds.astype(np.int64), tables, table_of


def family_scores(
    blocks: Sequence[PairRows],
    n_classes: int,
    concentration: float = 5.0,
    dtype: npt.DTypeLike = np.float32,
    threads: int = 1,
) -> tuple[Floats, Edges]:
    """Root scores r and edge log Bayes factors W of all columns, without the prior over graphs.

    Parameters
    ----------
    blocks : sequence of PairRows
        The training rows (see `pack_rows`).
    n_classes : int
    concentration : float
        Dirichlet mass alpha of every family.
    dtype : float32 or float64
        How W is stored; it is always summed in double precision.
    threads : int

    Returns
    -------
    root : (2, d) float64
    edge : (2, d, d) dtype

    Examples
    --------
    >>> from seminaive.statistics.pair_counts import pack_rows
    >>> codes = np.array([[0, 0, 1, 1], [0, 0, 1, 1]], dtype=np.uint8)
    >>> root, edge = family_scores([pack_rows(codes, [0, 2, 4], [0, 1], np.array([2, 2]))], n_classes=2)
    >>> root.round(3)
    array([[-3.088, -3.088],
           [-2.27 , -2.27 ]])
    >>> edge[:, 0, 1].round(3)
    array([0.818, 0.233], dtype=float32)
    """
    starts = blocks[0].level_starts
    unit = all(block.weights.size == 0 for block in blocks)
    scores = EdgeScores.of(_margins(blocks, n_classes), starts, unit, concentration, dtype)
    each_tile(blocks, n_classes, scores.read, threads)
    return scores.root, scores.edge


@dataclass(frozen=True, eq=False)
class EdgeScores:
    """Scores in the making: counts of pairs are read a tile at a time, in any order.

    Attributes
    ----------
    root : (2, d) float64
    edge : (2, d, d) float32 or float64
        Complete when every tile has been read.
    """

    root: Floats
    edge: Edges
    _level_starts: Integers
    _look_up: tuple[Integers, Floats, Integers]
    _single: Floats
    _whole: Floats
    _concentration: float

    @classmethod
    def of(
        cls,
        margins: Floats,
        level_starts: Integers,
        unit: bool,
        concentration: float = 5.0,
        dtype: npt.DTypeLike = np.float32,
    ) -> EdgeScores:
        """Root scores, from how often every level of every column occurs in each class, and edges still to be read.

        ``unit`` says that all rows weigh 1, so that counts can be looked up.
        """
        n_classes, n_levels = len(margins), np.diff(level_starts)
        class_counts = _class_counts(margins, level_starts)
        n = float(class_counts.sum())
        whole = np.array(
            [
                _log_gamma_ratio(np.array(n), 1.0, concentration),
                _log_gamma_ratio(class_counts, n_classes, concentration).sum(),
            ]
        )
        levels = np.repeat(n_levels, n_levels)
        noise = _log_gamma_ratio(margins.sum(axis=0), levels, concentration)
        signal = _log_gamma_ratio(margins, levels * n_classes, concentration).sum(axis=0)
        single = np.add.reduceat(np.stack([noise, signal]), level_starts[:-1], axis=1)
        look_up = _log_gamma_tables(n_levels, n_classes, n if unit else 0.5, concentration)
        edge = np.zeros((2, len(n_levels), len(n_levels)), dtype=dtype)
        return cls(single - whole[:, None], edge, level_starts, look_up, single, whole, concentration)

    def read(self, cells: Floats, left: Span, right: Span) -> None:
        """Score the pairs of two ranges of columns from their counts (classes, levels left, levels right)."""
        fixed = self._level_starts, *self._look_up, self._single, self._whole, self._concentration
        dirichlet_edges(cells, *fixed, left, right, self.edge)


def _margins(blocks: Sequence[PairRows], n_classes: int) -> Floats:
    return np.asarray(sum(block.class_margins(n_classes) for block in blocks), dtype=np.float64)


def _class_counts(margins: Floats, level_starts: Integers) -> Floats:
    """Rows of each class: every column sees every row, so the first column's levels tell."""
    return np.asarray(margins[:, : level_starts[1]].sum(axis=1), dtype=np.float64)


def forest_tables(
    root: Floats, edge: Edges, n_classes: int, edge_weight: float = 4.0, signal_weight: float = 1.0
) -> ForestTables:
    """Scores and the prior over graphs, P(G) ~ d^(-edge_weight (E_0 + E_1 / m) - signal_weight D_1 / m).

    E_g is the number of edges of group g, D_1 the number of signal columns, m the number of classes.

    Examples
    --------
    >>> tables = forest_tables(np.zeros((2, 3)), np.zeros((2, 3, 3)), n_classes=2)
    >>> tables.edge_penalty.round(3), tables.root[1].round(3)
    (array([4.394, 2.197]), array([-0.549, -0.549, -0.549]))
    """
    log_d = np.log(root.shape[1])
    penalised = root.copy()
    penalised[1] -= signal_weight * log_d / n_classes
    return ForestTables(penalised, edge, edge_weight * log_d * np.array([1.0, 1.0 / n_classes]))


def log_posterior(tables: ForestTables, parent: npt.NDArray[np.integer], group: npt.NDArray[np.integer]) -> float:
    """Unnormalised log posterior of one forest: ``parent[j]`` is -1 for a root, ``group[j]`` is 1 for signal.

    Examples
    --------
    >>> tables = forest_tables(np.zeros((2, 2)), np.full((2, 2, 2), 3.0), n_classes=1)
    >>> round(log_posterior(tables, np.array([-1, 0]), np.array([0, 0])), 4)   # 3 - 4 ln 2
    0.2274
    """
    child = np.flatnonzero(parent >= 0)
    of_group = group[child]
    edges = tables.edge[of_group, child, parent[child]].astype(np.float64) - tables.edge_penalty[of_group]
    return float(tables.root[group, np.arange(len(group))].sum() + edges.sum())


def pair_information(blocks: Sequence[PairRows], n_classes: int, threads: int = 1) -> tuple[Floats, Floats]:
    """Information with the class I(X_j; Y), (d,), and between columns I(X_j; X_k | Y), (d, d), in nats.

    Both from raw frequencies, without smoothing.

    Examples
    --------
    >>> from seminaive.statistics.pair_counts import pack_rows
    >>> codes = np.array([[0, 0, 1, 1], [0, 1, 0, 1], [0, 1, 0, 1]], dtype=np.uint8)
    >>> rows = pack_rows(codes, [0, 2, 4], [0, 1], np.array([2, 2, 2]))
    >>> with_class, between = pair_information([rows], n_classes=2)
    >>> with_class.round(3)
    array([0.693, 0.   , 0.   ])
    >>> between.round(3)
    array([[0.   , 0.   , 0.   ],
           [0.   , 0.   , 0.693],
           [0.   , 0.693, 0.   ]])
    """
    starts = blocks[0].level_starts
    margins = _margins(blocks, n_classes)
    class_counts = _class_counts(margins, starts)
    n = float(class_counts.sum())
    expected = margins.sum(axis=0) * class_counts[:, None] / n
    seen = margins > 0
    ratio = np.divide(margins, expected, out=np.ones_like(margins), where=seen)
    with_class = np.add.reduceat((margins * np.log(ratio)).sum(axis=0), starts[:-1]) / n
    between = np.zeros((blocks[0].n_columns,) * 2)

    def read(cells: Floats, left: Span, right: Span) -> None:
        conditional_information(cells, n, starts, left, right, between[slice(*left), slice(*right)])

    each_tile(blocks, n_classes, read, threads)
    return with_class, between + between.T
