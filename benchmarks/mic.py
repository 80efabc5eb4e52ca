"""MIC and MDL cuts: times on one thread beside two yardsticks of the machine.

The reference implementation of MIC in C took .137, .83 and 8.5 s per pair of 1000, 3000 and 10,000 rows on a machine
whose yardsticks were .24 s (matrix product) and .025 s (counting). It is not run here; its times are scaled by each
yardstick of this run, and the smaller ratio counts.

python -m benchmarks.mic            times
python -m benchmarks.mic --null     simulates the table of null moments in seminaive.statistics.mic_null
"""

from __future__ import annotations

import argparse

import numpy as np

from benchmarks.common import Timing, single_thread, table, timed, write_section
from seminaive.statistics.mdl import mdl_cuts
from seminaive.statistics.mic import mic_of_columns
from seminaive.statistics.mic_null import MOMENTS, simulate_null

C_SECONDS = {1_000: 0.137, 3_000: 0.83, 10_000: 8.5}
"""One pair, by the reference implementation in C, on the machine of the yardsticks below."""
C_YARDSTICKS = (0.24, 0.025)


def yardstick_times() -> tuple[Timing, Timing]:
    """A 2000 x 2000 product, and counting 20 million codes."""
    rng = np.random.default_rng(0)
    square = rng.normal(size=(2000, 2000))
    codes = rng.integers(0, 10, 20_000_000).astype(np.uint8)
    return timed(lambda: square @ square, 3), timed(lambda: np.bincount(codes), 3)


def of_mic() -> str:
    """One pair of columns, independent or a noisy line."""
    rng = np.random.default_rng(0)
    here = yardstick_times()
    rows = []
    for n in (100, 1_000, 3_000, 10_000):
        x = rng.uniform(size=n)
        for kind, y in (("independent", rng.normal(size=n)), ("line and noise", x + 0.2 * rng.normal(size=n))):
            ours = timed(lambda x=x, y=y: mic_of_columns(x, y), 5)  # type: ignore[misc]
            cells = ["", ""]
            if n in C_SECONDS:
                ratios = [
                    C_SECONDS[n] * now.cpu / then / ours.cpu for now, then in zip(here, C_YARDSTICKS, strict=True)
                ]
                cells = [f"{ratios[0]:.1f}, {ratios[1]:.1f}", ">= 5"]
            rows.append([f"mic, {n} rows, {kind}", ours, *cells])
    return table(["what", "CPU / wall s", "C / ours, by product and by counting", "asked"], rows)


def of_mdl() -> str:
    """Cuts of one column that look at the class, beside sorting it."""
    rng = np.random.default_rng(0)
    n = 1_000_000
    values = rng.normal(size=n)
    rows = [[f"sorting {n} values", timed(lambda: np.argsort(values, kind="stable"), 3), ""]]
    for n_classes in (2, 5, 26):
        noisy = np.clip((values + rng.normal(size=n)) * n_classes / 6 + n_classes / 2, 0, n_classes - 1)
        classes = noisy.astype(int)
        found = len(mdl_cuts(values, classes, n_classes))
        taken = timed(lambda y=classes, k=n_classes: mdl_cuts(values, y, k), 2)  # type: ignore[misc]
        rows.append([f"MDL cuts with sorting, {n} rows, {n_classes} classes", taken, found])
    return table(["what", "CPU / wall s", "cuts"], rows)


def null_table() -> None:
    """Mean and standard deviation of MIC between independent columns."""
    for n in MOMENTS:
        mean, spread = simulate_null(n, 1000 if n <= 2000 else 300)
        print(f"{n}: ({mean:.4f}, {spread:.5f}),")


def main() -> None:
    single_thread()
    lead = __doc__.split("\n\n")[1]  # type: ignore[union-attr]
    write_section("MIC and MDL cuts", f"{lead}\n\n{of_mic()}\n\n{of_mdl()}")


if __name__ == "__main__":
    arguments = argparse.ArgumentParser(description=__doc__.splitlines()[0])  # type: ignore[union-attr]
    arguments.add_argument("--null", action="store_true", help="simulate the table of null moments")
    null_table() if arguments.parse_args().null else main()
