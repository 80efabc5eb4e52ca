"""The worked example of García and Herrera (2008): five classifiers on thirty data sets.

Average ranks C4.5 2.100, 1-NN 3.250, naive Bayes 2.200, kernel 4.333, CN2 3.117, printed to three decimals;
with 30 data sets the unrounded ones are multiples of 1/60.
The Bergmann-Hommel column is the one that grows with p, the running maximum the R package scmamp takes.
"""

import numpy as np
import pytest

from seminaive.evaluate.adjust import bergmann_hommel, holm, shaffer
from seminaive.evaluate.ranks import friedman, pairs, rank_tests

NAMES = ["C4.5", "1NN", "NaiveBayes", "Kernel", "CN2"]
RANKS = np.array([126, 195, 132, 260, 187]) / 60

# pair, p, Nemenyi, Holm, Shaffer, Bergmann-Hommel
TABLE = [
    ("C4.5", "Kernel", 4.487e-8, 4.487e-7, 4.487e-7, 4.487e-7, 4.487e-7),
    ("NaiveBayes", "Kernel", 1.736e-7, 1.736e-6, 1.563e-6, 1.042e-6, 1.042e-6),
    ("Kernel", "CN2", 0.0029, 0.0288, 0.0230, 0.0173, 0.0115),
    ("C4.5", "1NN", 0.0048, 0.0485, 0.0339, 0.0291, 0.0291),
    ("1NN", "Kernel", 0.0080, 0.0796, 0.0478, 0.0478, 0.0319),
    ("1NN", "NaiveBayes", 0.0101, 0.1011, 0.0506, 0.0478, 0.0319),
    ("C4.5", "CN2", 0.0128, 0.1276, 0.0510, 0.0510, 0.0383),
    ("NaiveBayes", "CN2", 0.0247, 0.2474, 0.0742, 0.0742, 0.0383),
    ("1NN", "CN2", 0.7440, 1.0, 1.0, 1.0, 1.0),
    ("C4.5", "NaiveBayes", 0.8065, 1.0, 1.0, 1.0, 1.0),
]


@pytest.fixture
def table():
    p = rank_tests(RANKS, n_sets=30)[1]
    order = np.argsort(p)
    first, second = pairs(5)
    names = [(NAMES[first[i]], NAMES[second[i]]) for i in order]
    columns = [p, np.minimum(1, 10 * p), holm(p), shaffer(p), bergmann_hommel(p)]
    return names, [column[order] for column in columns]


def test_the_ranks_are_the_printed_ones():
    np.testing.assert_allclose(RANKS, [2.100, 3.250, 2.200, 4.333, 3.117], atol=5e-4)


def test_iman_davenport_is_14_309():
    test = friedman(RANKS, n_sets=30)
    assert test.statistic == pytest.approx(39.647, abs=5e-4)
    assert test.iman_davenport == pytest.approx(14.309, abs=5e-4)
    assert test.iman_davenport_p_value == pytest.approx(1.593e-9, rel=5e-4)


def test_the_pairs_come_in_the_printed_order(table):
    assert table[0] == [(first, second) for first, second, *_ in TABLE]


@pytest.mark.parametrize(("column", "tolerance"), [(0, 6e-5), (1, 6e-5), (2, 1e-4), (3, 1e-4)])
def test_raw_nemenyi_holm_and_shaffer_are_the_printed_ones(table, column, tolerance):
    printed = np.array([row[2 + column] for row in TABLE])
    np.testing.assert_allclose(table[1][column][:2], printed[:2], rtol=6e-4)
    np.testing.assert_allclose(table[1][column], printed, atol=tolerance)


def test_bergmann_hommel_is_the_tabulated_one_once_it_is_made_to_grow(table):
    tabulated = np.array([row[6] for row in TABLE])
    exact = table[1][4]
    np.testing.assert_allclose(np.maximum.accumulate(exact)[:2], tabulated[:2], rtol=6e-4)
    np.testing.assert_allclose(np.maximum.accumulate(exact), tabulated, atol=6e-5)
    # Exactly one entry is smaller by the procedure itself: 1NN against NaiveBayes, 3 x 0.0101.
    assert np.flatnonzero(np.abs(exact - tabulated) > 6e-5).tolist() == [5]
    assert exact[5] == pytest.approx(0.0303, abs=5e-5)
