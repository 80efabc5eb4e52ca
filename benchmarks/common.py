"""What every benchmark shares: medians of CPU and wall time, the two yardsticks, and a table."""

from __future__ import annotations

import os
import platform
import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

RESULTS = Path(__file__).parent / "RESULTS.md"


@dataclass(frozen=True)
class Timing:
    """Medians over several runs, in seconds."""

    cpu: float
    wall: float

    def __str__(self) -> str:
        return f"{self.cpu:.4g} / {self.wall:.4g}"


def timed(work: Callable[[], Any], repeats: int = 5, warm: bool = True) -> Timing:
    """Median CPU and wall time of a call; run once before, unless told otherwise."""
    if warm:
        work()
    cpu, wall = [], []
    for _ in range(repeats):
        c, w = time.process_time(), time.perf_counter()
        work()
        cpu.append(time.process_time() - c)
        wall.append(time.perf_counter() - w)
    return Timing(statistics.median(cpu), statistics.median(wall))


def yardsticks() -> str:
    """The two times by which figures from different machines can be compared."""
    a = np.random.default_rng(0).random((2000, 2000))
    codes = np.random.default_rng(0).integers(0, 10, 20_000_000).astype(np.uint8)
    product, counting = timed(lambda: a @ a, 3), timed(lambda: np.bincount(codes), 3)
    return (
        f"yardsticks (CPU / wall seconds): 2000 x 2000 float64 matrix product on one thread {product}; "
        f"np.bincount of 20 million uint8 codes {counting}"
    )


def single_thread() -> None:
    """Restart with BLAS on one thread, unless it is already."""
    if os.environ.get("OPENBLAS_NUM_THREADS") != "1":
        one = dict.fromkeys(("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS"), "1")
        command = [sys.executable, "-m", sys.modules["__main__"].__spec__.name, *sys.argv[1:]]  # type: ignore[union-attr]
        raise SystemExit(subprocess.run(command, env={**os.environ, **one}, check=False).returncode)


def child_cpu(code: str, **environment: str) -> float:
    """CPU seconds of a fresh Python process that runs ``code``."""
    import resource

    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run([sys.executable, "-c", code], check=True, env={**os.environ, **environment})
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def table(head: Sequence[str], rows: Sequence[Sequence[Any]]) -> str:
    """A Markdown table."""
    lines = [head, ["---"] * len(head), *[[str(cell) for cell in row] for row in rows]]
    return "\n".join("| " + " | ".join(line) + " |" for line in lines)


def write_section(title: str, body: str) -> None:
    """Put a section into RESULTS.md, in place of an earlier one of the same title."""
    text = RESULTS.read_text() if RESULTS.exists() else "# Benchmark results\n"
    parts = text.split("\n## ")
    kept = [part for part in parts[1:] if part.split("\n", 1)[0] != title]
    machine = f"Python {platform.python_version()}, {platform.system()} {platform.machine()}, {os.cpu_count()} cores"
    section = f"{title}\n\n{machine}. {yardsticks()}.\n\n{body.strip()}\n"
    ordered = sorted([*kept, section], key=lambda part: part.split("\n", 1)[0])
    RESULTS.write_text("\n## ".join([parts[0].rstrip() + "\n", *[part.rstrip() + "\n" for part in ordered]]))
    print(f"## {section}")
