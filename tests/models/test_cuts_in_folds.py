"""Cuts that look at the class are learned from the rows that teach, never from the rows that judge."""

import numpy as np
import pytest

from seminaive import Discretizer, MutualInformationFilter, encode
from seminaive.models.judging import Recipe, judge_by
from seminaive.models.naive import Estimation
from seminaive.statistics.mdl import mdl_cuts


@pytest.mark.parametrize("place", ["cv", "holdout"])
def test_promises_are_judged_on_rows_whose_labels_the_cuts_never_saw(place):
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, 300)
    X = rng.normal(size=(300, 2)) + 2 * y[:, None]
    judge = judge_by(encode(X, y), Recipe(Estimation(), "mdl", 0), place, 4, 0.25)
    assert len(judge.parts) == (4 if place == "cv" else 1)
    for fitted, judged in judge.parts:
        taught = np.setdiff1d(np.arange(300), judge.rows.numbers[judged])
        assert len(taught) == 225
        for j in (0, 1):
            cuts = fitted.evidence.schema.columns[j].cuts
            assert len(cuts) > 0
            np.testing.assert_array_equal(cuts, mdl_cuts(X[taught, j], y[taught], 2))


@pytest.mark.filterwarnings("ignore:no number of columns")
def test_a_filter_sees_that_noise_is_noise_although_its_cuts_fit_the_training_rows():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(60, 400)), rng.integers(0, 2, 60)
    honest = MutualInformationFilter(numeric="mdl").fit(X, y)
    leaky = MutualInformationFilter().fit(Discretizer(output="intervals").fit_transform(X, y), y)
    assert leaky.path_.errors.min() < 0.2
    assert honest.path_.errors.min() > 0.3
