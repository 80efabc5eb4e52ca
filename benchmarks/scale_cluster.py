"""What a cluster of processes costs and gives: the same model, the time of an idle pass, a search that loses a worker.

The clusters and the greedy search are those of the tests.
"""

from __future__ import annotations

import logging
import os
import signal
import statistics
import sys
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from seminaive import NaiveBayes, encode, scan_parquet

TESTS = Path(__file__).parent.parent / "tests"
sys.path[:0] = [str(TESTS), str(TESTS / "table")]  # worker processes get it, too

from greedy_search import forward_selection  # noqa: E402

from clusters import worker_processes  # noqa: E402

WORKERS = (1, 2, 4)
BLOCKS = (777, 65_536)


def search_rows(n: int, columns: int = 12) -> pd.DataFrame:
    """Coded columns that help each other, most of them a little."""
    rng = np.random.default_rng(0)
    y = rng.integers(0, 3, n)
    names = np.array(["a", "b", "c", "d"])
    made = {
        f"c{j}": names[np.where(rng.random(n) < 0.15 + 0.03 * (j % 5), (y + j) % 3, rng.integers(0, 4, n))]
        for j in range(columns)
    }
    return pd.DataFrame(made).assign(y=y)


def identity(folder: Path, n: int = 60_000) -> list[tuple[str, str]]:
    """Memory against disk and clusters: whether counts and paths are equal, and by how much the rest differs."""
    frame = search_rows(n)
    rng = np.random.default_rng(1)
    frame = frame.assign(x=rng.normal(size=n) + 0.3 * frame["y"], z=np.exp(rng.normal(size=n)))
    for i, part in enumerate(np.array_split(np.arange(n), 3)):
        frame.iloc[part].to_parquet(folder / f"same-{i}.parquet", row_group_size=7_000)
    X, y = frame.drop(columns="y"), frame["y"]
    found = [("disk", _differences(X, y, lambda rows: _scan(folder, rows)))]
    for n_workers in WORKERS:
        with worker_processes(n_workers) as client:
            found.append((f"Dask, {n_workers} workers", _differences(X, y, lambda rows: _scan(folder, rows, client))))
    for path in folder.glob("same-*.parquet"):
        path.unlink()
    return found


def _scan(folder: Path, block_rows: int, client: Any = None) -> Any:
    return scan_parquet(
        sorted(folder.glob("same-*.parquet")), "y", cache=folder / "cache", block_rows=block_rows, client=client
    )


def _differences(X: Any, y: Any, scan: Callable[[int], Any]) -> str:
    coded = [name for name in X if name.startswith("c")]
    expected = forward_selection(encode(X[coded], y))
    gaussian, bins = NaiveBayes().fit(X, y), NaiveBayes(numeric="bins").fit(X, y)
    probabilities = gaussian.predict_proba(X)
    same, most = True, 0.0
    for block_rows in BLOCKS:
        rows = scan(block_rows)
        same &= forward_selection(encode(replace(rows, columns=tuple(coded)))) == expected
        ours, binned = NaiveBayes().fit(rows), NaiveBayes(numeric="bins").fit(rows)
        same &= all((binned.counts_[name] == counts).all() for name, counts in bins.counts_.items())
        for a, b in (
            (ours.sums_.moments.mean, gaussian.sums_.moments.mean),
            (ours.sums_.moments.m2, gaussian.sums_.moments.m2),
            (ours.predict_proba(X), probabilities),
        ):
            most = max(most, float(np.max(np.abs(a - b) / np.maximum(np.abs(b), 1))))
    return f"{'counts, cuts, errors and path equal' if same else 'NOT EQUAL'}; others differ by {most:.1e}"


def overhead(folder: Path, passes: int = 60) -> tuple[float, float]:
    """Median wall seconds of a pass over a few encoded rows: in memory, and on two idle workers."""
    frame = search_rows(20_000)
    frame.to_parquet(folder / "few.parquet", row_group_size=1_000)
    local = encode(frame.drop(columns="y"), frame["y"])
    with worker_processes(2) as client:
        there = encode(scan_parquet(folder / "few.parquet", "y", client=client))
        return _seconds_per_pass(local, passes), _seconds_per_pass(there, passes)


def _seconds_per_pass(table: Any, passes: int) -> float:
    times = []
    for _ in range(passes + 5):
        begin = time.perf_counter()
        table.counts()
        times.append(time.perf_counter() - begin)
    return statistics.median(times[5:])


def killed(folder: Path, n: int) -> tuple[float, float, bool]:
    """Wall seconds of the tests' greedy search on n rows, undisturbed and with a worker killed halfway; same path?

    A process that takes the dead one's place starts in two to three seconds, whatever the rows: with Python's compiled
    files in place, as an installer leaves them.
    """
    os.environ.update(PYTHONDONTWRITEBYTECODE="", PYTHONPYCACHEPREFIX=str(folder / "compiled"))
    search_rows(n).to_parquet(folder / "search.parquet", row_group_size=25_000)
    logging.getLogger("distributed").setLevel(logging.CRITICAL)  # workers are lost on purpose
    seconds, paths = [], []
    for disturbed in (False, True):
        with worker_processes(2) as client:
            table = encode(scan_parquet(folder / "search.parquet", "y", client=client))
            table.counts()

            def strike(number: int, client: Any = client, disturbed: bool = disturbed) -> None:
                if disturbed and number == 6:
                    os.kill(sorted(client.run(os.getpid).values())[0], signal.SIGKILL)

            begin = time.perf_counter()
            paths.append(forward_selection(table, strike))
            seconds.append(time.perf_counter() - begin)
    (folder / "search.parquet").unlink()
    return seconds[0], seconds[1], paths[0] == paths[1]
