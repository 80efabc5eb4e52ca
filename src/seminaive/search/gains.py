"""How much every possible step would change the log loss, evaluated only where the step may be the best.

The best step is found exactly, and yet most steps are not looked at. With P the class probabilities of a row, a step s
turns P(k) into P(k) s(k) / E s, and what another step a would gain, the sum of log E a over rows, changes by

    sum of  log( E[s a] / (E s E a) )  >=  sum of  log(1 - cv(s) cv(a))

(Cauchy and Schwarz; cv is the standard deviation over the mean, under P).

If a(k) lies between m and M, and the most probable class of the row has probability 1 - q,
cv(a) <= (M - m) / m min(sqrt q, 1/2); cv(s) min(sqrt q, 1/2) is summed up by the kernel that takes the step. So every
step that was evaluated once has a bound on what it can gain now, and is looked at again only if that is as much as the
best. Steps of noise move little and are moved little: they wait for hundreds of steps.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from seminaive.evidence.model import log_softmax
from seminaive.kernels.stagewise import TILE, gains_of_codes, gains_of_numbers, move_probabilities
from seminaive.search.dose_problem import BINS, DoseProblem
from seminaive.table.schema import Floats, Integers

__all__ = ["SAME", "Gains"]

SAME = 1e-12
"""Log losses this close, per row, are ties."""

RANGE = 600.0
"""Products of factors stay between exp(-RANGE) and exp(RANGE)."""

STEEP = RANGE / 8
"""Steps that move log odds by more than this are evaluated from the scores, by log-sum-exp."""

DRIFT = 200.0
"""After log odds may have moved by so much, probabilities are taken afresh from the scores."""

AT_ONCE = 4
"""So many columns are evaluated before the best is looked for again."""


@dataclass(frozen=True, eq=False)
class Moves:
    """What the next steps of one column do, (steps, ...).

    Attributes
    ----------
    odds : (steps, classes, classes, codes)
        What a step does to the odds of class k against class c; empty for a numeric column.
    forms, missing : (steps, classes, 3), (steps, classes)
        The same as the logarithm of a quadratic form, for a numeric column.
    farthest : (steps,)
        Largest move of log odds in any row.
    stretch : (steps,) ints
        For how many rows a product of factors stays in range.
    spread : (steps, classes)
        Sum over the rows of a class of ((M - m) / m)^2.
    widest : (steps,)
        Largest (M - m) / m.
    """

    odds: Floats
    forms: Floats
    missing: Floats
    farthest: Floats
    stretch: Integers
    spread: Floats
    widest: Floats


class Gains:
    """The change of the summed log loss by every step from the present doses.

    Parameters
    ----------
    problem : DoseProblem
    lookahead : int
        How many steps of one column are candidates.

    Attributes
    ----------
    doses : (columns,) ints
        In steps.
    loss : float
        Sum of -log P(y | x).
    wrong : float
        Weight of the rows that are wrong.
    computed : int
        Steps evaluated so far.
    """

    def __init__(self, problem: DoseProblem, lookahead: int) -> None:
        self.problem = problem
        self.lookahead = lookahead
        self.n = len(problem.schema.columns)
        self.doses = np.zeros(self.n, dtype=np.int64)
        self.computed = 0
        self.work = np.empty((4 + problem.n_classes, TILE))
        self.cells = _Cells(problem)
        self._moves: dict[int, Moves] = {}
        self._scores: Floats | None = None
        self.gain = np.full((self.n, lookahead), -np.inf)
        self.slack = np.zeros((self.n, lookahead))
        self.fresh = np.zeros((self.n, lookahead), dtype=bool)
        self.spread = np.zeros((self.n, lookahead, problem.n_classes))
        self.widest = np.zeros((self.n, lookahead))
        scores = problem.scores(self.doses)
        self.restart(scores)
        self.wrong = wrong_by_scores(problem, scores)

    def restart(self, scores: Floats, doses: Integers | None = None) -> None:
        """Take probabilities and loss from scores; every gain must be evaluated anew."""
        if doses is not None:
            for column in np.flatnonzero(doses != self.doses).tolist():
                self._moves.pop(column, None)
            self.doses = doses.copy()
        log_probabilities = log_softmax(scores)
        self.probabilities = np.exp(log_probabilities)
        rows = np.arange(scores.shape[1])
        self.loss = -self.problem.total(log_probabilities[self.problem.truth, rows])
        self.drift = 0.0
        self.gain[:] = -np.inf
        self.slack[:] = 0.0
        self.fresh[:] = False

    # --- finding the best step ----------------------------------------------------------------------------------------

    def candidates(self) -> npt.NDArray[np.bool_]:
        """Which steps there are, (columns, lookahead)."""
        there = np.zeros((self.n, self.lookahead), dtype=bool)
        ahead = np.arange(1, self.lookahead + 1)
        columns = self.problem.columns
        there[columns] = self.doses[columns, None] + ahead <= self.problem.steps
        return there

    def best(self, among: npt.NDArray[np.bool_] | None = None) -> tuple[Floats, float]:
        """Gains of all steps that may be the best (infinite elsewhere), and the largest reduction among them."""
        among = self.candidates() if among is None else among
        same = SAME * self.problem.total_weight
        # the step that gained most when it was last looked at comes first: others are then soon ruled out
        guess = np.where(among, np.where(np.isfinite(self.gain), self.gain, -np.inf), np.inf)
        order = np.argsort(guess.min(axis=1), kind="stable")
        order = order[np.isfinite(guess[order]).any(axis=1) | (among & ~np.isfinite(self.gain))[order].any(axis=1)]
        least = np.min(self.gain[among & self.fresh], initial=np.inf)
        known = False
        while True:
            open_steps = among & ~self.fresh & (self.gain - self.slack <= least + 2 * same)
            if not open_steps.any():
                break
            waiting = open_steps.any(axis=1)
            some = order[waiting[order]] if not known else np.flatnonzero(waiting)
            known = True
            for column in some[:AT_ONCE].tolist():
                self.evaluate(column, np.flatnonzero(open_steps[column]))
            least = np.min(self.gain[among & self.fresh], initial=np.inf)
        return np.where(among & self.fresh, self.gain, np.inf), float(least)

    def evaluate(self, column: int, steps: Integers) -> None:
        """Evaluate some of the next steps of a column (0 is the next)."""
        moves = self.moves(column)
        problem = self.problem
        out = np.zeros(len(steps))
        plain: Any = slice(None)
        if moves.farthest[steps].max() > STEEP:
            steep = moves.farthest[steps] > STEEP
            for j in np.flatnonzero(steep).tolist():
                out[j] = problem.total(problem.log_losses(self._stepped(column, int(steps[j]) + 1))) - self.loss
            plain = np.flatnonzero(~steep)
        if len(steps[plain]):
            total = np.zeros(len(steps[plain]))
            where = problem.starts, problem.classes, self.probabilities, problem.weights, self.work, total
            if problem.is_coded(column):
                gains_of_codes(problem.codes(column), moves.odds, steps[plain], moves.stretch, *where)
            else:
                values = problem.values(column)
                gains_of_numbers(values, moves.forms, moves.missing, steps[plain], moves.stretch, *where)
            out[plain] = total
        self.gain[column, steps] = out
        self.slack[column, steps] = 0.0
        self.fresh[column, steps] = True
        self.computed += len(steps)

    # --- taking a step ------------------------------------------------------------------------------------------------

    def move(self, column: int, steps: int) -> None:
        """Raise the dose of a column by some steps, all at once."""
        moves, problem, t = self.moves(column), self.problem, steps - 1
        if not self.fresh[column, t]:
            self.evaluate(column, np.array([t]))
        gain = float(self.gain[column, t])
        far = float(moves.farthest[t])
        if self._scores is not None or far > STEEP or self.drift + far > DRIFT:
            self._scores = self._stepped(column, steps)
        self.doses[column] += steps
        if far > STEEP or self.drift + far > DRIFT:
            assert self._scores is not None
            self.restart(self._scores)
            self.wrong = wrong_by_scores(problem, self._scores)
            if far <= STEEP:
                self._scores = None
        else:
            sums = np.zeros((problem.n_classes, 3))
            of_numbers = np.zeros((problem.n_classes, 3)), np.zeros(problem.n_classes)
            if problem.is_coded(column):
                told = problem.codes(column), moves.odds[t], np.zeros(0), *of_numbers
            else:
                told = _NO_CODES, _NO_ODDS, problem.values(column), moves.forms[t], moves.missing[t]
            where = problem.starts, problem.classes, self.probabilities, problem.weights, self.work, sums
            self.wrong = move_probabilities(*told, *where)
            self.loss += gain
            self.drift += far
            self._loosen(sums)
        self._moves.pop(column)
        self.gain[column] = -np.inf
        self.slack[column] = 0.0

    def _loosen(self, sums: Floats) -> None:
        """What the step just taken can at most have added to what each other step gains."""
        first, second, variance = sums[:, 0], sums[:, 1], float(sums[:, 2].max())
        with np.errstate(invalid="ignore", over="ignore"):
            by_width = self.widest * first.sum()
            by_spread = (np.sqrt(np.minimum(self.spread, 1e300) * second)).sum(axis=2)
            largest = np.sqrt(variance) * 0.5 * self.widest
            grown = np.minimum(by_width, by_spread) / (1 - np.minimum(largest, 0.5))
        rounding = 1e-14 * self.problem.total_weight
        self.slack += np.where(largest < 0.5, 1.000001 * grown + rounding, np.inf)
        self.fresh[:] = False

    def _stepped(self, column: int, steps: int) -> Floats:
        """Scores after some steps of a column; the present ones are kept up to date from now on."""
        problem, dose = self.problem, int(self.doses[column])
        if self._scores is None:
            self._scores = problem.scores(self.doses)
        after = self._scores + problem.evidence(column, dose + steps)
        return after - problem.evidence(column, dose) if dose else after

    def moves(self, column: int) -> Moves:
        """What the next steps of a column do."""
        if column not in self._moves:
            moves = self._moves[column] = self.cells.moves(column, int(self.doses[column]), self.lookahead)
            self.spread[column, : len(moves.spread)] = moves.spread
            self.widest[column, : len(moves.widest)] = moves.widest
        return self._moves[column]


_NO_CODES, _NO_ODDS = np.zeros(0, dtype=np.uint8), np.zeros((1, 1, 1))


def wrong_by_scores(problem: DoseProblem, scores: Floats) -> float:
    """Weight of the rows whose class does not have the best score, the lower class winning ties."""
    return problem.total(np.any(margins(problem, scores) < 0, axis=0).astype(np.float64))


def margins(problem: DoseProblem, scores: Floats) -> Floats:
    """Score of the true class less that of every class, (classes, rows), such that a row is wrong exactly if one is
    below 0: ties, scores within 1e-12 of each other relative to their size, go to the lower class."""
    truth, rows = problem.truth, np.arange(scores.shape[1])
    own = scores[truth, rows]
    tolerance = SAME * np.maximum(np.abs(own), 1.0)
    lower = np.arange(len(scores))[:, None] < truth
    out = own - scores - np.where(lower, tolerance, -tolerance)
    out[truth, rows] = np.inf
    return out


class _Cells:
    """Every column as a few cells: the codes of a coded one, stretches of values of a numeric one."""

    def __init__(self, problem: DoseProblem) -> None:
        self.problem = problem
        self._weights: dict[int, Floats] = {}
        self._stretches: dict[int, Floats] = {}

    def moves(self, column: int, dose: int, lookahead: int) -> Moves:
        """What the next steps of a column do, from a dose."""
        problem = self.problem
        n_steps = min(lookahead, problem.steps - dose)
        doses = np.arange(dose, dose + n_steps + 1) / problem.steps
        no_forms = np.zeros((n_steps, problem.n_classes, 3)), np.zeros((n_steps, problem.n_classes))
        if problem.is_coded(column):
            tables = problem.says.tables(column, doses)
            logs = tables[1:] - tables[0]
            away = logs[:, None] - logs[:, :, None]  # [t, c, k]
            weights = self._weights_of_codes(column)
            highest, lowest = logs.max(axis=1), logs.min(axis=1)
            odds = np.exp(np.clip(away, -STEEP, STEEP))
            forms, missing = no_forms
        else:
            all_forms, all_missing = problem.says.forms(column, doses)
            forms, missing = all_forms[1:] - all_forms[0], all_missing[1:] - all_missing[0]
            weights, ends = self._stretches_of_values(column)
            highest, lowest = _range_of_forms(forms, ends)
            highest = np.concatenate([highest, missing.max(axis=1)[:, None]], axis=1)
            lowest = np.concatenate([lowest, missing.min(axis=1)[:, None]], axis=1)
            odds = np.zeros((n_steps, 1, 1, 1))
        occurs = weights.any(axis=0)
        apart = np.where(occurs, highest - lowest, 0.0)
        farthest = apart.max(axis=1, initial=0.0)
        with np.errstate(over="ignore", invalid="ignore"):
            width = np.expm1(np.minimum(apart, RANGE))
            spread = np.einsum("cl,tl->tc", weights, np.minimum(width, 1e140) ** 2)
        stretch = np.clip(RANGE / np.maximum(farthest, RANGE / (2 * TILE)), 1, TILE).astype(np.int64)
        return Moves(odds, forms, missing, farthest, stretch, spread, width.max(axis=1, initial=0.0))

    def _weights_of_codes(self, column: int) -> Floats:
        """Weight of every code in every class, (classes, codes)."""
        if column not in self._weights:
            problem, n_codes = self.problem, self.problem.schema.columns[column].n_codes
            cells = problem.truth * n_codes + problem.codes(column)
            weights = problem.weights if problem.weights.size else None
            counts = np.bincount(cells, weights=weights, minlength=problem.n_classes * n_codes)
            self._weights[column] = counts.reshape(problem.n_classes, n_codes).astype(np.float64)
        return self._weights[column]

    def _stretches_of_values(self, column: int) -> tuple[Floats, Floats]:
        """Weight of every stretch of values in every class, missing ones last, and the ends of the stretches (2, n)."""
        if column not in self._weights:
            problem, z = self.problem, self.problem.values(column)
            seen = np.sort(z[~np.isnan(z)])
            cuts = np.unique(seen[np.linspace(0, len(seen) - 1, BINS).astype(np.int64)]) if len(seen) else np.zeros(1)
            place = np.where(np.isnan(z), len(cuts), np.searchsorted(cuts, z, side="right") - 1)
            cells = problem.truth * (len(cuts) + 1) + place
            weights = problem.weights if problem.weights.size else None
            counts = np.bincount(cells, weights=weights, minlength=problem.n_classes * (len(cuts) + 1))
            self._weights[column] = counts.reshape(problem.n_classes, -1).astype(np.float64)
            self._stretches[column] = np.stack([cuts, np.append(cuts[1:], cuts[-1])])
        return self._weights[column], self._stretches[column]


def _range_of_forms(forms: Floats, ends: Floats) -> tuple[Floats, Floats]:
    """Largest and least value over the classes and over each stretch, (steps, stretches) each."""
    f0, f1, f2 = (forms[:, :, i, None] for i in range(3))
    low, high = ends
    with np.errstate(divide="ignore", invalid="ignore"):
        turn = np.where(f2 != 0, -0.5 * f1 / f2, 0.0)
    points = [np.broadcast_to(low, (*forms.shape[:2], len(low))), np.broadcast_to(high, (*forms.shape[:2], len(high)))]
    points.append(np.clip(turn, low, high))
    values = np.stack([f0 + z * (f1 + z * f2) for z in points])
    return values.max(axis=(0, 2)), values.min(axis=(0, 2))
