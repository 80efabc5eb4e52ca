"""The criterion of every candidate at once: how the engine gets from one set to the best next one.

Rows are laid out in tiles (see `seminaive.kernels.search`), each segment filled up with rows of odds 0, which cannot
be wrong and whose error probability is 0. The odds are rounded once per step, from the log odds, so nothing drifts.
Everything is float64: on two-level features the loops run at 7 (errors: 7, two classes: 12) billion rows a second, so
that proposing in float32 and deciding in float64, with noise bounds between, would gain a few hundredths of a second.
"""

from __future__ import annotations

import hashlib

import numpy as np
import numpy.typing as npt

from seminaive.kernels.search import ERROR, LANES, LOG_LOSS, PROBABILITY, TILE, score_coded, score_dense
from seminaive.search.odds import Criterion, Odds

__all__ = ["Candidates"]

Floats = npt.NDArray[np.float64]
Integers = npt.NDArray[np.int64]

KINDS = {"error": ERROR, "probability": PROBABILITY, "log_loss": LOG_LOSS}

FARTHEST = 700.0
"""Log odds are cut off here: no single move of the kernels brings a row back from beyond."""

STEEPEST = {"error": 300.0, "probability": 300.0, "log_loss": 80.0}
"""Features that say more than this about some row are scored from their log odds, not by the kernels."""


class Candidates:
    """Scores of all moves from the present set.

    Parameters
    ----------
    odds : Odds
        The present set; moves happen there.
    criterion : {"error", "probability", "log_loss"}
    sign : {1, -1}
        1 to score adding a feature, -1 removing it.

    Attributes
    ----------
    twin : (P,) ints
        Smallest feature number that has the same rows and the same evidence: twins are scored once.
    """

    def __init__(self, odds: Odds, criterion: Criterion, sign: int) -> None:
        problem = odds.problem
        self.odds = odds
        self.sign = sign
        self.twin = _twins(odds)
        self.tile_starts, self.tile_segments, self.place = _tiles(problem.segments.starts)
        n_padded = int(self.tile_starts[-1])
        self.n_rivals = problem.n_classes - 1
        filled = 1 if self.n_rivals == 1 else -(-self.n_rivals // 3) * 3
        self.rows = np.zeros((filled, n_padded))
        self.base = np.ones(n_padded)
        self.weights = np.ones(n_padded)
        self.all_weigh_one = problem.weights is None or bool((problem.weights == 1.0).all())
        if problem.weights is not None:
            self.weights[self.place] = problem.weights
        self.codes = _tiled_codes(problem.codes, self.tile_starts, self.place)
        occurs = [np.unique(row) for row in problem.codes]
        self.levels = np.concatenate([*occurs, np.empty(0, dtype=np.uint8)]).astype(np.uint8)
        self.level_starts = np.concatenate([[0], np.cumsum([len(o) for o in occurs])]).astype(np.int64)
        n_segments = len(problem.segments.labels)
        shape = (self.n_rivals, n_segments, problem.tables.shape[2])
        shifts = sign * odds.log_ratios.reshape(shape)
        self.ratios = np.ones((n_segments, shape[2], filled))
        with np.errstate(over="ignore", under="ignore"):
            self.ratios[:, :, : self.n_rivals] = np.exp(shifts).transpose(1, 2, 0)
        self.offsets = np.ascontiguousarray(problem.offsets, dtype=np.int64)
        self.steep = np.zeros(problem.n_features, dtype=bool)
        most = STEEPEST[criterion]
        for c, present in enumerate(occurs):
            self.steep[c] = bool(
                (np.abs(shifts[:, :, problem.offsets[c] + present.astype(np.int64)]) > most).any()
            )
        self.dense_ratios = self._dense_ratios(most)
        self.work = np.empty((2, TILE))

    def _dense_ratios(self, most: float) -> Floats:
        """Ratios of all dense features that are not steep, (their number, rivals, rows laid out)."""
        problem = self.odds.problem
        n_coded = problem.n_coded
        self.dense_at = np.full(problem.n_dense, -1, dtype=np.int64)
        kept: list[Floats] = []
        for d, feature in enumerate(problem.positions[n_coded:]):
            shift, own = self.odds.evidence(int(feature))
            if not (np.isfinite(shift).all() and np.isfinite(own).all()):
                raise ValueError(
                    f"Evidence of feature {feature} must be finite; floor a density of zero at log -700."
                )
            if np.abs(shift).max() > most:
                self.steep[n_coded + d] = True
                continue
            self.dense_at[d] = len(kept)
            ratios = np.zeros((self.n_rivals, self.rows.shape[1]))
            ratios[:, self.place] = np.exp(self.sign * shift)
            kept.append(ratios)
        return np.stack(kept) if kept else np.empty((0, self.n_rivals, self.rows.shape[1]))

    def score(self, criterion: Criterion, features: Integers) -> Floats:
        """Criterion of the sets that moving each of these features would lead to."""
        constant = self._lay_out(criterion)
        kind = KINDS[criterion]
        n_coded = self.odds.problem.n_coded
        slots = self.odds.slot[features]
        out = np.zeros(len(features))
        steep = self.steep[slots]
        coded = np.flatnonzero(~steep & (slots < n_coded))
        dense = np.flatnonzero(~steep & (slots >= n_coded))
        rows, base, weights, one = self.rows, self.base, self.weights, self.all_weigh_one
        if len(coded):
            total = np.zeros(len(coded))
            score_coded(
                kind, slots[coded], self.codes, self.tile_starts, self.tile_segments, self.offsets, self.level_starts,
                self.levels, self.ratios, rows, base, weights, one, self.work, total,
            )  # fmt: skip
            out[coded] = total
        if len(dense):
            total = np.zeros(len(dense))
            at = self.dense_at[slots[dense] - n_coded]
            score_dense(kind, at, self.dense_ratios, rows, base, weights, one, self.work, total)
            out[dense] = total
        out = (out + constant) / self.odds.total_weight
        for j in np.flatnonzero(steep):
            out[j] = self._by_definition(criterion, int(features[j]))
        return out

    def _lay_out(self, criterion: Criterion) -> float:
        """Write the odds of the present set into the tiles; returns what the log loss has in common."""
        odds, used = self.odds, self.rows[: self.n_rivals]
        if criterion != "log_loss":
            logs = odds.decided() if criterion == "error" else odds.rivals
            used[:, self.place] = np.exp(np.minimum(logs, FARTHEST))
            return 0.0
        top = np.maximum(odds.rivals.max(axis=0), 0.0)
        used[:, self.place] = np.exp(odds.rivals - top)
        self.base[self.place] = np.exp(-top)
        return float(top.sum() if odds.weights is None else np.dot(top, odds.weights))

    def _by_definition(self, criterion: Criterion, feature: int) -> float:
        before = self.odds.rivals, self.odds.own
        shift, own = self.odds.evidence(feature)
        try:
            self.odds.rivals, self.odds.own = before[0] + self.sign * shift, before[1] + self.sign * own
            return self.odds.value(criterion)
        finally:
            self.odds.rivals, self.odds.own = before


def _tiles(starts: Integers) -> tuple[Integers, Integers, Integers]:
    """Where tiles begin, the segment of each, and the place of every row."""
    tile_starts, tile_segments = [0], []
    place = np.empty(starts[-1], dtype=np.int64)
    for s in range(len(starts) - 1):
        n = int(starts[s + 1] - starts[s])
        begin = tile_starts[-1]
        place[starts[s] : starts[s + 1]] = np.arange(begin, begin + n)
        end = begin + -(-n // LANES) * LANES
        while tile_starts[-1] < end:
            tile_starts.append(min(tile_starts[-1] + TILE, end))
            tile_segments.append(s)
    return np.array(tile_starts), np.array(tile_segments, dtype=np.int64), place


def _tiled_codes(
    codes: npt.NDArray[np.uint8], tile_starts: Integers, place: Integers
) -> npt.NDArray[np.uint8]:
    """All codes of a tile together, feature after feature; rows that fill up a tile repeat a code that occurs."""
    n_coded = len(codes)
    flat = np.empty(n_coded * int(tile_starts[-1]), dtype=np.uint8)
    for start, stop in zip(tile_starts[:-1], tile_starts[1:], strict=True):
        first, last = np.searchsorted(place, [start, stop])
        block = flat[n_coded * start : n_coded * stop].reshape(n_coded, stop - start)
        block[:, : last - first] = codes[:, first:last]
        block[:, last - first :] = codes[:, first : first + 1]
    return flat


def _twins(odds: Odds) -> Integers:
    """For every feature the smallest feature number with the same rows and the same evidence."""
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
