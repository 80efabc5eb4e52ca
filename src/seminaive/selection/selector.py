"""Search for the few columns that naive Bayes needs, among hundreds of redundant ones.

Wrapper search judges a set S of columns by the classifier itself, here by

    error         share of rows whose class is not the most probable one under S
    probability   mean over rows of 1 - P_S(class of the row)
    log loss      mean over rows of - log P_S(class of the row)

Forward search adds, step after step, the column whose set is best, backward search removes likewise; of all sets on
the way the smallest with the lowest error on the selection rows is kept. Naive Bayes is additive, so a step costs one
pass over the codes of the rows.
"""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from typing import Any, get_args

import numpy as np

from seminaive.models.base import EvidenceClassifier
from seminaive.models.checks import check_choice, check_nonnegative, check_whole
from seminaive.models.naive import Estimation, gather_sums, naive_evidence
from seminaive.models.numeric import as_modelled, zeros_and_ones
from seminaive.models.search_rows import only, rows_to_search
from seminaive.search.alternate import Direction, Search, alternate
from seminaive.search.greedy import Ties
from seminaive.search.odds import Criterion
from seminaive.search.path import Size, choose
from seminaive.search.progress import progress_line
from seminaive.selection.columns import ColumnSelector
from seminaive.selection.row_sets import FOLDS, SearchOn, row_sets
from seminaive.table.discretize import binned
from seminaive.table.table import Table

OPTIMISM = (
    "the search lowered its criterion on the same rows that chose the number of columns, so the selection error in "
    "path_ is too low: on simulated engine signals it was .060 where new data gave .084"
)


class NBSelector(ColumnSelector, EvidenceClassifier):
    """Keep the columns that a search guided by naive Bayes finds best; a scikit-learn selector and a classifier.

    For columns of any kind, and for hundreds of redundant ones, such as the indicators that `ScoreIndicators` makes.
    Besides choosing, it is the naive Bayes classifier on the chosen columns: `predict` and `explain` work at once.

    Parameters
    ----------
    direction : "forward", "backward", "forward-backward" or "backward-forward"
        Add columns to none, or remove them from all; or both in turn, whole phases, until nothing improves. Backward
        keeps the fewest columns.
    criterion : "probability", "error" or "log_loss"
        What each step lowers: the mean probability of error, finer than the error and better in 31 of 32 comparisons;
        the error; or the log loss, a poor guide among redundant columns (.109 instead of .084 test error).
    search_on : "cv", "fit" or "holdout"
        On which rows. "cv": each row is judged by the evidence of the other folds. "fit": evidence and search on one
        half of each class, the number of columns on the other half. "holdout": search and number of columns on the
        half that the evidence did not see; the errors in the path are then optimistic, see ``optimism_note_``.
    ties : "probability" or "index"
        Among columns of the same error, the one with the lowest probability of error, or the first.
    patience : int, optional
        Stop a phase after this many steps without a new best criterion; an approximation, 7 times faster with 30.
    n_features_to_select : "best", "one-se" or int
        The smallest set with the lowest error; the smallest within one standard error of it, far fewer columns at
        no visible cost; or so many.
    refit : bool
        Learn the evidence of the chosen columns from all rows, or keep that of the fit half.
    cv : int, optional
        Folds when ``search_on="cv"``; every class needs that many rows. Default: 5, or fewer for a class of fewer rows.
    max_phases : int
        Two directions: stop after so many phases.
    allow_empty : bool
        Whether no column at all is an answer. Otherwise the best single one is kept where the prior alone is best.
    numeric : "gaussian", "bins" or "mdl"
        How numeric columns are modelled: a Gaussian per class, quantile bins, or bins whose cuts look at the class and
        are learned anew by every part of the rows that teaches. A numeric column that holds nothing but 0 and 1 is an
        indicator: two bins.
    n_bins : int
        Quantile bins per numeric column when ``numeric="bins"``.
    missing : "skip" or "value"
        A missing value says nothing, or is learned like any level.
    prior : "empirical", "uniform" or probabilities
        Class prior, in the order of the sorted labels.
    smoothing : float
        Mass added to the counts, above 0.
    smoothing_kind : "level" or "pooled"
        Add the mass to every level, or spread it as the column's overall distribution.
    variance_prior : "normal-gamma" or None
        Prior of means and variances; None is maximum likelihood, which refuses a class without variance.
    nominal : names, positions or mask, optional
        Columns that are nominal whatever their type. Text, categories and booleans always are.
    levels : dict, optional
        Per column, all levels it can have.
    max_levels : int, optional
        Fold the rarest levels of a column into one beyond this number.
    n_jobs : int, optional
        Threads that read large tables; the result does not depend on it.
    random_state : int
        Seeds halves or folds, and the sample of rows of a table too large to search on.
    verbose : bool or int
        Show the step and the criterion on one line while searching.

    Attributes
    ----------
    support_ : bool array (columns,)
        Which columns were chosen.
    path_ : Search
        All steps: ``path_.to_frame()`` has phase, step, feature, action, criterion, error and size, and the error on
        the selection rows; ``path_.phases`` has the phases.
    n_phases_ : int
        Phases searched, the last one, which changed nothing, included.
    selection_error_ : float
        Error of the chosen set on the selection rows.
    optimism_note_ : str
        Under ``search_on="holdout"``: why that error is too low.
    interrupted_ : bool
        Whether the search was stopped from the keyboard; the best set so far was kept.
    n_search_rows_ : int
        Rows that were split and searched on.
    evidence_, classes_, class_count_
        Naive Bayes on the chosen columns.

    Notes
    -----
    Copies of a column are kept as they are: for naive Bayes a copy doubles the weight of its twin, and the search
    decides whether that helps. The path is the same for every ``n_jobs``, and, given the split, for every order of
    the rows. Rows are split at random, so a row of weight 2 is not the same as the row twice.

    The search holds the codes and scores of its rows in memory, wherever the table lives: up to about 200,000 rows,
    and fewer with very many numeric columns. Of a larger table it looks at a random sample; with ``refit`` the
    evidence is learned from all rows.

    Interrupted from the keyboard, it keeps the best set of the steps made so far.

    The recommended last step is to weigh what was kept: ``AdjustedNB(nonnegative=True).fit(selector.transform(X), y)``.
    On simulated engine signals the columns of "one-se" then erred on .075 of new rows instead of .083.

    See Also
    --------
    AdjustedNB : weights for the chosen columns, the recommended last step.
    SelectiveNB : the short search that stops at the first step that does not help.
    ScoreIndicators : expert scores on series as hundreds of indicators.

    Examples
    --------
    >>> import numpy as np
    >>> import pandas as pd
    >>> from seminaive.selection.selector import NBSelector
    >>> rng = np.random.default_rng(0)
    >>> sick = rng.random(600) < 0.5
    >>> X = pd.DataFrame({"fever": rng.random(600) < 0.2 + 0.6 * sick, "noise": rng.random(600) < 0.5})
    >>> X["copy"], X["age"] = X["fever"], rng.normal(50, 10, 600) + 15 * sick
    >>> selector = NBSelector(n_features_to_select="one-se").fit(X, np.where(sick, "sick", "well"))
    >>> selector.get_feature_names_out()
    array(['fever', 'age'], dtype=object)
    >>> selector.transform(X[:2]).round(1)
       fever   age
    0   True  37.3
    1   True  58.4
    >>> selector.path_.to_frame()[["step", "feature", "action", "criterion", "error", "size"]].round(3)
       step  feature action  criterion  error  size
    0     1        3    add      0.307  0.227     1
    1     2        0    add      0.228  0.158     2
    2     3        2    add      0.202  0.177     3
    3     4        1    add      0.202  0.177     4
    """

    path_: Search

    def __init__(
        self,
        *,
        direction: Direction = "forward",
        criterion: Criterion = "probability",
        search_on: SearchOn = "cv",
        ties: Ties = "probability",
        patience: int | None = None,
        n_features_to_select: Size = "best",
        refit: bool = True,
        cv: int | None = None,
        max_phases: int = 20,
        allow_empty: bool = False,
        numeric: str = "gaussian",
        n_bins: int = 10,
        missing: str = "skip",
        prior: Any = "empirical",
        smoothing: float = 1.0,
        smoothing_kind: str = "level",
        variance_prior: str | None = "normal-gamma",
        nominal: Sequence[Any] | None = None,
        levels: Mapping[Any, Sequence[Any]] | None = None,
        max_levels: int | None = None,
        n_jobs: int | None = None,
        random_state: int = 0,
        verbose: bool | int = 0,
    ) -> None:
        self.direction = direction
        self.criterion = criterion
        self.search_on = search_on
        self.ties = ties
        self.patience = patience
        self.n_features_to_select = n_features_to_select
        self.refit = refit
        self.cv = cv
        self.max_phases = max_phases
        self.allow_empty = allow_empty
        self.numeric = numeric
        self.n_bins = n_bins
        self.missing = missing
        self.prior = prior
        self.smoothing = smoothing
        self.smoothing_kind = smoothing_kind
        self.variance_prior = variance_prior
        self.nominal = nominal
        self.levels = levels
        self.max_levels = max_levels
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.verbose = verbose

    def _check_parameters(self) -> None:
        check_choice("direction", self.direction, get_args(Direction))
        check_choice("criterion", self.criterion, get_args(Criterion))
        check_choice("search_on", self.search_on, get_args(SearchOn))
        check_choice("ties", self.ties, get_args(Ties))
        check_choice("numeric", self.numeric, ("gaussian", "bins", "mdl"))
        check_choice("missing", self.missing, ("skip", "value"))
        check_choice("smoothing_kind", self.smoothing_kind, ("level", "pooled"))
        check_choice("variance_prior", self.variance_prior, ("normal-gamma", None))
        check_nonnegative("smoothing", self.smoothing)
        if self.smoothing == 0:
            raise ValueError("smoothing must be above 0: removing a column whose probability is 0 is not defined")
        for name, least in (("n_bins", 1), ("max_phases", 1), ("random_state", 0)):
            check_whole(name, getattr(self, name), at_least=least)
        for name, least in (("patience", 1), ("cv", 2)):
            if getattr(self, name) is not None:
                check_whole(name, getattr(self, name), at_least=least)
        check_size(self.n_features_to_select)
        if isinstance(self.prior, str):
            check_choice("prior", self.prior, ("empirical", "uniform"))
        if self.search_on == "cv" and not self.refit:
            raise ValueError(
                "refit=False needs search_on='fit' or 'holdout': with 'cv' every fold has its own evidence"
            )

    def _learn(self, table: Table) -> None:
        check_size(self.n_features_to_select, len(table.schema.columns))
        table = binned(table, zeros_and_ones(table, both=False, n_jobs=self.n_jobs), self.n_jobs)
        if self.numeric != "mdl":  # MDL cuts look at the class: every part of the rows learns its own
            table = as_modelled(table, self.numeric, self.n_bins, n_jobs=self.n_jobs)
        how = Estimation.of(self)
        rows = rows_to_search(table, self.random_state, self.n_jobs)
        sets = row_sets(table.schema, rows, how, self.search_on, self.cv, self.random_state, self.numeric)
        self.n_search_rows_ = rows.n_rows
        self.path_ = alternate(
            sets.search,
            self.direction,
            self.criterion,
            selection=sets.selection,
            size=self.n_features_to_select,
            ties=self.ties,
            patience=self.patience,
            max_phases=self.max_phases,
            progress=progress_line(f"{self.direction} search: {self.criterion}", self.verbose),
        )
        self.n_phases_ = len(self.path_.phases)
        self.interrupted_ = self.path_.interrupted
        if self.search_on == "holdout":
            self.optimism_note_ = OPTIMISM
        features = self._chosen()
        self.support_ = np.zeros(len(table.schema.columns), dtype=bool)
        self.support_[list(features)] = True
        sums = gather_sums(as_modelled(table, self.numeric, self.n_bins, self.random_state, self.n_jobs), self.n_jobs)
        self.class_count_ = sums.class_weight
        evidence = naive_evidence(sums, how) if self.refit or sets.taught is None else sets.taught
        self.evidence_ = only(evidence, features)

    def _chosen(self) -> tuple[int, ...]:
        """The set kept, and what to say where there is none or the search was cut short."""
        if self.interrupted_:
            done = self.path_.to_frame()
            if done.empty:
                raise KeyboardInterrupt("stopped before the first step of the search: nothing was chosen")
            warnings.warn(f"the search was stopped after {len(done)} steps; the best set so far is kept", stacklevel=4)
        choice = self.path_.choice
        if not choice.features:
            first = self.path_.phases[0]
            single = choose(first.path, first.selection_errors.tolist(), 1.0, 1)
            kept = () if self.allow_empty or not single.features else single.features
            what = "the best single one is kept (allow_empty=True keeps none)" if kept else "none is kept"
            warnings.warn(f"no set of columns has a lower error than the prior alone; {what}", stacklevel=4)
            self.selection_error_ = single.error if kept else choice.error
            return kept
        self.selection_error_ = choice.error
        return choice.features

    def summary(self) -> str:
        """What was chosen and learned, in words."""
        self._fitted()
        chosen = f"{int(self.support_.sum())} of {len(self.support_)} columns chosen by {self.direction} search"
        where = {"cv": f"{self.cv or FOLDS}-fold", "fit": "other half", "holdout": "same half"}[self.search_on]
        error = f"error on the selection rows ({where}): {self.selection_error_:.4f}"
        return self._in_words("Naive Bayes on selected columns", f"{chosen}; {error}")


def check_size(size: Any, most: int | None = None) -> None:
    """Refuse a number of columns that makes no sense."""
    if isinstance(size, str):
        check_choice("n_features_to_select", size, ("best", "one-se"))
        return
    if type(size) is bool or not isinstance(size, (int, np.integer)) or size < 1:
        raise ValueError(f"n_features_to_select must be 'best', 'one-se' or a whole number >= 1; got {size!r}")
    if most is not None and size > most:
        raise ValueError(f"n_features_to_select={size}, but X has {most} columns")


__all__ = ["NBSelector", "check_size"]
