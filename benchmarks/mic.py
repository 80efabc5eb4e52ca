"""Times of MIC and MDL cuts on one thread, next to two yardsticks of the machine.

python -m benchmarks.mic            times
python -m benchmarks.mic --null     simulates the table of null points in seminaive.statistics.mic_null
"""

from __future__ import annotations

import argparse
import os
import time
from collections.abc import Callable

os.environ.update(OMP_NUM_THREADS="1", OPENBLAS_NUM_THREADS="1", MKL_NUM_THREADS="1")

import numpy as np

from seminaive.statistics.mdl import mdl_cuts
from seminaive.statistics.mic import mic
from seminaive.statistics.mic_null import TABLE, simulate_null


def seconds(work: Callable[[], object], repeats: int = 3) -> float:
    """The best of some runs, after one that does not count."""
    work()
    times = []
    for _ in range(repeats):
        start = time.perf_counter()
        work()
        times.append(time.perf_counter() - start)
    return min(times)


def main() -> None:
    rng = np.random.default_rng(0)
    square = rng.normal(size=(2000, 2000))
    codes = rng.integers(0, 10, 20_000_000).astype(np.uint8)
    print(f"{seconds(lambda: square @ square):8.4f} s   yardstick: 2000 x 2000 float64 matrix product")
    print(f"{seconds(lambda: np.bincount(codes)):8.4f} s   yardstick: bincount of 20 million uint8")
    for n in (100, 1_000, 3_000, 10_000):
        x = rng.uniform(size=n)
        for kind, y in (
            ("independent", rng.normal(size=n)),
            ("line and noise", x + 0.2 * rng.normal(size=n)),
        ):
            print(f"{seconds(lambda x=x, y=y: mic(x, y)):8.4f} s   mic, {n} rows, {kind}")
    n = 1_000_000
    values = rng.normal(size=n)
    print(f"{seconds(lambda: np.argsort(values, kind='stable')):8.4f} s   sorting {n} values")
    for n_classes in (2, 5, 26):
        classes = np.clip((values + rng.normal(size=n)) * n_classes / 6 + n_classes / 2, 0, n_classes - 1)
        classes = classes.astype(int)
        found = len(mdl_cuts(values, classes, n_classes))
        taken = seconds(lambda classes=classes, k=n_classes: mdl_cuts(values, classes, k), 2)
        print(f"{taken:8.4f} s   MDL cuts with sorting, {n} rows, {n_classes} classes, {found} cuts")


def null_table() -> None:
    for n in TABLE:
        print(f"{n}: {simulate_null(n, 1000 if n <= 2000 else 300):.4f},")


if __name__ == "__main__":
    arguments = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    arguments.add_argument("--null", action="store_true", help="simulate the table of null points")
    null_table() if arguments.parse_args().null else main()
