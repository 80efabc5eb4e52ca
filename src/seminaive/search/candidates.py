"""The criterion of every candidate at once: how the engine gets from one set to the best next one.

Odds are taken afresh from the log odds at every step, so nothing drifts. Everything is float64: on features with two
levels the loops run at 7 billion rows a second and more, and are bound by choosing what a code does, so proposing in
float32 and deciding in float64, with noise bounds between the two, would gain nothing (10.8 against 10.9 billion).
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from seminaive.kernels.search import ERROR, LOG_LOSS, PROBABILITY, TILE, score_coded, score_dense
from seminaive.search.odds import Criterion, Odds
from seminaive.search.problem import SearchProblem
from seminaive.search.tiles import Tiles, lay_out
from seminaive.search.undecided import Undecided

__all__ = ["Candidates", "Standing", "twin_of"]

Floats = npt.NDArray[np.float64]
Integers = npt.NDArray[np.int64]

KINDS = {"error": ERROR, "probability": PROBABILITY, "log_loss": LOG_LOSS}

STEEPEST = {"error": np.inf, "probability": 300.0, "log_loss": 80.0}
"""Features that say more than this about some row could bring it back from where odds are cut off, or let
products of eight rows overflow; they are scored one by one from the log odds."""


@dataclass(frozen=True)
class Shifts:
    """What moving each feature does: log shifts for errors, else their exponentials.

    ``coded[segment, code, rival]``; ``dense[at, rival, row]``, where ``dense_at`` says which row of it a
    dense feature has; ``steep`` marks features left out.
    """

    coded: Floats
    dense: Floats
    dense_at: Integers
    steep: npt.NDArray[np.bool_]


class Candidates:
    """Scores of all moves from the present set.

    Parameters
    ----------
    odds : Odds
        The present set; moves happen there.
    sign : {1, -1}
        1 to score adding a feature, -1 removing it.
    """

    def __init__(self, odds: Odds, sign: int) -> None:
        self.odds = odds
        self.sign = sign
        self.n_rivals = odds.problem.n_classes - 1
        occurs = _levels_of(odds.problem)
        self.levels = np.concatenate([np.empty(0, dtype=np.uint8), *occurs])
        self.level_starts = np.cumsum([0, *map(len, occurs)]).astype(np.int64)
        self.offsets = np.ascontiguousarray(odds.problem.offsets, dtype=np.int64)
        self.all_weigh_one = odds.weights is None or bool((odds.weights == 1.0).all())
        self.whole = lay_out(odds.problem)
        self.undecided: Undecided | None = None
        self.work = np.empty((2, TILE))
        self._shifts: dict[str, Shifts] = {}

    def score(self, criterion: Criterion, features: Integers) -> Floats:
        """Criterion of the sets that moving each of these features would lead to."""
        if criterion not in self._shifts:
            self._shifts[criterion] = self._learn_shifts(criterion)
        shifts = self._shifts[criterion]
        tiles, constant = self._tiles(criterion)
        kind, n_coded = KINDS[criterion], self.odds.problem.n_coded
        slots = self.odds.slot[features]
        steep = shifts.steep[slots]
        out = np.zeros(len(features))
        coded = np.flatnonzero(~steep & (slots < n_coded))
        if len(coded):
            total = np.zeros(len(coded))
            score_coded(
                kind, slots[coded], tiles.codes, tiles.starts, tiles.segments, self.offsets, self.level_starts,
                self.levels, shifts.coded, tiles.odds, tiles.base, tiles.weights, self.all_weigh_one, self.work, total,
            )  # fmt: skip
            out[coded] = total
        dense = np.flatnonzero(~steep & (slots >= n_coded))
        if len(dense):
            total = np.zeros(len(dense))
            at = shifts.dense_at[slots[dense] - n_coded]
            score_dense(
                kind, at, shifts.dense, tiles.odds, tiles.base, tiles.weights, self.all_weigh_one, self.work, total
            )
            out[dense] = total
        out = (out + constant) / self.odds.total_weight
        for j in np.flatnonzero(steep):
            out[j] = self.odds.value_after(int(features[j]), criterion)
        return out

    def _tiles(self, criterion: Criterion) -> tuple[Tiles, float]:
        """The rows to look at, with the odds of the present set, and what all candidates have in common."""
        odds, tiles, constant = self.odds, self.whole, 0.0
        if criterion == "error":
            values = odds.decided()
            if not odds.problem.n_dense:
                self.undecided = self.undecided or Undecided(odds, self.whole, self._shifts[criterion].coded)
                tiles, constant = self.undecided.look()
        elif criterion == "probability":
            values = odds.odds()
        else:
            top = np.maximum(odds.rivals.max(axis=0), 0.0)
            values = np.exp(odds.rivals - top)
            tiles.spread(np.exp(-top), tiles.base)
            constant = float(top.sum() if odds.weights is None else np.dot(top, odds.weights))
        tiles.odds.fill(-np.inf if criterion == "error" else 0.0)
        tiles.spread(values, tiles.odds[: self.n_rivals])
        return tiles, constant

    def _learn_shifts(self, criterion: Criterion) -> Shifts:
        odds, problem, n_rows = self.odds, self.odds.problem, self.whole.n_rows
        n_coded, most = problem.n_coded, STEEPEST[criterion]
        is_log = criterion == "error"
        logs = self.sign * odds.log_ratios
        steep = np.zeros(problem.n_features, dtype=bool)
        if n_coded:
            at = np.repeat(self.offsets[:-1], np.diff(self.level_starts)) + self.levels
            told = np.abs(logs).max(axis=(0, 1))[at]
            steep[:n_coded] = np.maximum.reduceat(told, self.level_starts[:-1]) > most
        coded = np.full((*logs.shape[1:], len(self.whole.odds)), 0.0 if is_log else 1.0)
        with np.errstate(over="ignore"):
            coded[:, :, : self.n_rivals] = (logs if is_log else np.exp(logs)).transpose(1, 2, 0)

        dense_at = np.full(problem.n_dense, -1, dtype=np.int64)
        kept = np.empty((problem.n_dense, self.n_rivals, n_rows))
        n_kept = 0
        for d, feature in enumerate(problem.positions[n_coded:]):
            shift, _ = odds.dense_evidence(int(feature))
            if np.abs(shift).max() > most:
                steep[n_coded + d] = True
                continue
            kept[n_kept] = 0.0
            self.whole.spread(self.sign * shift if is_log else np.exp(self.sign * shift), kept[n_kept])
            dense_at[d] = n_kept
            n_kept += 1
        return Shifts(coded, kept[:n_kept], dense_at, steep)


def _levels_of(problem: SearchProblem) -> list[npt.NDArray[np.uint8]]:
    """The codes of each feature that occur."""
    low, high = problem.codes.min(axis=1), problem.codes.max(axis=1)
    ends = np.stack([low, high], axis=1)
    return [
        pair[: 1 + (pair[1] > pair[0])] if pair[1] - pair[0] <= 1 else np.flatnonzero(np.bincount(row)).astype(np.uint8)
        for pair, row in zip(ends, problem.codes, strict=True)
    ]


class Standing:
    """Features that are free to move; of twins the first that is free stands for all.

    Parameters
    ----------
    odds : Odds
    free : (features,) bools
    """

    def __init__(self, odds: Odds, free: npt.NDArray[np.bool_]) -> None:
        self.twin = twin_of(odds)
        self.waiting: dict[int, list[int]] = {}
        for feature in np.flatnonzero(free)[::-1].tolist():
            self.waiting.setdefault(int(self.twin[feature]), []).append(feature)
        self.stands = np.zeros(len(free), dtype=bool)
        self.stands[[group[-1] for group in self.waiting.values()]] = True

    def features(self) -> Integers:
        """Those that stand, in their order."""
        return np.flatnonzero(self.stands)

    def take(self, feature: int) -> None:
        """It moves: its next twin, if there is one, stands now."""
        group = self.waiting[int(self.twin[feature])]
        self.stands[group.pop()] = False
        if group:
            self.stands[group[-1]] = True


def twin_of(odds: Odds) -> Integers:
    """For every feature the first one with the same rows and the same evidence, often itself.

    Twins lead to the same criterion, so that only one of them need be scored.
    """
    problem = odds.problem
    first: dict[bytes, int] = {}
    twin = np.empty(problem.n_features, dtype=np.int64)
    for feature in range(problem.n_features):
        slot = int(odds.slot[feature])
        if slot < problem.n_coded:
            digest = hashlib.blake2b(np.ascontiguousarray(problem.codes[slot]).data, digest_size=20)
            digest.update(problem.tables[:, :, problem.offsets[slot] : problem.offsets[slot + 1]].tobytes())
        else:
            digest = hashlib.blake2b(problem.dense_evidence(slot - problem.n_coded).tobytes(), digest_size=20)
        twin[feature] = first.setdefault(digest.digest(), feature)
    return twin
