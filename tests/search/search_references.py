"""The frozen reference cases as search problems."""

import json
from pathlib import Path

import numpy as np
from search_problems import binary_codes, problem_from

from seminaive.search.problem import SearchProblem, arrange_rows

CASES = json.loads((Path(__file__).parent.parent / "reference" / "selection.json").read_text())
CRITERIA = {"error": "error", "prob": "probability"}


def labels_of(case):
    return np.array(case["y"]) if "y" in case else np.repeat(range(len(case["y_counts"])), case["y_counts"])


def tiny():
    return problem_from(binary_codes(CASES["tiny"]["columns"]), CASES["tiny"]["y"])


def nested(rows):
    """``rows``: "fit" or "select"."""
    case = CASES["nested"]
    y = labels_of(case)
    fit = np.array(case["fit_rows"])
    use = fit if rows == "fit" else np.setdiff1d(np.arange(len(y)), fit)
    return problem_from(binary_codes(case["columns"]), y, [2] * 17, fit=fit, rows=use)


def mixed():
    """Features 0-2 Gaussian, 3-4 with three levels, 5-6 with two."""
    case = CASES["mixed"]
    y = labels_of(case)
    x = np.array(case["gaussian"]).T
    codes = binary_codes(case["categorical"] + case["binary"])
    means = np.array([[x[p, y == k].mean() for k in range(3)] for p in range(3)])
    variances = np.array([[x[p, y == k].var() for k in range(3)] for p in range(3)])
    squares = (x[:, None, :] - means[:, :, None]) ** 2 / variances[:, :, None]
    dense = -0.5 * (np.log(2 * np.pi * variances)[:, :, None] + squares)
    return problem_from(
        codes,
        y,
        [3, 3, 2, 2],
        dense=lambda d: dense[d],  # rows already lie in the order of their classes
        n_dense=3,
        coded_features=np.array([3, 4, 5, 6]),
        dense_features=np.array([0, 1, 2]),
    )


def reference_paths():
    """(name, problem maker, direction, criterion, ties, expected) of every frozen path."""
    found = []
    groups = [("tiny", tiny, CASES["tiny"]["paths"]), ("mixed", mixed, CASES["mixed"]["paths"])]
    for rows, key in (("fit", "fit"), ("select", "holdout")):
        groups.append((f"nested-{key}", lambda rows=rows: nested(rows), CASES["nested"]["searches"][key]))
    for name, make, paths in groups:
        for key, expected in paths.items():
            if "order" in expected:
                direction, criterion, *rest = key.split("_")
                ties = "index" if rest[-1:] == ["index"] else "probability"
                found.append((f"{name}-{key}", make, direction, CRITERIA[criterion], ties, expected))
    return found


def random_problem(seed, n_classes=None, weighted=None, n_rows=None):
    """A small problem with features of all kinds, copies and constants among them."""
    rng = np.random.default_rng(seed)
    n_classes = n_classes or int(rng.integers(2, 6))
    n = n_rows or int(rng.integers(12, 60))
    y = np.concatenate([np.arange(n_classes), rng.integers(0, n_classes, n)])
    n = len(y)
    n_levels = rng.integers(1, 5, size=5)
    codes = np.stack([(y * rng.integers(0, 2) + rng.integers(0, m, n)) % m + 2 for m in n_levels])
    codes[0][rng.random(n) < 0.2] = 1  # missing
    codes = np.vstack([codes, codes[2], codes[3]])
    n_levels = [*n_levels, n_levels[2], n_levels[3]]
    folds = rng.permutation(n) % 3 if seed % 3 == 0 else None
    weights = None
    if weighted or (weighted is None and seed % 2):
        weights = rng.integers(0, 4, n).astype(float) + 0.25
    problem = problem_from(codes, y, n_levels, folds=folds, weights=weights)
    n_dense = int(rng.integers(0, 3))
    dense = rng.normal(size=(n_dense, n_classes, n)) * (1 + 40 * (seed % 5 == 0))
    return SearchProblem(
        problem.segments,
        problem.log_prior,
        problem.codes,
        problem.tables,
        problem.offsets,
        dense,
        n_dense,
        problem.weights,
        *np.split(rng.permutation(7 + n_dense), [7]),
    )


__all__ = [
    "CASES",
    "arrange_rows",
    "labels_of",
    "mixed",
    "nested",
    "random_problem",
    "reference_paths",
    "tiny",
]
