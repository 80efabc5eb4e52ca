"""Rows left out of a search by errors are those that no move can turn."""

import numpy as np
import pytest
from search_definition import criteria_of, evidence_of, scores_of
from search_problems import problem_from

from seminaive.kernels.search import RIGHT, UNDECIDED, WRONG, add_coded, mark_outlook
from seminaive.search.candidates import Candidates
from seminaive.search.odds import Odds


def clear_cut(weighted, n_classes=3, n=400):
    """Forty indicators that tell classes apart so well that most rows are soon decided."""
    rng = np.random.default_rng(n_classes)
    y = np.concatenate([np.arange(n_classes), rng.integers(0, n_classes, n)])
    shares = rng.choice([0.1, 0.9], size=(40, n_classes))
    codes = 2 + (rng.random((40, len(y))) < shares[:, y])
    weights = rng.integers(0, 3, len(y)) + 0.5 if weighted else None
    return problem_from(codes, y, [2] * 40, folds=rng.permutation(len(y)) % 2, weights=weights)


@pytest.mark.parametrize("sign", [1, -1])
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("n_classes", [2, 3, 6])
def test_errors_of_candidates_count_the_rows_that_are_not_looked_at(sign, weighted, n_classes):
    problem = clear_cut(weighted, n_classes)
    evidence = evidence_of(problem)
    members = set() if sign == 1 else set(range(40))
    odds = Odds(problem, members)
    candidates = Candidates(odds, sign)
    looked_at = []
    for feature in np.random.default_rng(0).permutation(40).tolist():
        free = np.array(sorted(set(range(40)) - members if sign == 1 else members))
        found = candidates.score("error", free)
        looked_at.append(candidates.undecided.tiles.n_rows)
        expected = [criteria_of(problem, scores_of(problem, evidence, members ^ {p}))["error"] for p in free]
        np.testing.assert_allclose(found, expected, atol=1e-12)
        odds.move(feature)
        members ^= {feature}
    assert min(looked_at) < max(looked_at) / 1.5  # else nothing was left out, and this test shows nothing


def test_a_row_is_decided_where_no_shift_within_reach_moves_a_rival_across_zero():
    out = np.empty(5, dtype=np.uint8)
    odds = np.array([[-3.0, -1.0, 0.5, 3.0, -3.0], [-9.0, -9.0, -9.0, -9.0, 5.0]])
    mark_outlook(odds, np.array([0, 5]), np.full((1, 2), 2.0), np.full((1, 2), -2.0), out)
    assert out.tolist() == [RIGHT, UNDECIDED, UNDECIDED, WRONG, WRONG]
    mark_outlook(odds, np.array([0, 5]), np.array([[0.0, 0.0]]), np.array([[0.0, 0.0]]), out)
    assert out.tolist() == [RIGHT, RIGHT, WRONG, WRONG, WRONG]


def test_a_coded_feature_is_added_and_taken_out_segment_by_segment():
    codes = np.array([0, 1, 1, 0], dtype=np.uint8)
    ratios, own = np.array([[[1.0, 2.0], [3.0, 4.0]]]), np.array([[10.0, 20.0], [30.0, 40.0]])
    rivals, scores = np.zeros((1, 4)), np.ones(4)
    add_coded(codes, np.array([0, 2, 4]), ratios, own, 1.0, rivals, scores)
    assert rivals.tolist() == [[1.0, 2.0, 4.0, 3.0]]
    assert scores.tolist() == [11.0, 21.0, 41.0, 31.0]
    add_coded(codes, np.array([0, 2, 4]), ratios, own, -1.0, rivals, scores)
    assert (rivals == 0).all()
    assert (scores == 1).all()
