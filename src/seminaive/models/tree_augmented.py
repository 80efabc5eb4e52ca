r"""Tree-augmented naive Bayes: every column may depend on one other besides the class.

    log P(x, k) = log P(k) + sum over columns j of log P(x_j | x_p(j), k)

The parents p(j) form the tree under which the training rows are most likely: the maximum spanning tree of the
information that two columns share given the class,

    I(X_j; X_k | Y) = sum over levels and classes of  n_aby / n  ln [ n_aby n_y / (n_ay n_by) ]

Reference: Friedman, Geiger and Goldszmidt, "Bayesian network classifiers", Machine Learning 29, 1997.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from seminaive.models.checks import check_choice
from seminaive.models.dependence import _DependenceClassifier
from seminaive.models.naive import Sums
from seminaive.search.trees import rooted, spanning_forest
from seminaive.statistics.conditional import FamilySmoothing
from seminaive.table.pair_scores import PairScore, scored_strips
from seminaive.table.schema import Integers, Schema
from seminaive.table.table import Table

EDGE_WEIGHT = 4.0
"""With ``edge_score="bd"`` an edge must be worth this times ln(columns) / classes, the prior of the Bayesian forest."""


class TreeAugmentedNB(_DependenceClassifier):
    """Naive Bayes in which every predictor may depend on one other, the dependences forming a tree.

    Removes the crudest error of naive Bayes, counting twice what two predictors say together, at the cost of larger
    tables. Best with some hundred rows per class or more. `KDependenceNB` allows more parents, `AveragedOneDependence`
    averages over all simple structures, `BayesianForest` also says how sure it is of every edge.

    Parameters
    ----------
    numeric : "mdl" or "bins"
        How numeric columns become levels: by cuts that tell the classes apart, or quantiles.
    n_bins : int
        Quantile bins per numeric column when ``numeric="bins"``.
    missing : "value" or "skip"
        A missing value is learned like any level, or says nothing, neither itself nor as a parent.
    edge_score : "information" or "bd"
        What the tree maximises: the information shared given the class, which joins all columns; or the
        Bayesian-Dirichlet score of the forest paper less its penalty for an edge, which leaves weak edges out.
    root : column name, optional
        The column without a parent in its tree; by default the first column of every tree. Smoothing makes the
        probabilities depend on it slightly.
    prior : "empirical", "uniform" or probabilities
        Class prior, in the order of the sorted labels.
    smoothing : float
        Mass added to the counts of every combination of parent and class; 0 leaves plain frequencies.
    smoothing_kind : "shrink" or "bd"
        "shrink" spreads the mass as the column's overall distribution, "bd" spreads ``smoothing`` evenly over all
        cells of a table, as the Bayesian-Dirichlet score does (with 5).
    nominal : names, positions or mask, optional
        Columns that are nominal whatever their type. Text, categories and booleans always are.
    levels : dict, optional
        Per column, all levels it can have.
    max_levels : int, optional
        Fold the rarest levels of a column into one beyond this number.
    n_jobs : int, optional
        Threads that read large tables; the result does not depend on it.
    random_state : int
        Seeds the sample of rows that MDL cuts of a very large table are learned from.

    Attributes
    ----------
    parents_ : int array (columns,)
        The parent of each column besides the class; -1 for none.
    pairs_ : int array (edges, 2)
        Column and parent of every edge, the strongest first.
    pair_information_ : array (edges,)
        The score of each edge.
    class_count_ : array
        Total weight of each class.
    evidence_ : Evidence
        Prior and one term per column, read together with its parent.

    Notes
    -----
    Pairs are counted strip by strip, each a pass over the rows, so that memory stays bounded for thousands of columns.
    Edges that share no information (1e-12 nats or less) are left out, and ties go to the first columns.

    Examples
    --------
    The class says whether two switches are in the same position: each alone says nothing.

    >>> import numpy as np
    >>> from seminaive.models.tree_augmented import TreeAugmentedNB
    >>> rng = np.random.default_rng(0)
    >>> X = rng.integers(0, 2, (500, 3)).astype(bool)
    >>> y = X[:, 0] == X[:, 2]
    >>> model = TreeAugmentedNB().fit(X, y)
    >>> model.parents_, model.score(X, y)
    (array([-1,  0,  0]), 1.0)
    """

    parents_: Integers
    _title = "Tree-augmented naive Bayes"

    def __init__(
        self,
        *,
        numeric: str = "mdl",
        n_bins: int = 10,
        missing: str = "value",
        edge_score: PairScore = "information",
        root: Any = None,
        prior: Any = "empirical",
        smoothing: float = 1.0,
        smoothing_kind: FamilySmoothing = "shrink",
        nominal: Sequence[Any] | None = None,
        levels: Mapping[Any, Sequence[Any]] | None = None,
        max_levels: int | None = None,
        n_jobs: int | None = None,
        random_state: int = 0,
    ) -> None:
        super().__init__(
            numeric=numeric,
            n_bins=n_bins,
            missing=missing,
            prior=prior,
            smoothing=smoothing,
            smoothing_kind=smoothing_kind,
            nominal=nominal,
            levels=levels,
            max_levels=max_levels,
            n_jobs=n_jobs,
            random_state=random_state,
        )
        self.edge_score = edge_score
        self.root = root

    def _check_parameters(self) -> None:
        super()._check_parameters()
        check_choice("edge_score", self.edge_score, ("information", "bd"))

    def _learn_families(self, table: Table, sums: Sums) -> None:
        d = len(table.schema.columns)
        root = None if self.root is None else position_of(self.root, table.schema)
        n_classes = int((sums.class_weight > 0).sum())
        penalty = EDGE_WEIGHT * np.log(d) / n_classes if self.edge_score == "bd" else 0.0
        strips = scored_strips(table, self.edge_score, self.missing, self.n_jobs)
        edges, scores = spanning_forest(((strip.first, strip.score - penalty) for strip in strips), d)
        self.parents_ = rooted(edges, d, root)
        upward = self.parents_[edges[:, 0]] == edges[:, 1]
        self._note_pairs(np.where(upward[:, None], edges, edges[:, ::-1]), scores)
        families = [(j,) if parent < 0 else (j, parent) for j, parent in enumerate(self.parents_.tolist())]
        self.evidence_ = self._evidence(table, sums, families)

    def _unit(self) -> str:
        return "log Bayes factor less its penalty" if self.edge_score == "bd" else super()._unit()


def position_of(name: Any, schema: Schema) -> int:
    """The position of a column by its name."""
    if name not in schema.names:
        raise ValueError(f"root must be a column name or None; {name!r} is not a column")
    return int(schema.names.index(name))
