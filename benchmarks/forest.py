"""Times and memory of the Bayesian forest, of its engine and through the estimator: ``python -m benchmarks.forest``.

Every case runs in a process of its own, so that its peak memory is its own. Cases on published data need the
environment variable SEMINAIVE_DATA, the folder of their Parquet files; the others make their rows. How the sampler
converges is looked at by `benchmarks.forest_study`.
"""

from __future__ import annotations

import json
import resource
import subprocess
import sys
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy.special import gammaln

from benchmarks.common import single_thread, table, timed, write_section
from benchmarks.forest_rows import THREADS, Rows, correlated_blocks, published, score, warm
from seminaive import BayesianForest
from seminaive.search.forest_sampler import ForestDraws, sample_forests
from seminaive.search.forest_start import sampler_tables
from seminaive.statistics.diagnostics import split_rhat
from seminaive.statistics.family import ForestTables, log_posterior

Line = tuple[str, str, str]
"""What, measured, asked."""

NEW_ROWS = 1000


def megabytes() -> str:
    return f"{resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024:.0f} MB"


def counting() -> list[Line]:
    codes, classes = correlated_blocks(6000, 1000)
    warm()
    product = timed(lambda: one_hot_product(codes, classes), 3)
    ours = timed(lambda: score((codes, classes), threads=1), 3)
    return [
        ("6000 x 1000 binary, pair counts by a float32 product of the one-hot table", f"{product} s", ""),
        ("the same rows, counts and scores of all pairs", f"{ours} s", ""),
        ("product / counts and scores", f"{product.cpu / ours.cpu:.1f}", ""),
    ]


def one_hot_product(codes: npt.NDArray[np.uint8], classes: npt.NDArray[np.int64]) -> list[npt.NDArray[np.float32]]:
    """Counts of all pairs of levels in each class."""
    levels = np.concatenate([codes == 0, codes == 1]).astype(np.float32)
    return [levels[:, classes == y] @ levels[:, classes == y].T for y in (0, 1)]


def engine(n: int, d: int, n_iter: int, chains: int, asked: tuple[str, str] = ("", "")) -> list[Line]:
    """Tables, then chains; are they right?"""
    rows = correlated_blocks(n, d)
    warm()
    made: dict[str, Any] = {}

    def tables() -> None:
        made["tables"] = score(rows)

    def sampling() -> None:
        near = sampler_tables(made["tables"])
        made["draws"] = sample_forests(near, n_iter, seed=0, chains=chains, threads=THREADS)

    times = [timed(work, 1, warm=False) for work in (tables, sampling)]
    peak = megabytes()
    cpu, wall = sum(t.cpu for t in times), sum(t.wall for t in times)
    what = f"{n} x {d}, {chains} chains of {n_iter} iterations"
    return [
        (f"{what}: tables", f"{times[0]} s", ""),
        (f"{what}: sampling", f"{times[1]} s", ""),
        (f"{what}: together", f"{cpu:.4g} / {wall:.4g} s", asked[0]),
        (f"{what}: peak memory", peak, asked[1]),
        (f"{what}: wrong by", mistakes(rows, made["tables"], made["draws"]), "1e-5, 1e-6"),
    ]


def mistakes(rows: Rows, tables: ForestTables, draws: ForestDraws) -> str:
    """Edges of some pairs against the formula, and recorded log posteriors against the recorded forests."""
    rng = np.random.default_rng(1)
    d = tables.n_columns
    pairs = [rng.choice(d, 2, replace=False) for _ in range(200)]
    found = {(g, j, k): float(tables.edge[g, j, k]) for j, k in pairs for g in (0, 1)}
    wrong = [abs(edge - edge_by_formula(rows, int(j), int(k), g)) for (g, j, k), edge in found.items()]
    drift = []
    for chain in range(len(draws.parent)):
        for i in (0, draws.parent.shape[1] // 2, -1):
            again = log_posterior(tables, draws.parent[chain, i], draws.group[chain, i])
            drift.append(abs(again - draws.log_posterior[chain, i]))
    largest = max(1.0, *map(abs, found.values()))
    return f"edges {max(wrong) / largest:.1e} of the largest, log posterior {max(drift):.1e}"


def edge_by_formula(rows: Rows, j: int, k: int, group: int, mass: float = 5.0) -> float:
    """Log Bayes factor of one edge from counts by NumPy."""
    codes, classes = rows
    given = classes if group else np.zeros_like(classes)
    m = int(given.max()) + 1
    u, v = int(codes[j].max()) + 1, int(codes[k].max()) + 1
    counts = np.bincount((given * u + codes[j]) * v + codes[k], minlength=m * u * v).reshape(m, u, v)

    def ratio(c: npt.NDArray[np.int64], q: int) -> float:
        return float(np.sum(gammaln(c + mass / q) - gammaln(mass / q)))

    apart = ratio(counts.sum(axis=2), u * m) + ratio(counts.sum(axis=1), v * m)
    return ratio(counts, u * v * m) - apart + ratio(counts.sum(axis=(1, 2)), m)


def estimator(
    n: int, d: int, n_iter: int, chains: int, asked: tuple[str, str, str] = ("", "", ""), new: int = NEW_ROWS
) -> list[Line]:
    """`BayesianForest().fit` and `predict_proba` from a NumPy table of truth values."""
    codes, y = correlated_blocks(n + new, d)
    X = codes.T.astype(bool)
    del codes
    made: dict[str, Any] = {}
    options: dict[str, Any] = {"n_jobs": THREADS}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # not all of these chains are long enough
        small = BayesianForest(n_iter=200, thin=10).fit(X[:200, :20], y[:200])
        small.predict_proba(X[:200, :20])

        def fit() -> None:
            made["model"] = BayesianForest(n_iter=n_iter, chains=chains, **options).fit(X[:n], y[:n])

        fitting = timed(fit, 1, warm=False)
    predicting = timed(lambda: made["model"].predict_proba(X[n:]), 3, warm=False)
    right = np.mean(made["model"].predict(X[n:]) == y[n:])
    found = made["model"].diagnostics_["R-hat"]["log posterior"]
    what = f"BayesianForest, {n} x {d}, {chains} chains of {n_iter} iterations"
    return [
        (f"{what}: fit", f"{fitting} s", asked[0]),
        (f"{what}: predict_proba of {new} rows", f"{predicting} s", asked[1]),
        (f"{what}: peak memory, rows included", megabytes(), asked[2]),
        (f"{what}: right on new rows; R-hat of the log posterior", f"{100 * right:.1f} %; {found:.2f}", ""),
    ]


def chess() -> list[Line]:
    rows = published("chess")
    if rows is None:
        return [("chess", "not run, SEMINAIVE_DATA does not hold it", "")]
    draws = sample_forests(sampler_tables(score(rows)), 10_000, seed=0, threads=THREADS)
    means = " ".join(f"{mean:.2f}" for mean in draws.log_posterior.mean(axis=1))
    return [
        ("chess, 4 chains of 10000: R-hat of the log posterior", f"{split_rhat(draws.log_posterior):.3f}", "<= 1.05"),
        ("chess: means of the chains", means, "-37525 ± .5"),
        ("chess: highest log posterior", f"{draws.log_posterior.max():.4f}", "-37524.467 ± .01"),
    ]


def madelon() -> list[Line]:
    rows = published("madelon_binary")
    if rows is None:
        return [("madelon_binary", "not run, SEMINAIVE_DATA does not hold it", "")]
    lines: list[Line] = []
    for seed in range(4):
        draws = sample_forests(sampler_tables(score(rows)), 10_000, seed=seed, threads=THREADS)
        inclusion = np.sort(draws.group.mean(axis=(0, 1)))[::-1]
        found = f"{int((inclusion >= 0.99).sum())} columns >= .99, the next {inclusion[20]:.2f}"
        highest = f"R-hat {split_rhat(draws.log_posterior):.3f}, highest {draws.log_posterior.max():.3f}"
        asked = "20, <= .5; <= 1.05, -588872.7 ± .1"
        lines.append((f"madelon_binary, 4 chains of 10000, seed {seed}", f"{found}; {highest}", asked))
    return lines


CASES: dict[str, Callable[[], list[Line]]] = {
    "counting": counting,
    "large": lambda: engine(6000, 5000, 50_000, 2, ("<= 15 s", "<= 1 GB")),
    "large estimator": lambda: estimator(6000, 5000, 50_000, 2, ("<= 15 s", "<= 2 s", "<= 1 GB")),
    "wide": lambda: engine(128, 10_000, 20_000, 2, ("", "<= 1.5 GB")),
    "wide estimator": lambda: estimator(128, 10_000, 20_000, 2, ("", "", "<= 1.5 GB")),
    "long": lambda: engine(70_000, 100, 10_000, 2, ("", "<= 1.5 GB")),
    "long estimator": lambda: estimator(70_000, 100, 10_000, 2, ("", "", "<= 1.5 GB")),
    "odd": lambda: engine(2000, 1006, 10_060, 2, ("", "<= 1.5 GB")),
    "odd estimator": lambda: estimator(2000, 1006, 10_060, 2, ("", "", "<= 1.5 GB")),
    "chess": chess,
    "madelon": madelon,
}


def main() -> None:
    if sys.argv[1:2] == ["--here"]:
        print(json.dumps(CASES[sys.argv[2]]()))
        return
    single_thread()
    lines: list[Line] = []
    for case in CASES:
        command = [sys.executable, "-m", "benchmarks.forest", "--here", case]
        lines += json.loads(subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True).stdout)
    text = (
        "CPU / wall seconds. Binary columns in correlated blocks of 20, made here; "
        f"counting on one thread, all else on {THREADS}.\n\n"
    )
    write_section("Bayesian forest", text + table(["what", "measured", "asked"], lines))


if __name__ == "__main__":
    main()
