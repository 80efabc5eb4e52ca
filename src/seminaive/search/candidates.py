"""The criterion of every candidate at once: how the engine gets from one set to the best next one.

Rows are laid out in tiles (see `seminaive.kernels.search`), each segment filled up with rows of odds 0,
which are never wrong and whose error probability is 0. Odds are taken afresh from the log odds at every
step, so nothing drifts. Everything is float64: on features with two levels the loops run at 7 billion rows
a second and more, so proposing in float32 and deciding in float64, with noise bounds between the two,
would save a few hundredths of a second.
"""

from __future__ import annotations

import hashlib
import itertools
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from seminaive.kernels.search import ERROR, LANES, LOG_LOSS, PROBABILITY, TILE, score_coded, score_dense
from seminaive.search.odds import Criterion, Odds
from seminaive.search.problem import SearchProblem

__all__ = ["Candidates", "twin_of"]

Floats = npt.NDArray[np.float64]
Integers = npt.NDArray[np.int64]

KINDS = {"error": ERROR, "probability": PROBABILITY, "log_loss": LOG_LOSS}

STEEPEST = {"error": np.inf, "probability": 300.0, "log_loss": 80.0}
"""Features that say more than this about some row could bring it back from where odds are cut off, or let
products of eight rows overflow; they are scored one by one from the log odds."""


@dataclass(frozen=True)
class Layout:
    """Rows in tiles.

    ``place[i]`` is where row i lies; ``levels[level_starts[c]:level_starts[c + 1]]`` are the codes of
    feature c that occur.
    """

    tile_starts: Integers
    tile_segments: Integers
    place: Integers
    codes: npt.NDArray[np.uint8]
    levels: npt.NDArray[np.uint8]
    level_starts: Integers
    weights: Floats
    all_weigh_one: bool

    @property
    def n_rows(self) -> int:
        return int(self.tile_starts[-1])


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
        self.layout = _lay_out(odds.problem)
        self.n_rivals = odds.problem.n_classes - 1
        filled = 1 if self.n_rivals == 1 else -(-self.n_rivals // 3) * 3
        self.rows = np.empty((filled, self.layout.n_rows))
        self.base = np.ones(self.layout.n_rows)
        self.bounds = odds.problem.segments.starts.tolist()
        self.begins = self.layout.place[self.bounds[:-1]].tolist()
        self.offsets = np.ascontiguousarray(odds.problem.offsets, dtype=np.int64)
        self.work = np.empty((2, TILE))
        self._shifts: dict[str, Shifts] = {}

    def score(self, criterion: Criterion, features: Integers) -> Floats:
        """Criterion of the sets that moving each of these features would lead to."""
        constant = self._fill_rows(criterion)
        if criterion not in self._shifts:
            self._shifts[criterion] = self._learn_shifts(criterion)
        shifts, layout = self._shifts[criterion], self.layout
        kind, n_coded = KINDS[criterion], self.odds.problem.n_coded
        rows, base, weights, one = self.rows, self.base, layout.weights, layout.all_weigh_one
        slots = self.odds.slot[features]
        steep = shifts.steep[slots]
        out = np.zeros(len(features))
        coded = np.flatnonzero(~steep & (slots < n_coded))
        if len(coded):
            total = np.zeros(len(coded))
            score_coded(
                kind, slots[coded], layout.codes, layout.tile_starts, layout.tile_segments, self.offsets,
                layout.level_starts, layout.levels, shifts.coded, rows, base, weights, one, self.work, total,
            )  # fmt: skip
            out[coded] = total
        dense = np.flatnonzero(~steep & (slots >= n_coded))
        if len(dense):
            total = np.zeros(len(dense))
            at = shifts.dense_at[slots[dense] - n_coded]
            score_dense(kind, at, shifts.dense, rows, base, weights, one, self.work, total)
            out[dense] = total
        out = (out + constant) / self.odds.total_weight
        for j in np.flatnonzero(steep):
            out[j] = self.odds.value_after(int(features[j]), criterion)
        return out

    def _fill_rows(self, criterion: Criterion) -> float:
        """Write the odds of the present set into the tiles; returns what the log loss has in common."""
        odds = self.odds
        self.rows.fill(-np.inf if criterion == "error" else 0.0)
        if criterion == "error":
            self._place(odds.decided())
        elif criterion == "probability":
            self._place(odds.odds())
        else:
            top = np.maximum(odds.rivals.max(axis=0), 0.0)
            self._place(np.exp(odds.rivals - top))
            self.base[self.layout.place] = np.exp(-top)
            return float(top.sum() if odds.weights is None else np.dot(top, odds.weights))
        return 0.0

    def _place(self, values: Floats) -> None:
        for (first, last), begin in zip(itertools.pairwise(self.bounds), self.begins, strict=True):
            self.rows[: self.n_rivals, begin : begin + last - first] = values[:, first:last]

    def _learn_shifts(self, criterion: Criterion) -> Shifts:
        odds, problem, layout = self.odds, self.odds.problem, self.layout
        n_coded, most = problem.n_coded, STEEPEST[criterion]
        is_log = criterion == "error"
        shape = (self.n_rivals, len(problem.segments.labels), problem.tables.shape[2])
        logs = self.sign * odds.log_ratios.reshape(shape)
        steep = np.zeros(problem.n_features, dtype=bool)
        for c in range(n_coded):
            present = layout.levels[layout.level_starts[c] : layout.level_starts[c + 1]]
            steep[c] = (np.abs(logs[:, :, problem.offsets[c] + present.astype(np.int64)]) > most).any()
        coded = np.full((*shape[1:], len(self.rows)), 0.0 if is_log else 1.0)
        with np.errstate(over="ignore"):
            coded[:, :, : self.n_rivals] = (logs if is_log else np.exp(logs)).transpose(1, 2, 0)

        dense_at = np.full(problem.n_dense, -1, dtype=np.int64)
        kept = np.empty((problem.n_dense, self.n_rivals, layout.n_rows))
        n_kept = 0
        for d, feature in enumerate(problem.positions[n_coded:]):
            shift, _ = odds.evidence(int(feature))
            if np.abs(shift).max() > most:
                steep[n_coded + d] = True
                continue
            kept[n_kept] = 0.0
            kept[n_kept][:, layout.place] = self.sign * shift if is_log else np.exp(self.sign * shift)
            dense_at[d] = n_kept
            n_kept += 1
        return Shifts(coded, kept[:n_kept], dense_at, steep)


def _lay_out(problem: SearchProblem) -> Layout:
    starts = problem.segments.starts
    tile_starts, tile_segments = [0], []
    place = np.empty(problem.segments.n_rows, dtype=np.int64)
    for s, (first, last) in enumerate(itertools.pairwise(starts.tolist())):
        begin = tile_starts[-1]
        place[first:last] = np.arange(begin, begin + last - first)
        end = begin + -(-(last - first) // LANES) * LANES
        while tile_starts[-1] < end:
            tile_starts.append(min(tile_starts[-1] + TILE, end))
            tile_segments.append(s)
    n_coded, n_rows = problem.n_coded, tile_starts[-1]
    codes = np.empty(n_coded * n_rows, dtype=np.uint8)
    for start, stop in itertools.pairwise(tile_starts):
        first, last = np.searchsorted(place, [start, stop])
        block = codes[n_coded * start : n_coded * stop].reshape(n_coded, stop - start)
        block[:, : last - first] = problem.codes[:, first:last]
        block[:, last - first :] = problem.codes[:, first : first + 1]  # a code that occurs; the odds there are 0
    occurs = [np.unique(row) for row in problem.codes]
    weights = np.ones(n_rows)
    if problem.weights is not None:
        weights[place] = problem.weights
    return Layout(
        np.array(tile_starts, dtype=np.int64),
        np.array(tile_segments, dtype=np.int64),
        place,
        codes,
        np.concatenate([np.empty(0, dtype=np.uint8), *occurs]),
        np.concatenate([[0], np.cumsum([len(levels) for levels in occurs])]).astype(np.int64),
        weights,
        bool((weights == 1.0).all()),
    )


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
