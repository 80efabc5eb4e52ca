"""A model that moves: cost, scores and gradients against their definitions, frozen values and finite differences."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest
from iris_problems import FROZEN, X, Y

from seminaive.evidence.terms import GaussianTerm, TableTerm
from seminaive.models.judging import Recipe, fit_mode
from seminaive.models.naive import Estimation
from seminaive.search import movable as movable_file
from seminaive.search.movable import Movable, moved_evidence
from seminaive.statistics.confusion import count_confusion
from seminaive.table.door import encode
from seminaive.table.gather import gather_rows

Z24 = (-1.0) ** np.arange(24) * (0.1 + 0.05 * np.arange(24))


def mixed(missing: str = "skip") -> Any:
    rng = np.random.default_rng(0)
    n = 80
    y = np.arange(n) % 3
    frame = pd.DataFrame({
        "colour": rng.choice(["red", "blue", "green"], n),
        "size": np.where(rng.random(n) < 0.2, np.nan, rng.normal(size=n) + y),
        "shape": rng.choice(["round", "square", None], n),
        "weight": 100 + rng.normal(size=n) * (1 + y),
    })  # fmt: skip
    return fit_mode(encode(frame, y), Recipe(Estimation(missing=missing), "gaussian", 0))


def movable_of(fitted: Any) -> Movable:
    return fitted.movable(gather_rows(fitted.table, 1000, 0))


def test_iris_loss_gradient_and_scores_are_the_frozen_ones() -> None:
    frozen = FROZEN["whitened_iris"]
    fitted = fit_mode(encode(X, Y), Recipe(Estimation("uniform"), "gaussian", 0))
    model = movable_of(fitted)
    point = model.at(Z24)
    assert point.loss == pytest.approx(frozen["loss"], rel=1e-11)
    assert point.slope == pytest.approx(frozen["loss_gradient"], rel=1e-9, abs=1e-11)
    scores = model.scores(point)
    assert (
        pytest.approx(np.array(frozen["joint_log_scores_rows_0_50_100_at_z"]), rel=1e-10) == scores[:, [0, 50, 100]].T
    )
    assert np.diag(count_confusion(scores, Y)).tolist() == frozen["correct_per_class_at_z"]
    evidence = moved_evidence(model, fitted.evidence, Z24, np.zeros(3))
    means = np.array([term.mean for term in evidence.terms if isinstance(term, GaussianTerm)]).T
    precisions = np.array([term.precision for term in evidence.terms if isinstance(term, GaussianTerm)]).T
    assert means == pytest.approx(np.array(frozen["mu"]), rel=1e-10)
    assert precisions == pytest.approx(np.array(frozen["lam"]), rel=1e-10)


def test_a_moved_column_of_levels_is_the_frozen_one() -> None:
    frozen = FROZEN["dirichlet_whitened"]
    rows = pd.DataFrame({"v": ["a"] * 3 + ["b"] * 0 + ["c"] * 7})
    counts = np.array([3.0, 0, 7])
    assert (counts + 1).tolist() == frozen["mode_counts"]
    fitted = fit_mode(encode(rows, ["x"] * 10, levels={"v": ["a", "b", "c"]}), Recipe(Estimation(), "gaussian", 0))
    model = movable_of(fitted)
    point = model.at(np.array(frozen["z"]))
    assert point.phi[0] == pytest.approx(frozen["phi"], rel=1e-11)
    assert point.loss == pytest.approx(frozen["loss"], rel=1e-10)


@pytest.mark.parametrize("missing", ["skip", "value"])
@pytest.mark.parametrize("dense", [True, False])
def test_gradients_match_finite_differences(missing: str, dense: bool, monkeypatch: Any) -> None:
    monkeypatch.setattr(movable_file, "DENSE_CELLS", 10**9 if dense else 0)
    model = movable_of(mixed(missing))
    rng = np.random.default_rng(1)
    z, weight = rng.normal(size=model.size), rng.normal(size=(3, model.n_rows))
    point = model.at(z)
    pulled = model.pull(point, weight)
    rows, classes = np.array([0, 5, 40, 79]), np.array([0, 1, 2, 0])
    slopes = model.row_slopes(point, rows, classes)
    for i in range(model.size):
        step = np.zeros(model.size)
        step[i] = 1e-5
        up, down = model.at(z + step), model.at(z - step)
        assert point.slope[i] == pytest.approx((up.loss - down.loss) / 2e-5, rel=1e-6, abs=1e-6)
        change = (model.scores(up) - model.scores(down)) / 2e-5
        assert pulled[i] == pytest.approx((weight * change).sum(), rel=1e-6, abs=1e-6)
        assert slopes[:, i] == pytest.approx(change[classes, rows], rel=1e-6, abs=1e-6)


@pytest.mark.parametrize("missing", ["skip", "value"])
def test_served_evidence_scores_as_the_search_did(missing: str) -> None:
    fitted = mixed(missing)
    rows = gather_rows(fitted.table, 1000, 0)
    model = fitted.movable(rows)
    assert model.scores(model.at(np.zeros(model.size))) == pytest.approx(fitted.evidence.scores(rows.block), abs=1e-10)
    z = np.random.default_rng(2).normal(size=model.size)
    offsets = np.array([0.5, -1.0, 0.5])
    moved = moved_evidence(model, fitted.evidence, z, offsets)
    expected = model.scores(model.at(z)) + offsets[:, None]
    assert moved.scores(rows.block) == pytest.approx(expected, abs=1e-9)
    for term in moved.terms:
        if isinstance(term, TableTerm):
            own = movable_file.own_codes(term)
            assert np.exp(term.table[:, own]).sum(axis=1) == pytest.approx(1)


def test_the_loss_is_the_fall_of_the_log_posterior() -> None:
    fitted = mixed()
    model = movable_of(fitted)

    def log_posterior(z: Any) -> float:
        point, after = model.at(z), model.after
        gaussian = (after.alpha - 0.5) * np.log(point.precision) - point.precision * (
            0.5 * after.k * (point.mean - after.mu) ** 2 + after.beta
        )
        return float(gaussian.sum() + (model.counts * point.log_phi).sum())

    z = np.random.default_rng(3).normal(size=model.size)
    assert model.at(z).loss == pytest.approx(log_posterior(0 * z) - log_posterior(z), rel=1e-9)
    assert model.at(0 * z).loss == pytest.approx(0, abs=1e-12)


def test_a_missing_value_adds_nothing_to_score_and_gradient() -> None:
    model = movable_of(mixed())
    gone = np.flatnonzero(model.seen[0] == 0)
    slopes = model.row_slopes(model.at(np.ones(model.size)), gone, np.zeros(len(gone), dtype=int))
    assert not slopes[:, [0, 2 * 3]].any()  # mean and precision of the first Gaussian column in class 0


def test_wild_moves_stay_finite() -> None:
    model = movable_of(mixed())
    with np.errstate(all="raise"):
        point = model.at(np.full(model.size, 400.0))
    assert np.isfinite(point.loss)
