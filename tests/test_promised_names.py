"""Names and defaults are those promised: whoever wrote them down somewhere can rely on them."""

from __future__ import annotations

import inspect
from functools import cache

import numpy as np
import pytest

import seminaive as snb

ROWS = {"nominal": None, "levels": None, "max_levels": None, "n_jobs": None}
GAUSSIAN = {"numeric": "gaussian", "n_bins": 10, "missing": "skip", "prior": "empirical", **ROWS}
MASS = {"smoothing": 1.0, "smoothing_kind": "pooled", "variance_prior": "normal-gamma"}
FAMILIES = {"numeric": "mdl", "n_bins": 10, "missing": "value", "prior": "empirical", "smoothing": 1.0, **ROWS}
SHRUNK = {"smoothing_kind": "shrink", "random_state": 0}

PARAMETERS = {
    "NaiveBayes": {**GAUSSIAN, **MASS, "smoothing_kind": "level"},
    "WeightedNB": {**GAUSSIAN, **MASS, "weights": "tau", "random_state": 0},
    "SelectiveNB": {**GAUSSIAN, **MASS, "criterion": "error", "strict": True, "random_state": 0},
    "StagewiseNB": {
        **GAUSSIAN,
        **MASS,
        "criterion": "log_loss",
        "step": 0.025,
        "lookahead": 1,
        "patience": 1,
        "ties": "first",
        "mix": "parameters",
        "select": "aic",
        "verbose": False,
        "random_state": 0,
    },
    "PenalizedNB": {
        **GAUSSIAN,
        **MASS,
        "penalty": "auto",
        "adaptive": True,
        "solver": "exact",
        "select": "aic",
        "random_state": 0,
    },
    "AdjustedNB": {
        **GAUSSIAN,
        **MASS,
        "numeric": "bins",
        "missing": "value",
        "smoothing_kind": "class",
        "select": "auto",
        "m": None,
        "coupling": "softmax",
        "shared": False,
        "centre": 0,
        "nonnegative": False,
        "residual": False,
        "random_state": 0,
    },
    "ConstrainedNB": {
        **GAUSSIAN,
        "smoothing": 1.0,
        "variance_prior": "normal-gamma",
        "constraints": None,
        "method": "auto",
        "evaluate_on": "cv",
        "confidence": 0.95,
        "on_infeasible": "raise",
        "objective": "length",
        "folds": 5,
        "holdout": 0.3,
        "random_state": 0,
    },
    "TreeAugmentedNB": {**FAMILIES, **SHRUNK, "edge_score": "information", "root": None},
    "KDependenceNB": {**FAMILIES, **SHRUNK, "k": 2},
    "AveragedOneDependence": {**FAMILIES, **SHRUNK, "min_count": 1, "leaders": "varying"},
    "BayesianForest": {
        **FAMILIES,
        **SHRUNK,
        "n_iter": "auto",
        "chains": 4,
        "thin": 50,
        "burn_in": 0.2,
        "concentration": 5,
        "edge_weight": 4,
        "signal_weight": 1,
        "moves": "joint",
        "weights": "uniform",
        "max_time": None,
        "verbose": 0,
    },
    "NBSelector": {
        **GAUSSIAN,
        **MASS,
        "smoothing_kind": "level",
        "direction": "forward",
        "criterion": "probability",
        "search_on": "cv",
        "ties": "probability",
        "patience": None,
        "n_features_to_select": "best",
        "refit": True,
        "cv": None,
        "max_phases": 20,
        "allow_empty": False,
        "verbose": 0,
        "random_state": 0,
    },
    "MutualInformationFilter": {
        "n_features_to_select": "best",
        "numeric": "bins",
        "n_bins": 10,
        **ROWS,
        "random_state": 0,
    },
    "MRMRFilter": {"n_features_to_select": "best", "numeric": "bins", "n_bins": 10, **ROWS, "random_state": 0},
    "CFSFilter": {"numeric": "mdl", "n_bins": 10, "allow_empty": False, **ROWS, "random_state": 0},
    "RedundancyFilter": {"threshold": 0.9, "max_rows": 500, "n_bins": 10, **ROWS, "random_state": 0},
    "ScoreIndicators": {
        "scores": None,
        "levels": None,
        "n_quantiles": 9,
        "drop_constant": False,
        "drop_duplicates": False,
    },
    "Discretizer": {
        "strategy": "mdl",
        "n_bins": 10,
        "max_bins": None,
        "min_bin": None,
        "output": "auto",
        "nominal": None,
        "n_jobs": None,
        "random_state": 0,
    },
}

LEARNED = {
    "NaiveBayes": {"counts_", "class_count_", "evidence_"},
    "WeightedNB": {"weights_", "class_count_", "evidence_"},
    "SelectiveNB": {"support_", "path_", "class_count_", "evidence_"},
    "StagewiseNB": {"alpha_", "path_", "class_count_", "evidence_"},
    "PenalizedNB": {"alpha_", "path_", "penalty_", "class_count_", "evidence_"},
    "AdjustedNB": {"weights_", "weight_errors_", "m_", "penalty_", "path_", "overlap_", "class_count_", "evidence_"},
    "ConstrainedNB": {"status_", "constraint_report_", "offsets_", "proof_", "class_count_", "evidence_"},
    "TreeAugmentedNB": {"parents_", "pairs_", "class_count_", "evidence_"},
    "KDependenceNB": {"parents_", "pairs_", "class_count_", "evidence_"},
    "AveragedOneDependence": {"parents_", "pairs_", "class_count_", "evidence_"},
    "BayesianForest": {"inclusion_", "edges_", "diagnostics_", "samples_", "class_count_", "evidence_"},
    "NBSelector": {"support_", "path_", "selection_error_", "class_count_", "evidence_"},
    "MutualInformationFilter": {"support_", "scores_", "ranking_"},
    "MRMRFilter": {"support_", "scores_", "ranking_"},
    "CFSFilter": {"support_", "scores_", "merit_"},
    "RedundancyFilter": {"support_", "groups_"},
    "Discretizer": {"cuts_", "columns_"},
}

FUNCTIONS = {
    "compare": "models, datasets, cv=10, repeats=10, metrics, random_state=0, n_jobs=1, resume=None",
    "encode": "X, y=None, sample_weight=None, nominal=None, levels=None, max_levels=None, n_jobs=None",
    "group_features": "X, y=None, threshold='null', names=None, alpha=0.6, c=15.0, max_rows=10000, random_state=0, "
    "n_jobs=None",
    "load": "path",
    "mic": "x, y, alpha=0.6, c=15.0, n_permutations=0, random_state=0",
    "mic_matrix": "X, y=None, names=None, alpha=0.6, c=15.0, max_rows=10000, random_state=0, n_jobs=None",
    "scan_csv": "path, target=None, weight=None, columns=None, nominal=None, levels=None, max_levels=None, cache=None, "
    "block_rows=65536",
    "scan_parquet": "path, target=None, weight=None, columns=None, nominal=None, levels=None, max_levels=None, "
    "cache=None, block_rows=65536, client=None",
}

ROOMS = {
    "plot": "calibration critical_differences edges forest front inclusion lift path profit trace",
    "metrics": "LiftCurve ProfitCurve ReliabilityCurve brier_score expected_calibration_error lift_curve log_loss_bits "
    "profit_curve reliability_curve",
    "datasets": "EngineSignals StagewiseData make_corral make_engine_signals make_loans make_mailing make_stagewise "
    "make_stagewise_example",
}

OTHERS = {"InfeasibleConstraintsError", "NormalGamma", "Table"}


@cache
def fitted(name):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 3))
    return getattr(snb, name)().fit(X, (X[:, 0] > 0).astype(int))


def test_every_public_name_is_promised():
    assert set(snb.__all__) == {*PARAMETERS, *FUNCTIONS, *ROOMS, *OTHERS}


@pytest.mark.parametrize("name", PARAMETERS)
def test_parameters_and_their_defaults_are_those_promised(name):
    assert getattr(snb, name)().get_params() == PARAMETERS[name]


@pytest.mark.parametrize("name", LEARNED)
def test_what_is_learned_has_the_promised_names_and_all_of_it_is_documented(name):
    learned = {a for a in dir(fitted(name)) if a.endswith("_") and not a.startswith("_")}
    assert learned >= LEARNED[name]
    text = inspect.getdoc(getattr(snb, name)).partition("Attributes\n")[2]
    known_to_all = {"classes_", "n_features_in_", "feature_names_in_"}
    assert [a for a in sorted(learned - known_to_all) if a not in text] == []


@pytest.mark.parametrize("name", FUNCTIONS)
def test_functions_take_what_is_promised(name):
    parameters = inspect.signature(getattr(snb, name)).parameters.values()
    shown = [
        p.name if p.default is p.empty or isinstance(p.default, tuple) else f"{p.name}={p.default!r}"
        for p in parameters
    ]
    assert ", ".join(shown) == FUNCTIONS[name]


@pytest.mark.parametrize("room", ROOMS)
def test_rooms_offer_what_is_promised_and_each_says_what_it_is(room):
    offered = getattr(snb, room)
    assert set(ROOMS[room].split()) <= set(offered.__all__)
    for name in offered.__all__:
        assert (getattr(offered, name).__doc__ or "").strip(), name
