"""Files larger than memory, and clusters: speed and memory of every pass, identity, faults, and the alternatives.

python -m benchmarks.scale [--files 20] [--memory 1,20] [--kills 50] [--folder FOLDER]

A file has a million rows (85 MB). Figures that need more room are an option: ``--memory 1,20,100`` writes 8.5 GB.
Everything written is removed, but for the rows in a folder that is named.
"""

from __future__ import annotations

import argparse
import functools
import json
import os
import resource
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.common import single_thread, table, write_section
from benchmarks.scale_rows import FILE_ROWS, write_rows

LIMIT = 700
"""Megabytes of data that a process may have (RLIMIT_DATA)."""
PEERS = {
    "ours": "NaiveBayes, levels and classes found by itself",
    "polars": "Polars, streamed group-bys",
    "duckdb": "DuckDB, group-bys",
    "scikit_learn": "scikit-learn, partial_fit of GaussianNB and CategoricalNB, levels given",
    "dask_ml": "Dask-ML GaussianNB, the ten numeric columns only",
}
KILLED = Path(__file__).parent.parent / "tests" / "table" / "killed.py"


@functools.cache
def worker(name: str, folder: Path, n_files: int, megabytes: int | None = None) -> dict[str, Any]:
    """Run one piece of `scale_work` in a process of its own."""
    command = [sys.executable, "-m", "benchmarks.scale_work", name, str(folder), str(n_files)]
    limit = [] if megabytes is None else [str(megabytes)]
    threads = {**os.environ, "POLARS_MAX_THREADS": "1"}
    run = subprocess.run([*command, *limit], env=threads, capture_output=True, text=True, check=False)
    if run.returncode:
        raise SystemExit(f"{name} failed:\n{run.stderr}")
    found: dict[str, Any] = json.loads(run.stdout)
    return found


def figures(folder: Path, n_files: int) -> list[tuple[str, str, str]]:
    """Fit, passes and prediction under the limit on memory."""
    rows = n_files * FILE_ROWS
    size = sum(path.stat().st_size for path in sorted(folder.glob("*.parquet"))[:n_files])
    fitted = worker("ours_in_bins", folder, n_files, LIMIT)
    answer = worker("passes", folder, n_files, LIMIT)["answer"]
    predicted = worker("predict", folder, n_files, LIMIT)["answer"]
    encoded = answer["bytes"] / answer["rows"] / 20

    def speed(seconds: float) -> str:
        return f"{rows / seconds:.2g} rows/s ({seconds:.2f} s)"

    return [
        (
            f"fit with bins on {size / 1e9:.2f} GB of Parquet, RLIMIT_DATA {LIMIT} MB",
            f"done in {fitted['cpu']:.1f} s, peak {fitted['peak']:.0f} MB",
            "done",
        ),
        ("pass that learns levels and classes", speed(answer["learn"]), ""),
        ("pass of moments and counts, from Parquet", speed(answer["gaussian"]), ""),
        ("exact quantiles of ten columns", speed(answer["quantiles"]), ""),
        ("pass that encodes to disk", speed(answer["encode"]), ">= 2e6"),
        ("later counting pass", speed(answer["count"]), ">= 5e7"),
        ("encoded, bytes per cell", f"{encoded:.2f}", "about 1"),
        ("predict_parquet", speed(predicted["predict"]), ""),
    ]


def memory(folder: Path, sizes: list[int]) -> tuple[str, str, str]:
    """Peak of a fit with bins against the number of rows."""
    peaks = [worker("ours_in_bins", folder, n, LIMIT)["peak"] for n in sizes]
    said = ", ".join(f"{n * FILE_ROWS:.0e} rows: {peak:.0f} MB" for n, peak in zip(sizes, peaks, strict=True))
    spread = (max(peaks) - min(peaks)) / (max(peaks) + min(peaks))
    return f"peak memory, {said}", f"+-{spread:.1%}", "+-10 %"


def peers(folder: Path, n_files: int) -> tuple[list[tuple[str, ...]], str]:
    """The same sums by others, and whether they agree with ours."""
    found = {name: worker(name, folder, n_files) for name in PEERS}
    rows, most = [], 0.0
    for name, what in PEERS.items():
        one = found[name]
        if "missing" in one:
            rows.append((what, f"not installed: {one['missing']}", "", "", ""))
            continue
        times = f"{one['cpu']:.2f} / {one['wall']:.2f}"
        ratio = f"{one['cpu'] / found['ours']['cpu']:.2f}"
        rows.append((what, times, ratio, f"{one['peak']:.0f}", f"{one['peak'] - one['start']:.0f}"))
        for ours, theirs in zip(found["ours"]["answer"], one["answer"], strict=True):
            if theirs is not None:
                most = max(most, float(np.max(np.abs(np.asarray(ours, dtype=float) - np.asarray(theirs, dtype=float)))))
    return rows, f"largest difference of counts and means to ours: {most:.1e}"


def kills(folder: Path, times: int) -> tuple[str, str, str]:
    """A fitting process killed at random moments, the files changed or not, and started again."""
    command = [sys.executable, str(KILLED), str(folder), str(times), "1"]
    found = json.loads(subprocess.run(command, capture_output=True, text=True, check=True).stdout)
    said = f"{len(found['wrong'])} wrong models or files left ({found['in_the_middle']} had left files when killed)"
    return f"fitting process killed at {times} random moments", said, "0"


def cluster(folder: Path) -> list[tuple[str, str, str]]:
    """Identity, the time of a pass, a lost worker."""
    from benchmarks.scale_cluster import BLOCKS, identity, killed, overhead

    rows = [(f"{where}, blocks of {BLOCKS[0]} and {BLOCKS[1]} rows", said, "same") for where, said in identity(folder)]
    local, there = overhead(folder)
    rows.append(
        (
            "pass over 20,000 encoded rows, wall ms: in memory, on 2 idle workers",
            f"{local * 1e3:.2f}, {there * 1e3:.1f}",
            "<= 50 more",
        )
    )
    for n in (1_000_000, 3_000_000):
        usual, disturbed, same = killed(folder, n)
        said = f"{usual:.1f}, {disturbed:.1f}: {disturbed / usual:.2f} x; path {'the same' if same else 'DIFFERS'}"
        what = f"greedy search on {n:,} rows, wall s: undisturbed, a worker killed halfway"
        rows.append((what, said, "<= 2 x, same"))
    return rows


def main() -> None:
    asked = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    asked.add_argument("--files", type=int, default=20, help="files of a million rows that are fitted")
    asked.add_argument("--memory", default="1,20", help="numbers of files for which peak memory is measured")
    asked.add_argument("--kills", type=int, default=50, help="how often a fitting process is killed")
    asked.add_argument("--folder", type=Path, help="where the rows are kept from run to run; default: a temporary one")
    options = asked.parse_args()
    single_thread()
    sizes = [int(n) for n in options.memory.split(",")]
    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(options.folder or temporary)
        folder.mkdir(parents=True, exist_ok=True)
        write_rows(folder, max([options.files, *sizes]))
        done = [*figures(folder, options.files), memory(folder, sizes)]
        others, agree = peers(folder, options.files)
        there = Path(temporary) / "elsewhere"
        there.mkdir()
        done += [kills(there, options.kills), *cluster(there)]
    child = resource.getrusage(resource.RUSAGE_CHILDREN)
    heads = ("the same sums from the same files", "CPU / wall s", "x ours", "peak MB", "above start, MB")
    write_section(
        "Scale",
        f"{options.files * FILE_ROWS:,} rows x 20 columns (10 numeric, 10 text of 10 levels). CPU seconds of one "
        "thread unless wall is said.\n\n"
        + table(("what", "figure", "asked"), done)
        + "\n\nFaults (disk full, unreadable file, corrupt row group, other schema, column missing) have no figure: "
        "`pytest tests/table/test_scan.py tests/table/test_disk.py` shows each message.\n\n"
        + table(heads, others)
        + f"\n\n{agree}. The whole benchmark took {child.ru_utime + child.ru_stime:.0f} CPU s.",
    )


if __name__ == "__main__":
    main()
