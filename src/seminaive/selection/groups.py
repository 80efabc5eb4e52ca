"""Columns that repeat each other: groups by MIC within the classes, and a selector that keeps one of each.

Naive Bayes counts a fact as often as it is measured. Two columns repeat each other if they depend on each other within
a class (that they depend on each other through the class is what naive Bayes assumes). Groups are joined by complete
linkage, so any two members of a group reach the threshold in some class.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from sklearn.utils.validation import check_is_fitted

from seminaive.models.base import TableEstimator
from seminaive.models.checks import check_whole
from seminaive.models.numeric import as_modelled
from seminaive.models.repeats import ordered_columns
from seminaive.selection.association import Seed, matrices_of, named, numbers_or_none
from seminaive.selection.columns import ColumnSelector
from seminaive.selection.table_information import information_with_class
from seminaive.statistics.grouping import complete_linkage
from seminaive.statistics.mic_null import ALPHA, CLUMPS_PER_COLUMN
from seminaive.table.frames import as_labels, open_frame
from seminaive.table.gather import gather_rows
from seminaive.table.schema import Floats
from seminaive.table.table import Table

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["RedundancyFilter", "group_features"]

Threshold = float | Literal["null"]
VISIBLE = 1e-9
"""Of values that are 0 unless they are more than chance, all others."""
MOST_ROWS = 50_000
"""Of a larger table a random sample of about this many rows is looked at, before ``max_rows`` per class apply."""


def group_features(
    X: Any,
    y: Any = None,
    threshold: Threshold = "null",
    *,
    names: Sequence[Any] | None = None,
    alpha: float = ALPHA,
    c: float = CLUMPS_PER_COLUMN,
    max_rows: int = 10_000,
    random_state: Seed = 0,
    n_jobs: int | None = None,
) -> list[list[Any]]:
    """Groups of columns that depend on each other within some class.

    Complete linkage on 1 - (largest MIC over the classes), cut at 1 - threshold: any two members of a group
    have a MIC of at least the threshold in some class. Classes of fewer than 8 rows tell nothing and are
    left out. A column of text with more than two values has no order and is a group of its own.

    Parameters
    ----------
    threshold : float or "null"
        Least MIC within a group. ``"null"``: more than chance would show in that class. Where all columns are
        independent, nineteen tables of twenty then show no group at all; what that takes depends on the numbers of
        rows and columns, and no fixed number fits: of 50 flowers, independent columns exceed .40 in one pair of
        twenty, and .53 in one table of twenty with the 18 pairs of Iris. Groups then mean "dependence is visible",
        not "strong"; columns that say the same thing are far above, .9 and more.
    X, y, names, alpha, c, max_rows, random_state, n_jobs
        As in `mic_matrix`.

    Returns
    -------
    list of lists
        Column names (or positions), in column order; groups in the order of their first member.

    See Also
    --------
    RedundancyFilter : keeps one column of each group, in a pipeline.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from seminaive import group_features
    >>> X, y = load_iris(return_X_y=True, as_frame=True)
    >>> X.columns = ["SL", "SW", "PL", "PW"]
    >>> group_features(X, y)
    [['SL', 'SW'], ['PL'], ['PW']]
    >>> groups = group_features(X, y, threshold=0.5)
    >>> groups
    [['SL', 'SW'], ['PL', 'PW']]

    Keep the first of each group, or merge each into its mean:

    >>> X[[group[0] for group in groups]].shape
    (150, 2)
    >>> import pandas as pd
    >>> pd.DataFrame({"+".join(group): X[group].mean(axis=1) for group in groups}).head(1).round(2)
       SL+SW  PL+PW
    0    4.3    0.8
    """
    _check_threshold(threshold)
    frame = open_frame(X)
    known = named(frame, names)
    columns = [numbers_or_none(source) for source in frame]
    ordered = {j: column for j, column in enumerate(columns) if column is not None}
    labels = None if y is None else as_labels(y)
    matrices = matrices_of(
        list(ordered.values()), frame.n_rows, labels, list(ordered), alpha, c, max_rows, random_state, n_jobs
    )
    if isinstance(threshold, str):
        groups = _groups(matrices.beyond_chance, VISIBLE, matrices.names, len(columns))
    else:
        groups = _groups(matrices.strongest, threshold, matrices.names, len(columns))
    return [[known[j] for j in group] for group in groups]


def _groups(similarity: Floats, threshold: float, places: Sequence[int], n_columns: int) -> list[list[int]]:
    """Positions of the columns of each group; ``places`` are those of the columns that have a similarity."""
    joined = [[places[i] for i in group] for group in complete_linkage(similarity, threshold)]
    return sorted(joined + [[j] for j in range(n_columns) if j not in set(places)])


def _check_threshold(threshold: Any) -> None:
    if isinstance(threshold, str) and threshold == "null":
        return
    if isinstance(threshold, (str, bool)) or not 0 < float(threshold) <= 1:
        raise ValueError(f'threshold must be a number above 0 and at most 1, or "null"; got {threshold!r}')


class RedundancyFilter(ColumnSelector, TableEstimator):
    """Of columns that repeat each other within the classes, keep the one that tells most about the class.

    For tables where one thing is measured several times, as radius, perimeter and area of a cell: naive Bayes counts
    it several times and becomes far too sure of itself. What is dropped is lost, though. On eleven data sets (5-fold),
    dropping all that depends on a kept column more than by chance (``threshold="null"``) lowered the log loss of
    naive Bayes in eight, from .61 to .24 on scikit-learn's breast cancer data with 8 of 30 columns, and cost accuracy
    in five, .25 at worst; at .9 one gained .09 and three lost up to .06. Where columns say more than one thing, weigh
    them instead of dropping them.

    Parameters
    ----------
    threshold : float or "null"
        Two columns of a group have at least this MIC in some class, and more than chance would show there (see
        `group_features`). ``"null"``: whatever is more than chance.
    max_rows : int
        Rows per class that MIC looks at, a random sample of a larger class. The time grows with the square of the
        number of columns: 1 s for 30, 12 s for 100.
    n_bins : int
        Quantile bins of numeric columns, for their information with the class.
    nominal : names, positions or mask, optional
        Columns that are nominal whatever their type. Text, categories and booleans always are.
    levels : dict, optional
        Per column, all levels it can have.
    max_levels : int, optional
        Fold the rarest levels of a column into one beyond this number.
    n_jobs : int, optional
        Threads; the result does not depend on it.
    random_state : int
        Seeds the samples of rows.

    Attributes
    ----------
    support_ : bool array (columns,)
        Which columns were kept.
    groups_ : list of lists
        Names (or positions) of the columns of each group; a nominal column of more than two values stands alone.
    labels_ : int array (columns,)
        Number of each column's group.
    scores_ : array (columns,)
        Mutual information of each column with the class, in nats.

    Notes
    -----
    MIC counts rows, whatever their weights.

    See Also
    --------
    MRMRFilter, NBSelector : look at the class, too, when they weigh redundancy.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from seminaive import RedundancyFilter
    >>> X, y = load_breast_cancer(return_X_y=True, as_frame=True)
    >>> X = X[["mean radius", "mean perimeter", "mean area", "mean texture", "mean smoothness"]]
    >>> selector = RedundancyFilter().fit(X, y)
    >>> selector.get_feature_names_out()
    array(['mean perimeter', 'mean texture', 'mean smoothness'], dtype=object)
    >>> print(selector.summary())
    5 columns, 3 kept; within a class, columns of a group have a MIC of at least 0.9
      mean perimeter, for mean radius, mean area
    """

    def __init__(
        self,
        *,
        threshold: Threshold = 0.9,
        max_rows: int = 500,
        n_bins: int = 10,
        nominal: Sequence[Any] | None = None,
        levels: Mapping[Any, Sequence[Any]] | None = None,
        max_levels: int | None = None,
        n_jobs: int | None = None,
        random_state: int = 0,
    ) -> None:
        self.threshold = threshold
        self.max_rows = max_rows
        self.n_bins = n_bins
        self.nominal = nominal
        self.levels = levels
        self.max_levels = max_levels
        self.n_jobs = n_jobs
        self.random_state = random_state

    def _check_parameters(self) -> None:
        _check_threshold(self.threshold)
        check_whole("max_rows", self.max_rows, at_least=8)
        check_whole("n_bins", self.n_bins, at_least=1)
        check_whole("random_state", self.random_state, at_least=0)

    def _learn(self, table: Table) -> None:
        schema, n_columns = table.schema, len(table.schema.columns)
        self.scores_ = information_with_class(as_modelled(table, "bins", self.n_bins, n_jobs=self.n_jobs), self.n_jobs)
        rows = gather_rows(table, MOST_ROWS, self.random_state, self.n_jobs)
        columns = ordered_columns(rows.block, schema)
        matrices = matrices_of(
            list(columns.values()),
            len(rows.numbers),
            rows.labels,
            list(columns),
            ALPHA,
            CLUMPS_PER_COLUMN,
            self.max_rows,
            self.random_state,
            self.n_jobs,
        )
        threshold = VISIBLE if isinstance(self.threshold, str) else float(self.threshold)
        groups = _groups(matrices.beyond_chance, threshold, matrices.names, n_columns)
        self.labels_ = np.zeros(n_columns, dtype=np.int64)
        self.support_ = np.zeros(n_columns, dtype=bool)
        for number, group in enumerate(groups):
            self.labels_[group] = number
            self.support_[max(group, key=lambda j: (self.scores_[j], -j))] = True
        self.groups_ = [[schema.columns[j].name for j in group] for group in groups]

    def to_frame(self) -> pd.DataFrame:
        """One row per column: its group, whether it is kept, and its information with the class."""
        import pandas as pd

        check_is_fitted(self, "support_")
        order = np.argsort(self.labels_, kind="stable")
        return pd.DataFrame({
            "column": [name for group in self.groups_ for name in group],
            "group": self.labels_[order],
            "kept": self.support_[order],
            "information": self.scores_[order],
        })  # fmt: skip

    def summary(self) -> str:
        """What was dropped, and which column stands for it."""
        table = self.to_frame()
        how = "beyond chance" if isinstance(self.threshold, str) else f"of at least {self.threshold:g}"
        lines = [
            f"{len(table)} columns, {int(self.support_.sum())} kept; "
            f"within a class, columns of a group have a MIC {how}"
        ]
        for _, group in table.groupby("group"):
            if len(group) > 1:
                left_out = ", ".join(map(str, group["column"][~group["kept"]]))
                lines.append(f"  {group['column'][group['kept']].iloc[0]}, for {left_out}")
        return "\n".join(lines)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.target_tags.required = True
        return tags
