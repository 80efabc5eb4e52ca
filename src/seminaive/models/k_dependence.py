r"""k-dependence naive Bayes: every column may depend on k others besides the class.

    log P(x, k) = log P(k) + sum over columns j of log P(x_j | parents of j, k)

Columns are ordered by what each tells about the class, I(X_j; Y), falling; the parents of a column are those k before
it that share most information with it given the class, I(X_j; X_i | Y).

Reference: Sahami, "Learning limited dependence Bayesian classifiers", KDD 1996.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from seminaive.models.checks import check_whole
from seminaive.models.dependence import _DependenceClassifier
from seminaive.models.naive import Sums
from seminaive.search.trees import DIGITS, best_parents
from seminaive.statistics.conditional import FamilySmoothing
from seminaive.statistics.information import mutual_information
from seminaive.table.pair_scores import scored_strips
from seminaive.table.schema import MISSING, Floats, Integers
from seminaive.table.table import Table


class KDependenceNB(_DependenceClassifier):
    """Naive Bayes in which every predictor may depend on up to k others that tell more about the class.

    From naive Bayes (``k=0``) towards full dependence: the more rows, the larger a k pays. Tables grow with the product
    of the levels of a column and its parents; those of rare combinations are hardly more than smoothing.

    Parameters
    ----------
    k : int
        Most parents of a column besides the class.
    numeric : "mdl" or "bins"
        How numeric columns become levels: by cuts that tell the classes apart, or quantiles.
    n_bins : int
        Quantile bins per numeric column when ``numeric="bins"``.
    missing : "value" or "skip"
        A missing value is learned like any level, or says nothing, neither itself nor as a parent.
    prior : "empirical", "uniform" or probabilities
        Class prior, in the order of the sorted labels.
    smoothing : float
        Mass added to the counts of every combination of parents and class; 0 leaves plain frequencies.
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
    parents_ : int array (columns, k)
        The parents of each column besides the class, the strongest first; -1 where there are fewer.
    order_ : int array (columns,)
        Columns by what they tell about the class, the most telling first.
    class_information_ : array (columns,)
        What each column tells about the class, in nats.
    pairs_ : int array (edges, 2)
        Column and parent of every dependence, the strongest first.
    pair_information_ : array (edges,)
        The information that the two share given the class, in nats.
    class_count_ : array
        Total weight of each class.
    evidence_ : Evidence
        Prior and one term per column, read together with its parents.

    Notes
    -----
    Information is rounded to 12 decimals and ties go to the first columns. Pairs are counted strip by strip, each a
    pass over the rows; then the chosen families are counted in one pass.

    Examples
    --------
    >>> import numpy as np
    >>> from seminaive.models.k_dependence import KDependenceNB
    >>> rng = np.random.default_rng(0)
    >>> X = rng.integers(0, 2, (2000, 4)).astype(bool)
    >>> y = X[:, 0] ^ X[:, 1] ^ X[:, 2]  # the parity of three columns: no two of them say anything
    >>> KDependenceNB(k=1).fit(X, y).score(X, y) < 0.6, KDependenceNB(k=3).fit(X, y).score(X, y)
    (True, 1.0)
    """

    parents_: Integers
    order_: Integers
    class_information_: Floats
    _title = "k-dependence naive Bayes"

    def __init__(
        self,
        k: int = 2,
        *,
        numeric: str = "mdl",
        n_bins: int = 10,
        missing: str = "value",
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
        self.k = k

    def _check_parameters(self) -> None:
        super()._check_parameters()
        check_whole("k", self.k, at_least=0)

    def _learn_families(self, table: Table, sums: Sums) -> None:
        self.class_information_ = information_with_class(sums, self.missing)
        self.order_ = np.argsort(-np.round(self.class_information_, DIGITS), kind="stable")
        strips = scored_strips(table, "information", self.missing, self.n_jobs) if self.k > 0 else ()
        scores = ((strip.first, strip.score) for strip in strips)
        self.parents_, information = best_parents(scores, self.order_, min(self.k, len(self.order_)))
        child, place = np.nonzero(self.parents_ >= 0)
        self._note_pairs(np.stack([child, self.parents_[child, place]], axis=1), information[child, place])
        families = [(j, *row[row >= 0].tolist()) for j, row in enumerate(self.parents_)]
        self.evidence_ = self._evidence(table, sums, families)


def information_with_class(sums: Sums, missing: str) -> Floats:
    """What every coded column tells about the class, in nats; of its known values if missing says nothing."""
    counts, layout = sums.counts, sums.schema.layout
    if missing == "skip":
        counts = counts.copy()
        counts[:, layout.starts + MISSING] = 0
    return mutual_information(counts, np.append(layout.starts, layout.width))


__all__: list[str] = ["KDependenceNB", "information_with_class"]
