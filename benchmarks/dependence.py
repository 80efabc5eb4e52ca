"""Tree-augmented, k-dependence and averaged one-dependence naive Bayes: ``python -m benchmarks.dependence``.

Beside a form in NumPy: a float32 product of the one-hot table counts all pairs of a class, and the information that
pairs share is read from it; and bincounts, one pair after the other. Every case runs in a process of its own, so that
its peak memory is its own.
"""

from __future__ import annotations

import json
import resource
import subprocess
import sys
from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt

from benchmarks.common import single_thread, table, timed, write_section
from seminaive import AveragedOneDependence, KDependenceNB, TreeAugmentedNB, encode

Codes = npt.NDArray[np.uint8]
Line = tuple[str, ...]

N, D, LEVELS = 5000, 100, 4


def dependent_rows(n: int, d: int, levels: int, seed: int = 0) -> tuple[Codes, npt.NDArray[np.int64]]:
    """Columns that depend on the class and on the column before, (rows, columns)."""
    rng = np.random.default_rng(seed)
    y = rng.integers(0, 2, n)
    X = rng.integers(0, levels, (n, d), dtype=np.uint8)
    for j in range(1, d):
        X[:, j] = np.where(rng.random(n) < 0.5, (X[:, j - 1] + y * (j % 3 == 0)) % levels, X[:, j])
    return X, y


def information_by_product(X: Codes, y: npt.NDArray[np.int64], levels: int) -> npt.NDArray[np.float64]:
    """I(X_j; X_k | Y) of all pairs, all counts of a class at once."""
    n, d = X.shape
    told = np.zeros((d, d))
    for k in (0, 1):
        own = X[y == k]
        one_hot = (own[:, :, None] == np.arange(levels, dtype=np.uint8)).reshape(len(own), -1).astype(np.float32)
        joint = (one_hot.T @ one_hot).astype(np.float64)
        margin = np.diag(joint)
        apart = np.outer(margin, margin) / len(own)
        seen = joint > 0
        parts = np.where(seen, joint * np.log(np.where(seen, joint, 1.0) / np.where(seen, apart, 1.0)), 0.0)
        told += parts.reshape(d, levels, d, levels).sum(axis=(1, 3)) / n
    np.fill_diagonal(told, 0.0)
    return told


def count_one_by_one(X: Codes, y: npt.NDArray[np.int64], levels: int) -> None:
    """Counts of all pairs by a bincount each."""
    wide, d = X.T.astype(np.int64), X.shape[1]
    for j in range(d):
        base = (y * levels + wide[j]) * levels
        for k in range(j + 1, d):
            np.bincount(base + wide[k], minlength=2 * levels * levels)


def times() -> list[Line]:
    X, y = dependent_rows(N, D, LEVELS)
    rows = encode(X, y, nominal=range(D))
    product = timed(lambda: information_by_product(X, y, LEVELS), 3)
    lines: list[Line] = [
        ("NumPy: information of all pairs by products of the one-hot table", str(product), "", ""),
        ("NumPy: counts of all pairs by bincounts", str(timed(lambda: count_one_by_one(X, y, LEVELS), 1)), "", ""),
    ]
    models: dict[str, Any] = {
        "TreeAugmentedNB": TreeAugmentedNB(n_jobs=1),
        "KDependenceNB": KDependenceNB(n_jobs=1),
        "AveragedOneDependence": AveragedOneDependence(n_jobs=1),
        "AveragedOneDependence(leaders=10)": AveragedOneDependence(leaders=10, n_jobs=1),
    }
    for name, model in models.items():
        fitting = timed(lambda model=model: model.fit(rows), 3)
        predicting = timed(lambda model=model: model.predict_proba(rows), 3)
        lines.append((name, str(fitting), str(predicting), f"{fitting.cpu / product.cpu:.2f}"))
    told = information_by_product(X, y, LEVELS)
    j, k = models["TreeAugmentedNB"].pairs_.T
    off = np.abs(told[j, k] - models["TreeAugmentedNB"].pair_information_).max()
    lines.append(("information of the tree's edges, ours less NumPy's, at most", f"{off:.1e}", "", ""))
    return lines


def wide(make: Callable[[], Any], n: int, d: int) -> list[Line]:
    """Peak memory and time on many columns, first on a few so that nothing is compiled or imported meanwhile."""
    X, y = dependent_rows(n + 1000, d, 2)
    few = make().fit(X[:100, :30].astype(bool), y[:100])
    few.predict_proba(X[:100, :30].astype(bool))
    held = X.astype(bool)
    del X
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    made: dict[str, Any] = {}

    def fit() -> None:
        made["model"] = make().fit(held[:n], y[:n])

    fitting = timed(fit, 1, warm=False)
    predicting = timed(lambda: made["model"].predict_proba(held[n:]), 1, warm=False)
    after = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    name = repr(make())
    memory = f"{after / 1024:.0f} MB, {(after - before) / 1024:.0f} MB more than before"
    return [(f"{name}, {n} x {d} binary", str(fitting), str(predicting), memory)]


CASES: dict[str, Callable[[], list[Line]]] = {
    "times": times,
    "tree 1000": lambda: wide(lambda: TreeAugmentedNB(n_jobs=1), 5000, 1000),
    "k 1000": lambda: wide(lambda: KDependenceNB(n_jobs=1), 5000, 1000),
    "average 1000": lambda: wide(lambda: AveragedOneDependence(n_jobs=1, leaders=20), 5000, 1000),
    "tree 5000": lambda: wide(lambda: TreeAugmentedNB(n_jobs=1), 1000, 5000),
    "k 5000": lambda: wide(lambda: KDependenceNB(n_jobs=1), 1000, 5000),
}


def main() -> None:
    if sys.argv[1:2] == ["--here"]:
        print(json.dumps(CASES[sys.argv[2]]()))
        return
    single_thread()
    found: dict[str, list[Line]] = {}
    for case in CASES:
        command = [sys.executable, "-m", "benchmarks.dependence", "--here", case]
        found[case] = json.loads(subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True).stdout)
    head = ["CPU / wall s", "fit, or as said", "predict the same rows", "fit / product"]
    first = table(head, found.pop("times"))
    others = table(
        ["CPU / wall s", "fit", "predict 1000 rows", "peak memory"],
        [line for lines in found.values() for line in lines],
    )
    title = "Tree-augmented, k-dependence and averaged one-dependence naive Bayes"
    text = f"{N:,} rows x {D} columns of {LEVELS} levels, 2 classes, already encoded; one thread."
    write_section(title, f"{text}\n\n{first}\n\nFrom NumPy tables of truth values:\n\n{others}")


if __name__ == "__main__":
    main()
