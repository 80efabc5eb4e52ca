"""Penalised naive Bayes: what tells the classes apart in a column is shrunk, and where it is too little, to nothing.

Every column by itself minimises

    - log likelihood of its values given the classes  +  penalty * w_j * | theta_j - theta_j0 |

where theta_j are the parameters of all classes (level probabilities; means and deviations in units of the column's own)
and theta_j0 those that all classes share. The distance is not squared, so from some penalty on it is exactly 0 and the
column says nothing. The adaptive weights w_j = 1 / |theta_j1 - theta_j0|, with theta_j1 the estimates without penalty,
hold back what looks weak. One penalty is chosen for all columns: the least AIC, or cross-validation.

Reference: van Gerven and Heskes, "L1/Lp regularization of differences", 2008, as in Vidaurre, Bielza and Larrañaga,
"Forward stagewise naïve Bayes", Progress in Artificial Intelligence 1, 2012, section 3.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np
import numpy.typing as npt
from sklearn.utils.validation import check_is_fitted

from seminaive.models.base import EvidenceClassifier
from seminaive.models.checks import check_choice, check_nonnegative, check_pooled_parameters
from seminaive.models.naive import Estimation, gather_sums
from seminaive.models.numeric import as_modelled
from seminaive.models.pulled import Pull, Pulled
from seminaive.search.along import Walk, choose_along, judge
from seminaive.search.doses import DosePath
from seminaive.statistics.smoothing import SmoothingKind
from seminaive.table.schema import Floats
from seminaive.table.table import Table

FRACTIONS = np.append(np.geomspace(1.0, 0.003, 14), 0.0)
"""Penalties that are compared, relative to the least under which nothing is said."""
SAFELY = 1 + 1e-9
"""That penalty is taken a little larger, so that rounding does not decide whether something is said."""


class PenalizedNB(EvidenceClassifier):
    """Naive Bayes in which columns that tell little are shrunk, and those that tell next to nothing are dropped.

    Nearly as quick as naive Bayes: columns are independent problems with exact solutions, and one pass over the rows
    judges all penalties. It drops irrelevant columns, but keeps copies of good ones, each being as good as the other:
    for these there are `StagewiseNB` and `SelectiveNB`.

    Parameters
    ----------
    penalty : "auto" or float
        How much a difference between the classes costs; "auto" chooses among 15 penalties. With ``adaptive=True`` and
        ``solver="line"`` it is a threshold of chi-square: a nominal column is dropped exactly if Pearson's chi-square
        of its table of counts is not larger.
    adaptive : bool
        Differences count relative to their size without penalty: weak columns go earlier, strong ones shrink less.
    solver : "exact" or "line"
        Parameters are free, or stay on the line from those that all classes share to the classes' own, as in the
        paper. The line is a restriction and hardly quicker.
    select : "aic" or "cv"
        What chooses the penalty: the least AIC on the training rows, or the least log loss in five folds. AIC counts a
        column as one parameter, whatever it has: cross-validation drops more.
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
    n_jobs : int, optional
        Threads that read large tables; the result does not depend on it.
    random_state : int
        Seeds the folds of ``select="cv"``, and the sample of rows that MDL cuts of a very large table are learned from.

    Attributes
    ----------
    alpha_ : array (columns,)
        How much of each column is used, between 0 (dropped) and 1: the distance of its parameters from those that all
        classes share, relative to that of the estimates without penalty.
    penalty_ : float
        The penalty in force.
    path_ : DosePath
        The models that were compared, from the one that says nothing to naive Bayes: ``path_.to_frame()``. With a
        penalty of your own it has that one model.
    class_count_ : array
        Total weight of each class.
    evidence_ : Evidence
        Prior and the terms of the columns that are not dropped.

    Examples
    --------
    >>> import numpy as np
    >>> from seminaive.models.penalized import PenalizedNB
    >>> rng = np.random.default_rng(0)
    >>> y = rng.integers(0, 2, 500)
    >>> X = np.column_stack([y + rng.normal(size=500), rng.normal(size=500)])  # useful, and noise
    >>> PenalizedNB(penalty=5.0).fit(X, y).alpha_.round(2)
    array([0.95, 0.  ])
    """

    alpha_: Floats
    penalty_: float
    path_: DosePath

    def __init__(
        self,
        *,
        penalty: str | float = "auto",
        adaptive: bool = True,
        solver: str = "exact",
        select: str = "aic",
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
        n_jobs: int | None = None,
        random_state: int = 0,
    ) -> None:
        self.penalty = penalty
        self.adaptive = adaptive
        self.solver = solver
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
        self.n_jobs = n_jobs
        self.random_state = random_state

    def _check_parameters(self) -> None:
        if not isinstance(self.penalty, str):
            check_nonnegative("penalty", self.penalty)
        else:
            check_choice("penalty", self.penalty, ("auto",))
        check_choice("adaptive", self.adaptive, (True, False))
        check_choice("solver", self.solver, ("exact", "line"))
        check_choice("select", self.select, ("aic", "cv"))
        check_pooled_parameters(self)

    def _learn(self, table: Table) -> None:
        if self.numeric == "bins":
            table = as_modelled(table, "bins", self.n_bins, self.random_state, self.n_jobs)
        walk = self._walk(table, None if isinstance(self.penalty, str) else np.array([float(self.penalty)]))
        path = walk.path
        if isinstance(self.penalty, str) and len(path) > 1:
            again = partial(self._walk, penalties=path.penalties)
            walk = choose_along(table, again, self.select, whole=walk, seed=self.random_state, n_jobs=self.n_jobs)
        self.path_ = walk.path
        self.alpha_ = self.path_.doses[self.path_.chosen]
        assert self.path_.penalties is not None
        self.penalty_ = float(self.path_.penalties[self.path_.chosen])
        self.class_count_ = np.asarray(table.class_weights(self.n_jobs))
        self.evidence_ = walk.evidence()

    def _walk(self, table: Table, penalties: Floats | None = None) -> Walk:
        """The models of some penalties, by default of the whole range, on some rows."""
        if self.numeric == "mdl":
            table = as_modelled(table, "mdl", self.n_bins, self.random_state, self.n_jobs)
        how = Estimation.of(self)
        pulled, pull = Pulled.of(gather_sums(table, self.n_jobs), how), Pull(self.adaptive, self.solver == "exact")
        penalties = _range(pulled, pull) if penalties is None else penalties
        models = [pulled.at(penalty, pull) for penalty in penalties.tolist()]
        doses = np.stack([dose for _, dose in models])
        speaks = (doses > 0) | (np.roll(doses, 1, axis=0) > 0)  # a column that falls silent changes, too
        speaks[0] = doses[0] > 0
        terms = [tuple(t for t in said if now[t.column]) for (said, _), now in zip(models, speaks, strict=True)]
        start = replace(pulled.plain, terms=terms[0])
        weight, errors, losses = judge(table, start, terms[1:], self.n_jobs)
        path = DosePath(
            "log_loss",
            doses,
            losses,
            errors,
            losses,
            weight,
            evaluations=len(doses),
            penalties=penalties,
            select="given",
        )
        return Walk(path, start, terms[1:])

    def get_support(self, indices: bool = False) -> npt.NDArray[Any]:
        """Which columns are not dropped, as a mask or as their positions."""
        check_is_fitted(self, "alpha_")
        return np.flatnonzero(self.alpha_ > 0) if indices else self.alpha_ > 0

    def summary(self) -> str:
        """What was learned, in words."""
        kept = int(self.get_support().sum())
        found = f"penalty {self.penalty_:.3g}: {kept} of {len(self.alpha_)} columns kept"
        return self._in_words("Penalised naive Bayes", found)


def _range(pulled: Pulled, pull: Pull) -> Floats:
    """Penalties from the first under which nothing is said down to none at all."""
    largest = pulled.least_penalty_of_nothing(pull) * SAFELY
    while pulled.at(largest, pull)[1].any():  # means and deviations can have a second, lower minimum
        largest *= 2
    return largest * FRACTIONS if largest > 0 else np.zeros(1)
