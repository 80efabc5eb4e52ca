"""The adjusted probability model beside its paper's own search and scikit-learn (``python -m benchmarks.adjusted``).

CPU seconds on one thread. The data sets of the paper are used when SEMINAIVE_DATA names their folder; otherwise
generated ones of the same shape.
"""

import os
import resource
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
from sklearn.linear_model import LogisticRegressionCV
from sklearn.model_selection import PredefinedSplit

from benchmarks.common import single_thread, table, timed, write_section
from seminaive.search.design import Rows, table_design
from seminaive.search.penalty import choose_penalty, cross_validated, left_out
from seminaive.search.ridge import FINAL, Restraint, begin, newton, scale
from seminaive.search.weighted_evidence import WeightedEvidence, in_memory
from seminaive.statistics.adjustment import class_adjustments, log_odds_adjustments

Float = npt.NDArray[np.float64]
Index = npt.NDArray[np.intp]

PROTOTYPE = (1.1 + 4 * 3.05) / 0.025
"""The prototype's counts and four Newton steps on a million rows, over its np.bincount of 20 million codes."""

BINARY = {
    "breast_cancer": ("recurrence-events", 286, 9, 6),
    "vote": ("republican", 435, 16, 3),
    "dna": ("ei", 2000, 60, 4),
    "chess": ("won", 3196, 36, 2),
}


def seconds(work: Callable[[], Any], repeats: int = 5, warm: bool = True) -> float:
    return timed(work, repeats, warm).cpu


def read(name: str) -> tuple[npt.NDArray[np.uint8], Index]:
    """Codes and labels of a data set, or of a generated one of its shape."""
    positive, rows, columns, levels = BINARY[name]
    folder = os.environ.get("SEMINAIVE_DATA")
    if not folder:
        rng = np.random.default_rng(0)
        label = rng.integers(0, 2, rows)
        drawn = rng.integers(0, levels, (columns, rows)) + label * (rng.random((columns, rows)) < 0.3)
        return np.minimum(drawn, levels - 1).astype(np.uint8), label.astype(np.intp)
    import pandas as pd

    frame = pd.read_parquet(Path(folder) / f"{name}.parquet")
    if name == "dna":
        frame = frame[frame["split"] == "train"]
    y = (frame["class"].astype(str) == positive).to_numpy().astype(np.intp)
    frame = frame.drop(columns=[c for c in ("split", "class") if c in frame])
    return np.array([pd.factorize(frame[c].astype(str))[0] for c in frame], dtype=np.uint8), y


def flat_counts(codes: npt.NDArray[np.uint8], label: Index, classes: int) -> tuple[Float, Index]:
    width = codes.max(axis=1).astype(np.intp) + 1
    starts = np.concatenate([[0], np.cumsum(width)])
    counts = np.empty((classes, starts[-1]))
    for k in range(classes):
        of_k = codes[:, label == k]
        for j, row in enumerate(of_k):
            counts[k, starts[j] : starts[j + 1]] = np.bincount(row, minlength=width[j])
    return counts, starts


def binary_problem(codes: npt.NDArray[np.uint8], label: Index) -> tuple[WeightedEvidence, Index]:
    counts, starts = flat_counts(codes, label, 2)
    prior = np.bincount(label) / len(label)
    tables = log_odds_adjustments(counts, starts, prior)[None]
    design = table_design(np.log(prior[1:] / prior[:1]), tables, starts)
    return WeightedEvidence(design, in_memory([Rows(codes, label)]), len(label)), starts


def literal_apm(q: Float, y: Float, q0: float, m: float | None = None, start: Float | None = None) -> Float:
    """The paper's own Newton iterations: APM, or APM(m) on weights and multiplier together."""
    alpha, lagrange = np.zeros(q.shape[1]), 0.0
    if m is not None and start is not None:
        if m >= start @ start:
            return start
        alpha = start * np.sqrt(m / (start @ start))
    for _ in range(50):
        p = np.clip(1 / (1 + np.exp(-np.clip(q0 + q @ alpha, -700, 700))), 1e-10, 1 - 1e-10)
        hessian = (q * (p * (1 - p))[:, None]).T @ q + 2 * lagrange * np.eye(len(alpha))
        residual = q.T @ (p - y) + 2 * lagrange * alpha
        try:
            inverse = np.linalg.inv(hessian)
        except np.linalg.LinAlgError:
            inverse = np.linalg.pinv(hessian)
        change = 0.0
        if m is not None:
            pull = inverse @ alpha
            change = (alpha @ alpha - m - 2 * pull @ residual) / (4 * alpha @ pull)
        step = -inverse @ (2 * alpha * change + residual)
        alpha, lagrange = alpha + step, lagrange + change
        if not np.isfinite(alpha).all() or np.abs(step).max() < 1e-10:
            break
    return alpha


def literal_search(q: Float, y: Float, q0: float) -> float:
    """The paper's choice of m: 19 sizes in each of 5 folds."""
    fold = np.random.default_rng(0).integers(0, 5, len(y))
    unrestricted = literal_apm(q, y, q0)
    m_u = float(unrestricted @ unrestricted)
    starts = [literal_apm(q[fold != f], y[fold != f], q0) for f in range(5)]

    def loss(m: float) -> float:
        total = 0.0
        for f, start in enumerate(starts):
            alpha = literal_apm(q[fold != f], y[fold != f], q0, m, start)
            z = q0 + q[fold == f] @ np.nan_to_num(alpha)
            total += np.minimum(np.logaddexp(0, z) - y[fold == f] * z, 23.03).mean()
        return total

    coarse = [loss(m_u * k / 10) for k in range(1, 11)]
    best = int(np.argmin(coarse)) + 1
    low, high = max(best - 1, 0), min(best + 1, 10)
    fine = [loss(m_u * (low + k * (high - low) / 10) / 10) for k in range(1, 10)]
    literal_apm(q, y, q0, m_u * best / 10, unrestricted)
    return min(coarse + fine)


def stratified(label: Index, folds: int) -> Index:
    fold = np.empty(len(label), dtype=np.intp)
    for k in np.unique(label):
        fold[np.random.default_rng(k).permutation(np.flatnonzero(label == k))] = np.arange((label == k).sum()) % folds
    return fold


def cv_folds(problem: WeightedEvidence, rows: Rows, folds: int = 5) -> list[tuple[WeightedEvidence, WeightedEvidence]]:
    fold = stratified(rows.label, folds)

    def part(chosen: npt.NDArray[np.bool_]) -> WeightedEvidence:
        return WeightedEvidence(problem.design, in_memory([rows.take(chosen)]), float(chosen.sum()))

    return [(part(fold != f), part(fold == f)) for f in range(folds)]


def small_sets() -> str:
    """The default choice against the paper's search and against scikit-learn on the same evidence matrix."""
    lines = []
    for name in BINARY:
        codes, label = read(name)
        problem, starts = binary_problem(codes, label)
        rows, y = Rows(codes, label), label.astype(float)
        q = problem.design.tables[0][starts[:-1, None] + codes].T.copy()
        q0, unit = float(problem.design.offset[0]), scale(problem)
        folds = cv_folds(problem, rows)
        # scikit-learn minimises C loss + |w|^2 / 2, so C = 1 / (2 lambda)
        grid = 1 / (2 * unit * 10 ** (np.arange(6, -19, -1) / 3))
        split = PredefinedSplit(stratified(label, 5))
        peer = LogisticRegressionCV(Cs=grid, cv=split, scoring="neg_log_loss", max_iter=1000)
        ours = seconds(lambda: choose_penalty(problem, left_out(problem), unit))  # noqa: B023
        cv = seconds(lambda: choose_penalty(problem, cross_validated(problem, folds), unit))  # noqa: B023
        paper = seconds(lambda: literal_search(q, y, q0), 1, False)  # noqa: B023
        other = seconds(lambda: peer.fit(q, y), 1, False)  # noqa: B023
        shape = f"{name}, {q.shape[0]} x {q.shape[1]}"
        times = [f"{1000 * t:.1f}" for t in (ours, cv, paper, other)]
        lines.append([shape, *times, f"{paper / ours:.1f}", f"{other / ours:.1f}", f"{other / cv:.1f}"])
    head = ["ms", "leave-one-out", "5-fold", "paper's search", "LogisticRegressionCV"]
    return table([*head, "paper / ours (asked 5)", "scikit-learn / ours", "scikit-learn / 5-fold (asked 1)"], lines)


def softmax_sets() -> str:
    """Free and non-negative softmax weights on a set of the shape of DNA."""
    rng = np.random.default_rng(1)
    label = rng.integers(0, 3, 2000)
    codes = np.minimum(rng.integers(0, 4, (60, 2000)) + label * (rng.random((60, 2000)) < 0.15), 3).astype(np.uint8)
    counts, starts = flat_counts(codes, label, 3)
    prior = np.bincount(label) / 2000
    tables = class_adjustments(counts, starts, prior)
    lines = []
    for shared in (False, True):
        design = table_design(np.log(prior), tables, starts, shared=shared)
        problem = WeightedEvidence(design, in_memory([Rows(codes, label)]), 2000)
        unit = scale(problem)
        times = []
        for restraint in (Restraint(), Restraint(nonnegative=True)):
            times.append(seconds(lambda: newton(problem, 0.01 * unit, begin(problem), restraint, FINAL)))  # noqa: B023
            times.append(seconds(lambda: choose_penalty(problem, left_out(problem), unit, restraint)))  # noqa: B023
        ratio = f"{times[2] / times[0]:.2f}"
        lines.append(["shared" if shared else "per class", *[f"{1000 * t:.1f}" for t in times], ratio])
    head = ["2000 x 60, 3 classes, ms", "free fit", "free path", "non-negative fit", "non-negative path"]
    return table([*head, "non-negative / free (asked 5)"], lines)


def one_large_table(n: int) -> str:
    """One penalty on many rows: 100 columns of 8 values, two classes."""
    rng = np.random.default_rng(2)
    label = rng.integers(0, 2, n).astype(np.intp)
    codes = np.empty((100, n), dtype=np.uint8)
    for column in codes:
        column[:] = rng.integers(0, 8, n)
        moved = rng.random(n) < 0.1
        column[moved & (label == 1)] = 7
    problem, starts = binary_problem(codes, label)
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    weights = np.full(100, 0.5)
    count = seconds(lambda: [np.bincount(row) for row in codes])
    fits: list[Any] = []
    times = {
        "counting every column with np.bincount": count,
        "loss, gradient and Hessian": seconds(lambda: problem.sums(weights)),
        "loss and gradient": seconds(lambda: problem.sums(weights, 1)),
        "the fit at one penalty": seconds(lambda: fits.append(newton(problem, 1.0, begin(problem))), 1),
        "one step in NumPy, float32 chunks": seconds(
            lambda: chunked_step(codes, label, problem.design.tables[0], starts, weights), 3
        ),
    }
    after = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    lines = [[name, f"{time:.3f}", f"{time / count:.2f}"] for name, time in times.items()]
    lines.append([f"steps of the fit: {fits[0].steps}; memory added by fitting, MB", (after - before) // 1024, ""])
    plain = table([f"{n:,} x 100 of 8 levels, 2 classes", "s", "x counting"], lines)
    twenty = rng.integers(0, 10, 20_000_000).astype(np.uint8)
    yard = seconds(lambda: np.bincount(twenty))
    ours = (count + times["the fit at one penalty"]) / yard
    against = table(
        ["counting and the fit at one penalty, over np.bincount of 20 million codes in the same run", "", "asked"],
        [["the prototype", f"{PROTOTYPE:.0f}", ""], ["here", f"{ours:.0f}", f"<= {PROTOTYPE / 2:.0f}"]],
    )
    return f"{plain}\n\n{against}"


def chunked_step(codes: npt.NDArray[np.uint8], label: Index, table: Float, starts: Index, weights: Float) -> Float:
    """What one would write in NumPy: look up a float32 chunk, then products."""
    small = table.astype(np.float32)
    hessian = np.zeros((100, 100))
    for first in range(0, codes.shape[1], 20_000):
        q = small[starts[:-1, None] + codes[:, first : first + 20_000]].T
        p = 1 / (1 + np.exp(-(q @ weights.astype(np.float32))))
        hessian += (q * (p * (1 - p))[:, None]).T @ q
        _ = q.T @ (p - label[first : first + 20_000])
    return hessian


def main() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        np.seterr(all="ignore")
        parts = [small_sets(), softmax_sets(), one_large_table(1_000_000)]
    write_section("Adjusted probability model", "\n\n".join(parts))


if __name__ == "__main__":
    single_thread()
    main()
