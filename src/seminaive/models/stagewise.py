"""Stagewise naive Bayes: every predictor speaks only as loudly as it helps.

    log P(x, k) = log P(k) + sum over columns j of  log P(x_j | k; alpha_j)

where alpha_j mixes what each class knows of the column with what all classes share: at dose 0 the column says nothing,
at dose 1 all that naive Bayes would. The walk starts with all doses at 0 and again and again raises one of them by a
small step, whichever lowers the loss most; the model kept is the one of least AIC along the way. A copy of a predictor
finds nothing left to say, or shares the dose with it.

Reference: Vidaurre, Bielza and Larrañaga, "Forward stagewise naïve Bayes", Progress in Artificial Intelligence 1, 2012.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, Literal

import numpy as np
import numpy.typing as npt
from sklearn.utils.validation import check_is_fitted

from seminaive.models.base import EvidenceClassifier
from seminaive.models.checks import check_choice, check_pooled_parameters, check_whole
from seminaive.models.mixed import Mixed
from seminaive.models.naive import Estimation, gather_sums, naive_evidence
from seminaive.models.numeric import as_modelled
from seminaive.models.search_rows import columns_that_vary, rows_to_search
from seminaive.search.along import Walk, choose_along
from seminaive.search.dose_problem import DoseProblem
from seminaive.search.doses import DosePath
from seminaive.search.progress import progress_line
from seminaive.search.stagewise import StagewiseCriterion, StepTies, stagewise_path
from seminaive.statistics.smoothing import SmoothingKind
from seminaive.table.schema import Floats
from seminaive.table.table import Table


class StagewiseNB(EvidenceClassifier):
    """Naive Bayes in which each predictor has a dose, found by many small steps.

    Irrelevant predictors stay at dose 0, of redundant ones only as much is used as they add. Usually more accurate than
    naive Bayes and than `SelectiveNB`, for hundreds of steps of work.

    Parameters
    ----------
    criterion : "log_loss", "error" or "error_log_loss"
        What the steps lower on the training rows: the log loss; the errors, as in the paper; or the errors, where equal
        ones are compared by log loss.
    step : float
        By how much a dose is raised; 1 / step must be a whole number. Half the step, twice the time.
    lookahead : int
        A dose may be raised by as many steps at once. Errors often do not change in one step: take 20 with them.
    patience : int
        The walk ends after so many models in succession that are no better than the best before. Log loss hardly ever
        rises and falls again; with errors, 5 or 10 gave better models.
    ties : "first" or "last"
        Among equal candidates the first column and the fewest steps, or, as in the paper, the last column and the most.
    mix : "parameters" or "exponent"
        What a dose does: mix the parameters of the classes with those that all share, or multiply the evidence.
    select : "aic", "cv" or "validation"
        Which model of the path is kept: the one of least AIC; or the number of steps best on rows held out, by
        five-fold cross-validation or on one fifth of the rows. Held-out rows take no part in anything learned from the
        class.
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
    nominal : names, positions or mask, optional
        Columns that are nominal whatever their type. Text, categories and booleans always are.
    levels : dict, optional
        Per column, all levels it can have.
    max_levels : int, optional
        Fold the rarest levels of a column into one beyond this number.
    verbose : bool
        Keep one line on the screen up to date while walking.
    n_jobs : int, optional
        Threads that read large tables; the result does not depend on it.
    random_state : int
        Seeds the sample of rows of a table too large to walk on, and deals rows to folds.

    Attributes
    ----------
    alpha_ : array (columns,)
        The dose of each column, between 0 and 1.
    path_ : DosePath
        Every model of the walk: ``path_.to_frame()``, and ``path_.doses``. ``path_.evaluations`` counts the candidates
        compared.
    n_search_rows_ : int
        Rows the walk looked at.
    class_count_ : array
        Total weight of each class.
    evidence_ : Evidence
        Prior and the terms of the columns that have a dose.

    Notes
    -----
    The paper's own mode is ``criterion="error", lookahead=20, ties="last", smoothing_kind="none"``. It depends on the
    order of the columns, since most of its steps are ties; the default does not.

    The walk holds its rows in memory, wherever the table lives: up to about 200,000, and fewer with very many numeric
    columns. Of a larger table it looks at a random sample of that size; what the columns say is always learned from all
    rows. Constant columns never get a dose.

    Interrupted from the keyboard, it keeps the best model so far by AIC.

    Examples
    --------
    >>> import numpy as np
    >>> from seminaive.models.stagewise import StagewiseNB
    >>> rng = np.random.default_rng(1)
    >>> y = rng.integers(0, 2, 1000)
    >>> useful, noise = y + rng.normal(size=1000), rng.normal(size=1000)
    >>> X = np.column_stack([useful, useful, noise])  # a predictor, its copy, and nothing
    >>> StagewiseNB().fit(X, y).alpha_
    array([1., 0., 0.])
    """

    alpha_: Floats
    path_: DosePath

    def __init__(
        self,
        *,
        criterion: StagewiseCriterion = "log_loss",
        step: float = 0.025,
        lookahead: int = 1,
        patience: int = 1,
        ties: StepTies = "first",
        mix: Literal["parameters", "exponent"] = "parameters",
        select: Literal["aic", "cv", "validation"] = "aic",
        numeric: str = "gaussian",
        n_bins: int = 10,
        missing: str = "skip",
        prior: Any = "empirical",
        smoothing: float = 1.0,
        smoothing_kind: SmoothingKind = "pooled",
        variance_prior: str | None = "normal-gamma",
        nominal: Sequence[Any] | None = None,
        levels: Mapping[Any, Sequence[Any]] | None = None,
        max_levels: int | None = None,
        verbose: bool | int = False,
        n_jobs: int | None = None,
        random_state: int = 0,
    ) -> None:
        self.criterion = criterion
        self.step = step
        self.lookahead = lookahead
        self.patience = patience
        self.ties = ties
        self.mix = mix
        self.select = select
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
        self.verbose = verbose
        self.n_jobs = n_jobs
        self.random_state = random_state

    def _check_parameters(self) -> None:
        check_pooled_parameters(self)
        check_choice("criterion", self.criterion, ("log_loss", "error", "error_log_loss"))
        check_choice("ties", self.ties, ("first", "last"))
        check_choice("mix", self.mix, ("parameters", "exponent"))
        check_choice("select", self.select, ("aic", "cv", "validation"))
        check_whole("lookahead", self.lookahead, at_least=1)
        check_whole("patience", self.patience, at_least=1)
        check_step(self.step)

    def _learn(self, table: Table) -> None:
        if self.numeric == "bins":  # these never look at the class
            table = as_modelled(table, "bins", self.n_bins, self.random_state, self.n_jobs)
        if table.schema.n_classes < 2:
            whole = self._stand_still(table)
        else:
            whole = choose_along(table, self._walk, self.select, seed=self.random_state, n_jobs=self.n_jobs)
        self.path_ = whole.path
        self.alpha_ = whole.path.doses[whole.path.chosen]
        self.evidence_ = whole.evidence()

    def _walk(self, table: Table) -> Walk:
        """The path and its models, learned from these rows alone."""
        if self.numeric == "mdl":
            table = as_modelled(table, "mdl", seed=self.random_state, n_jobs=self.n_jobs)
        how = Estimation.of(self)
        sums = gather_sums(table, self.n_jobs)
        plain = naive_evidence(sums, how)
        mixed = Mixed(plain, sums, how, self.mix)
        rows = rows_to_search(table, self.random_state, self.n_jobs)
        if not hasattr(self, "class_count_"):  # all rows come first, then those of the folds
            self.class_count_ = sums.class_weight
            self.n_search_rows_ = rows.n_rows
        vary = columns_that_vary(sums, self.missing)
        problem = DoseProblem(table.schema, rows, plain.prior, mixed, vary, round(1 / self.step))
        path, steps = stagewise_path(
            problem,
            self.criterion,
            lookahead=min(self.lookahead, problem.steps),
            patience=self.patience,
            ties=self.ties,
            progress=progress_line(self.criterion.replace("_", " "), self.verbose),
        )
        changes = [(mixed.term(step.column, step.dose / problem.steps),) for step in steps]
        return Walk(path, replace(plain, terms=()), changes)

    def _stand_still(self, table: Table) -> Walk:
        """The only model of rows of one class."""
        if self.numeric == "mdl":
            table = as_modelled(table, "mdl", seed=self.random_state, n_jobs=self.n_jobs)
        sums = gather_sums(table, self.n_jobs)
        self.class_count_, self.n_search_rows_ = sums.class_weight, 0
        how = Estimation.of(self)
        nothing = replace(naive_evidence(sums, how), terms=())
        zeros = np.zeros(1)
        doses = np.zeros((1, len(table.schema.columns)))
        weight = float(np.sum(sums.class_weight))
        return Walk(DosePath(self.criterion, doses, zeros, zeros, zeros, weight), nothing, [])

    def get_support(self, indices: bool = False) -> npt.NDArray[Any]:
        """Which columns have a dose, as a mask or as their positions."""
        check_is_fitted(self, "alpha_")
        return np.flatnonzero(self.alpha_ > 0) if indices else self.alpha_ > 0

    def summary(self) -> str:
        """What was learned, in words."""
        evidence = self._fitted()
        return self._in_words("Stagewise naive Bayes", doses_in_words(self.alpha_, evidence.schema.names))


def check_step(value: Any) -> None:
    """A number of which a whole number makes 1."""
    whole = type(value) is not bool and isinstance(value, (int, float, np.floating)) and 0 < value <= 1
    if not whole or abs(round(1 / value) * value - 1) > 1e-9:
        raise ValueError(f"step must be 1 divided by a whole number, such as 0.025; got {value!r}")


SHOWN = 10


def doses_in_words(doses: Floats, names: Sequence[Any]) -> str:
    """Which columns speak, and how loudly.

    Examples
    --------
    >>> print(doses_in_words(np.array([1.0, 0.0, 0.3]), ["age", "size", "weight"]))
    2 of 3 columns speak: age in full, weight at 30 %
    """
    loudest = [j for j in np.argsort(-doses, kind="stable").tolist() if doses[j] > 0]
    if not loudest:
        return "no column speaks"
    shown = [f"{names[j]} in full" if doses[j] == 1 else f"{names[j]} at {100 * doses[j]:.3g} %" for j in loudest]
    more = [f"{len(shown) - SHOWN} more"] if len(shown) > SHOWN else []
    return f"{len(loudest)} of {len(doses)} columns speak: {', '.join(shown[:SHOWN] + more)}"
