"""Paths of doses: what they tell of their steps, and the rules that choose a model along them."""

from dataclasses import replace

import numpy as np
import pytest

import seminaive as snb
from seminaive.evidence.evidence import Evidence
from seminaive.evidence.terms import weighted
from seminaive.models.naive import Estimation, gather_sums, naive_evidence
from seminaive.search.along import Walk, choose_along, judge
from seminaive.search.doses import DosePath
from seminaive.table.block import row_classes
from seminaive.table.gather import gather_rows

ORDER = (1, 0, 2, 3)


def rows(n=300):
    rng = np.random.default_rng(0)
    y = rng.integers(0, 3, n)
    X = np.column_stack(
        [y + rng.normal(size=n), (y + rng.integers(0, 2, n)) % 3, rng.normal(size=n), rng.normal(size=n)]
    )
    return snb.encode(X, y, nominal=[1])


def louder_and_louder(table):
    """Columns come in one after the other, each first at half its weight; then all speak twice as loud as they may."""
    plain = naive_evidence(gather_sums(table), Estimation(smoothing_kind="pooled"))
    nothing = replace(plain, terms=())
    doses, changes = [np.zeros(4)], []
    for j in ORDER:
        for dose in (0.5, 1.0):
            doses.append(doses[-1].copy())
            doses[-1][j] = dose
            changes.append([weighted(plain.by_column[j], dose)])
    doses.append(doses[-1])
    changes.append([weighted(term, 2.0) for term in plain.terms])
    weight, errors, losses = judge(table, nothing, changes)
    return Walk(DosePath("log_loss", np.array(doses), losses, errors, losses, weight), nothing, changes)


@pytest.mark.parametrize("step", range(10))
def test_models_judged_in_one_pass_are_the_models_judged_one_by_one(step):
    table = rows()
    walk = louder_and_louder(table)
    block = gather_rows(table, table.n_rows, 0).block
    log_probabilities = walk.evidence(step).log_probabilities(walk.evidence(step).scores(block))
    truth = row_classes(block)
    assert walk.path.errors[step] == np.mean(log_probabilities.argmax(axis=0) != truth)
    loss = -log_probabilities[truth, np.arange(block.n_rows)].mean()
    assert walk.path.log_losses[step] == pytest.approx(loss, rel=1e-12)


def test_aic_takes_the_first_of_the_best():
    losses = np.array([1.0, 0.4, 0.4, 0.2])
    doses = np.array([[0, 0], [0.5, 0], [1, 0], [1, 1]])
    path = DosePath("log_loss", doses, losses, losses, losses, n_rows=5.0)
    np.testing.assert_allclose(path.aic, [2.0, 1.2, 1.2, 1.2])
    assert path.chosen_by_aic().chosen == 1


@pytest.mark.parametrize("select", ["aic", "cv", "validation"])
def test_every_rule_keeps_what_helps_and_stops_before_the_end(select):
    walk = choose_along(rows(1200), louder_and_louder, select)  # of 300, by luck the last model may be best on 60
    assert walk.path.select == select
    assert set(ORDER[:2]) <= {term.column for term in walk.evidence().terms}
    assert walk.path.chosen < len(walk.path) - 1
    assert isinstance(walk.evidence(), Evidence)


def test_cross_validation_averages_over_held_out_rows():
    table = rows()
    walk = choose_along(table, louder_and_louder, "cv")
    first = choose_along(table, louder_and_louder, "validation")
    assert len(walk.path.held_out) == len(walk.path) == len(first.path.held_out)
    assert walk.path.held_out.argmin() == walk.path.chosen
    assert not np.allclose(walk.path.held_out, first.path.held_out)
    assert np.all(np.abs(walk.path.held_out - walk.path.log_losses) < 0.1)


def test_a_path_that_ends_early_goes_on_with_its_last_model():
    def short_in_folds(table):
        walk = louder_and_louder(table)
        if table.n_rows == 300:
            return walk
        path = walk.path
        cut = DosePath("log_loss", path.doses[:4], path.values[:4], path.errors[:4], path.log_losses[:4], path.n_rows)
        return Walk(cut, walk.start, walk.changes[:3])

    walk = choose_along(rows(), short_in_folds, "cv")
    assert np.all(walk.path.held_out[3:] == walk.path.held_out[3])
    assert walk.path.chosen <= 3


def test_the_frame_has_the_columns_of_every_path():
    frame = louder_and_louder(rows()).path.to_frame()
    assert list(frame)[:6] == ["step", "feature", "action", "criterion", "error", "size"]
    assert frame["feature"].tolist() == [-1, 1, 1, 0, 0, 2, 2, 3, 3, -1]
    assert frame["action"].tolist() == ["start", *["add", "raise"] * 4, "none"]
    assert frame["size"].tolist() == [0, 1, 1, 2, 2, 3, 3, 4, 4, 4]
