"""Adjusted p values for all pairs of classifiers: the time of each procedure; ``python -m benchmarks.comparison``."""

from __future__ import annotations

import numpy as np

from benchmarks.common import single_thread, table, timed, write_section
from seminaive.evaluate.adjust import MAX_EXACT, bergmann_hommel, holm, shaffer


def adjusting() -> str:
    rows = []
    for k in (5, 7, 9, 10, MAX_EXACT):
        p = np.random.default_rng(0).uniform(size=k * (k - 1) // 2)
        times = [timed(lambda f=f, p=p: f(p), 3) for f in (bergmann_hommel, shaffer, holm)]  # type: ignore[misc]
        rows.append([k, len(p), *times, "<= 5" if k == 9 else ""])
    return table(["classifiers", "pairs", "Bergmann-Hommel", "Shaffer", "Holm", "asked of the first"], rows)


def main() -> None:
    single_thread()
    write_section("Comparison of classifiers", f"CPU / wall seconds.\n\n{adjusting()}")


if __name__ == "__main__":
    main()
