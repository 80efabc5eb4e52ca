"""Selective naive Bayes: keep a predictor only if it lowers the training error.

Start from the prior alone. Try every predictor that is not in yet, add the one that leaves the fewest training errors
(the first among equals), and stop as soon as none leaves strictly fewer than now:

    log P(x, k) = log P(k) + sum over the chosen columns j of log P(x_j | k)

Copies of a predictor are not counted twice, and irrelevant predictors stay out.

Reference: Langley and Sage, "Induction of selective Bayesian classifiers", UAI 1994.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
from sklearn.utils.validation import check_is_fitted

from seminaive.models.base import EvidenceClassifier
from seminaive.models.checks import check_choice, check_pooled_parameters
from seminaive.models.naive import Estimation, gather_sums, naive_evidence
from seminaive.models.numeric import as_modelled
from seminaive.models.search_rows import columns_that_vary, only, rows_to_search, search_problem
from seminaive.search.greedy import greedy_path
from seminaive.search.odds import Criterion
from seminaive.search.path import Path
from seminaive.statistics.smoothing import SmoothingKind
from seminaive.table.table import Table


class SelectiveNB(EvidenceClassifier):
    """Naive Bayes on the few predictors that a greedy search finds useful.

    Few predictors, each of which earned its place. The search looks one step ahead and often stops early; `NBSelector`
    follows it to the end, in both directions, and chooses the number of predictors on other rows.

    Parameters
    ----------
    numeric : "gaussian", "bins" or "mdl"
        How numeric columns are modelled: a Gaussian per class, quantile bins, or bins whose cuts look at the class.
    n_bins : int
        Quantile bins per numeric column when ``numeric="bins"``.
    missing : "skip" or "value"
        A missing value says nothing, or is learned like any level.
    prior : "empirical", "uniform" or probabilities
        Class prior, in the order of the sorted labels.
    smoothing : float
        Mass added to the counts; 0 leaves plain frequencies.
    smoothing_kind : "pooled", "level" or "none"
        "pooled" spreads the mass as the column's overall distribution; "level" adds it to every level.
    variance_prior : "normal-gamma" or None
        Prior of means and variances; None is maximum likelihood, which refuses a class without variance.
    criterion : "error", "probability" or "log_loss"
        What every added predictor must lower on the training rows: their errors (the original rule), their mean
        probability of error, or their log loss. The last two are finer and keep more predictors.
    strict : bool
        Whether a predictor must lower the criterion; else it may also leave it as it is. Not strict, about twice as
        many predictors are kept, for errors lower or higher by a few thousandths.
    nominal : names, positions or mask, optional
        Columns that are nominal whatever their type. Text, categories and booleans always are.
    levels : dict, optional
        Per column, all levels it can have.
    max_levels : int, optional
        Fold the rarest levels of a column into one beyond this number.
    n_jobs : int, optional
        Threads that read large tables; the result does not depend on it.
    random_state : int
        Seeds the sample of rows of a table too large to search on.

    Attributes
    ----------
    support_ : bool array (columns,)
        Which columns were chosen; also `get_support`.
    path_ : Path
        The search, one predictor per step, with the criterion and the error on the training rows:
        ``path_.to_frame()``. ``path_.evaluations`` counts the sets compared.
    n_search_rows_ : int
        Rows the search looked at.
    class_count_ : array
        Total weight of each class.
    evidence_ : Evidence
        Prior and the terms of the chosen columns; the others say nothing.

    Notes
    -----
    The search holds the codes and scores of its rows in memory, wherever the table lives: up to about 200,000 rows,
    and fewer with very many numeric columns. Of a larger table it looks at a random sample of that size; the evidence
    is always learned from all rows. Constant columns are never chosen.

    Interrupted from the keyboard, it keeps what was chosen so far.

    Examples
    --------
    >>> import numpy as np
    >>> from seminaive.models.selective import SelectiveNB
    >>> rng = np.random.default_rng(0)
    >>> y = rng.integers(0, 2, 500)
    >>> useful, noise = y + rng.normal(size=500), rng.normal(size=500)
    >>> X = np.column_stack([useful, useful, noise])  # a predictor, its copy, and nothing
    >>> model = SelectiveNB().fit(X, y)
    >>> model.support_
    array([ True, False, False])
    >>> model.path_.to_frame()[["feature", "error", "size"]]
       feature  error  size
    0        0  0.322     1
    """

    support_: npt.NDArray[np.bool_]
    path_: Path

    def __init__(
        self,
        *,
        numeric: str = "gaussian",
        n_bins: int = 10,
        missing: str = "skip",
        prior: Any = "empirical",
        smoothing: float = 1.0,
        smoothing_kind: SmoothingKind = "pooled",
        variance_prior: str | None = "normal-gamma",
        criterion: Criterion = "error",
        strict: bool = True,
        nominal: Sequence[Any] | None = None,
        levels: Mapping[Any, Sequence[Any]] | None = None,
        max_levels: int | None = None,
        n_jobs: int | None = None,
        random_state: int = 0,
    ) -> None:
        self.numeric = numeric
        self.n_bins = n_bins
        self.missing = missing
        self.prior = prior
        self.smoothing = smoothing
        self.smoothing_kind = smoothing_kind
        self.variance_prior = variance_prior
        self.criterion = criterion
        self.strict = strict
        self.nominal = nominal
        self.levels = levels
        self.max_levels = max_levels
        self.n_jobs = n_jobs
        self.random_state = random_state

    def _check_parameters(self) -> None:
        check_pooled_parameters(self)
        check_choice("criterion", self.criterion, ("error", "probability", "log_loss"))

    def _learn(self, table: Table) -> None:
        table = as_modelled(table, self.numeric, self.n_bins, self.random_state, self.n_jobs)
        how = Estimation.of(self)
        sums = gather_sums(table, self.n_jobs)
        everything = naive_evidence(sums, how)
        if table.schema.n_classes < 2:
            self.n_search_rows_, self.path_ = 0, _NO_STEPS
        else:
            rows = rows_to_search(table, self.random_state, self.n_jobs)
            self.n_search_rows_ = rows.n_rows
            self.path_ = greedy_path(
                search_problem([(rows, everything)]),
                "forward",
                self.criterion,
                candidates=columns_that_vary(sums, self.missing).tolist(),
                ties="index",
                go_on="better" if self.strict else "not worse",
            )
        self.support_ = np.zeros(len(table.schema.columns), dtype=bool)
        self.support_[self.path_.features] = True
        self.class_count_ = sums.class_weight
        self.evidence_ = only(everything, self.path_.features.tolist())

    def get_support(self, indices: bool = False) -> npt.NDArray[Any]:
        """Which columns were chosen, as a mask or as their positions."""
        check_is_fitted(self, "support_")
        return np.flatnonzero(self.support_) if indices else self.support_

    def summary(self) -> str:
        """What was learned, in words."""
        chosen = self.get_support()
        return self._in_words("Selective naive Bayes", f"{int(chosen.sum())} of {len(chosen)} columns chosen")


_NO_STEPS = Path("forward", "error", (), 0.0, 0.0, np.zeros(0, dtype=np.int64), np.zeros(0), np.zeros(0))
"""The search among rows of one class."""
