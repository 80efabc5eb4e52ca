"""Classifiers that start from naive Bayes and repair it; every decision stays an exact, readable sum of evidence."""

from seminaive import datasets, metrics, plot
from seminaive.evaluate.compare import compare
from seminaive.evidence.storage import load
from seminaive.models.adjusted import AdjustedNB
from seminaive.models.constrained import ConstrainedNB
from seminaive.models.constraint_report import InfeasibleConstraintsError
from seminaive.models.forest import BayesianForest
from seminaive.models.k_dependence import KDependenceNB
from seminaive.models.naive_bayes import NaiveBayes
from seminaive.models.one_dependence import AveragedOneDependence
from seminaive.models.penalized import PenalizedNB
from seminaive.models.selective import SelectiveNB
from seminaive.models.stagewise import StagewiseNB
from seminaive.models.tree_augmented import TreeAugmentedNB
from seminaive.models.weighted import WeightedNB
from seminaive.selection.association import mic, mic_matrix
from seminaive.selection.discretizer import Discretizer
from seminaive.selection.filter_selectors import CFSFilter, MRMRFilter, MutualInformationFilter
from seminaive.selection.groups import RedundancyFilter, group_features
from seminaive.selection.indicators import ScoreIndicators
from seminaive.selection.selector import NBSelector
from seminaive.statistics.normal_gamma import NormalGamma
from seminaive.table.door import encode
from seminaive.table.scan import scan_csv, scan_parquet
from seminaive.table.table import Table

__version__ = "0.1.0"

__all__ = [
    "AdjustedNB",
    "AveragedOneDependence",
    "BayesianForest",
    "CFSFilter",
    "ConstrainedNB",
    "Discretizer",
    "InfeasibleConstraintsError",
    "KDependenceNB",
    "MRMRFilter",
    "MutualInformationFilter",
    "NBSelector",
    "NaiveBayes",
    "NormalGamma",
    "PenalizedNB",
    "RedundancyFilter",
    "ScoreIndicators",
    "SelectiveNB",
    "StagewiseNB",
    "Table",
    "TreeAugmentedNB",
    "WeightedNB",
    "compare",
    "datasets",
    "encode",
    "group_features",
    "load",
    "metrics",
    "mic",
    "mic_matrix",
    "plot",
    "scan_csv",
    "scan_parquet",
]
