"""What a Bayesian forest predicts is the average over its draws, whatever the threads, within bounded memory."""

import warnings

import numpy as np
import pytest
from dependence_definition import theta
from sklearn.exceptions import ConvergenceWarning

from seminaive import BayesianForest


def noisy_pairs(n, d, seed=0):
    """Binary columns of which the first two matter, and only together."""
    rng = np.random.default_rng(seed)
    X = rng.integers(0, 2, (n, d)).astype(bool)
    return X, X[:, 0] == X[:, 1]


def by_definition(X, y, row, model):
    """The average over all draws of the classes' shares, each a product over the signal columns of the draw."""
    average = np.zeros(len(np.unique(y)))
    for parent, group, weight in zip(model.samples_.parent, model.samples_.group, model.samples_.weight, strict=True):
        joint = np.array([np.mean(y == k) for k in np.unique(y)])
        for j in np.flatnonzero(group):
            above = [parent[j]] if parent[j] >= 0 else []
            if all(np.any(X[:, i] == row[i]) for i in (j, *above)):
                joint *= [theta(X, y, j, above, row, k) for k in np.unique(y)]
        average += weight * joint / joint.sum()
    return average


@pytest.mark.parametrize("weights", ["uniform", "posterior"])
def test_probabilities_are_averages_over_the_drawn_forests(weights):
    rng = np.random.default_rng(3)
    y = rng.integers(0, 3, 80)
    X = rng.integers(0, 3, (80, 4))
    X[:, 1] = np.where(rng.random(80) < 0.6, (X[:, 0] + y) % 3, X[:, 1])
    queries = X[:8].copy()
    queries[2:4, 0] = 7  # never seen
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        model = BayesianForest(n_iter=2000, thin=20, chains=2, weights=weights, nominal=range(4)).fit(X, y)
    expected = [by_definition(X, y, row, model) for row in queries]
    np.testing.assert_allclose(model.predict_proba(queries), expected, atol=1e-12)


def test_the_number_of_threads_changes_nothing():
    X, y = noisy_pairs(300, 20)
    one, two = (BayesianForest(n_iter=10_000, n_jobs=n).fit(X, y) for n in (1, 2))
    np.testing.assert_array_equal(one.samples_.parent, two.samples_.parent)
    np.testing.assert_array_equal(one.samples_.packed, two.samples_.packed)
    np.testing.assert_array_equal(one.predict_proba(X), two.predict_proba(X))


@pytest.mark.slow
def test_ten_thousand_columns_fit_into_memory():
    import tracemalloc

    X, y = noisy_pairs(128, 10_000)
    tracemalloc.start()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        model = BayesianForest(n_iter=5000, chains=1).fit(X, y)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 1.1e9
    assert model.predict_proba(X[:3]).shape == (3, 2)
