"""Small discrete data for the tests of the forest family, and the slow formulas everything must equal."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy.special import gammaln

from seminaive.statistics.family import ForestTables
from seminaive.statistics.pair_counts import PairRows, pack_rows

REFERENCE = json.loads((Path(__file__).parent / "data" / "forest.json").read_text())


def reference(name: str) -> tuple[npt.NDArray[np.uint8], npt.NDArray[np.int64], dict[str, Any]]:
    """Codes (d, n), classes (n,) and frozen values of one of the reference data sets."""
    values = REFERENCE[name]
    codes = np.array([list(row) for row in values["codes"]]).astype(np.uint8)
    return codes, np.array(list(values["classes"])).astype(np.int64), values


def blocks_of(
    codes: npt.NDArray[Any],
    classes: npt.NDArray[np.int64],
    n_blocks: int = 1,
    weights: npt.NDArray[Any] | None = None,
) -> list[PairRows]:
    """Sort rows by class and pack them, in one block or several."""
    n_levels = codes.max(axis=1).astype(np.int64) + 1
    n_classes = int(classes.max()) + 1
    blocks = []
    for rows in np.array_split(np.arange(len(classes)), n_blocks):
        order = rows[np.argsort(classes[rows], kind="stable")]
        starts = np.concatenate([[0], np.cumsum(np.bincount(classes[rows], minlength=n_classes))])
        of_rows = None if weights is None else weights[order]
        blocks.append(pack_rows(codes[:, order], starts, np.arange(n_classes), n_levels, of_rows))
    return blocks


def random_rows(
    seed: int, n: int = 200, levels: tuple[int, ...] = (2, 3, 1, 2, 5), n_classes: int = 3
) -> tuple[npt.NDArray[np.uint8], npt.NDArray[np.int64]]:
    """Columns that depend on the class and on the column before."""
    rng = np.random.default_rng(seed)
    classes = rng.integers(0, n_classes, n)
    classes[:n_classes] = np.arange(n_classes)
    codes = np.zeros((len(levels), n), dtype=np.uint8)
    for j, v in enumerate(levels):
        pull = classes + (codes[j - 1] if j else 0)
        codes[j] = np.where(rng.random(n) < 0.5, pull % v, rng.integers(0, v, n))
        codes[j, :v] = np.arange(v)
    return codes, classes


def count_pair(
    codes: npt.NDArray[Any],
    classes: npt.NDArray[np.int64],
    j: int,
    k: int,
    weights: npt.NDArray[Any] | None = None,
) -> npt.NDArray[np.float64]:
    """Definition of pair counts: one row after the other."""
    n_levels = codes.max(axis=1).astype(int) + 1
    cells = np.zeros((int(classes.max()) + 1, n_levels[j], n_levels[k]))
    np.add.at(cells, (classes, codes[j], codes[k]), 1.0 if weights is None else weights)
    return cells


def family_score(counts: npt.NDArray[np.float64], concentration: float) -> float:
    """Definition of the Bayesian-Dirichlet score: rows are parent configurations, columns the levels."""
    w, v = counts.shape
    row, cell = concentration / w, concentration / (w * v)
    score = np.sum(gammaln(row) - gammaln(row + counts.sum(axis=1)))
    return float(score + np.sum(gammaln(cell + counts) - gammaln(cell)))


def random_tables(seed: int, d: int, scale: float = 2.0) -> ForestTables:
    """Tables of a posterior in which groups and edges are all uncertain."""
    rng = np.random.default_rng(seed)
    edge = np.triu(rng.normal(0, scale, (2, d, d)), 1)
    return ForestTables(rng.normal(0, 1, (2, d)), edge + edge.transpose(0, 2, 1), np.array([1.0, 0.5]))
