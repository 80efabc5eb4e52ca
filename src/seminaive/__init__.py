"""Classifiers that start from naive Bayes and repair it; every decision stays an exact, readable sum of evidence."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:  # for type checkers and editors; while running, `__getattr__` below does the same on first use
    from seminaive import datasets as datasets
    from seminaive import metrics as metrics
    from seminaive import plot as plot
    from seminaive.evaluate.compare import compare as compare
    from seminaive.evidence.storage import load as load
    from seminaive.models.adjusted import AdjustedNB as AdjustedNB
    from seminaive.models.constrained import ConstrainedNB as ConstrainedNB
    from seminaive.models.constraint_report import InfeasibleConstraintsError as InfeasibleConstraintsError
    from seminaive.models.forest import BayesianForest as BayesianForest
    from seminaive.models.k_dependence import KDependenceNB as KDependenceNB
    from seminaive.models.naive_bayes import NaiveBayes as NaiveBayes
    from seminaive.models.one_dependence import AveragedOneDependence as AveragedOneDependence
    from seminaive.models.penalized import PenalizedNB as PenalizedNB
    from seminaive.models.selective import SelectiveNB as SelectiveNB
    from seminaive.models.stagewise import StagewiseNB as StagewiseNB
    from seminaive.models.tree_augmented import TreeAugmentedNB as TreeAugmentedNB
    from seminaive.models.weighted import WeightedNB as WeightedNB
    from seminaive.selection.association import mic as mic
    from seminaive.selection.association import mic_matrix as mic_matrix
    from seminaive.selection.discretizer import Discretizer as Discretizer
    from seminaive.selection.filter_selectors import CFSFilter as CFSFilter
    from seminaive.selection.filter_selectors import MRMRFilter as MRMRFilter
    from seminaive.selection.filter_selectors import MutualInformationFilter as MutualInformationFilter
    from seminaive.selection.groups import RedundancyFilter as RedundancyFilter
    from seminaive.selection.groups import group_features as group_features
    from seminaive.selection.indicators import ScoreIndicators as ScoreIndicators
    from seminaive.selection.selector import NBSelector as NBSelector
    from seminaive.statistics.normal_gamma import NormalGamma as NormalGamma
    from seminaive.table.door import encode as encode
    from seminaive.table.scan import scan_csv as scan_csv
    from seminaive.table.scan import scan_parquet as scan_parquet
    from seminaive.table.table import Table as Table

__version__ = "0.1.0"

# Where each public name is at home. It is imported on first use: a process that fits one model should not
# load the other ten, their searches and their kernels (docs/decisions/0008-names-on-first-use.md).
_HOMES = {
    "AdjustedNB": "models.adjusted",
    "AveragedOneDependence": "models.one_dependence",
    "BayesianForest": "models.forest",
    "CFSFilter": "selection.filter_selectors",
    "ConstrainedNB": "models.constrained",
    "Discretizer": "selection.discretizer",
    "InfeasibleConstraintsError": "models.constraint_report",
    "KDependenceNB": "models.k_dependence",
    "MRMRFilter": "selection.filter_selectors",
    "MutualInformationFilter": "selection.filter_selectors",
    "NBSelector": "selection.selector",
    "NaiveBayes": "models.naive_bayes",
    "NormalGamma": "statistics.normal_gamma",
    "PenalizedNB": "models.penalized",
    "RedundancyFilter": "selection.groups",
    "ScoreIndicators": "selection.indicators",
    "SelectiveNB": "models.selective",
    "StagewiseNB": "models.stagewise",
    "Table": "table.table",
    "TreeAugmentedNB": "models.tree_augmented",
    "WeightedNB": "models.weighted",
    "compare": "evaluate.compare",
    "datasets": "datasets",
    "encode": "table.door",
    "group_features": "selection.groups",
    "load": "evidence.storage",
    "metrics": "metrics",
    "mic": "selection.association",
    "mic_matrix": "selection.association",
    "plot": "plot",
    "scan_csv": "table.scan",
    "scan_parquet": "table.scan",
}

__all__ = sorted(_HOMES)


def __getattr__(name: str) -> Any:
    """A public name, imported on its first use and kept."""
    if name not in _HOMES:
        raise AttributeError(f"module 'seminaive' has no attribute {name!r}")
    home = import_module(f"seminaive.{_HOMES[name]}")
    found = home if _HOMES[name] == name else getattr(home, name)
    globals()[name] = found
    return found


def __dir__() -> list[str]:
    hidden = {"Any", "TYPE_CHECKING", "import_module"}  # what this file needs itself
    return sorted({*globals(), *_HOMES} - hidden)
