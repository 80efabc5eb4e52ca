r"""How strongly every pair of columns belongs together given the class, strip by strip, wherever the rows are.

    information     I(X_j; X_k | Y) = sum n_aby / n ln [ n_aby n_y / (n_ay n_by) ]          in nats, from raw counts
    bd              W_1[jk] = S_1[jk] - S_1[j] - S_1[k] + T_1                               log Bayes factor of the edge

W_1 is the signal group's edge of a Bayesian forest (see `seminaive.statistics.family`). Where missing values say
nothing, a pair is judged by the rows that know both columns.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

import numpy as np
import numpy.typing as npt
from scipy.special import gammaln

from seminaive.kernels.pair import conditional_information
from seminaive.table.pairs import STRIP_BYTES, PairStrip, pair_strips, used_codes
from seminaive.table.schema import MISSING, Floats
from seminaive.table.table import Table

PairScore = Literal["information", "bd"]

CONCENTRATION = 5.0
"""Dirichlet mass of a family in the score "bd"."""


@dataclass(frozen=True, eq=False)
class ScoredStrip:
    """Scores of the columns ``first:last`` with all columns from ``first`` on; only pairs j < k are filled in.

    ``score[j - first, k - first]`` belongs to the pair (j, k); ``counts`` are what it was read from.
    """

    first: int
    last: int
    score: Floats
    counts: PairStrip


def scored_strips(
    table: Table,
    score: PairScore = "information",
    missing: str = "value",
    n_jobs: int | None = None,
    strip_bytes: int = STRIP_BYTES,
) -> Iterator[ScoredStrip]:
    """Score all pairs of columns, a pass over the rows for each strip; all columns coded.

    Examples
    --------
    >>> from seminaive.table.door import encode
    >>> rows = [["a", "x", "u"], ["a", "x", "v"], ["b", "y", "u"], ["b", "y", "v"]]
    >>> (strip,) = scored_strips(encode(rows, [0, 0, 0, 0]))
    >>> strip.score.round(4)
    array([[0.    , 0.6931, 0.    ],
           [0.    , 0.    , 0.    ],
           [0.    , 0.    , 0.    ]])
    """
    class_weight = table.class_weights(n_jobs)
    total = float(class_weight.sum())
    code = np.nonzero(used_codes(table, n_jobs))[1]  # of every level, one column after the other
    speaks = (code != MISSING) | (missing == "value")
    d = len(table.schema.columns)
    for strip in pair_strips(table, n_jobs, strip_bytes):
        heard = speaks[strip.level_starts[strip.first] :]
        strip.counts[:, :, ~heard] = 0.0
        strip.counts[:, ~heard[: strip.counts.shape[1]]] = 0.0
        if score == "information":
            scores = np.zeros((strip.last - strip.first, d - strip.first))
            here, all_after = (strip.first, strip.last), (strip.first, d)
            conditional_information(strip.counts, total, strip.level_starts, here, all_after, scores)
        else:
            scores = _edge_factors(strip, heard, class_weight > 0)
        yield ScoredStrip(strip.first, strip.last, scores, strip)


def _edge_factors(strip: PairStrip, heard: npt.NDArray[np.bool_], present: npt.NDArray[np.bool_]) -> Floats:
    """W_1 of a strip's pairs; only the levels that are heard count as levels, and classes with rows as classes."""
    cells, bounds = strip.counts[present], strip.level_starts[strip.first :] - strip.level_starts[strip.first]
    right = bounds[:-1]
    left = right[: strip.last - strip.first]
    of_left = np.add.reduceat(cells, right, axis=2)
    of_right = np.add.reduceat(cells, left, axis=1)
    of_class = np.add.reduceat(of_left, left, axis=1)
    levels = np.maximum(np.add.reduceat(heard.astype(np.float64), right), 1.0) * np.sqrt(len(cells))
    v = np.repeat(levels, np.diff(bounds))  # so that the product of two is v_j v_k m
    u, m = v[: cells.shape[1]], len(cells)
    joint = np.add.reduceat(np.add.reduceat(_ratio(cells, np.outer(u, v)), left, axis=1), right, axis=2)
    own = np.add.reduceat(_ratio(of_left, u[:, None] * np.sqrt(m)), left, axis=1)
    other = np.add.reduceat(_ratio(of_right, v * np.sqrt(m)), right, axis=2)
    return np.triu((joint - own - other + _ratio(of_class, np.array(float(m)))).sum(axis=0), 1)


def _ratio(counts: Floats, q: Floats) -> Floats:
    """LG(c, q) = ln Gamma(c + alpha / q) - ln Gamma(alpha / q)."""
    share = CONCENTRATION / q
    return np.asarray(gammaln(counts + share) - gammaln(share))
