"""The thesis's Iris problems, as frozen."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.datasets import load_iris

from seminaive.models.judging import Fitted, Recipe, fit_mode
from seminaive.models.naive import Estimation
from seminaive.statistics.constraints import read_constraints
from seminaive.table.door import encode

FROZEN = json.loads((Path(__file__).parent / "constrained.json").read_text())
PROMISES: Any = {0: {"recall": 0.75}, 1: {"recall": 0.6}, 2: {"recall": 0.95}}
CONSTRAINTS = read_constraints(PROMISES, [0, 1, 2])
X, Y = load_iris(return_X_y=True)


def training_rows(split: int) -> Any:
    rng = np.random.default_rng(100 + split)
    return np.concatenate([rng.permutation(np.where(k == Y)[0])[:35] for k in range(3)])


def fitted(split: int, features: list[int]) -> Fitted:
    rows = training_rows(split)
    return fit_mode(encode(X[rows][:, features], Y[rows]), Recipe(Estimation("uniform"), "gaussian", 0))
