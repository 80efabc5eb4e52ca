"""Rows for the benchmarks of the forest engine: made ones, and published ones as codes."""

from __future__ import annotations

import os
from pathlib import Path

import numpy as np
import numpy.typing as npt

from seminaive.search.forest_sampler import sample_forests
from seminaive.search.forest_start import sampler_tables
from seminaive.statistics.family import ForestTables, family_scores, forest_tables
from seminaive.statistics.pair_counts import pack_rows

Rows = tuple[npt.NDArray[np.uint8], npt.NDArray[np.int64]]
THREADS = min(2, os.cpu_count() or 1)
BLOCK = 65_536


def correlated_blocks(n: int, d: int, size: int = 20, seed: int = 0) -> Rows:
    """Binary columns in blocks that share a hidden cause; three blocks in ten depend on the class."""
    rng = np.random.default_rng(seed)
    classes = rng.integers(0, 2, n)
    codes = np.empty((d, n), dtype=np.uint8)
    hidden = np.zeros(n, dtype=bool)
    for block, first in enumerate(range(0, d, size)):
        share = 0.5 + (0.3 * (classes - 0.5) if rng.random() < 0.3 else 0.0)
        own = rng.random(n) < share
        hidden = np.where(rng.random(n) < 0.4, hidden, own) if block % 5 else own
        flip = rng.uniform(0.02, 0.3, size)
        for j in range(first, min(first + size, d)):
            codes[j] = hidden ^ (rng.random(n) < flip[j - first])
    return codes, classes


def smooth_field(n: int, side: int, seed: int = 0) -> Rows:
    """Pixels of smooth random pictures whose mean differs by class; every pixel has many near twins."""
    from scipy.ndimage import gaussian_filter

    rng = np.random.default_rng(seed)
    classes = rng.integers(0, 2, n)
    mean = gaussian_filter(rng.normal(size=(2, side, side)), (0, 4, 4))
    pictures = gaussian_filter(rng.normal(size=(n, side, side)), (0, 2, 2))
    pictures = pictures / pictures.std() + 0.25 * (mean / mean.std())[classes]
    pictures += 0.3 * rng.normal(size=pictures.shape)
    return (pictures > 0.5).reshape(n, -1).T.astype(np.uint8), classes


def published(name: str) -> Rows | None:
    """A published data set as codes, training rows only but for chess; None when its file is not at hand."""
    import pandas as pd

    path = Path(os.environ.get("SEMINAIVE_DATA", "")) / f"{name}.parquet"
    if "SEMINAIVE_DATA" not in os.environ or not path.exists():
        return None
    frame = pd.read_parquet(path)
    if "split" in frame and name != "chess":
        frame = frame[frame["split"] == "train"]
    classes = pd.factorize(frame["class"], sort=True)[0]
    columns = frame.drop(columns=["class", "split"], errors="ignore")
    return np.array([pd.factorize(columns[c], sort=True)[0] for c in columns]).astype(np.uint8), classes


def score(rows: Rows, threads: int = THREADS) -> ForestTables:
    """Encoded rows to tables: sort by class, pack, count, score."""
    codes, classes = rows
    n_classes = int(classes.max()) + 1
    n_levels = codes.max(axis=1).astype(np.int64) + 1
    blocks = []
    for first in range(0, len(classes), BLOCK):
        part = classes[first : first + BLOCK]
        order = np.argsort(part, kind="stable")
        starts = np.concatenate([[0], np.cumsum(np.bincount(part, minlength=n_classes))])
        sorted_codes = np.ascontiguousarray(codes[:, first : first + BLOCK][:, order])
        blocks.append(pack_rows(sorted_codes, starts, np.arange(n_classes), n_levels))
    return forest_tables(*family_scores(blocks, n_classes, threads=threads), n_classes)


def warm() -> None:
    """Compile (or load) every kernel before anything is timed."""
    sample_forests(sampler_tables(score(correlated_blocks(200, 20))), 100, thin=10, chains=1, seed=0)
