"""Stagewise search beside plain loops and the paper's pseudo-code (``python -m benchmarks.stagewise``).

All on one thread. The plain incremental loop keeps the scores of all rows, looks up what a candidate adds, and takes
the best class (or the log loss) row by row, compiled. The literal one does what the pseudo-code says: for every
candidate, row and predictor it mixes the parameters and takes the logarithm anew, compiled too. Loops that take long
are run on some of the columns, and their time is scaled up.
"""

from __future__ import annotations

import math
import time
from typing import Any

import numpy as np
import numpy.typing as npt
from numba import njit

from benchmarks.common import single_thread, table, timed, write_section
from seminaive import StagewiseNB, encode
from seminaive.models.mixed import Mixed
from seminaive.models.naive import Estimation, gather_sums, naive_evidence
from seminaive.models.search_rows import columns_that_vary, rows_to_search
from seminaive.search.dose_problem import DoseProblem
from seminaive.search.gains import Gains
from seminaive.search.step_errors import Errors

Array = Any
N, P, J, LEVELS, STEPS, AHEAD = 100_000, 200, 3, 3, 40, 20


# --- data -------------------------------------------------------------------------------------------------------------


def words(n: int, p: int) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.uint8]]:
    """Of every ten columns one and a half tell the class, three and a half repeat such a one in half of the rows, five
    are noise."""
    rng = np.random.default_rng(0)
    y = rng.integers(0, J, n)
    good, tied = (3 * p) // 20, p // 2
    strength = np.where(np.arange(p) < good, rng.uniform(0.05, 0.4, p), 0.0)
    X = np.where(rng.random((n, p)) < strength, y[:, None], rng.integers(0, LEVELS, (n, p))).astype(np.uint8)
    for j in range(good, tied):
        X[:, j] = np.where(rng.random(n) < 0.5, X[:, j - good], X[:, j])
    return y, X


def problem_of(y: Array, X: Array, nominal: bool) -> DoseProblem:
    rows = encode(X, y, nominal=range(X.shape[1]) if nominal else None)
    how = Estimation(smoothing_kind="pooled")
    sums = gather_sums(rows, 1)
    plain = naive_evidence(sums, how)
    mixed = Mixed(plain, sums, how, "parameters")
    return DoseProblem(
        rows.schema, rows_to_search(rows, 0, 1), plain.prior, mixed, columns_that_vary(sums, "skip"), STEPS
    )


# --- plain loops ------------------------------------------------------------------------------------------------------


@njit(cache=True)
def plain_errors(scores: Array, codes: Array, says: Array, truth: Array, out: Array) -> None:
    """Errors after 1, 2, ... steps of one coded column: ``says[t, code, class]`` is its evidence, t = 0 now."""
    n, k = scores.shape
    for t in range(out.size):
        for i in range(n):
            best, at = -np.inf, 0
            for c in range(k):
                score = scores[i, c] - says[0, codes[i], c] + says[t + 1, codes[i], c]
                if score > best:
                    best, at = score, c
            out[t] += at != truth[i]


@njit(cache=True)
def plain_errors_of_numbers(
    scores: Array, z: Array, mean: Array, sd: Array, logs: Array, truth: Array, out: Array
) -> None:
    """The same for a number: a Gaussian per step and class; at dose 0 (an infinite mean) it says nothing."""
    n, k = scores.shape
    for t in range(out.size):
        for i in range(n):
            best, at = -np.inf, 0
            for c in range(k):
                score = scores[i, c]
                if mean[0, c] < np.inf:
                    score += logs[0, c] + 0.5 * ((z[i] - mean[0, c]) / sd[0, c]) ** 2
                score -= logs[t + 1, c] + 0.5 * ((z[i] - mean[t + 1, c]) / sd[t + 1, c]) ** 2
                if score > best:
                    best, at = score, c
            out[t] += at != truth[i]


@njit(cache=True)
def plain_log_loss(scores: Array, codes: Array, says: Array, truth: Array) -> float:
    """Log loss after one step of a coded column."""
    n, k = scores.shape
    loss = 0.0
    for i in range(n):
        best = -np.inf
        for c in range(k):
            best = max(best, scores[i, c] - says[0, codes[i], c] + says[1, codes[i], c])
        total, own = 0.0, 0.0
        for c in range(k):
            score = scores[i, c] - says[0, codes[i], c] + says[1, codes[i], c]
            total += math.exp(score - best)
            if c == truth[i]:
                own = score
        loss += best + math.log(total) - own
    return loss


@njit(cache=True)
def literal_errors(
    codes: Array, own: Array, shared: Array, prior: Array, doses: Array, truth: Array, j: int, out: Array
) -> None:
    """The pseudo-code: for every candidate, row, class and predictor mix the parameters and take the logarithm."""
    p, n = codes.shape
    k = prior.size
    for t in range(out.size):
        for i in range(n):
            best, at = -np.inf, 0
            for c in range(k):
                score = prior[c]
                for m in range(p):
                    alpha = (doses[m] + (t + 1 if m == j else 0)) / STEPS
                    score += math.log(alpha * own[m, codes[m, i], c] + (1 - alpha) * shared[m, codes[m, i]])
                if score > best:
                    best, at = score, c
            out[t] += at != truth[i]


def parameters(codes: Array, truth: Array) -> tuple[Array, Array]:
    """P(level | class) and P(level) of columns (columns, rows), smoothed by a mass of 1."""
    classes = np.bincount(truth)
    counts = np.array([[np.bincount(row[truth == c], minlength=LEVELS) for c in range(J)] for row in codes]).swapaxes(
        1, 2
    )
    shared = (counts.sum(axis=2) + 1 / LEVELS) / (classes.sum() + 1)
    return (counts + shared[:, :, None]) / (classes + 1), shared


# --- comparisons ------------------------------------------------------------------------------------------------------


def some_steps(errors: Errors, columns: range) -> None:
    """A model on the way: some columns have a dose."""
    for j in columns:
        errors.move(j, 3 + j % 7)


def discrete() -> list[list[str]]:
    y, X = words(N, P)
    problem = problem_of(y, X, nominal=True)
    errors, few = Errors(problem, AHEAD), 10
    some_steps(errors, range(0, P, 20))
    ours = timed(lambda: errors.after(errors.candidates()), 5)
    after = errors.after(errors.candidates())
    scores = np.ascontiguousarray(errors.scores.T)
    says = [problem.says.tables(j, (errors.doses[j] + np.arange(AHEAD + 1)) / STEPS) for j in range(few)]
    says = [np.ascontiguousarray(part.transpose(0, 2, 1)) for part in says]
    counts = np.zeros((few, AHEAD))

    def plain() -> None:
        counts[:] = 0
        for j in range(few):
            plain_errors(scores, problem.codes(j), says[j], problem.truth, counts[j])

    theirs = timed(plain, 3).cpu * P / few
    assert np.array_equal(counts, after[:few])

    gains = Gains(problem, 1)
    gains.restart(errors.scores, errors.doses)

    def every_gain() -> None:
        gains.restart(errors.scores, errors.doses)
        for j in range(P):
            gains.evaluate(j, np.zeros(1, dtype=np.int64))

    restart = timed(lambda: gains.restart(errors.scores, errors.doses), 5).cpu
    by_loss = timed(every_gain, 5).cpu - restart
    losses = np.zeros(few)

    def plain_losses() -> None:
        for j in range(few):
            losses[j] = plain_log_loss(scores, problem.codes(j), says[j], problem.truth)

    loss_loop = timed(plain_losses, 3).cpu * P / few
    every_gain()
    apart = float(np.abs(losses - gains.loss - gains.gain[:few, 0]).max())
    began = time.process_time()
    model = StagewiseNB(nominal=range(P), n_jobs=1).fit(X, y)
    whole = time.process_time() - began
    cells = N * P * AHEAD
    return [
        [f"errors, {N:,} x {P}, {J} classes, {AHEAD} steps: one pass", f"{ours.cpu:.3f}", "", "<= .2 s"],
        ["... per candidate and row, ns", f"{1e9 * ours.cpu / cells:.2f}", "", ""],
        ["... plain incremental loop, same counts", f"{theirs:.2f}", f"{theirs / ours.cpu:.1f} x slower", ">= 5"],
        ["log loss, all columns, one step", f"{by_loss:.4f}", "", ""],
        ["... per candidate and row, ns", f"{1e9 * by_loss / N / P:.2f}", "", ""],
        [
            f"... plain loop (losses agree to {apart:.0e} of {losses[0]:.0f})",
            f"{loss_loop:.3f}",
            f"{loss_loop / by_loss:.1f} x slower",
            ">= 8",
        ],
        [
            f"the whole fit as it comes, from the array: {len(model.path_) - 1} steps, {model.path_.evaluations:,} "
            f"candidates, {int(model.get_support().sum())} columns",
            f"{whole:.2f}",
            "",
            "<= 10 s",
        ],
    ]


def gaussian() -> list[list[str]]:
    rng = np.random.default_rng(1)
    y, p = rng.integers(0, J, N), 10
    X = rng.normal(size=(N, p)) + rng.uniform(0, 0.5, p) * y[:, None]
    problem = problem_of(y, X, nominal=False)
    errors = Errors(problem, AHEAD)
    some_steps(errors, range(0, p, 3))
    ours = timed(lambda: errors.after(errors.candidates()), 5)
    after = errors.after(errors.candidates())
    scores, counts = np.ascontiguousarray(errors.scores.T), np.zeros((p, AHEAD))
    forms = []
    for j in range(p):
        doses = (errors.doses[j] + np.arange(AHEAD + 1)) / STEPS
        f = problem.says.forms(j, doses)[0]
        with np.errstate(divide="ignore", invalid="ignore"):  # at dose 0 nothing is said
            sd, mean = np.sqrt(-0.5 / f[:, :, 2]), -0.5 * f[:, :, 1] / f[:, :, 2]
            logs = -f[:, :, 0] + 0.25 * f[:, :, 1] ** 2 / f[:, :, 2]
        silent = doses == 0
        mean[silent], sd[silent], logs[silent] = np.inf, 1.0, 0.0
        forms.append((mean, sd, logs))

    def plain() -> None:
        counts[:] = 0
        for j in range(p):
            plain_errors_of_numbers(scores, problem.values(j), *forms[j], problem.truth, counts[j])

    theirs = timed(plain, 3)
    differ = int(np.abs(counts - after).max())
    what = f"errors, Gaussian, {N:,} x {p}, {AHEAD} steps: one pass"
    return [
        [what, f"{ours.cpu:.4f}", f"{1e9 * ours.cpu / N / p / AHEAD:.2f} ns per candidate and row", ""],
        [
            f"... plain incremental loop (counts differ by at most {differ})",
            f"{theirs.cpu:.3f}",
            f"{theirs.cpu / ours.cpu:.1f} x slower",
            ">= 5",
        ],
    ]


def literal() -> list[list[str]]:
    rows = []
    for n, p, few in ((300, 20, 20), (3000, 50, 4)):
        y, X = words(n, p)
        problem = problem_of(y, X, nominal=True)
        errors = Errors(problem, AHEAD)
        some_steps(errors, range(0, p, 4))
        codes = np.stack([problem.codes(j) for j in range(p)]) - np.uint8(2)
        own, shared = parameters(codes, problem.truth)
        prior, counts = problem.prior, np.zeros((few, AHEAD))

        def pseudo_code(
            codes=codes, own=own, shared=shared, prior=prior, few=few, counts=counts, e=errors, q=problem
        ) -> None:  # type: ignore[no-untyped-def]
            counts[:] = 0
            for j in range(few):
                literal_errors(codes, own, shared, prior, e.doses, q.truth, j, counts[j])

        theirs = timed(pseudo_code, 3).cpu * p / few
        ours = timed(lambda e=errors: [e.after(e.candidates()) for _ in range(20)], 5).cpu / 20
        assert np.array_equal(counts, errors.after(errors.candidates())[:few])
        rows += [
            [f"errors, {n:,} x {p}, {AHEAD} steps: one pass", f"{ours:.5f}", "", ""],
            ["... literal recomputation, same counts", f"{theirs:.3f}", f"{theirs / ours:.0f} x slower", ">= 100"],
        ]
    return rows


def main() -> None:
    single_thread()
    rows = [*discrete(), *gaussian(), *literal()]
    notes = __doc__.split("\n\n", 1)[1]
    write_section("Stagewise search", f"{notes}\n{table(['what', 'CPU s', 'figure', 'asked'], rows)}")


if __name__ == "__main__":
    main()
