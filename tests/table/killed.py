"""A process that starts others which encode, kills them, and goes on from what they left (see test_disk).

``python killed.py FOLDER TIMES SEED`` prints one line of JSON: what was wrong, and how many were killed in the middle.
"""

from __future__ import annotations

import json
import os
import signal
import sys
import time
from pathlib import Path

import numpy as np
import pandas as pd

from seminaive import NaiveBayes, encode, scan_parquet

FILES, GROUPS, GROUP_ROWS = 4, 3, 4_000


def write(path, seed):
    rng = np.random.default_rng(seed)
    n = GROUPS * GROUP_ROWS
    y = rng.integers(0, 2, n)
    frame = pd.DataFrame({"x": rng.normal(size=n) + y, "c": np.array(["a", "b", "c"])[rng.integers(0, 3, n)], "y": y})
    frame.to_parquet(path, row_group_size=GROUP_ROWS)


def fit(folder, **options):
    """Encode the files and fit with bins: the parts of the rows and those of their bins are both written."""
    rows = scan_parquet(folder / "*.parquet", "y", cache=folder / "cache", **options)
    return {name: counts.tolist() for name, counts in NaiveBayes(numeric="bins").fit(encode(rows)).counts_.items()}


def fit_in_memory(folder):
    frame = pd.concat([pd.read_parquet(path) for path in sorted(folder.glob("*.parquet"))])
    model = NaiveBayes(numeric="bins").fit(frame[["x", "c"]], frame["y"])
    return {name: counts.tolist() for name, counts in model.counts_.items()}


def start(work):
    """Run ``work`` in a copy of this process that ends without cleaning up."""
    pid = os.fork()
    if pid == 0:
        status = 1
        try:
            work()
            status = 0
        finally:
            os._exit(status)
    return pid


def main(folder, times, seed):
    rng = np.random.default_rng(seed)
    files = [folder / f"{i}.parquet" for i in range(FILES)]
    for i, path in enumerate(files):
        write(path, i)
    cache = folder / "cache"
    fit(folder)
    begin = time.perf_counter()
    fit(folder)
    usual = time.perf_counter() - begin
    wrong, in_the_middle = [], 0
    for i in range(times):
        pid = start(lambda: fit(folder))
        time.sleep(rng.uniform(0, usual))
        os.kill(pid, signal.SIGKILL)
        os.waitpid(pid, 0)
        in_the_middle += any(cache.glob("*/*"))
        options = {}
        change = ("nothing", "content", "time", "options")[i % 4]
        if change == "content":  # the same size and time: only what is in it differs
            before = files[1].stat()
            write(files[1], 100 + i)
            os.utime(files[1], ns=(before.st_atime_ns, before.st_mtime_ns))
        elif change == "time":
            os.utime(files[2])
        elif change == "options":
            options = {"block_rows": 1_000}
        if fit(folder, **options) != fit_in_memory(folder):
            wrong.append(f"run {i}, after a change of {change}: another model")
        if left := [str(path.relative_to(cache)) for path in cache.rglob("*")]:
            wrong.append(f"run {i}, after a change of {change}: {left} stays")

    expected = fit_in_memory(folder)

    def agrees():
        assert fit(folder) == expected

    both = [start(agrees), start(agrees)]
    if any(os.waitpid(pid, 0)[1] for pid in both):
        wrong.append("two processes at once: one failed")
    if any(cache.iterdir()):
        wrong.append("two processes at once: something stays")
    print(json.dumps({"wrong": wrong, "in_the_middle": in_the_middle}))


if __name__ == "__main__":
    main(Path(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3]))
