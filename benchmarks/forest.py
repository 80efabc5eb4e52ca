"""Times, memory and convergence of the forest engine, beside two yardsticks: ``python -m benchmarks.forest``.

Every case runs in a process of its own, so that its peak memory is its own. Cases on published data need the
environment variable SEMINAIVE_DATA, the folder of their Parquet files; the others make their rows.
"""

from __future__ import annotations

import argparse
import os
import resource
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from seminaive.search.forest_sampler import ForestDraws, sample_forests
from seminaive.search.forest_start import sampler_tables
from seminaive.statistics.diagnostics import bulk_ess, split_rhat
from seminaive.statistics.family import ForestTables, family_scores, forest_tables
from seminaive.statistics.forest_exact import exact_forest_posterior
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


def score(rows: Rows) -> ForestTables:
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
    return forest_tables(*family_scores(blocks, n_classes, threads=THREADS), n_classes)


def timed(work: Callable[[], Any]) -> tuple[Any, str]:
    wall, cpu = time.perf_counter(), time.process_time()
    result = work()
    return result, f"{time.perf_counter() - wall:.2f} s ({time.process_time() - cpu:.2f} cpu)"


def chains(draws: ForestDraws) -> str:
    log_posterior = draws.log_posterior
    means = " ".join(f"{mean:.1f}" for mean in log_posterior.mean(axis=1))
    return (
        f"R-hat {split_rhat(log_posterior):.2f}  ess {bulk_ess(log_posterior):.0f}/{log_posterior.size}"
        f"  means {means}  highest {log_posterior.max():.4f}"
    )


def warm() -> None:
    """Compile (or load) every kernel before anything is timed."""
    sample_forests(sampler_tables(score(correlated_blocks(200, 20))), 100, thin=10, chains=1, seed=0)


def measure(title: str, rows: Rows | None, n_iter: int, **options: Any) -> ForestDraws | None:
    if rows is None:
        print(f"{title}: skipped, SEMINAIVE_DATA does not hold it")
        return None
    warm()
    tables, scoring = timed(lambda: score(rows))
    near, listing = timed(lambda: sampler_tables(tables))
    draws, sampling = timed(lambda: sample_forests(near, n_iter, seed=0, threads=THREADS, **options))
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    d, n = rows[0].shape
    print(f"{title}: {n} x {d}, {draws.parent.shape[0]} chains of {n_iter} iterations {options or ''}")
    print(f"  tables {scoring}  partners {listing}  sampling {sampling}  peak {peak:.0f} MB")
    print(f"  {chains(draws)}")
    return draws


def yardsticks() -> None:
    from threadpoolctl import threadpool_limits

    rng = np.random.default_rng(0)
    square = rng.normal(size=(2000, 2000))
    codes = rng.integers(0, 20, 20_000_000).astype(np.uint8)
    rows, classes = correlated_blocks(6000, 1000)
    warm()
    with threadpool_limits(1):
        for _ in range(2):  # the first time finds the caches cold
            _, product = timed(lambda: square @ square)
            _, counting = timed(lambda: np.bincount(codes))
            _, one_hot = timed(lambda: one_hot_product(rows, classes))
            _, ours = timed(lambda: score((rows, classes)))
    print(f"yardstick: 2000 x 2000 float64 product, one thread: {product}")
    print(f"yardstick: np.bincount of 20 million uint8: {counting}")
    print(f"pair counts of 6000 x 1000 by a float32 product of its one-hot table, one thread: {one_hot}")
    print(f"tables of 6000 x 1000, counts and scores, {THREADS} threads: {ours}")


def one_hot_product(codes: npt.NDArray[np.uint8], classes: npt.NDArray[np.int64]) -> list[npt.NDArray[np.float32]]:
    levels = np.concatenate([codes == 0, codes == 1]).astype(np.float32)
    return [levels[:, classes == y] @ levels[:, classes == y].T for y in (0, 1)]


def exactness() -> None:
    """A million iterations of either kind of move against the exact answer."""
    for name in ("corral", "heart_mdl"):
        rows = published(name)
        if rows is None:
            print(f"exact posterior of {name}: skipped, SEMINAIVE_DATA does not hold it")
            continue
        tables = score(rows)
        exact, seconds = timed(lambda tables=tables: exact_forest_posterior(tables))
        print(f"exact posterior of {name}: {seconds}")
        for moves in ("joint", "paper"):
            draws, sampling = timed(
                lambda tables=tables, moves=moves: sample_forests(
                    sampler_tables(tables), 1_000_000, thin=10, chains=1, moves=moves, seed=1
                )
            )
            off = np.abs(draws.group.mean(axis=(0, 1)) - exact.inclusion).max()
            edges = np.abs(edge_shares(draws) - exact.edges).max()
            mean = draws.log_posterior.mean() - exact.mean_log_posterior
            print(
                f"  {moves}: 1e6 iterations {sampling}, off by at most {off:.4f} (inclusion), "
                f"{edges:.4f} (edges), {mean:+.3f} (mean log posterior)"
            )


def edge_shares(draws: ForestDraws) -> npt.NDArray[np.float64]:
    chain, draw, child = np.nonzero(draws.parent >= 0)
    n_chains, n_draws, d = draws.parent.shape
    shares = np.zeros((2, d, d))
    edges = draws.group[chain, draw, child], child, draws.parent[chain, draw, child]
    np.add.at(shares, edges, 1 / (n_chains * n_draws))
    return shares + shares.transpose(0, 2, 1)


def madelon() -> None:
    rows = published("madelon_binary")
    measure("madelon_binary", rows, 10_000)
    for seed in range(4 if rows is not None else 0):
        draws = sample_forests(sampler_tables(score(rows)), 10_000, seed=seed, threads=THREADS)
        inclusion = np.sort(draws.group.mean(axis=(0, 1)))[::-1]
        found = f"{int((inclusion >= 0.99).sum())} columns >= .99, the next {inclusion[20]:.2f}"
        print(f"  seed {seed}: {found}; {chains(draws)}")


def chess() -> None:
    measure("chess", published("chess"), 10_000)
    measure("chess", published("chess"), 10_000, moves="paper")


def middle() -> None:
    rows = correlated_blocks(6000, 1000)
    measure("correlated blocks", rows, 10_000, moves="paper")
    measure("correlated blocks", rows, 10_000, most_nodes=32)
    for n_iter in (10_000, 50_000, 100_000):
        measure("correlated blocks", rows, n_iter)


def pictures() -> None:
    rows = smooth_field(6000, 32)
    measure("smooth pictures", rows, 50_000, moves="paper")
    measure("smooth pictures", rows, 50_000, most_nodes=32)
    for n_iter in (50_000, 100_000):
        measure("smooth pictures", rows, n_iter)


CASES: dict[str, Callable[[], object]] = {
    "yardsticks": yardsticks,
    "exactness": exactness,
    "chess": chess,
    "madelon": madelon,
    "middle": middle,
    "pictures": pictures,
    "large": lambda: measure("large", correlated_blocks(6000, 5000), 50_000, chains=2),
    "wide": lambda: measure("wide", correlated_blocks(128, 10_000), 100_000, chains=1),
    "odd": lambda: measure("odd", correlated_blocks(2000, 1006), 10_060),
    "long": lambda: measure("long", correlated_blocks(70_000, 100), 10_000),
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("case", nargs="*", choices=[*CASES, []], help="cases to run; all when none is named")
    parser.add_argument("--here", action="store_true", help=argparse.SUPPRESS)
    options = parser.parse_args()
    for case in options.case or CASES:
        if options.here:
            CASES[case]()
        else:
            subprocess.run([sys.executable, "-m", "benchmarks.forest", "--here", case], check=True)


if __name__ == "__main__":
    main()
