import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from seminaive.kernels.scores import smallest_confirmed, window_statistics


@given(st.integers(0, 10_000))
@settings(deadline=None)
def test_window_statistics_follow_their_definitions(seed):
    rng = np.random.default_rng(seed)
    lengths = rng.integers(0, 60, 4)
    starts = np.concatenate([[0], np.cumsum(lengths)])
    values = rng.integers(0, rng.integers(2, 50), starts[-1]).astype(float)
    window, stride = 2 * int(rng.integers(2, 9)), int(rng.integers(1, 7))
    half = window // 2
    halves = [
        (values[b : b + half], values[b + half : b + window])
        for s in range(4)
        for b in range(starts[s], starts[s + 1] - window + 1, stride)
    ]
    u, ties, distance, first, last = np.empty((5, len(halves)))
    work = np.empty((2, half))
    window_statistics(values, starts, window, stride, True, True, u, ties, distance, first, last, work)
    for i, (a, b) in enumerate(halves):
        assert u[i] == np.sum(a[:, None] > b) + 0.5 * np.sum(a[:, None] == b)
        _, t = np.unique(np.concatenate([a, b]), return_counts=True)
        assert ties[i] == np.sum(t**3 - t)
        assert distance[i] == max(abs(np.sum(a <= v) - np.sum(b <= v)) for v in values)
        np.testing.assert_allclose([first[i], last[i]], [a.var(ddof=1), b.var(ddof=1)], atol=1e-12)


@given(st.integers(0, 10_000))
@settings(deadline=None)
def test_the_confirmed_minimum_follows_its_definition(seed):
    rng = np.random.default_rng(seed)
    counts = rng.integers(0, 9, 5)
    starts = np.concatenate([[0], np.cumsum(counts)])
    p = rng.random(starts[-1])
    runs = np.minimum(int(rng.integers(1, 6)), np.maximum(counts, 1))
    needed = np.array([rng.integers(1, run + 1) for run in runs])
    out = np.empty(5)
    smallest_confirmed(p, starts, needed, runs, 7.0, np.empty(9), out)
    for s in range(5):
        mine = p[starts[s] : starts[s + 1]]
        found = [np.sort(mine[b : b + runs[s]])[needed[s] - 1] for b in range(counts[s] - runs[s] + 1)]
        assert out[s] == min(found, default=7.0)
