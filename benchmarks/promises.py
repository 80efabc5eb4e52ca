"""Promised class rates: which of the thesis's Iris problems are solved, and how often certified promises hold.

Counts, not times. A certified promise is counted on 40,000 new rows per class; the confidence is .95, which bounds how
often a run may hand out a model that breaks its promise.

python -m benchmarks.promises            some minutes
"""

from __future__ import annotations

import warnings
from collections import Counter
from typing import Any

import numpy as np

from benchmarks.common import single_thread, table, write_section
from seminaive import ConstrainedNB
from seminaive.reproduce.constrained import PROMISES, SUBSETS, iris_split, keep_on_train
from seminaive.reproduce.new_rows import five_bent, five_normals, held, simulated
from seminaive.statistics.certificate import cases_needed

OUT_OF_REACH = ((0,), (1,), (0, 1))
"""Sepal length, sepal width, and both: no model of the thesis's kind is known that keeps its promises with these."""


def iris() -> str:
    """The thesis's mode: promises counted on the training flowers, 15 subsets of columns, 10 splits."""
    statuses: dict[bool, Counter[str]] = {True: Counter(), False: Counter()}
    wrong = 0
    for columns in SUBSETS:
        for split in range(10):
            (x, y), _ = iris_split(split)
            model = keep_on_train((x, y), columns, "density")
            right = model.predict(x[:, columns]) == y
            kept = all(right[y == k].mean() >= promise["recall"] - 1e-12 for k, promise in PROMISES.items())
            claimed = model.status_ in ("feasible", "map_feasible")
            wrong += claimed != kept
            statuses[columns not in OUT_OF_REACH][model.status_] += 1
    reach, out = statuses[True], statuses[False]
    found = reach["feasible"] + reach["map_feasible"]
    claimed = out["feasible"] + out["map_feasible"]
    return table(
        ["Iris, thesis mode, 150 problems", "figure", "asked"],
        [
            ["solved, of the 120 that can be", f"{found} ({_told(reach)})", "120"],
            ["called feasible, of the 30 that none has solved", f"{claimed} ({_told(out)})", "0"],
            ["sepal length or sepal width alone: proved", out["proved_infeasible"], "20"],
            ["status and count through predict disagree", wrong, "0"],
        ],
    )


def _told(statuses: Counter[str]) -> str:
    return ", ".join(f"{n} {status}" for status, n in statuses.most_common())


def certified() -> str:
    """How often a model that was handed out with a certificate keeps its promises on new rows."""
    one, two, rows = {1: 0.95}, {0: 0.59, 1: 0.59}, []
    for what, source, recalls, draws, how, asked in (
        ("offset, folds, 1000 rows", simulated(five_normals, 1000), one, 1000, ("offset", "cv"), ">= .92"),
        ("offset, held-out rows, 1000 rows", simulated(five_normals, 1000), one, 1000, ("offset", "holdout"), ">= .95"),
        ("offset, folds, bent, 1000 rows", simulated(five_bent, 1000), one, 1000, ("offset", "cv"), ">= .92"),
        ("auto, folds, 1000 rows", simulated(five_normals, 1000), one, 200, ("auto", "cv"), ">= .90"),
        ("auto, folds, bent, 1000 rows", simulated(five_bent, 1000), one, 200, ("auto", "cv"), ">= .90"),
        ("density, folds, 200 rows", simulated(five_normals, 200), one, 200, ("density", "cv"), ">= .90"),
        ("offset, both classes .59, bent, 1000 rows", simulated(five_bent, 1000), two, 1000, ("offset", "cv"), ""),
        ("auto, both classes .59, bent, 1000 rows", simulated(five_bent, 1000), two, 200, ("auto", "cv"), ""),
    ):
        method, place = how
        found = held(source, recalls, draws, method=method, evaluate_on=place)
        rows.append(
            [
                what, draws, found.kept + found.broken, f"{found.share:.3f}", asked, f"{found.broken / draws:.3f}",
                ", ".join(f"{rate:.3f}" for rate in found.rates),
            ]
        )  # fmt: skip
    head = ["promise of recall .95", "runs", "certified", "hold, of these", "asked", "broken, of all runs", "recall"]
    return table(head, rows)


def too_few() -> str:
    """The number of cases a certificate needs, as the model tells it."""
    rows: list[list[Any]] = []
    for rate in (0.8, 0.9, 0.95, 0.98, 0.99):
        needed = cases_needed(rate, 0.05)
        assert needed is not None
        statuses = []
        for cases in (needed - 1, needed):
            rng = np.random.default_rng(0)
            y = np.arange(2 * cases) % 2
            x = rng.normal(size=(len(y), 1)) + 12 * y[:, None]
            model = ConstrainedNB(constraints={1: {"recall": rate}}, on_infeasible="warn", random_state=0)
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", UserWarning)
                model.fit(x, y)
            statuses.append(model.status_)
        told = model.constraint_report_.promises[0].cases_to_certify
        rows.append([rate, needed, told, *statuses])
    return table(["recall", "log .05 / log rate, rounded up", "told", "one case fewer", "so many cases"], rows)


def main() -> None:
    single_thread()
    lead = __doc__.split("\n\n")[1]  # type: ignore[union-attr]
    write_section("Promised class rates", "\n\n".join([lead, iris(), certified(), too_few()]))


if __name__ == "__main__":
    main()
