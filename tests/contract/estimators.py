"""The estimators that keep the promises: adding a model adds one line here."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache, partial
from typing import Any

import pytest
from tables import messy

from seminaive import (
    AdjustedNB,
    AveragedOneDependence,
    BayesianForest,
    ConstrainedNB,
    KDependenceNB,
    NaiveBayes,
    PenalizedNB,
    SelectiveNB,
    StagewiseNB,
    TreeAugmentedNB,
    WeightedNB,
)

ESTIMATORS: list[tuple[str, Callable[[], Any]]] = [
    ("NaiveBayes", NaiveBayes),
    ("NaiveBayes-bins", partial(NaiveBayes, numeric="bins", n_bins=4)),
    ("NaiveBayes-kde", partial(NaiveBayes, numeric="kde")),
    ("NaiveBayes-mdl", partial(NaiveBayes, numeric="mdl")),
    ("NaiveBayes-value", partial(NaiveBayes, missing="value", smoothing_kind="class")),
    ("BayesianForest", BayesianForest),
    ("BayesianForest-bd", partial(BayesianForest, smoothing_kind="bd", numeric="bins", n_bins=3, missing="skip")),
    ("ConstrainedNB", ConstrainedNB),
    (
        "ConstrainedNB-offset",
        partial(
            ConstrainedNB,
            constraints={"*": {"accuracy": 0.05}},
            method="offset",
            evaluate_on="train",
            confidence=None,
            on_infeasible="warn",
        ),
    ),
    ("AdjustedNB", AdjustedNB),
    ("AdjustedNB-alo", partial(AdjustedNB, select="alo")),
    ("AdjustedNB-ovr", partial(AdjustedNB, select="alo", coupling="ovr", numeric="kde", centre="auto")),
    (
        "AdjustedNB-gaussian",
        partial(AdjustedNB, select="alo", numeric="gaussian", nonnegative=True, shared=True, missing="skip"),
    ),
    ("AdjustedNB-residual", partial(AdjustedNB, select="alo", numeric="mdl", residual=True)),
    ("PenalizedNB", PenalizedNB),
    ("PenalizedNB-line", partial(PenalizedNB, solver="line", adaptive=False, numeric="mdl", missing="value")),
    ("AveragedOneDependence", AveragedOneDependence),
    ("KDependenceNB", KDependenceNB),
    ("KDependenceNB-skip", partial(KDependenceNB, k=1, numeric="bins", n_bins=4, missing="skip")),
    ("TreeAugmentedNB", TreeAugmentedNB),
    ("SelectiveNB", SelectiveNB),
    ("SelectiveNB-mdl", partial(SelectiveNB, numeric="mdl", missing="value", criterion="log_loss")),
    ("StagewiseNB", StagewiseNB),
    (
        "StagewiseNB-error",
        partial(StagewiseNB, criterion="error_log_loss", lookahead=40, patience=2, numeric="mdl", missing="value"),
    ),
    ("StagewiseNB-exponent", partial(StagewiseNB, mix="exponent", missing="value", step=0.1)),
    ("WeightedNB", WeightedNB),
    ("WeightedNB-mdl", partial(WeightedNB, weights="deviation", numeric="mdl", missing="value")),
]

COUNTS_COLUMNS = {"BayesianForest", "BayesianForest-bd"}
"""Names of estimators whose prior depends on the number of columns: one that says nothing still shifts the others."""
ROOTED_IN_THE_FIRST_COLUMN = {"TreeAugmentedNB"}
"""Names of estimators that smooth from the first column on, so that the order of columns moves their evidence."""


@cache
def fitted(make: Callable[[], Any]) -> Any:
    """An estimator that learned from the messy rows: one for all tests, which must leave it as it is."""
    return make().fit(*messy())


every_estimator = pytest.mark.parametrize("make", [pytest.param(make, id=name) for name, make in ESTIMATORS])
every_estimator_that_ignores_idle_columns = pytest.mark.parametrize(
    "make", [pytest.param(make, id=name) for name, make in ESTIMATORS if name not in COUNTS_COLUMNS]
)
every_estimator_without_a_first_column = pytest.mark.parametrize(
    "make", [pytest.param(make, id=name) for name, make in ESTIMATORS if name not in ROOTED_IN_THE_FIRST_COLUMN]
)
