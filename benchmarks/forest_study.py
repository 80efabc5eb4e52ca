"""How the forest sampler converges, and how exact it is: ``python -m benchmarks.forest_study CASE ...``, minutes each.

Every case runs in a process of its own, so that its peak memory is its own. Cases on published data need the
environment variable SEMINAIVE_DATA, the folder of their Parquet files; the others make their rows.
"""

from __future__ import annotations

import argparse
import resource
import subprocess
import sys
import time
from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt

from benchmarks.forest_rows import THREADS, Rows, correlated_blocks, published, score, smooth_field, warm
from seminaive.search.forest_sampler import ForestDraws, sample_forests
from seminaive.search.forest_start import sampler_tables
from seminaive.statistics.diagnostics import bulk_ess, split_rhat
from seminaive.statistics.forest_exact import exact_forest_posterior


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
    parser.add_argument("case", nargs="*", choices=[*CASES, []], help="cases to run; none when none is named")
    parser.add_argument("--here", action="store_true", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if not options.case:
        print(f"cases: {', '.join(CASES)}")
    for case in options.case:
        if options.here:
            CASES[case]()
        else:
            subprocess.run([sys.executable, "-m", "benchmarks.forest_study", "--here", case], check=True)


if __name__ == "__main__":
    main()
