"""The walk is the one of the definition, whatever the kernels and bounds spare."""

import numpy as np
import pandas as pd
import pytest
from stagewise_definition import dose_problem, errors_by_definition, loss_by_definition, path_by_definition

import seminaive as snb
from seminaive.search.gains import Gains
from seminaive.search.stagewise import stagewise_path
from seminaive.search.step_errors import Errors

MODES = [("log_loss", 1), ("log_loss", 5), ("error", 4), ("error_log_loss", 4)]


def mixed_table(seed, n=150, classes=3, weighted=False):
    """Words and numbers, with gaps, copies and a constant column."""
    rng = np.random.default_rng(seed)
    y = rng.integers(0, classes, n)
    word = np.where(rng.random(n) < 0.5, y, rng.integers(0, 4, n))
    number = y + rng.normal(size=n)
    X = pd.DataFrame(
        {
            "word": np.char.add("w", word.astype(str)).astype(object),
            "number": number,
            "near": number + 0.3 * rng.normal(size=n),
            "noise": rng.normal(size=n),
            "idle": rng.choice(["a", "b", "c"], n).astype(object),
            "same": 1.0,
        }
    )
    X = X.mask(rng.random(X.shape) < 0.1)
    return snb.encode(X, y, sample_weight=rng.integers(1, 4, n) if weighted else None)


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("classes", [2, 4])
@pytest.mark.parametrize(("criterion", "lookahead"), MODES)
def test_the_steps_are_those_of_the_definition(criterion, lookahead, classes, weighted):
    problem = dose_problem(mixed_table(classes, classes=classes, weighted=weighted), steps=10)
    path, steps = stagewise_path(problem, criterion, lookahead=lookahead, patience=3)
    expected = path_by_definition(problem, criterion, lookahead, patience=3)
    assert [(step.column, step.dose) for step in steps] == expected
    assert len(path) == len(steps) + 1


@pytest.mark.parametrize("ties", ["first", "last"])
@pytest.mark.parametrize("others", [{"mix": "exponent"}, {"missing": "value"}, {"smoothing": 0.0}], ids=str)
def test_so_they_are_with_other_ways_to_speak_and_to_break_ties(others, ties):
    problem = dose_problem(mixed_table(7), steps=5, **others)
    for criterion, lookahead in MODES:
        steps = stagewise_path(problem, criterion, lookahead=lookahead, patience=2, ties=ties)[1]
        expected = path_by_definition(problem, criterion, lookahead, patience=2, ties=ties)
        assert [(step.column, step.dose) for step in steps] == expected


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize(("criterion", "lookahead"), MODES)
def test_error_and_log_loss_of_every_model_are_those_of_its_scores(criterion, lookahead, weighted):
    problem = dose_problem(mixed_table(1, weighted=weighted), steps=10)
    path, _ = stagewise_path(problem, criterion, lookahead=lookahead, patience=2)
    doses = np.rint(path.doses * 10).astype(np.int64)
    total = problem.total_weight
    np.testing.assert_allclose(path.errors * total, [errors_by_definition(problem, d) for d in doses], atol=1e-9)
    np.testing.assert_allclose(path.log_losses * total, [loss_by_definition(problem, d) for d in doses], rtol=1e-11)


@pytest.mark.parametrize("classes", [2, 3, 5])
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("smoothing", [0.0, 1.0])
def test_errors_after_every_step_are_counted_exactly(classes, weighted, smoothing):
    problem = dose_problem(mixed_table(3, n=1100, classes=classes, weighted=weighted), steps=20, smoothing=smoothing)
    errors = Errors(problem, lookahead=20)
    for column, steps in ((0, 7), (1, 20), (4, 1), (0, 3)):
        errors.move(column, steps)
        after = errors.after(errors.candidates())
        for j in problem.columns.tolist():
            for t in range(20 - errors.doses[j]):
                doses = errors.doses.copy()
                doses[j] += t + 1
                assert after[j, t] == errors_by_definition(problem, doses)
        assert np.isinf(after[errors.doses == 20]).all()


@pytest.mark.parametrize("weighted", [False, True])
def test_no_step_gains_more_than_its_bound_allows(weighted):
    problem = dose_problem(mixed_table(5, weighted=weighted), steps=10)
    gains = Gains(problem, lookahead=2)
    for _ in range(12):
        found, least = gains.best()
        before = loss_by_definition(problem, gains.doses)
        true = np.full(found.shape, np.inf)
        for j, t in np.argwhere(gains.candidates()).tolist():
            doses = gains.doses.copy()
            doses[j] += t + 1
            true[j, t] = loss_by_definition(problem, doses) - before
        assert least == pytest.approx(true.min(), abs=1e-9)
        some = np.isfinite(found)
        np.testing.assert_allclose(found[some], true[some], atol=1e-9)
        assert np.all(
            gains.gain[gains.candidates()] - gains.slack[gains.candidates()] <= true[gains.candidates()] + 1e-9
        )
        gains.move(*(np.argwhere(found == found.min())[0] + [0, 1]).tolist())


def test_the_bounds_spare_most_candidates():
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, 500)
    X = rng.integers(0, 3, (500, 60))
    X[:, :5] = np.where(rng.random((500, 5)) < 0.4, y[:, None], X[:, :5])
    problem = dose_problem(snb.encode(X, y, nominal=range(60)))
    gains = Gains(problem, lookahead=1)
    for _ in range(60):
        found, _ = gains.best()
        gains.move(int(found[:, 0].argmin()), 1)
    assert gains.computed < 0.2 * 60 * 60


def test_an_interrupted_walk_keeps_the_steps_so_far():
    problem = dose_problem(mixed_table(0), steps=10)

    def interrupt(done, most, value):
        if done == 4:
            raise KeyboardInterrupt

    path, steps = stagewise_path(problem, progress=interrupt)
    assert path.interrupted
    assert len(steps) == len(path) - 1 == 4
