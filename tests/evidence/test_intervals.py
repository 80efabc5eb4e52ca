"""The 95 % intervals of evidence hold what they promise: simulated truths lie inside about 95 % of the time."""

import numpy as np
import pandas as pd
import pytest
from scipy.stats import norm

from seminaive import NaiveBayes

REPEATS = 200


def share_inside(draw_truth, draw_rows, show, true_evidence):
    """How often the true contrast of two classes is inside the interval that is shown for it."""
    rng = np.random.default_rng(0)
    inside = total = 0
    for _ in range(REPEATS):
        truth = draw_truth(rng)
        X, y = draw_rows(rng, truth)
        table = NaiveBayes().fit(X, y).explain(show).to_frame()
        bars = table[table["term"] != "(prior)"]
        expected = true_evidence(truth)
        inside += int(((bars["low"] <= expected) & (expected <= bars["high"])).sum())
        total += len(bars)
    return inside / total


def test_intervals_of_nominal_evidence_cover_truths_of_the_prior():
    levels = ["a", "b", "c"]

    def draw_rows(rng, truth):
        words = np.concatenate([rng.choice(levels, 30, p=theta) for theta in truth])
        return pd.DataFrame({"word": words}), [0] * 30 + [1] * 30

    share = share_inside(
        lambda rng: rng.dirichlet([1, 1, 1], 2) * 0.9 + 1 / 30,
        draw_rows,
        pd.DataFrame({"word": levels}),
        lambda truth: np.log(truth[1] / truth[0]),
    )
    assert share == pytest.approx(0.95, abs=0.025)


def test_intervals_of_gaussian_evidence_cover_the_true_densities():
    at = np.array([-1.0, 0.0, 1.5])

    def draw_truth(rng):
        return rng.normal(size=2), rng.gamma(5, 0.2, 2)

    def draw_rows(rng, truth):
        mean, sd = truth
        return np.concatenate([rng.normal(mean[k], sd[k], (40, 1)) for k in (0, 1)]), [0] * 40 + [1] * 40

    def true_evidence(truth):
        mean, sd = truth
        return norm.logpdf(at, mean[1], sd[1]) - norm.logpdf(at, mean[0], sd[0])

    share = share_inside(draw_truth, draw_rows, at[:, None], true_evidence)
    assert share == pytest.approx(0.95, abs=0.03)


def test_more_rows_make_shorter_intervals():
    rng = np.random.default_rng(0)
    X, y = pd.DataFrame({"w": rng.choice(["a", "b"], 4000), "x": rng.normal(size=4000)}), rng.integers(0, 2, 4000)
    width = []
    for n in (40, 400, 4000):
        table = NaiveBayes().fit(X[:n], y[:n]).explain(X[:50]).to_frame()
        width.append((table["high"] - table["low"]).groupby(table["term"]).mean())
    assert (width[0][["w", "x"]] > 2 * width[1][["w", "x"]]).all()
    assert (width[1][["w", "x"]] > 2 * width[2][["w", "x"]]).all()


def test_what_says_nothing_is_certain():
    X = pd.DataFrame({"w": ["a", "b", "a", "b"], "x": [1.0, 2.0, 3.0, 5.0]})
    model = NaiveBayes().fit(X, [0, 0, 1, 1])
    parts = model.contributions(pd.DataFrame({"w": ["new", None], "x": [np.nan, np.nan]}))
    assert not parts.values.any()
    assert not parts.variances.any()
