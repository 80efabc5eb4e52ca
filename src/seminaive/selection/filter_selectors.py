"""Filters: columns ranked or chosen by what they tell about the class and about one another, without a classifier.

    MI      by decreasing I(X_j; Y)
    mRMR    first the largest I(X_j; Y); then, again and again, the largest I(X_j; Y) - mean of I(X_j; X_k) over the
            chosen k                                                                     (Peng, Long, Ding 2005)
    CFS     the subset S with the largest merit, the sum over S of c(j, Y) / sqrt(|S| + sum over j != k of c(j, k)),
            with c the symmetric uncertainty                                             (Hall 1999)

All of it comes from counts, which add up over blocks of rows wherever these are. Numeric columns are binned; a missing
value is a level of its own.
"""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from seminaive.models.base import TableEstimator
from seminaive.models.checks import check_choice, check_whole
from seminaive.models.naive import Estimation
from seminaive.models.numeric import as_modelled
from seminaive.models.search_rows import rows_to_search, search_problem
from seminaive.search.alternate import ranking_search
from seminaive.search.filters import Ranking, cfs_subset, information_ranking, mrmr_ranking
from seminaive.search.path import Path, Size
from seminaive.selection.columns import ColumnSelector
from seminaive.selection.row_sets import check_class_sizes, evidence_of, halves
from seminaive.selection.selector import check_size
from seminaive.selection.table_information import (
    information_of_pairs,
    information_with_class,
    uncertainty_of_pairs,
    uncertainty_with_class,
)
from seminaive.table.block import take_rows
from seminaive.table.gather import as_table
from seminaive.table.schema import Floats
from seminaive.table.table import Table

__all__ = ["CFSFilter", "MRMRFilter", "MutualInformationFilter"]


class _CountFilter(ColumnSelector, TableEstimator):
    """What the filters share: numeric columns are binned."""

    numeric: str
    n_bins: int
    random_state: int

    def _check_parameters(self) -> None:
        check_choice("numeric", self.numeric, ("bins", "mdl"))
        check_whole("n_bins", self.n_bins, at_least=1)
        check_whole("random_state", self.random_state, at_least=0)

    def _coded(self, table: Table) -> Table:
        return as_modelled(table, self.numeric, self.n_bins, self.random_state, self.n_jobs)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.target_tags.required = True
        return tags


class _RankingFilter(_CountFilter):
    """A filter that ranks all columns and keeps the first ones."""

    def __init__(
        self,
        *,
        n_features_to_select: Size = "best",
        numeric: str = "bins",
        n_bins: int = 10,
        nominal: Sequence[Any] | None = None,
        levels: Mapping[Any, Sequence[Any]] | None = None,
        max_levels: int | None = None,
        n_jobs: int | None = None,
        random_state: int = 0,
    ) -> None:
        self.n_features_to_select = n_features_to_select
        self.numeric = numeric
        self.n_bins = n_bins
        self.nominal = nominal
        self.levels = levels
        self.max_levels = max_levels
        self.n_jobs = n_jobs
        self.random_state = random_state

    def _check_parameters(self) -> None:
        super()._check_parameters()
        check_size(self.n_features_to_select)

    def _rank(self, relevance: Floats, table: Table, most: int | None) -> Ranking:
        raise NotImplementedError

    def _learn(self, table: Table) -> None:
        n_columns = len(table.schema.columns)
        size = self.n_features_to_select
        check_size(size, n_columns)
        table = self._coded(table)
        n_kept = self._best_size(table) if isinstance(size, str) else int(size)
        self.scores_ = information_with_class(table, self.n_jobs)
        self.ranking_ = self._rank(self.scores_, table, None if isinstance(size, str) else n_kept).order
        self.support_ = np.zeros(n_columns, dtype=bool)
        self.support_[self.ranking_[:n_kept]] = True

    def _best_size(self, table: Table) -> int:
        """Rank on one half of the rows, and see how many columns naive Bayes wants on the other."""
        rows = rows_to_search(table, self.random_state, self.n_jobs)
        check_class_sizes(table.schema, rows, 1, "halves")
        fit, select = (take_rows(rows, half) for half in halves(rows, self.random_state))
        taught = as_table(table.schema, fit)
        order = self._rank(information_with_class(taught), taught, None).order
        judged = search_problem([(select, evidence_of(table.schema, fit, Estimation()))])
        choice, along = ranking_search(order, judged, self.n_features_to_select)
        errors = np.array([criteria.error for criteria in along])
        self.path_ = Path("forward", "error", (), errors[0], errors[0], order, errors[1:], errors[1:])
        if not choice.features:
            warnings.warn(
                "no number of columns has a lower error than the prior alone; the best single one is kept",
                stacklevel=5,
            )
        return max(len(choice.features), 1)


class MutualInformationFilter(_RankingFilter):
    """Keep the columns that tell most about the class, each taken alone.

    The quickest filter. It sees no redundancy: copies of a good column are all good, so among redundant columns it
    keeps many, with a larger error than a search (`NBSelector`).

    Parameters
    ----------
    n_features_to_select : "best", "one-se" or int
        How many: by the error of naive Bayes on the half of the rows that the ranking did not see (the smallest
        number with the lowest error, or within one standard error of it); or so many. The columns kept are then the
        first of the ranking on all rows.
    numeric : "bins" or "mdl"
        How numeric columns are binned: at quantiles, or where it tells the classes apart.
    n_bins : int
        Quantile bins per numeric column.
    nominal : names, positions or mask, optional
        Columns that are nominal whatever their type. Text, categories and booleans always are.
    levels : dict, optional
        Per column, all levels it can have.
    max_levels : int, optional
        Fold the rarest levels of a column into one beyond this number.
    n_jobs : int, optional
        Threads that count; the result does not depend on it.
    random_state : int
        Seeds the halves.

    Attributes
    ----------
    support_ : bool array (columns,)
        Which columns were chosen.
    scores_ : array (columns,)
        Mutual information of each column with the class, in nats.
    ranking_ : int array
        Positions of the columns, best first.
    path_ : Path
        Error on the other half with the first column, the first two, ...; not where the number was given.

    Examples
    --------
    >>> import numpy as np
    >>> import pandas as pd
    >>> from seminaive.selection.filter_selectors import MutualInformationFilter
    >>> rng = np.random.default_rng(0)
    >>> y = rng.integers(0, 2, 400)
    >>> X = pd.DataFrame({"noise": rng.normal(size=400), "good": rng.normal(size=400) + y, "word": y == 1})
    >>> selector = MutualInformationFilter(n_features_to_select=2).fit(X, y)
    >>> selector.get_feature_names_out(), selector.ranking_.tolist(), selector.scores_.round(3).tolist()
    (array(['good', 'word'], dtype=object), [2, 1, 0], [0.015, 0.101, 0.688])
    """

    def _rank(self, relevance: Floats, table: Table, most: int | None) -> Ranking:
        return information_ranking(relevance)


class MRMRFilter(_RankingFilter):
    """Keep columns that tell much about the class and little about each other: maximum relevance, minimum redundancy.

    Parameters
    ----------
    n_features_to_select : "best", "one-se" or int
        How many; see `MutualInformationFilter`.
    numeric : "bins" or "mdl"
        How numeric columns are binned: at quantiles, or where it tells the classes apart.
    n_bins : int
        Quantile bins per numeric column.
    nominal : names, positions or mask, optional
        Columns that are nominal whatever their type. Text, categories and booleans always are.
    levels : dict, optional
        Per column, all levels it can have.
    max_levels : int, optional
        Fold the rarest levels of a column into one beyond this number.
    n_jobs : int, optional
        Threads that count; the result does not depend on it.
    random_state : int
        Seeds the halves.

    Attributes
    ----------
    support_, scores_, path_
        As for `MutualInformationFilter`.
    ranking_ : int array
        Positions of the columns in the order they were chosen; all of them, or as many as were asked for.

    Notes
    -----
    Information of all pairs is held: 8 bytes times the square of the number of columns.

    Examples
    --------
    The copy of the best column comes last:

    >>> import numpy as np
    >>> import pandas as pd
    >>> from seminaive.selection.filter_selectors import MRMRFilter
    >>> rng = np.random.default_rng(0)
    >>> y = rng.integers(0, 2, 400)
    >>> X = pd.DataFrame({"good": rng.normal(size=400) + y, "word": rng.random(400) < 0.3 + 0.4 * y})
    >>> X["copy"] = X["good"]
    >>> MRMRFilter().fit(X, y).ranking_.tolist()
    [0, 1, 2]
    """

    def _rank(self, relevance: Floats, table: Table, most: int | None) -> Ranking:
        return mrmr_ranking(relevance, information_of_pairs(table, self.n_jobs), most)


class CFSFilter(_CountFilter):
    """Keep the subset of columns with the largest merit: related to the class, unrelated to each other.

    Parameters
    ----------
    numeric : "mdl" or "bins"
        How numeric columns are binned: where it tells the classes apart (a column that says nothing gets one bin, and
        is not chosen), or at quantiles.
    n_bins : int
        Quantile bins per numeric column.
    allow_empty : bool
        Whether no column at all is an answer. Otherwise the one most related to the class is kept where none is.
    nominal : names, positions or mask, optional
        Columns that are nominal whatever their type. Text, categories and booleans always are.
    levels : dict, optional
        Per column, all levels it can have.
    max_levels : int, optional
        Fold the rarest levels of a column into one beyond this number.
    n_jobs : int, optional
        Threads that count; the result does not depend on it.
    random_state : int
        Seeds the sample of rows that decides MDL cuts of a very large table.

    Attributes
    ----------
    support_ : bool array (columns,)
        Which columns were chosen.
    merit_ : float
        Merit of that subset.
    scores_ : array (columns,)
        Symmetric uncertainty of each column with the class.

    Examples
    --------
    >>> import numpy as np
    >>> import pandas as pd
    >>> from seminaive.selection.filter_selectors import CFSFilter
    >>> rng = np.random.default_rng(0)
    >>> y = rng.integers(0, 2, 400)
    >>> X = pd.DataFrame({"good": rng.normal(size=400) + y, "word": rng.random(400) < 0.3 + 0.4 * y})
    >>> X["noise"] = rng.normal(size=400)
    >>> CFSFilter().fit(X, y).get_feature_names_out()
    array(['good', 'word'], dtype=object)
    """

    def __init__(
        self,
        *,
        numeric: str = "mdl",
        n_bins: int = 10,
        allow_empty: bool = False,
        nominal: Sequence[Any] | None = None,
        levels: Mapping[Any, Sequence[Any]] | None = None,
        max_levels: int | None = None,
        n_jobs: int | None = None,
        random_state: int = 0,
    ) -> None:
        self.numeric = numeric
        self.n_bins = n_bins
        self.allow_empty = allow_empty
        self.nominal = nominal
        self.levels = levels
        self.max_levels = max_levels
        self.n_jobs = n_jobs
        self.random_state = random_state

    def _learn(self, table: Table) -> None:
        table = self._coded(table)
        self.scores_ = uncertainty_with_class(table, self.n_jobs)
        subset = cfs_subset(self.scores_, uncertainty_of_pairs(table, self.n_jobs))
        self.merit_ = subset.merit
        features: npt.NDArray[np.int64] = np.array(subset.features, dtype=np.int64)
        if not len(features):
            kept = "none is kept" if self.allow_empty else "the first of the best is kept"
            warnings.warn(f"no column tells anything about the class; {kept}", stacklevel=4)
            features = features if self.allow_empty else np.array([self.scores_.argmax()])
        self.support_ = np.zeros(len(table.schema.columns), dtype=bool)
        self.support_[features] = True
