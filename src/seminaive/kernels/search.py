"""Scoring every candidate of a greedy search at once.

Row i of class c keeps its rivals' log odds D(k, i) = L(i, k) - L(i, c), or the odds q(k, i) = exp D(k, i).
A move adds the shifts of the feature that moves, or multiplies the odds by their exponentials a(k), so with
s_i = sum over k of q(k, i) a(k) the criteria of a candidate are

    error         weight of rows where the largest D(k, i) + log a(k) is above 0
    probability   sum of w_i s_i / (1 + s_i)
    log loss      sum of w_i log(b_i + s_i), where b_i is what the odds of row i were divided by, inverted

and no exponential is taken. Rows lie in tiles of one segment each, so that the shifts are constants of a
tile, and all codes of a tile lie together (with one long row per feature, 30,000 rows ran at a third of
the speed).
Rivals come alone (two classes) or in threes, filled up with rivals whose odds are 0. `error_model="numpy"`
because a test for division by zero keeps a loop from being vectorised; scalars, not small arrays, are
handed to the inner loops because such a call costs nothing (7 against 4.7 billion rows a second).
"""

from __future__ import annotations

import math
from typing import Any

from numba import njit

Array = Any  # numba kernels are typed by their arguments, not by annotations

ERROR, PROBABILITY, LOG_LOSS = 0, 1, 2
RIGHT, UNDECIDED, WRONG = 0, 1, 2

TILE = 1024
LANES = 64
"""Tiles are multiples of this many rows, so that no loop is left with a slow rest."""

MANY_LEVELS = 20
"""Up to here, choosing level by level is faster than looking every code up."""

FAST = {"reassoc", "contract", "arcp", "nsz"}


@njit(cache=True, nogil=True, fastmath=FAST, error_model="numpy")
def _errors_1(codes: Array, level: Any, q: Array, a: float, b: float) -> float:
    """Rows that a feature with two levels gets wrong; one rival."""
    wrong = 0.0
    for i in range(codes.size):
        wrong += 1.0 if q[i] + (a if codes[i] == level else b) > 0.0 else 0.0
    return wrong


@njit(cache=True, nogil=True, fastmath=FAST, error_model="numpy")
def _errors_3(
    codes: Array, level: Any, q: Array, r: Array, s: Array, a: Any, b: Any, c: Any, d: Any, e: Any, f: Any
) -> float:
    """The same for three rivals, moved by a, b, c where the code is ``level`` and by d, e, f elsewhere."""
    wrong = 0.0
    for i in range(codes.size):
        here = codes[i] == level
        m = max(max(q[i] + (a if here else d), r[i] + (b if here else e)), s[i] + (c if here else f))
        wrong += 1.0 if m > 0.0 else 0.0
    return wrong


@njit(cache=True, nogil=True, fastmath=FAST, error_model="numpy")
def _probability_1(codes: Array, level: Any, q: Array, a: float, b: float) -> float:
    """Sum of error probabilities with a feature of two levels; one rival."""
    total = 0.0
    for i in range(codes.size):
        joined = q[i] * (a if codes[i] == level else b)
        total += joined / (1.0 + joined)
    return total


@njit(cache=True, nogil=True, fastmath=FAST, error_model="numpy")
def _probability_3(
    codes: Array, level: Any, q: Array, r: Array, s: Array, a: Any, b: Any, c: Any, d: Any, e: Any, f: Any
) -> float:
    """The same for three rivals."""
    total = 0.0
    for i in range(codes.size):
        here = codes[i] == level
        joined = q[i] * (a if here else d) + r[i] * (b if here else e) + s[i] * (c if here else f)
        total += joined / (1.0 + joined)
    return total


@njit(cache=True, nogil=True, fastmath=FAST, error_model="numpy")
def _look_up(codes: Array, levels: Array, table: Array, out: Array) -> None:
    """out[i] = table[codes[i]], where ``levels`` are the codes that occur."""
    last = levels.size - 1
    if levels.size > MANY_LEVELS:
        for i in range(codes.size):
            out[i] = table[codes[i]]
        return
    rest = table[levels[last]]
    for i in range(codes.size):
        out[i] = rest
    for j in range(0, last, 3):
        c, d, e = levels[j], levels[min(j + 1, last)], levels[min(j + 2, last)]
        at_c, at_d, at_e = table[c], table[d], table[e]
        for i in range(codes.size):
            value = at_c if codes[i] == c else out[i]
            value = at_d if codes[i] == d else value
            out[i] = at_e if codes[i] == e else value


@njit(cache=True, nogil=True, fastmath=FAST, error_model="numpy")
def _join_1(is_error: bool, q: Array, a: Array, joined: Array) -> None:
    """Let one more rival, moved by a, join the others."""
    if is_error:
        for i in range(q.size):
            joined[i] = max(joined[i], q[i] + a[i])
    else:
        for i in range(q.size):
            joined[i] += q[i] * a[i]


@njit(cache=True, nogil=True, fastmath=FAST, error_model="numpy")
def _join_3(
    is_error: bool, codes: Array, level: Any, q: Array, r: Array, s: Array,
    a: Any, b: Any, c: Any, d: Any, e: Any, f: Any, joined: Array,
) -> None:  # fmt: skip
    """Let three more rivals join, for a feature with two levels."""
    if is_error:
        for i in range(codes.size):
            here = codes[i] == level
            m = max(max(q[i] + (a if here else d), r[i] + (b if here else e)), s[i] + (c if here else f))
            joined[i] = max(joined[i], m)
    else:
        for i in range(codes.size):
            here = codes[i] == level
            joined[i] += q[i] * (a if here else d) + r[i] * (b if here else e) + s[i] * (c if here else f)


@njit(cache=True, nogil=True, fastmath=FAST, error_model="numpy")
def _sum_rows(criterion: int, joined: Array, base: Array, weights: Array, all_weigh_one: bool) -> float:
    """The criterion of a tile whose rivals have all joined."""
    total = 0.0
    if criterion == ERROR:
        for i in range(joined.size):
            total += weights[i] if joined[i] > 0.0 else 0.0
        return total
    if criterion == PROBABILITY:
        for i in range(joined.size):
            total += weights[i] * (joined[i] / (1.0 + joined[i]))
        return total
    for i in range(joined.size):
        joined[i] += base[i]
    if not all_weigh_one:
        for i in range(joined.size):
            total += weights[i] * math.log(joined[i])
        return total
    n = joined.size // 8  # one logarithm for 8 rows; the caller keeps products of 8 inside the range of floats
    for i in range(n):
        four = (joined[i] * joined[i + n]) * (joined[i + 2 * n] * joined[i + 3 * n])
        more = (joined[i + 4 * n] * joined[i + 5 * n]) * (joined[i + 6 * n] * joined[i + 7 * n])
        total += math.log(four * more)
    return total


@njit(cache=True, nogil=True, fastmath=FAST, error_model="numpy")
def score_coded(
    criterion: int,
    candidates: Array,
    codes: Array,
    tile_starts: Array,
    tile_segments: Array,
    offsets: Array,
    level_starts: Array,
    levels: Array,
    shifts: Array,
    odds: Array,
    base: Array,
    weights: Array,
    all_weigh_one: bool,
    work: Array,
    out: Array,
) -> None:
    """Add the criterion of each candidate among the coded features, summed over all rows, to ``out``.

    Parameters
    ----------
    criterion : ERROR, PROBABILITY or LOG_LOSS
    candidates : (n,) ints
        Numbers of the features to score.
    codes : flat uint8
        A tile of n rows starting at row r begins at ``n_features * r`` with the n codes of feature 0.
    tile_starts, tile_segments : (tiles + 1,), (tiles,) ints
    offsets : (n_features + 1,) ints
        What a code does is ``shifts[segment, offsets[feature] + code, rival]``.
    levels, level_starts : uint8, ints
        The codes that occur in each feature.
    shifts : (segments, codes, rivals)
        Log shifts for errors, else their exponentials.
    odds, base, weights : (rivals, rows), (rows,), (rows,)
        Log odds for errors, else odds.
    work : (2, TILE) scratch
    out : (n,)
    """
    n_features = offsets.size - 1
    n_rivals = odds.shape[0]
    is_error = criterion == ERROR
    fused = all_weigh_one and criterion != LOG_LOSS
    for t in range(tile_segments.size):
        start, stop = tile_starts[t], tile_starts[t + 1]
        n = stop - start
        block = codes[n_features * start : n_features * stop]
        table = shifts[tile_segments[t]]
        q, r, s = (
            odds[0, start:stop],
            odds[min(1, n_rivals - 1), start:stop],
            odds[min(2, n_rivals - 1), start:stop],
        )
        joined, chosen = work[0, :n], work[1, :n]
        for j in range(candidates.size):
            feature = candidates[j]
            row = block[feature * n : (feature + 1) * n]
            first, last = level_starts[feature], level_starts[feature + 1] - 1
            at = offsets[feature]
            if last - first <= 1:
                level = levels[first]
                u, v = at + level, at + levels[last]
                if fused and n_rivals == 1:
                    if is_error:
                        out[j] += _errors_1(row, level, q, table[u, 0], table[v, 0])
                    else:
                        out[j] += _probability_1(row, level, q, table[u, 0], table[v, 0])
                    continue
                if n_rivals > 1:
                    a, b, c = table[u, 0], table[u, 1], table[u, 2]
                    d, e, f = table[v, 0], table[v, 1], table[v, 2]
                    if fused and n_rivals == 3:
                        if is_error:
                            out[j] += _errors_3(row, level, q, r, s, a, b, c, d, e, f)
                        else:
                            out[j] += _probability_3(row, level, q, r, s, a, b, c, d, e, f)
                        continue
                    joined[:] = -math.inf if is_error else 0.0
                    for k in range(0, n_rivals, 3):
                        q, r, s = odds[k, start:stop], odds[k + 1, start:stop], odds[k + 2, start:stop]
                        a, b, c = table[u, k], table[u, k + 1], table[u, k + 2]
                        d, e, f = table[v, k], table[v, k + 1], table[v, k + 2]
                        _join_3(is_error, row, level, q, r, s, a, b, c, d, e, f, joined)
                    out[j] += _sum_rows(criterion, joined, base[start:stop], weights[start:stop], all_weigh_one)
                    continue
            joined[:] = -math.inf if is_error else 0.0
            for k in range(n_rivals):
                _look_up(row, levels[first : last + 1], table[at : offsets[feature + 1], k], chosen)
                _join_1(is_error, odds[k, start:stop], chosen, joined)
            out[j] += _sum_rows(criterion, joined, base[start:stop], weights[start:stop], all_weigh_one)


@njit(cache=True, nogil=True, fastmath=FAST, error_model="numpy")
def score_dense(
    criterion: int,
    candidates: Array,
    shifts: Array,
    odds: Array,
    base: Array,
    weights: Array,
    all_weigh_one: bool,
    work: Array,
    out: Array,
) -> None:
    """The same for features whose shifts differ from row to row, ``shifts[feature, rival, row]``."""
    n_rows = odds.shape[1]
    is_error = criterion == ERROR
    for start in range(0, n_rows, TILE):
        stop = min(start + TILE, n_rows)
        joined = work[0, : stop - start]
        for j in range(candidates.size):
            rows = shifts[candidates[j]]
            joined[:] = -math.inf if is_error else 0.0
            for k in range(rows.shape[0]):
                _join_1(is_error, odds[k, start:stop], rows[k, start:stop], joined)
            out[j] += _sum_rows(criterion, joined, base[start:stop], weights[start:stop], all_weigh_one)


@njit(cache=True, nogil=True)
def add_coded(
    codes: Array, starts: Array, log_ratios: Array, own_evidence: Array, sign: float, rivals: Array, own: Array
) -> None:
    """Add what a coded feature says to the log odds (rivals, rows) and to the score of the true class, or take it out.

    ``log_ratios`` (rivals, segments, codes) and ``own_evidence`` (segments, codes) begin at the feature's first code.
    """
    for s in range(starts.size - 1):
        row = codes[starts[s] : starts[s + 1]]
        for k in range(rivals.shape[0] + 1):
            told = log_ratios[k, s] if k < rivals.shape[0] else own_evidence[s]
            sums = rivals[k, starts[s] : starts[s + 1]] if k < rivals.shape[0] else own[starts[s] : starts[s + 1]]
            for i in range(row.size):
                sums[i] += sign * told[row[i]]


@njit(cache=True, nogil=True)
def decide(rivals: Array, own: Array, starts: Array, tolerance: Array, out: Array, wrong: Array) -> None:
    """Move log odds (rivals, rows) by what counts as a tie, ``tolerance`` (rivals, segments) times the size of a row's
    own score, and mark the rows where one of them is above 0.
    """
    for s in range(starts.size - 1):
        mine, marks = own[starts[s] : starts[s + 1]], wrong[starts[s] : starts[s + 1]]
        marks[:] = False
        for k in range(rivals.shape[0]):
            row, moved = rivals[k, starts[s] : starts[s + 1]], out[k, starts[s] : starts[s + 1]]
            tie = tolerance[k, s]
            for i in range(row.size):
                moved[i] = row[i] + tie * max(abs(mine[i]), 1.0)
                marks[i] |= moved[i] > 0.0


@njit(cache=True, nogil=True)
def mark_outlook(odds: Array, starts: Array, up: Array, down: Array, out: Array) -> None:
    """Mark rows that stay RIGHT, or WRONG, whatever shift between ``down`` and ``up`` (segments, rivals) comes.

    ``odds`` are log odds (rivals, rows); segment s holds the rows ``starts[s]:starts[s + 1]``. A shift of 0 must be
    among those that may come.
    """
    out[:] = RIGHT
    for s in range(starts.size - 1):
        marks = out[starts[s] : starts[s + 1]]
        for k in range(odds.shape[0]):
            row = odds[k, starts[s] : starts[s + 1]]
            highest, lowest = up[s, k], down[s, k]
            for i in range(marks.size):
                mark = WRONG if row[i] + lowest > 0.0 else (UNDECIDED if row[i] + highest > 0.0 else RIGHT)
                marks[i] = max(marks[i], mark)
