import itertools

import numpy as np
import pytest

from seminaive.kernels.search import ERROR, LANES, LOG_LOSS, PROBABILITY, TILE, score_coded, score_dense


def definition(criterion, logs, base, weights):
    """(rivals, rows) log odds after the move."""
    if criterion == ERROR:
        return weights @ (logs > 0).any(axis=0)
    s = np.exp(logs).sum(axis=0)
    return weights @ (s / (1 + s) if criterion == PROBABILITY else np.log(base + s))


@pytest.mark.parametrize("criterion", [ERROR, PROBABILITY, LOG_LOSS])
@pytest.mark.parametrize("n_rivals", [1, 3, 6])
@pytest.mark.parametrize("weighted", [False, True])
def test_coded_candidates_follow_the_definition(criterion, n_rivals, weighted):
    rng = np.random.default_rng(n_rivals)
    n_levels = [1, 2, 3, 6, 9, 30]
    tile_starts = np.array([0, TILE, TILE + 2 * LANES, TILE + 3 * LANES])
    segments = np.array([0, 0, 1])
    n = tile_starts[-1]
    codes = np.stack([rng.integers(0, m, n) for m in n_levels]).astype(np.uint8)
    flat = np.concatenate([codes[:, a:b].ravel() for a, b in itertools.pairwise(tile_starts)])
    offsets = np.concatenate([[0], np.cumsum(n_levels)])
    levels = np.concatenate([np.arange(m) for m in n_levels]).astype(np.uint8)
    shifts = rng.normal(size=(2, offsets[-1], n_rivals))
    logs = rng.normal(-1, 3, size=(n_rivals, n))
    base = rng.random(n)
    weights = rng.random(n) if weighted else np.ones(n)
    is_log = criterion == ERROR
    candidates = np.array([5, 0, 1, 2, 4, 3])
    out = np.ones(6)
    score_coded(
        criterion, candidates, flat, tile_starts, segments, offsets, offsets, levels,
        shifts if is_log else np.exp(shifts), logs if is_log else np.exp(logs), base, weights, not weighted,
        np.empty((2, TILE)), out,
    )  # fmt: skip
    segment_of_row = np.repeat(segments, np.diff(tile_starts))
    for j, c in enumerate(candidates):
        moved = logs + shifts[segment_of_row, offsets[c] + codes[c]].T
        assert out[j] - 1 == pytest.approx(definition(criterion, moved, base, weights), rel=1e-12)


@pytest.mark.parametrize("criterion", [ERROR, PROBABILITY, LOG_LOSS])
@pytest.mark.parametrize("weighted", [False, True])
def test_dense_candidates_follow_the_definition(criterion, weighted):
    rng = np.random.default_rng(0)
    n = TILE + LANES
    shifts = rng.normal(size=(3, 4, n))
    logs = rng.normal(-1, 3, size=(4, n))
    base = rng.random(n)
    weights = rng.random(n) if weighted else np.ones(n)
    is_log = criterion == ERROR
    candidates = np.array([2, 0])
    out = np.zeros(2)
    score_dense(
        criterion, candidates, shifts if is_log else np.exp(shifts), logs if is_log else np.exp(logs),
        base, weights, not weighted, np.empty((2, TILE)), out,
    )  # fmt: skip
    for j, c in enumerate(candidates):
        assert out[j] == pytest.approx(definition(criterion, logs + shifts[c], base, weights), rel=1e-12)


def test_rows_that_fill_up_a_tile_count_for_nothing():
    for criterion, nothing in ((ERROR, -np.inf), (PROBABILITY, 0.0), (LOG_LOSS, 0.0)):
        out = np.zeros(1)
        score_coded(
            criterion, np.array([0]), np.zeros(LANES, dtype=np.uint8), np.array([0, LANES]), np.array([0]),
            np.array([0, 1]), np.array([0, 1]), np.zeros(1, dtype=np.uint8), np.full((1, 1, 1), 3.0),
            np.full((1, LANES), nothing), np.ones(LANES), np.ones(LANES), True, np.empty((2, TILE)), out,
        )  # fmt: skip
        assert out[0] == 0.0
