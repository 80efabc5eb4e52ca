import json
from pathlib import Path

import numpy as np
import pytest

from seminaive.datasets.engine_signals import coarse_grid, fine_grid, make_engine_signals
from seminaive.search.filters import information_ranking, mrmr_ranking
from seminaive.search.greedy import greedy_path
from seminaive.search.odds import Odds
from seminaive.search.problem import SearchProblem, arrange_rows
from seminaive.selection.indicators import ScoreIndicators
from seminaive.statistics.information import mutual_information, pairwise_information

CASE = json.loads((Path(__file__).parent.parent / "reference" / "selection.json").read_text())["engine"]


def test_a_signal_is_white_noise_up_to_its_change():
    signals, y = make_engine_signals(3, n_per_class=(5, 5, 5, 5), lengths=(40, 60))
    assert np.bincount(y).tolist() == [5, 5, 5, 5]
    assert all(40 <= len(signal) <= 60 for signal in signals)
    rng = np.random.default_rng(3)
    rng.permutation(20)
    rng.integers(40, 61, 20)
    first = rng.standard_normal(len(signals[0]))
    before = int(np.ceil(0.2 * len(first)))
    np.testing.assert_array_equal(signals[0][:before], first[:before])


def test_both_grids_make_814_differently_named_indicators():
    signals, _ = make_engine_signals(1, n_per_class=(1, 1, 1, 1))
    for grid in (fine_grid(), coarse_grid()):
        assert len(set(ScoreIndicators(grid).fit(signals).get_feature_names_out())) == 814


def test_the_column_of_an_indicator_in_the_fine_grid():
    signals, _ = make_engine_signals(1, n_per_class=(1, 1, 1, 1))
    names = ScoreIndicators(fine_grid()).fit(signals).get_feature_names_out()
    window, test, confirmation, level = 3, 2, 1, 5
    assert names[((window * 3 + test) * 5 + confirmation) * 9 + level] == "F(w=50,stride=5)|2of3<=0.01"
    assert names[812] == "min(w=50,stride=5)|1of1<=0.001"


@pytest.fixture(scope="module")
def whole():
    signals, y = make_engine_signals(CASE["seed"])
    return signals, y, ScoreIndicators(fine_grid()).fit_transform(signals)


@pytest.fixture(scope="module")
def problems(whole):
    """Tables from the fit half; the criterion on either half."""
    _, y, X = whole
    rng = np.random.default_rng(CASE["split_seed"])
    halves = [rng.permutation(np.flatnonzero(y == k)) for k in range(4)]
    fit = np.sort(np.concatenate([half[: len(half) // 2] for half in halves]))
    codes = np.ascontiguousarray(X.T + 2)
    ones = np.stack([X[fit][y[fit] == k].sum(axis=0, dtype=np.int64) for k in range(4)])
    n = np.bincount(y[fit])
    tables = np.zeros((4, 814, 4))
    tables[:, :, 2] = np.log((n[:, None] - ones + 1) / (n[:, None] + 2))
    tables[:, :, 3] = np.log((ones + 1) / (n[:, None] + 2))
    made = {}
    for name, rows in (("fit", fit), ("holdout", np.setdiff1d(np.arange(len(y)), fit))):
        order, segments = arrange_rows(y[rows])
        made[name] = SearchProblem(
            segments,
            np.log(n / n.sum())[None],
            codes[:, rows][:, order],
            tables.reshape(1, 4, -1),
            np.arange(815) * 4,
        )
    return made, fit, n, ones


@pytest.mark.slow
def test_signals_and_indicators_have_the_frozen_counts(whole):
    signals, y, X = whole
    assert np.bincount(y).tolist() == CASE["class_counts"]
    assert sum(map(len, signals)) == CASE["sum_lengths"]
    assert y[:20].tolist() == CASE["first_labels"]
    assert [len(signal) for signal in signals[:10]] == CASE["first_lengths"]
    np.testing.assert_allclose(signals[0][:5], CASE["series0_first5"], atol=1e-9)
    assert X.sum(dtype=np.int64) == CASE["total_ones"]
    by_level = X[:, :810].sum(axis=0, dtype=np.int64).reshape(-1, 9).sum(axis=0)
    assert by_level.tolist() == CASE["ones_per_level"]
    assert (X.min(axis=0) == X.max(axis=0)).sum() == CASE["constant_columns"]
    assert len({column.tobytes() for column in np.ascontiguousarray(X.T)}) == CASE["distinct_columns"]


@pytest.mark.slow
@pytest.mark.parametrize("search", CASE["first_moves"])
def test_the_first_moves_of_every_search_are_the_frozen_ones(problems, search):
    rows, direction, criterion = search.split("_")
    name = {"prob": "probability"}.get(criterion, criterion)
    path = greedy_path(problems[0][rows], direction, name, ties="index", max_steps=12)
    assert path.features.tolist() == CASE["first_moves"][search]["order"]
    np.testing.assert_allclose(path.values, CASE["first_moves"][search]["values"], atol=1e-9)


@pytest.mark.slow
def test_the_rankings_and_the_full_set_are_the_frozen_ones(problems, whole):
    made, fit, n, ones = problems
    assert fit[:10].tolist() == CASE["fit_rows_first10"]
    assert Odds(made["holdout"], range(814)).error() == pytest.approx(CASE["full_set_error_select"], abs=1e-9)
    counts = np.stack([n[:, None] - ones, ones], axis=2).reshape(4, -1)
    relevance = mutual_information(counts, np.arange(815) * 2)
    assert information_ranking(relevance).order[:12].tolist() == CASE["mi_top12"]
    redundancy = pairwise_information(np.ascontiguousarray(whole[2][fit].T))
    assert mrmr_ranking(relevance, redundancy, 12).order.tolist() == CASE["mrmr_top12"]


def plain_path(problem, direction, criterion):
    """A whole search in plain NumPy, ties by index: at every step the scores of the set are summed afresh."""
    bits = (problem.codes == 3).T.astype(np.float64)
    says = problem.tables[0].reshape(4, 814, 4)[:, :, 2:]
    y = problem.segments.per_row(problem.segments.labels)
    inside = np.full(814, direction == "backward")
    order, values = [], []
    for _ in range(814):
        free = np.flatnonzero(~inside if direction == "forward" else inside)
        sign = 1.0 if direction == "forward" else -1.0
        zero, more = says[:, inside, 0].sum(axis=1), (says[:, inside, 1] - says[:, inside, 0]).T
        scores = problem.log_prior[0] + zero + bits[:, inside] @ more
        found = np.zeros(len(free))
        for c in range(4):
            rows, rivals = y == c, [k for k in range(4) if k != c]
            apart = scores[rows][:, rivals] - scores[rows][:, [c]]
            shift = sign * (says[rivals][:, free] - says[c, free])
            x = bits[np.ix_(rows, free)]
            if criterion == "probability":
                odds, at = np.exp(np.minimum(apart, 350.0)), np.exp(shift)  # farther off, a probability is 1
                joint = odds @ at[:, :, 0] + x * (odds @ (at[:, :, 1] - at[:, :, 0]))
                found += (joint / (1.0 + joint)).sum(axis=0)
                continue
            same = 1e-12 * np.maximum(1.0, np.abs(scores[rows, c]))[:, None]
            wrong = np.zeros(x.shape, dtype=bool)
            for r, k in enumerate(rivals):
                far = apart[:, [r]] + (same if k < c else -same)
                wrong |= np.where(x == 1.0, far + shift[r, :, 1] > 0.0, far + shift[r, :, 0] > 0.0)
            found += wrong.sum(axis=0)
        found /= len(y)
        best = np.flatnonzero(found <= found.min() + 1e-12)[0]
        inside[free[best]] = not inside[free[best]]
        order.append(free[best])
        values.append(found[best])
    return order, values


@pytest.mark.slow
@pytest.mark.parametrize("rows", ["fit", "holdout"])
@pytest.mark.parametrize("direction", ["forward", "backward"])
@pytest.mark.parametrize("criterion", ["error", "probability"])
def test_whole_paths_are_those_of_a_plain_search(problems, rows, direction, criterion):
    order, values = plain_path(problems[0][rows], direction, criterion)
    path = greedy_path(problems[0][rows], direction, criterion, ties="index")
    assert path.features.tolist() == order
    np.testing.assert_allclose(path.values, values, atol=1e-9)
