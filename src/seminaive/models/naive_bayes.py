"""Naive Bayes for any table: nominal and numeric columns together, gaps and new values welcome.

    log P(x, k) = log P(k) + sum over columns j of log P(x_j | k)

Nominal columns: smoothed counts. Numeric columns: a Gaussian per class whose mean and variance are the mode of a weak
Normal-Gamma posterior, or counts in quantile bins, or a kernel density. A missing value and a value never seen in
training add nothing.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Self

import numpy as np
import numpy.typing as npt
from sklearn.utils.metaestimators import available_if

from seminaive.evidence.evidence import Evidence
from seminaive.models.base import EvidenceClassifier, unchanged_on_error
from seminaive.models.checks import check_choice, check_smoothing, check_variance_prior, check_whole
from seminaive.models.kde import density_terms
from seminaive.models.naive import Estimation, Sums, gather_sums, naive_evidence
from seminaive.models.numeric import as_modelled
from seminaive.models.posterior import posterior_frame
from seminaive.models.updating import forget_rows, merge_sums, more_sums
from seminaive.statistics.normal_gamma import NormalGamma
from seminaive.statistics.smoothing import SmoothingKind
from seminaive.table.table import Table, codes_among

if TYPE_CHECKING:
    import pandas as pd


def _can_update(model: NaiveBayes) -> bool:
    if model.numeric == "kde":
        raise AttributeError(
            "numeric='kde' cannot be updated: a kernel density needs all rows; use 'gaussian' or 'bins'"
        )
    return True


class NaiveBayes(EvidenceClassifier):
    """Naive Bayes over nominal and numeric columns together.

    Parameters
    ----------
    numeric : "gaussian", "bins", "kde" or "mdl"
        How numeric columns are modelled. "bins" (quantile bins) is robust to any shape, "kde" follows it closely, "mdl"
        makes bins that tell the classes apart, and none of a column that says nothing; "gaussian" needs the fewest rows
        and can be updated. With "bins" and "mdl", updating keeps the cuts of the first rows.
    n_bins : int
        Quantile bins per numeric column when ``numeric="bins"``.
    missing : "skip" or "value"
        A missing value says nothing, or is learned like any level.
    prior : "empirical", "uniform" or probabilities
        Class prior, in the order of the sorted labels.
    smoothing : float or dict
        Mass added to the counts; or per column a number, numbers by level, or by class and level (Dirichlet priors of
        one's own; columns that are not named get 1). Levels are in the order of `counts_`.
    smoothing_kind : "level", "pooled", "class", "likelihood", "half" or "none"
        Where the mass goes: "level", to every level (scikit-learn's alpha); "pooled", ``smoothing`` in all, spread
        as the column's overall distribution; "class", P(class | level) is shrunk towards the prior;
        "likelihood", "half": as in the literature on adjusted probabilities; "none": plain frequencies.
    variance_prior : "normal-gamma", None or NormalGamma
        Prior of means and variances: a weak one taken from the columns; None, maximum likelihood, which refuses a
        class without variance; or a `NormalGamma` of one's own, with a number per numeric column, or per class and
        numeric column. ``NormalGamma(k0=0, alpha0=0, beta0=0)`` leaves the sample variance (ddof 1).
    nominal : names, positions or mask, optional
        Columns that are nominal whatever their type. Text, categories and booleans always are.
    levels : dict, optional
        Per column, all levels it can have.
    max_levels : int, optional
        Fold the rarest levels of a column into one beyond this number.
    n_jobs : int, optional
        Threads for large tables; the result does not depend on it.

    Attributes
    ----------
    classes_ : array
    class_count_ : array
        Total weight of each class.
    counts_ : dict of arrays (classes, levels)
        Per nominal or binned column, the weight of each of its levels in each class.
    evidence_ : Evidence
        Prior and terms: all that prediction needs.
    sums_ : Sums
        Class weights, counts and moments: all that was asked of the rows, and what updating adds to.

    See Also
    --------
    seminaive.encode : encode once, fit many models.

    Examples
    --------
    >>> import pandas as pd
    >>> from seminaive import NaiveBayes
    >>> X = pd.DataFrame({"outlook": ["sun", "rain", "rain", "sun"], "wind": [3.0, 9.0, 7.5, None]})
    >>> model = NaiveBayes().fit(X, ["play", "stay", "stay", "play"])
    >>> model.predict(pd.DataFrame({"outlook": ["rain", "fog"], "wind": [None, 2.5]}))
    array(['stay', 'play'], dtype=object)
    """

    evidence_: Evidence

    def __init__(
        self,
        *,
        numeric: str = "gaussian",
        n_bins: int = 10,
        missing: str = "skip",
        prior: Any = "empirical",
        smoothing: float | Mapping[Any, Any] = 1.0,
        smoothing_kind: SmoothingKind = "level",
        variance_prior: str | NormalGamma | None = "normal-gamma",
        nominal: Sequence[Any] | None = None,
        levels: Mapping[Any, Sequence[Any]] | None = None,
        max_levels: int | None = None,
        n_jobs: int | None = None,
    ) -> None:
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

    def _check_parameters(self) -> None:
        check_choice("numeric", self.numeric, ("gaussian", "bins", "kde", "mdl"))
        check_choice("missing", self.missing, ("skip", "value"))
        check_choice("smoothing_kind", self.smoothing_kind, ("level", "pooled", "class", "likelihood", "half", "none"))
        check_variance_prior(self.variance_prior)
        check_smoothing(self.smoothing, self.smoothing_kind)
        check_whole("n_bins", self.n_bins, at_least=1)
        if isinstance(self.prior, str):
            check_choice("prior", self.prior, ("empirical", "uniform"))

    @property
    def _estimation(self) -> Estimation:
        return Estimation.of(self)

    def _learn(self, table: Table) -> None:
        table = as_modelled(table, self.numeric, self.n_bins, n_jobs=self.n_jobs)
        self._set(gather_sums(table, self.n_jobs))
        if self.numeric == "kde":
            curves = density_terms(table, self.sums_, self._estimation, self.n_jobs)
            terms = tuple(curves.get(term.column, term) for term in self.evidence_.terms)
            self.evidence_ = Evidence(table.schema, self.evidence_.prior, terms)

    def _set(self, sums: Sums) -> None:
        """The model is a function of the sums, and of nothing else."""
        self.sums_ = sums
        self.class_count_ = sums.class_weight
        self.counts_ = sums.by_column()
        self.evidence_ = naive_evidence(sums, self._estimation)

    # --- learning in parts --------------------------------------------------------------------------------------------

    @available_if(_can_update)
    def partial_fit(self, X: Any, y: Any, classes: Any = None, sample_weight: Any = None) -> Self:
        """Add rows to what was learned. Counts stay exact; cuts of bins freeze at the first call.

        Parameters
        ----------
        X, y, sample_weight : as for `fit`
        classes : array-like, optional
            All labels that can occur; needed in the first call if later calls bring new ones.

        Returns
        -------
        self
            Equal to one fit on all the rows so far (with bins: with the first call's cuts).
        """
        with unchanged_on_error(self):
            if not hasattr(self, "evidence_"):
                return self._first_part(X, y, classes, sample_weight)
            if classes is not None and not np.array_equal(np.sort(np.asarray(classes)), self.classes_):
                raise ValueError(
                    f"classes={list(classes)!r} is not the same as on last call to partial_fit, "
                    f"which had {self.classes_.tolist()}"
                )
            self._check_parameters()
            self._open(X)
            self._set(more_sums(self.sums_, X, y, sample_weight, self.n_jobs))
        return self

    def _first_part(self, X: Any, y: Any, classes: Any, sample_weight: Any) -> Self:
        self.fit(X, y, sample_weight)
        if classes is not None:
            labels: npt.NDArray[Any] = np.unique(np.asarray(classes))
            codes_among(self.classes_, labels)
            self._set(self.sums_.on_classes(labels))
            self.classes_ = labels
        return self

    @available_if(_can_update)
    def merge(self, other: NaiveBayes) -> Self:
        """Add what another model learned from other rows: the two together equal one fitted on all rows.

        Both must have the same parameters and columns (and cuts, with bins); classes and levels become the union.
        """
        self._fitted()
        if not isinstance(other, NaiveBayes):
            raise TypeError(f"merge needs another NaiveBayes, got a {type(other).__name__}")
        other._fitted()
        if repr(self.get_params()) != repr(other.get_params()):
            raise ValueError("merge needs two models with the same parameters")
        with unchanged_on_error(self):
            self._set(merge_sums(self.sums_, other.sums_))
            self.classes_ = self.sums_.schema.classes
        return self

    @available_if(_can_update)
    def forget(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Take rows out again: the result equals a model that never saw them.

        The rows must have been learned; a ValueError says so otherwise, and also when too few digits would be left.
        """
        self._fitted()
        with unchanged_on_error(self):
            self._open(X)
            self._set(forget_rows(self.sums_, X, y, sample_weight, set(self.levels or ()), self.n_jobs))
        return self

    def posterior(self, level: float = 0.95) -> pd.DataFrame:
        """What was estimated, with posterior intervals: means, variances, and probabilities of levels.

        Parameters
        ----------
        level : float
            Probability inside the intervals.

        Returns
        -------
        DataFrame
            One row per column, class and parameter ("mean", "variance", or a level): estimate, low, high. Not for
            ``numeric="kde"``, nor for probabilities of levels unless ``smoothing_kind`` is "level" or "none".

        Examples
        --------
        >>> model = NaiveBayes().fit([[1.0], [2.0], [3.0], [5.0], [7.0], [9.0]], list("aaabbb"))
        >>> model.posterior().round(2)
           column class parameter  estimate   low   high
        0       0     a      mean      2.01  0.47   3.55
        1       0     b      mean      6.99  4.75   9.23
        2       0     a  variance      1.35  0.42   6.49
        3       0     b  variance      2.85  0.89  13.71
        """
        self._fitted()
        return posterior_frame(self.evidence_, self.sums_, self._estimation, level)

    def summary(self) -> str:
        """What was learned, in words."""
        return self._in_words("Naive Bayes")
