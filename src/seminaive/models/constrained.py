"""Naive Bayes that keeps promised class rates, or says that it cannot.

Of all naive Bayes models with these predictors, the one nearest to what the data say (the posterior mode) for which

    m_j(model) >= a_j    for every promise j

where the m_j are recalls, precisions, costs... counted on rows named by ``evaluate_on``. Class offsets b_k in the prior
are tried before parameters are moved:

    score_k(x) = log P(k) + b_k + sum over columns j of log P(x_j | k)

Reference: "A new multivariate data analysis model: constrained Naive Bayes" (2016), corrected and extended by offsets,
counting outside the training rows, confidence bounds and proofs that promises cannot be kept.
"""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.utils import check_random_state

from seminaive.evidence.evidence import Evidence
from seminaive.models.base import EvidenceClassifier
from seminaive.models.checks import check_choice, check_nonnegative, check_smoothing, check_variance_prior, check_whole
from seminaive.models.constraint_report import (
    ConstraintReport,
    InfeasibleConstraintsError,
    Nearest,
    advice_for,
    front_in_words,
    nearest_of,
    price_of,
    promise_of,
    promised_recalls,
    too_few_cases,
)
from seminaive.models.judging import Fitted, Judge, Recipe, fit_mode, judge_by, rows_to_judge
from seminaive.models.keeping import Answer, Keeper
from seminaive.models.naive import Estimation
from seminaive.models.numeric import as_modelled
from seminaive.models.posterior import posterior_frame
from seminaive.models.repeats import repeated_columns
from seminaive.search.attainable import attainable_rates
from seminaive.search.mads import mesh_search
from seminaive.show.front import Front
from seminaive.statistics.confusion import Demand, count_confusion
from seminaive.statistics.constraints import Constraint, read_constraints
from seminaive.statistics.normal_gamma import NormalGamma
from seminaive.table.table import Table

if TYPE_CHECKING:
    import pandas as pd


class ConstrainedNB(EvidenceClassifier):
    """Naive Bayes with promised class rates, certified where the rows allow it.

    Parameters
    ----------
    constraints : dict, optional
        ``{"sick": {"recall": 0.95}, "*": {"accuracy": 0.8}}``. Per class: recall, specificity, precision, f1 and
        ``"fbeta": (beta, rate)``; under ``"*"``: accuracy, balanced_accuracy and
        ``"cost": {"matrix": C, "max": c}`` (mean cost per row, C[true, predicted]). A class that is itself called
        "*" is written ``("*",)``. None: plain naive Bayes.
    method : "auto", "offset", "density" or "mads"
        "offset" moves only the class offsets, "density" the means, variances and level probabilities, "auto" tries
        them in this order. "mads" is "density" by mesh search, as a cross-check (needs PyNomadBBO).
    evaluate_on : "cv", "train" or "holdout"
        Where promises are counted: on rows scored by models that did not see them, on the training rows (nothing is
        known about new rows then), or on held-out rows (the served model is the one that did not see them).
    confidence : float or None
        Promises shall hold on new rows with this confidence, shared equally among them: the required counts are
        raised to those whose Clopper-Pearson bound is the promised rate. None: the plain rates.
    on_infeasible : "raise" or "warn"
        Whether a promise that was not reached is an `InfeasibleConstraintsError`, or a warning and the nearest model.
    objective : "length" or "accuracy"
        Which of the class offsets that keep the promises: the smallest, or those with the most right rows.
    folds : int
        Folds of ``evaluate_on="cv"``.
    holdout : float
        Share of the rows that ``evaluate_on="holdout"`` holds out.
    numeric : "gaussian", "bins" or "mdl"
        How numeric columns are modelled.
    n_bins : int
        Quantile bins per numeric column when ``numeric="bins"``.
    missing : "skip" or "value"
        A missing value says nothing, or is learned like any level.
    prior : "empirical", "uniform" or probabilities
        Class prior, in the order of the sorted labels.
    smoothing : float or dict
        Added to the count of every level (the mode of a Dirichlet posterior with parameter smoothing + 1), or a prior
        of one's own by column, level and class, as for `NaiveBayes`.
    variance_prior : "normal-gamma", None or NormalGamma
        Prior of means and variances, as for `NaiveBayes`.
    nominal : names, positions or mask, optional
        Columns that are nominal whatever their type. Text, categories and booleans always are.
    levels : dict, optional
        Per column, all levels it can have.
    max_levels : int, optional
        Fold the rarest levels of a column into one beyond this number.
    random_state : int, RandomState or None
        Seeds folds, held-out rows, and starts of the search; None: different ones in every fit.
    n_jobs : int, optional
        Threads for large tables; the result does not depend on it.

    Attributes
    ----------
    status_ : str
        "map_feasible": naive Bayes keeps the promises as it is. "feasible": a model that does was found.
        "uncertifiable": the rates hold, but for the confidence there are too few cases. "not_found": the search failed.
        "proved_infeasible": ``proof_`` says why it cannot be.
    constraint_report_ : ConstraintReport
        One line per promise; ``to_frame()`` gives a table.
    offsets_ : array (classes,)
        What was added to the log prior.
    method_used_ : "mode", "offset", "density" or "mads"
    log_posterior_, log_posterior_loss_ : float
        Of the parameters, up to a constant; and how much less than at the mode.
    nearest_ : Nearest
        Counts of the served model on the judged rows, and what it misses.
    proof_ : str or None
    n_restarts_ : int
    class_count_ : array
        Total weight of each class in the rows the served model was learned from.
    sums_ : Sums
        What naive Bayes needs of those rows: class weights, counts, moments.
    evidence_ : Evidence
        With the moved parameters, the offsets in its prior.

    See Also
    --------
    NaiveBayes : without promises.

    Notes
    -----
    Promises are counted on at most 50,000 rows, drawn by the seed when there are more; moving parameters uses as many.
    Rows with weights are counted with them, and carry no certificate, for weights are not cases. Choices that draw
    rows (folds, held-out rows) are not those of repeated rows.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from seminaive import ConstrainedNB
    >>> X, y = load_breast_cancer(return_X_y=True, as_frame=True)
    >>> model = ConstrainedNB(constraints={0: {"recall": 0.95}}).fit(X, y)
    >>> model.status_, model.method_used_
    ('feasible', 'offset')
    >>> model.constraint_report_
    status feasible; method offset; counted on rows scored by models that did not see them
      recall of 0 >= 0.95: 0.976 (207 of 212 cases, 207 needed); 95% bound 0.951, approximate
    not promised: recall of 1 0.896 (naive Bayes 0.950), accuracy 0.926 (naive Bayes 0.928)
    columns that repeat each other within a class: mean radius, mean perimeter, mean area, ...
    """

    evidence_: Evidence

    def __init__(
        self,
        *,
        constraints: Mapping[Any, Mapping[str, Any]] | None = None,
        method: str = "auto",
        evaluate_on: str = "cv",
        confidence: float | None = 0.95,
        on_infeasible: str = "raise",
        objective: str = "length",
        folds: int = 5,
        holdout: float = 0.3,
        numeric: str = "gaussian",
        n_bins: int = 10,
        missing: str = "skip",
        prior: Any = "empirical",
        smoothing: float | Mapping[Any, Any] = 1.0,
        variance_prior: str | NormalGamma | None = "normal-gamma",
        nominal: Sequence[Any] | None = None,
        levels: Mapping[Any, Sequence[Any]] | None = None,
        max_levels: int | None = None,
        random_state: Any = 0,
        n_jobs: int | None = None,
    ) -> None:
        self.constraints = constraints
        self.method = method
        self.evaluate_on = evaluate_on
        self.confidence = confidence
        self.on_infeasible = on_infeasible
        self.objective = objective
        self.folds = folds
        self.holdout = holdout
        self.numeric = numeric
        self.n_bins = n_bins
        self.missing = missing
        self.prior = prior
        self.smoothing = smoothing
        self.variance_prior = variance_prior
        self.nominal = nominal
        self.levels = levels
        self.max_levels = max_levels
        self.random_state = random_state
        self.n_jobs = n_jobs

    def _check_parameters(self) -> None:
        check_choice("method", self.method, ("auto", "offset", "density", "mads"))
        if self.method == "mads":
            mesh_search()
        check_choice("evaluate_on", self.evaluate_on, ("cv", "train", "holdout"))
        check_choice("on_infeasible", self.on_infeasible, ("raise", "warn"))
        check_choice("objective", self.objective, ("length", "accuracy"))
        check_choice("numeric", self.numeric, ("gaussian", "bins", "mdl"))
        check_choice("missing", self.missing, ("skip", "value"))
        check_smoothing(self.smoothing)
        check_variance_prior(self.variance_prior)
        check_whole("n_bins", self.n_bins, at_least=1)
        check_whole("folds", self.folds, at_least=2)
        for name, value in (("holdout", self.holdout), ("confidence", self.confidence)):
            if name == "confidence" and value is None:
                continue
            check_nonnegative(name, value)
            if value is None or not 0 < value < 1:
                raise ValueError(f"{name} must lie between 0 and 1; got {value!r}")
        if isinstance(self.prior, str):
            check_choice("prior", self.prior, ("empirical", "uniform"))

    @property
    def _estimation(self) -> Estimation:
        return Estimation(self.prior, self.smoothing, "level", self.missing, self.variance_prior)

    def _learn(self, table: Table) -> None:
        constraints = read_constraints(self.constraints, self.classes_.tolist())
        seed = int(check_random_state(self.random_state).randint(2**31 - 1))
        recipe = Recipe(self._estimation, self.numeric, seed, self.n_jobs)
        if self.numeric != "mdl":  # MDL cuts look at the class: every fold learns its own
            table = as_modelled(table, self.numeric, self.n_bins, n_jobs=self.n_jobs)
        if not constraints:
            self._serve_plain(fit_mode(table, recipe))
            return
        judge = judge_by(table, recipe, self.evaluate_on, self.folds, self.holdout)
        keeper = Keeper(judge, constraints, self.method, self.objective)
        point, certified = keeper.demands(None), keeper.demands(self.confidence)
        wants_more = any(demand.delta > 0 for demand in certified)
        answer = keeper.keep(self.confidence) if all(demand.certifiable for demand in certified) else None
        too_few = wants_more and (answer is None or not answer.feasible)
        if answer is None or too_few:
            keeper.proof = None
            answer = keeper.keep(None)
        self._serve(judge, answer, keeper.proof, constraints)
        if not answer.feasible:
            self.status_ = "not_found" if keeper.proof is None else "proved_infeasible"
        elif too_few:
            self.status_ = "uncertifiable"
        else:
            self.status_ = "map_feasible" if answer.method == "mode" else "feasible"
        self.constraint_report_ = self._report(judge, answer, point, certified)
        self.nearest_ = nearest_of(point, answer.confusion)
        self._tell(judge, answer, point, certified)

    def _serve_plain(self, fitted: Fitted) -> None:
        k = fitted.evidence.schema.n_classes
        answer = Answer("mode", fitted.evidence, np.zeros((k, k)), 0.0, np.zeros(k))
        self._serve(None, answer, None, [], fitted)
        self.status_ = "map_feasible"
        self.constraint_report_ = ConstraintReport("map_feasible", "mode", self.evaluate_on, self.confidence, ())
        self.nearest_ = Nearest(answer.confusion, {})

    def _serve(
        self,
        judge: Judge | None,
        answer: Answer,
        proof: str | None,
        constraints: Sequence[Constraint],
        fitted: Fitted | None = None,
    ) -> None:
        served = judge.served if judge is not None else fitted
        assert served is not None
        self.evidence_ = answer.evidence
        self.sums_, self.class_count_ = served.sums, served.sums.class_weight
        self.offsets_ = answer.offsets
        self.method_used_ = answer.method
        self.log_posterior_loss_ = answer.loss
        self.log_posterior_ = served.log_posterior() - answer.loss
        self.n_restarts_ = answer.restarts
        self.proof_ = proof if not answer.feasible else None

    def _report(
        self, judge: Judge, answer: Answer, point: Sequence[Demand], certified: Sequence[Demand]
    ) -> ConstraintReport:
        rows = rows_to_judge(judge.served.table, judge.served.recipe)
        on_train = count_confusion(judge.served.scores(rows, answer.evidence), rows.labels, rows.block.weights)
        promises = tuple(
            promise_of(a, b, answer.confusion, on_train, self._certificate(a.constraint))
            for a, b in zip(point, certified, strict=True)
        )
        repeats = repeated_columns(judge.rows, judge.served.recipe.seed)
        before = count_confusion(judge.scores(), judge.rows.labels, judge.rows.block.weights)
        price = price_of([d.constraint for d in point], self.classes_.tolist(), answer.confusion, before)
        return ConstraintReport(
            self.status_, answer.method, self.evaluate_on, self.confidence, promises, repeats, price
        )

    def _certificate(self, constraint: Constraint) -> str:
        """What kind of certificate the judged rows can give.

        Exact: held-out rows, two classes, and a rate that rises with the threshold, so that the bound holds for
        every threshold at once. "auto" has looked at the rows before it moves parameters.
        """
        if self.evaluate_on == "train":
            return "none"
        one_threshold = len(self.classes_) == 2 and constraint.metric in ("recall", "specificity")
        looked_once = self.method != "auto" or self.method_used_ != "density"
        return "exact" if self.evaluate_on == "holdout" and one_threshold and looked_once else "approximate"

    def _what_can_be_had(self, judge: Judge, point: Sequence[Demand]) -> str:
        """Where two classes' recalls are promised, how much of each can be had with the other."""
        constraints = [demand.constraint for demand in point]
        asked = promised_recalls(constraints, len(self.classes_))
        if len(self.classes_) != 2 or len(asked) != 2 or judge.rows.block.weights is not None:
            return ""
        points = attainable_rates(judge.scores(), judge.rows.labels, 0, 1)
        first, second = self.classes_.tolist()
        return front_in_words(points, (first, second), (asked[0], asked[1]))

    def _tell(self, judge: Judge, answer: Answer, point: Sequence[Demand], certified: Sequence[Demand]) -> None:
        """Nothing is broken silently."""
        if not answer.feasible:
            error = InfeasibleConstraintsError(
                self.status_,
                self.nearest_,
                self.proof_,
                advice_for(point, answer.confusion, self.method, self._what_can_be_had(judge, point)),
                self.constraint_report_,
            )
            if self.on_infeasible == "raise":
                raise error
            warnings.warn(str(error), UserWarning, stacklevel=4)
        elif self.status_ == "uncertifiable":
            warnings.warn(too_few_cases(certified, answer.confusion, self.confidence), UserWarning, stacklevel=4)

    def front(self, X: Any, y: Any, between: tuple[Any, Any] | None = None) -> Front:
        """What can be had on some rows by class offsets: the best pairs of two classes' recalls.

        Parameters
        ----------
        X, y : labelled rows
        between : pair of class labels, optional
            Default: the promised classes, or the first two.

        Returns
        -------
        Front
            With ``to_frame()`` and ``plot()``, which marks the promised point and the model's own.
        """
        self._fitted()
        constraints = read_constraints(self.constraints, self.classes_.tolist())
        promised = promised_recalls(constraints, len(self.classes_))
        a, b = self._two_classes(promised, between)
        labels = np.searchsorted(self.classes_, np.asarray(y))
        scores = self.predict_joint_log_proba(X).T
        own = count_confusion(scores, labels)
        own_a, own_b = (float(own[k, k] / own[k].sum()) for k in (a, b))
        points = attainable_rates(scores - self.offsets_[:, None], labels, a, b)
        asked = (promised.get(a, 0.0), promised.get(b, 0.0))
        known = self.classes_.tolist()
        return Front((known[a], known[b]), points, asked, (own_a, own_b))

    def _two_classes(self, promised: Mapping[int, float], between: tuple[Any, Any] | None) -> tuple[int, int]:
        known = self.classes_.tolist()
        if between is not None:
            if len(between) != 2 or any(label not in known for label in between) or between[0] == between[1]:
                raise ValueError(f"between must be two different classes of {known}; got {between!r}")
            return known.index(between[0]), known.index(between[1])
        if len(known) < 2:
            raise ValueError("a front needs two classes")
        order = [*sorted(promised), *[k for k in range(len(known)) if k not in promised]]
        return order[0], order[1]

    def posterior(self, level: float = 0.95) -> pd.DataFrame:
        """Means, variances and probabilities as they are served, with the intervals that the rows leave them.

        A promise kept by moving parameters may take them outside. See `NaiveBayes.posterior`.
        """
        self._fitted()
        return posterior_frame(self.evidence_, self.sums_, self._estimation, level)

    def summary(self) -> str:
        """What was learned and what is promised, in words."""
        return f"{self._in_words('Constrained naive Bayes')}\n{self.constraint_report_}"


def plot_front(model: ConstrainedNB, X: Any, y: Any, between: tuple[Any, Any] | None = None, ax: Any = None) -> Any:
    """Draw what can be had: all pairs of two classes' recalls that offsets reach, the promised point, and the model's.

    Parameters
    ----------
    model : ConstrainedNB
        Fitted.
    X, y : labelled rows
        Rows the model has not seen give the honest picture.
    between : pair of class labels, optional
        Default: the promised classes, or the first two.
    ax : matplotlib Axes, optional

    Returns
    -------
    Axes

    See Also
    --------
    ConstrainedNB.front : the numbers.
    """
    return model.front(X, y, between).plot(ax)
