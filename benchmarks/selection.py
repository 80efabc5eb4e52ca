"""Greedy search beside NumPy and scikit-learn, and indicators from series (``python -m
benchmarks.selection``).

The simulated engine signals: 3000 rows, 814 indicators, 4 classes, one thread. NumPy forms and scikit-learn's
SequentialFeatureSelector are run for a few steps; their whole time is extrapolated from the number of
candidates. The NumPy form for errors stands there twice: "error" gives scores within 1e-12 of each other to the lower
class, as the definition wants; "plain error" takes argmax as it comes.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable

import numpy as np
import numpy.typing as npt
from scipy.special import logsumexp
from sklearn.feature_selection import SequentialFeatureSelector
from sklearn.model_selection import cross_val_score
from sklearn.naive_bayes import BernoulliNB

from benchmarks.common import single_thread, table, timed, write_section
from seminaive.datasets.engine_signals import fine_grid, make_engine_signals
from seminaive.search.filters import mrmr_ranking
from seminaive.search.greedy import greedy_path
from seminaive.search.problem import SearchProblem, arrange_rows
from seminaive.selection.indicators import ScoreIndicators
from seminaive.statistics.information import mutual_information, pairwise_information

Floats = npt.NDArray[np.float64]
Codes = npt.NDArray[np.uint8]


def fit_half(X: Codes, y: npt.NDArray[np.int64]) -> npt.NDArray[np.int64]:
    """Half of the rows of each class."""
    rng = np.random.default_rng(0)
    halves = [rng.permutation(np.flatnonzero(y == k)) for k in range(4)]
    return np.sort(np.concatenate([half[: len(half) // 2] for half in halves]))


def learn(X: Codes, y: npt.NDArray[np.int64]) -> tuple[Floats, Floats]:
    """Smoothed log P(0 | k) and log P(1 | k) of every indicator, (K, P, 2), and the log prior."""
    n = np.bincount(y)
    ones = np.stack([X[y == k].sum(axis=0, dtype=np.int64) for k in range(4)])
    shares = (ones + 1) / (n[:, None] + 2)
    return np.log(np.stack([1 - shares, shares], axis=2)), np.log(n / n.sum())


def problem_of(X: Codes, y: npt.NDArray[np.int64], evidence: Floats, prior: Floats) -> SearchProblem:
    order, segments = arrange_rows(y)
    tables = np.zeros((4, X.shape[1], 4))
    tables[:, :, 2:] = evidence
    codes = np.ascontiguousarray(X[order].T + 2)
    return SearchProblem(segments, prior[None], codes, tables.reshape(1, 4, -1), np.arange(X.shape[1] + 1) * 4)


def random_problem(n_classes: int, n_gaussian: int, levels: list[int]) -> SearchProblem:
    """3000 rows with Gaussian features and nominal ones of so many levels."""
    rng = np.random.default_rng(0)
    y = np.sort(rng.integers(0, n_classes, 3000))
    x = rng.normal(size=(n_gaussian, 3000)) + 0.3 * (y % 2)
    shift = rng.normal(size=(n_gaussian, n_classes)) / 5
    codes = np.array([2 + (rng.integers(0, m, 3000) + (rng.random(3000) < 0.2) * y) % m for m in levels])
    tables = rng.normal(size=(1, n_classes, sum(levels) + 2 * len(levels))) / 3
    return SearchProblem(
        arrange_rows(y)[1],
        np.log(np.bincount(y) / 3000)[None],
        codes.reshape(len(levels), 3000).astype(np.uint8),
        tables,
        np.cumsum([0, *(m + 2 for m in levels)]),
        lambda d: -0.5 * (x[d] - shift[d][:, None]) ** 2,
        n_gaussian,
    )


def columns_of_any_kind() -> list[list[str]]:
    """Full forward searches over 200 features that are not indicators: seconds, and row-candidates per second."""
    kinds: dict[str, tuple[int, int, list[int]]] = {
        "100 Gaussian, 100 nominal of 2 to 8 levels, 4 classes": (4, 100, [2, 3, 5, 8] * 25),
        "200 Gaussian, 4 classes": (4, 200, []),
        "200 Gaussian, 2 classes": (2, 200, []),
        "200 nominal of 3 levels, 4 classes": (4, 0, [3] * 200),
        "200 nominal of 8 levels, 4 classes": (4, 0, [8] * 200),
        "200 nominal of 40 levels, 4 classes": (4, 0, [40] * 200),
    }
    rows = []
    for what, kind in kinds.items():
        problem = random_problem(*kind)
        for criterion in ("error", "probability"):
            taken = timed(lambda p=problem, c=criterion: greedy_path(p, "forward", c), 3)
            rate = 3000 * 200 * 201 / 2 / taken.cpu / 1e9
            rows.append([f"3000 rows, {what}, {criterion}", str(taken), f"{rate:.2f} G row-candidates/s", ""])
    return rows


def one_by_one(X: Codes, y: npt.NDArray[np.int64], evidence: Floats, prior: Floats, criterion: str, n: int) -> float:
    """Seconds per candidate of the incremental form in NumPy: (rows, classes) scores plus those of one
    feature."""
    scores = np.repeat(prior[None], len(y), axis=0)
    says = [np.ascontiguousarray(evidence[:, p].T) for p in range(n)]
    columns = [X[:, p].astype(np.intp) for p in range(n)]
    rows = np.arange(len(y))
    began = time.process_time()
    for p in range(n):
        new = scores + says[p][columns[p]]
        if criterion == "plain error":
            np.mean(new.argmax(axis=1) != y)
        elif criterion == "error":
            best = new.max(axis=1, keepdims=True)
            ties = new >= best - 1e-12 * np.abs(best)
            np.mean(ties.argmax(axis=1) != y)
        else:
            np.mean(1 - np.exp(new[rows, y] - logsumexp(new, axis=1)))
    return (time.process_time() - began) / n


def batched(X: Codes, y: npt.NDArray[np.int64], evidence: Floats, prior: Floats) -> float:
    """Seconds per candidate when the scores of all features are formed at once, (classes, rows, features)."""
    x = X.astype(np.float64)
    more = evidence[:, :, 1] - evidence[:, :, 0]
    scores = np.repeat(prior[None], len(y), axis=0)
    rows = np.arange(len(y))

    def step() -> None:
        new = np.stack([x * more[k] + evidence[k, :, 0] + scores[:, k, None] for k in range(4)])
        new -= new.max(axis=0)
        np.exp(new, out=new)
        (1 - new[y, rows] / new.sum(axis=0)).mean(axis=0)

    return timed(step, 1).cpu / X.shape[1]


def batched_odds(X: Codes, y: npt.NDArray[np.int64], evidence: Floats, prior: Floats) -> float:
    """The same with this library's idea in NumPy: odds in place of scores, and no exponentials.

    In the rows of one class, the joint odds are Q a + x (Q d) with Q the rows' odds (rows, rivals), a the
    ratios of the value 0 and d what the value 1 adds to them (rivals, features).
    """
    ratios = np.exp(evidence)
    work = []
    for c in range(4):
        rivals = [k for k in range(4) if k != c]
        own = ratios[rivals] / ratios[c]
        odds = np.repeat(np.exp(prior[rivals] - prior[c])[None], int((y == c).sum()), axis=0)
        work.append((odds, own[:, :, 0], own[:, :, 1] - own[:, :, 0], X[y == c].astype(np.float64)))

    def step() -> None:
        for odds, at_zero, more, x in work:
            joint = odds @ at_zero
            joint += x * (odds @ more)
            (joint / (1 + joint)).sum(axis=0)

    return timed(step, 3).cpu / X.shape[1]


def sequential_selector(X: Codes, y: npt.NDArray[np.int64], fit: npt.NDArray[np.int64]) -> float:
    """Seconds of scikit-learn's selector with one split, extrapolated to all steps.

    Two steps over 100 columns give the time of a candidate with 1.5 columns; how it grows with the number
    of columns is measured with the cross-validation that the selector calls for each candidate.
    """
    split = [(fit, fit)]
    selector = SequentialFeatureSelector(BernoulliNB(), n_features_to_select=2, cv=split, n_jobs=1)
    began = time.process_time()
    selector.fit(X[:, :100], y)
    few = (time.process_time() - began) / (100 + 99)
    sizes = np.array([2, 200, 400, 600, 814])
    costs = [timed(lambda s=s: cross_val_score(BernoulliNB(), X[:, :s], y, cv=split), 3).cpu for s in sizes]
    size = np.arange(1, 815)
    return float(np.sum((814 - size + 1) * (few + np.interp(size, sizes, costs) - costs[0])))


def compiling() -> float:
    """CPU seconds of the first search ever: a fresh process with an empty cache, imports not counted."""
    code = (
        "import numpy as np, time\n"
        "from seminaive.search.problem import SearchProblem, arrange_rows\n"
        "from seminaive.search.greedy import greedy_path\n"
        "began = time.process_time()\n"
        "segments = arrange_rows([0, 0, 0, 1, 1, 1])[1]\n"
        "codes = np.array([[2, 2, 3, 3, 3, 3]], dtype=np.uint8)\n"
        "tables = np.log([[[1, 1, 0.6, 0.4], [1, 1, 0.2, 0.8]]])\n"
        "greedy_path(SearchProblem(segments, np.log([[0.5, 0.5]]), codes, tables, np.array([0, 4])))\n"
        "print(time.process_time() - began)"
    )
    with tempfile.TemporaryDirectory() as folder:
        environment = {**os.environ, "NUMBA_CACHE_DIR": folder}
        found = subprocess.run(
            [sys.executable, "-c", code], env=environment, capture_output=True, text=True, check=True
        )
    return float(found.stdout)


def main() -> None:
    single_thread()
    signals, labels = make_engine_signals(1)
    transform: Callable[[], Codes] = lambda: ScoreIndicators(fine_grid()).fit_transform(signals)  # noqa: E731
    indicators = timed(transform, 3)
    X = transform()
    fit = fit_half(X, labels)
    A, y = X[fit], labels[fit]
    evidence, prior = learn(A, y)
    small = problem_of(A, y, evidence, prior)
    many = np.random.default_rng(0).choice(len(A), 30_000)
    large = problem_of(A[many], y[many], evidence, prior)

    n_candidates = 814 * 815 // 2
    rows: list[list[str]] = [["6000 series to 814 indicators", str(indicators), "", "<= 4 s"]]
    whole = {}
    for direction in ("forward", "backward"):
        for criterion, most in (("error", 0.25), ("probability", 0.5 if direction == "forward" else 1.0)):
            time_taken = timed(lambda d=direction, c=criterion: greedy_path(small, d, c, ties="index"), 5)
            whole[direction, criterion] = time_taken.cpu
            rows.append([f"full {direction} search, {criterion}", str(time_taken), "", f"<= {most} s"])
    for criterion in ("error", "probability"):
        ten_times = timed(lambda c=criterion: greedy_path(large, "forward", c, ties="index"), 1, warm=False)
        ratio = ten_times.cpu / whole["forward", criterion]
        rows.append(
            [
                f"the same forward with 30,000 rows, {criterion}",
                str(ten_times),
                f"{ratio:.1f} x the time",
                "<= 12",
            ]
        )
    rows += columns_of_any_kind()
    by_probability = timed(lambda: greedy_path(small, "forward", "error"), 3)
    rows.append(["full forward search, error, ties by probability", str(by_probability), "", ""])
    for form, criterion in (("error", "error"), ("plain error", "error"), ("probability", "probability")):
        seconds = one_by_one(A, y, evidence, prior, form, 200) * n_candidates
        ratio = seconds / whole["forward", criterion]
        what = f"NumPy, one candidate at a time, {form} (200 of {n_candidates} candidates)"
        rows.append([what, f"{seconds:.1f}", f"{ratio:.0f} x slower", ">= 100"])
    for form, what, least in (
        (batched, "NumPy, all candidates of a step at once, probability (1 step)", ">= 15"),
        (batched_odds, "... with odds in place of scores (3 steps)", ""),
    ):
        seconds = form(A, y, evidence, prior) * n_candidates
        ratio = seconds / whole["forward", "probability"]
        rows.append([what, f"{seconds:.1f}", f"{ratio:.0f} x slower", least])
    seconds = sequential_selector(X, labels, fit)
    ratio = seconds / whole["forward", "error"]
    what = "SequentialFeatureSelector(BernoulliNB), one split, 2 steps and growth with size"
    rows.append([what, f"{seconds:.0f}", f"{ratio:.0f} x slower", ">= 10000"])

    counts = np.stack([np.stack([(A[y == k] == v).sum(axis=0) for v in (0, 1)], axis=1).ravel() for k in range(4)])
    codes = np.ascontiguousarray(A.T)
    relevance = mutual_information(counts, np.arange(815) * 2)
    ranking = timed(lambda: mrmr_ranking(relevance, pairwise_information(codes)), 3)
    rows.append(["mRMR ranking of 814 indicators", str(ranking), "", ""])
    rows.append(["compiling for the first search, empty cache, CPU-s", f"{compiling():.1f}", "", "< 5"])
    write_section(
        "Selection",
        __doc__.split("\n\n", 1)[1] + "\n" + table(["what", "CPU / wall s", "figure", "asked"], rows),
    )


if __name__ == "__main__":
    main()
