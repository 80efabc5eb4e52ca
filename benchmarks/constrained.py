"""ConstrainedNB: time, and losses beside those of NOMAD on the same problems; ``python -m benchmarks.constrained``."""

from __future__ import annotations

import time
from itertools import combinations
from typing import Any

import numpy as np

from benchmarks.common import single_thread, table, timed, write_section
from seminaive import encode
from seminaive.models.judging import Fitted, Recipe, fit_mode
from seminaive.models.naive import Estimation
from seminaive.reproduce.constrained import PROMISES, iris_split
from seminaive.reproduce.new_rows import five_normals
from seminaive.search.constrained import move_parameters
from seminaive.search.mads import move_by_mesh
from seminaive.search.offsets import find_offsets
from seminaive.statistics.confusion import demands_on
from seminaive.statistics.constraints import read_constraints

EVALUATIONS = 3000


def fitted(x: Any, y: Any, prior: str = "empirical") -> Fitted:
    return fit_mode(encode(x, y), Recipe(Estimation(prior), "gaussian", 0))


def two_classes() -> str:
    rows = []
    for n in (200, 1000, 5000, 20000):
        x, y = five_normals(np.random.default_rng(0), n)
        constraints = read_constraints({1: {"recall": 0.9}}, [0, 1])
        model = fitted(x, y)
        problem = model.problem(constraints)
        scores = problem.model.scores(problem.model.at(np.zeros(problem.model.size)))
        demands = demands_on(constraints, np.bincount(problem.labels).astype(float), 0.95)
        offset = timed(lambda s=scores, p=problem, d=demands: find_offsets(s, p.labels, d))  # type: ignore[misc]
        density = timed(lambda p=problem: move_parameters(p), 3)  # type: ignore[misc]
        quick = timed(lambda p=problem: move_parameters(p, thorough=False), 3)  # type: ignore[misc]
        rows.append([n, offset, quick, density])
    rows[-1].append(f"offset <= .005 s: {rows[-1][1].cpu:.4f}; density <= 4 s: {rows[-1][3].cpu:.2f}")
    rows[:-1] = [[*row, ""] for row in rows[:-1]]
    head = ["rows (5 columns, recall >= .9)", "offset with bound", "density", "density, swaps and restarts", "asked"]
    return table(head, rows)


def more_classes() -> str:
    rows = []
    for k, n in ((3, 300), (3, 20000), (4, 300), (5, 300), (5, 2000), (7, 500)):
        rng = np.random.default_rng(0)
        y = np.arange(n) % k
        scores = rng.normal(size=(k, n)) + 1.5 * (np.arange(k)[:, None] == y)
        constraints = read_constraints({j: {"recall": 0.8} for j in range(2)}, list(range(k)))
        demands = demands_on(constraints, np.bincount(y).astype(float), None)
        found = find_offsets(scores, y, demands)
        proved = "shortest to the gap" if found.exact else "feasible, length bounded"
        rows.append([
            k, n, timed(lambda s=scores, v=y, d=demands: find_offsets(s, v, d), 3), proved,  # type: ignore[misc]
            f"{float(np.linalg.norm(found.offsets)):.4f}", f"{found.shortest:.4f}",
        ])  # fmt: skip
    return table(["classes", "rows", "offset", "proved", "length", "no shorter than"], rows)


def iris() -> str:
    constraints = read_constraints(PROMISES, [0, 1, 2])
    times, losses, above, mesh = [], [], -np.inf, []
    for split in range(10):
        (x, y), _ = iris_split(split)
        for size in (1, 2, 3, 4):
            for columns in combinations(range(4), size):
                if columns in ((0,), (1,), (0, 1)):
                    continue
                problem = fitted(x[:, columns], y, "uniform").problem(constraints)
                start = time.process_time()
                ours = move_parameters(problem)
                if ours.loss == 0:
                    continue
                times.append(time.process_time() - start)
                losses.append(ours.loss)
                found = [move_by_mesh(problem, 0, EVALUATIONS, steps) for steps in (False, True)]
                theirs = min((f.loss for f in found if f.feasible), default=np.inf)
                above = max(above, ours.loss - theirs)
                mesh.append((ours.loss, *(f.loss if f.feasible else np.inf for f in found)))
    parts = np.array(mesh)
    finite = np.isfinite(parts).all(axis=1)
    middle = np.median(times)
    figures = [
        ["active problems", len(losses), "110"],
        ["mean loss", f"{np.mean(losses):.3f}", "<= 4.90, goal 4.864"],
        ["CPU seconds, swaps and restarts included: median", f"{middle:.3f}", "<= .25, goal .1"],
        ["... mean, most", f"{np.mean(times):.3f}, {np.max(times):.3f}", ""],
        ["our loss minus the better of two NOMAD runs, at most", f"{above:.2g}", "<= .001"],
        [f"mean loss on {finite.sum()} problems that all solved", f"{parts[finite, 0].mean():.3f}", ""],
        ["... NOMAD with margins, with steps", ", ".join(f"{v:.3f}" for v in parts[finite, 1:].mean(axis=0)), ""],
        ["problems NOMAD with steps did not solve", int(np.isinf(parts[:, 2]).sum()), ""],
    ]
    return table([f"Iris; NOMAD has {EVALUATIONS} evaluations", "figure", "asked"], figures)


def main() -> None:
    single_thread()
    body = "\n\n".join(["CPU / wall seconds.", two_classes(), more_classes(), iris()])
    write_section("Constrained naive Bayes", body)


if __name__ == "__main__":
    main()
