import itertools
import json
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from search_problems import binary_codes
from search_references import CASES, labels_of

from seminaive.search.filters import cfs_subset, information_ranking, mrmr_ranking
from seminaive.statistics.information import mutual_information, pairwise_information

CFS = json.loads((Path(__file__).parent.parent / "reference" / "cfs.json").read_text())


def relevance_and_codes(name):
    case = CASES[name]
    codes, y = binary_codes(case["columns"]), labels_of(case)
    rows = np.array(case.get("fit_rows", range(len(y))))
    codes, y = codes[:, rows], y[rows]
    counts = [
        [np.sum(codes[p, y == k] == level) for p in range(len(codes)) for level in (2, 3)] for k in range(max(y) + 1)
    ]
    return mutual_information(counts, np.arange(0, 2 * len(codes) + 1, 2)), codes


@pytest.mark.parametrize("name", ["tiny", "nested"])
def test_rankings_are_the_frozen_ones(name):
    case = CASES[name]
    relevance, codes = relevance_and_codes(name)
    np.testing.assert_allclose(relevance, case["mi"] if "mi" in case else case["filters"]["mi"], atol=1e-9)
    assert information_ranking(relevance).order.tolist() == case["filters"]["mi_ranking"]
    ranking = mrmr_ranking(relevance, pairwise_information(codes))
    assert ranking.order.tolist() == case["filters"]["mrmr_ranking"]
    np.testing.assert_allclose(ranking.scores, case["filters"]["mrmr_scores"], atol=1e-9)


def test_a_shorter_mrmr_ranking_is_the_beginning_of_the_whole_one():
    relevance, codes = relevance_and_codes("nested")
    pairs = pairwise_information(codes)
    assert mrmr_ranking(relevance, pairs, 4).order.tolist() == mrmr_ranking(relevance, pairs).order.tolist()[:4]


@pytest.mark.parametrize("case", CFS)
def test_cfs_subsets_are_the_frozen_ones(case):
    assert list(cfs_subset(case["su_with_class"], case["su_between"]).features) == case["subset_su"]


@given(st.integers(0, 1000))
@settings(deadline=None)
def test_cfs_finds_the_best_of_all_subsets_of_few_features(seed):
    rng = np.random.default_rng(seed)
    relevance = rng.random(4)
    between = np.corrcoef(rng.normal(size=(4, 8))) ** 2

    def merit(subset):
        pairs = sum(between[i, k] for i in subset for k in subset if i != k)
        return sum(relevance[i] for i in subset) / np.sqrt(len(subset) + pairs)

    best = max(merit(s) for size in range(1, 5) for s in itertools.combinations(range(4), size))
    found = cfs_subset(relevance, between, stale=16, improvement=0.0)
    assert found.merit == pytest.approx(best)
    assert merit(found.features) == pytest.approx(found.merit)


def test_cfs_keeps_nothing_when_nothing_tells():
    assert cfs_subset([0.0, 0.0], np.eye(2)).features == ()
