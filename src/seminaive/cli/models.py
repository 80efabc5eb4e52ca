"""The models that the command line offers."""

from __future__ import annotations

import inspect
from collections.abc import Sequence
from typing import Any

import seminaive

MODELS = {
    "naive": "NaiveBayes",
    "weighted": "WeightedNB",
    "selective": "SelectiveNB",
    "stagewise": "StagewiseNB",
    "penalized": "PenalizedNB",
    "adjusted": "AdjustedNB",
    "constrained": "ConstrainedNB",
    "tree": "TreeAugmentedNB",
    "k-dependence": "KDependenceNB",
    "averaged": "AveragedOneDependence",
    "forest": "BayesianForest",
}
"""What ``--model`` offers, and its public name: one line per model. Only the one that is asked for is imported."""


def make_model(name: str, numeric: str | None, nominal: Sequence[str]) -> Any:
    """A model with the parameters asked for.

    Examples
    --------
    >>> make_model("naive", "bins", [])
    NaiveBayes(numeric='bins')
    >>> make_model("forest", "kde", [])
    BayesianForest(numeric='kde')
    """
    kind = getattr(seminaive, MODELS[name])
    wishes: dict[str, Any] = {"nominal": list(nominal) or None, "numeric": numeric}
    wishes = {parameter: value for parameter, value in wishes.items() if value is not None}
    unknown = sorted(set(wishes) - set(inspect.signature(kind).parameters))
    if unknown:
        raise ValueError(f"--{unknown[0]} means nothing to the model {name!r}")
    return kind(**wishes)
