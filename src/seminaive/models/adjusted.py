"""Adjusted naive Bayes: the evidence of naive Bayes, each predictor counted as much as it deserves.

Naive Bayes multiplies the prior by one factor per predictor, P(k|x_j) / P(k). Here every factor has an exponent:

    P(k | x)  ~  P(k) * product over predictors j of [ P(k | x_j) / P(k) ] ^ w_j

w = 1 believes the predictor's table as it stands, 0 ignores it, and two copies of one predictor share their weight.
The weights minimise the log loss plus penalty * |w - centre|^2, and rows left out choose the penalty. All ones are
naive Bayes; what is fitted are a few numbers, so the tables stay what they are and can be read.

Reference: Hong, Hosking and Natarajan, "Multiplicative adjustment of class probability: educating naive Bayes", IBM
Research Report RC 22393 (2002). Their search for the size of the weights is ``select="paper"``, ``coupling="ovr"``.
"""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from functools import cache, partial
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
import numpy.typing as npt

from seminaive.evidence.evidence import Evidence
from seminaive.models.adjusted_choice import FEW_ROWS, FOLDS, TRAINING, Choice, PartRows, Select, Wishes, choose
from seminaive.models.adjusted_problem import Part, Weighted, parts_of, weighted_evidence
from seminaive.models.adjusted_report import Overlap, WeightPath, sentences, weights_frame
from seminaive.models.adjusted_terms import Form, Reading, offsets, unweighted_evidence
from seminaive.models.base import EvidenceClassifier
from seminaive.models.checks import check_choice, check_nonnegative, check_variance_prior, check_whole
from seminaive.models.naive import Estimation, Sums, gather_sums, log_prior
from seminaive.models.numeric import as_modelled
from seminaive.statistics.normal_gamma import NormalGamma
from seminaive.statistics.smoothing import SmoothingKind
from seminaive.table.discretize import binned
from seminaive.table.folds import hold_out_in_turn
from seminaive.table.schema import Floats
from seminaive.table.table import Table

if TYPE_CHECKING:
    import pandas as pd


class AdjustedNB(EvidenceClassifier):
    """Naive Bayes with a fitted weight per predictor: probabilities that can be trusted, evidence that can be read.

    Parameters
    ----------
    numeric : "bins", "gaussian", "kde" or "mdl"
        How numeric columns are modelled: quantile bins, a Gaussian or a kernel density per class (whose log densities
        differ by at most 8 nats), or bins whose cuts look at the class. No choice is best everywhere; bins are safe.
    n_bins : int
        Quantile bins per numeric column when ``numeric="bins"``.
    missing : "value" or "skip"
        A missing value is learned like any level, if it occurs in training, or says nothing.
    prior : "empirical", "uniform" or probabilities
        Class prior of the fitted model, in the order of the sorted labels. The weights are fitted with the shares of
        the training rows in any case; another prior then takes their place, as for a population with other shares.
    smoothing : float or "1/n"
        Mass added to the counts; "1/n" is one over the number of rows.
    smoothing_kind : "class", "half", "likelihood", "level", "pooled" or "none"
        Where the mass goes: "class" shrinks P(class | level) towards the prior; "half" and "likelihood" are other
        readings of the paper; "level" and "pooled" are as for `NaiveBayes`; "none": plain frequencies.
    variance_prior : "normal-gamma", None or NormalGamma
        With ``numeric="gaussian"``: prior of means and variances, as for `NaiveBayes`.
    select : "auto", "alo", "cv", "paper" or None
        What chooses the penalty. "alo": the loss of rows left out one by one, computed to first order without
        refitting; "cv": five-fold cross-validation, in which tables, cuts and weights are learned anew. "auto": "alo",
        or, where it takes too much for certain, "cv": on fewer than 250 rows, and with softmax for three or more
        classes on fewer than 5,000 (ten folds).
        "paper": the paper's search for the sum of squares m. None: weights without a penalty.
    m : float, optional
        Sum of the squared weights, instead of a choice. Above that of the unrestricted weights these are taken.
    coupling : "softmax" or "ovr"
        More than two classes: one model of all classes, the better probabilities; or one model per class against the
        rest, as in the paper, often with a few errors less.
    shared : bool
        With "softmax": one weight per predictor for all classes, instead of one per class.
    centre : float or "auto"
        Where the penalty draws the weights: 0, towards the prior; 1, towards naive Bayes; "auto", towards the weight
        that is best when all predictors have the same.
    nonnegative : bool
        No weight below 0, and many at 0. Good among redundant predictors; not where one reverses another.
    residual : bool or float
        Let every table entry move on its own besides, under the same penalty (a number makes that cheaper or dearer).
        Finds what the tables have wrong in the presence of the other predictors; costs as many weights as levels.
    nominal : names, positions or mask, optional
        Columns that are nominal whatever their type. Text, categories and booleans always are.
    levels : dict, optional
        Per column, all levels it can have.
    max_levels : int, optional
        Fold the rarest levels of a column into one beyond this number.
    n_jobs : int, optional
        Threads for large tables; the result does not depend on it.
    random_state : int
        Seeds the folds of "cv" and "paper", and the sample of rows that cuts of very large tables are learned from.

    Attributes
    ----------
    weights_ : array (columns,), or (classes, columns)
        The weights; with more than two classes one row per class, unless ``shared``. Columns that say nothing have the
        centre's.
    weight_errors_ : array of the same shape
        Their standard errors: roots of the diagonal of the inverse penalised Hessian. A weight held at 0 has none.
    m_ : float, or array (classes,) with "ovr"
        Sum of the squared weights (residuals included).
    penalty_ : float, or array (classes,) with "ovr"
    path_ : WeightPath
        The penalties that were compared: ``path_.to_frame()``.
    centre_ : float, or array (classes,) with "ovr"
        What the weights were drawn to.
    overlap_ : Overlap
        For each column the other that says most nearly the same.
    class_count_ : array
        Total weight of each class.
    evidence_ : Evidence
        Prior and weighted terms.

    See Also
    --------
    NaiveBayes : all weights 1.
    NBSelector : choose a few predictors first; ``AdjustedNB(nonnegative=True)`` on them is the recommended last step.

    Notes
    -----
    An identifier, a column with one row per level, fits the training rows perfectly and says nothing about others;
    leave such columns out. Above 1,000 weights (levels count with ``residual``, classes with "softmax") the penalty is
    chosen by cross-validation and the weights are fitted without second derivatives; above 3,000 they have no standard
    errors. Where folds choose, and there are more than 20,000 rows or weights that are not whole numbers, a row of
    weight 2 is not quite the same as the row twice; otherwise it is.

    The intervals of contributions combine the uncertainty of the table and of the weight as if both had been learned
    from different rows, and those of classes as independent.

    Examples
    --------
    Two copies of a predictor share the weight that one alone would have; naive Bayes counts both.

    >>> import numpy as np
    >>> from seminaive import AdjustedNB
    >>> rng = np.random.default_rng(0)
    >>> y = rng.integers(0, 2, 2000)
    >>> one, other = y + rng.normal(size=(2, 2000))
    >>> model = AdjustedNB().fit(np.column_stack([one, one, other]), y)
    >>> model.weights_.round(2)
    array([0.5 , 0.5 , 0.99])
    """

    weights_: Floats
    weight_errors_: Floats
    m_: Any
    penalty_: Any
    centre_: Any
    path_: WeightPath
    overlap_: Overlap

    def __init__(
        self,
        *,
        numeric: str = "bins",
        n_bins: int = 10,
        missing: str = "value",
        prior: Any = "empirical",
        smoothing: float | Literal["1/n"] = 1.0,
        smoothing_kind: SmoothingKind = "class",
        variance_prior: str | NormalGamma | None = "normal-gamma",
        select: Literal["auto", "alo", "cv", "paper"] | None = "auto",
        m: float | None = None,
        coupling: Literal["softmax", "ovr"] = "softmax",
        shared: bool = False,
        centre: float | Literal["auto"] = 0,
        nonnegative: bool = False,
        residual: bool | float = False,
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
        self.select = select
        self.m = m
        self.coupling = coupling
        self.shared = shared
        self.centre = centre
        self.nonnegative = nonnegative
        self.residual = residual
        self.nominal = nominal
        self.levels = levels
        self.max_levels = max_levels
        self.n_jobs = n_jobs
        self.random_state = random_state

    def _check_parameters(self) -> None:
        check_choice("numeric", self.numeric, ("bins", "gaussian", "kde", "mdl"))
        check_choice("missing", self.missing, ("value", "skip"))
        check_choice("smoothing_kind", self.smoothing_kind, ("class", "half", "likelihood", "level", "pooled", "none"))
        check_choice("select", self.select, ("auto", "alo", "cv", "paper", None))
        check_choice("coupling", self.coupling, ("softmax", "ovr"))
        check_variance_prior(self.variance_prior)
        check_whole("n_bins", self.n_bins, at_least=1)
        check_whole("random_state", self.random_state, at_least=0)
        check_nonnegative("residual", float(self.residual) if self.residual in (True, False) else self.residual)
        if not isinstance(self.smoothing, str) or self.smoothing != "1/n":
            check_nonnegative("smoothing", self.smoothing)
        if isinstance(self.prior, str):
            check_choice("prior", self.prior, ("empirical", "uniform"))
        if not isinstance(self.centre, str) or self.centre != "auto":
            check_nonnegative("centre", self.centre)
        if self.m is not None:
            check_nonnegative("m", self.m)
            if self.m == 0:
                raise ValueError("m must be positive: it is the sum of the squared weights; got 0")
        if self.centre != 0 and (self.m is not None or self.select == "paper"):
            raise ValueError(f"the sum of squares m is about weights drawn to 0: centre must be 0, got {self.centre!r}")
        if self.shared and self.coupling == "ovr":
            raise ValueError("shared=True needs coupling='softmax': with 'ovr' every class has a model of its own")
        if self.shared and self.residual:
            raise ValueError("residual needs weights per class: it cannot be had with shared=True")

    # --- learning -----------------------------------------------------------------------------------------------------

    def _learn(self, table: Table) -> None:
        plain = table.kept(self.n_jobs)
        table = self._modelled(plain)
        sums = gather_sums(table, self.n_jobs)
        self.class_count_ = sums.class_weight
        present = np.flatnonzero(sums.class_weight > 0)
        if len(present) < 2:
            self._learn_nothing(table, sums)
            return
        form: Form = "logit" if len(present) == 2 else self.coupling
        how = Estimation("empirical", self._mass(sums), self.smoothing_kind, self.missing, self.variance_prior)
        reading = Reading(form, present, how, self.numeric == "kde", self.n_jobs)
        parts = self._parts(table, sums, reading)

        # With "mdl" the cuts look at the class, so folds start again from the values.
        select, n_folds = self._chosen_by(form, float(sums.class_weight.sum()))
        learned_anew = cache(partial(self._folds, plain if self.numeric == "mdl" else table, reading, n_folds))
        same_tables = cache(lambda: list(hold_out_in_turn(table, FOLDS, self.random_state, self.n_jobs)))

        def in_folds(number: int) -> list[tuple[PartRows, PartRows]]:
            return [fold[number] for fold in learned_anew()]

        def on_all(rows: PartRows) -> list[tuple[PartRows, PartRows]]:
            return [(rows.on(training), rows.on(held_out)) for training, held_out in same_tables()]

        wishes = Wishes(select, self.m, self.centre, bool(self.nonnegative))
        every = [PartRows(part, table, self.n_jobs) for part in parts]
        choices = [choose(rows, wishes, partial(in_folds, i), partial(on_all, rows)) for i, rows in enumerate(every)]
        self._warn_of_endless(reading, choices)
        self._keep(sums, reading, parts, choices)

    def _chosen_by(self, form: Form, rows: float) -> tuple[Select | None, int]:
        """What chooses the penalty, and in how many folds."""
        if self.select != "auto":
            return self.select, FOLDS
        if rows >= FEW_ROWS[form]:
            return "alo", FOLDS
        return "cv", 2 * FOLDS if form == "softmax" else FOLDS

    def _modelled(self, table: Table) -> Table:
        return as_modelled(table, self.numeric, self.n_bins, self.random_state, self.n_jobs)

    def _mass(self, sums: Sums) -> float:
        return 1.0 / float(sums.class_weight.sum()) if self.smoothing == "1/n" else float(self.smoothing)

    def _parts(self, table: Table, sums: Sums, reading: Reading) -> list[Part]:
        evidence = unweighted_evidence(table, sums, reading)
        occurs = np.asarray(sums.counts, dtype=np.float64).sum(axis=0)
        shared = bool(self.shared) and reading.form == "softmax"
        return parts_of(evidence, reading, occurs, float(self.residual), shared)

    def _folds(self, table: Table, reading: Reading, n_folds: int) -> list[list[tuple[PartRows, PartRows]]]:
        """For each fold the (training, held-out) rows of every part, all learned from the training rows."""
        folds = []
        for training, held_out in hold_out_in_turn(table, n_folds, self.random_state, self.n_jobs):
            if not (training.n_rows and held_out.n_rows):
                continue
            if self.numeric == "mdl":
                training = self._modelled(training)
                columns = enumerate(training.schema.columns)
                cuts = {j: column.cuts for j, column in columns if column.cuts is not None}
                held_out = binned(held_out, cuts, self.n_jobs)
            parts = self._parts(training, gather_sums(training, self.n_jobs), reading)
            learning = [PartRows(part, training, self.n_jobs) for part in parts]
            folds.append([(rows, rows.on(held_out)) for rows in learning])
        return folds

    def _learn_nothing(self, table: Table, sums: Sums) -> None:
        """Rows of one class: a constant prediction."""
        columns = len(table.schema.columns)
        self.weights_, self.weight_errors_ = np.zeros(columns), np.zeros(columns)
        self.m_ = self.penalty_ = self.centre_ = 0.0
        self.path_ = WeightPath("nothing", {}, np.zeros(0, dtype=bool), None)
        self.overlap_ = Overlap(np.full(columns, -1), np.zeros(columns))
        self.evidence_ = Evidence(table.schema, log_prior(sums.class_weight, self.prior), ())

    def _warn_of_endless(self, reading: Reading, choices: Sequence[Choice]) -> None:
        """Say so where weights without a penalty were asked for and there are none."""
        if self.select in ("auto", "alo", "cv") and self.m is None:
            return
        endless = [i for i, choice in enumerate(choices) if choice.endless]
        if endless:
            labels = self.classes_[reading.lines[endless]].tolist()
            of = f" (against the rest: {', '.join(map(repr, labels))})" if reading.form == "ovr" else ""
            penalty = max(choices[i].fit.penalty for i in endless)
            warnings.warn(
                f"the classes are separable{of}, so no finite weights are best; "
                f"they are held by a penalty of {penalty:.3g}: select='alo' chooses one that predicts well",
                stacklevel=4,
            )

    def _keep(self, sums: Sums, reading: Reading, parts: Sequence[Part], choices: Sequence[Choice]) -> None:
        """Set what was learned."""
        classes, columns = len(sums.class_weight), len(sums.schema.columns)
        prior = offsets(log_prior(sums.class_weight, self.prior), reading)
        fitted = [
            Weighted(part, choice.fit.weights, choice.covariance) for part, choice in zip(parts, choices, strict=True)
        ]
        self.evidence_ = weighted_evidence(fitted, reading.present, prior, int(np.argmax(sums.class_weight)))
        weights, errors = np.zeros((classes, columns)), np.zeros((classes, columns))
        gram = np.zeros((columns, columns))
        for part, choice, found in zip(parts, choices, fitted, strict=True):
            weights[part.lines] = part.by_column(found.fitted, choice.centre)
            errors[part.lines] = part.by_column(found.errors(), 0.0)
            gram[np.ix_(part.columns, part.columns)] += part.gram(choice.fit.sums.hessian)
        one = reading.form == "logit" or bool(self.shared)
        self.weights_, self.weight_errors_ = (w[reading.lines[0]] if one else w for w in (weights, errors))
        self.overlap_ = Overlap.of(gram)
        self.m_, self.penalty_, self.centre_ = (
            self._per_class(np.array(values), reading)
            for values in (
                [choice.fit.size for choice in choices],
                [choice.fit.penalty for choice in choices],
                [choice.centre for choice in choices],
            )
        )
        self.path_ = _path(choices, self.classes_[reading.lines] if reading.form == "ovr" else None)

    @staticmethod
    def _per_class(values: Floats, reading: Reading) -> Any:
        if reading.form != "ovr":
            return float(values[0])
        out = np.zeros(int(reading.present.max()) + 1)
        out[reading.lines] = values
        return out

    # --- looking ------------------------------------------------------------------------------------------------------

    def weights_frame(self) -> pd.DataFrame:
        """The weights with 95 % intervals, one row per column (and class).

        "reversed" marks negative weights: given the other columns, the column speaks for the class that it speaks
        against when taken alone (Simpson's paradox). "most like" names the column whose evidence is most correlated
        with its own: such columns share their weight, and its parts are less certain than their sum.
        """
        schema = self._fitted().schema
        return weights_frame(schema, self.weights_, self.weight_errors_, self.overlap_)

    def summary(self) -> str:
        """What was learned, in words."""
        evidence = self._fitted()
        lines = self._in_words("Adjusted naive Bayes").split("\n")
        found = [f"weights {self._how_held()}: m = {np.round(self.m_, 3)}"] if len(self.path_.chosen) else []
        found += sentences(evidence.schema, self.weights_, self.weight_errors_, self.overlap_, self.path_.endless)
        return "\n".join([*lines[:2], *found, *lines[2:]])

    def _how_held(self) -> str:
        """What keeps the weights from growing."""
        if self.path_.criterion != TRAINING:
            return f"held by a penalty, chosen by {self.path_.criterion}"
        reached = self.m is not None and np.any(np.isclose(self.m_, self.m, rtol=1e-6))
        return "of a given size" if reached else "without a penalty"


def _path(choices: Sequence[Choice], labels: npt.NDArray[Any] | None) -> WeightPath:
    """The paths of all parts as one."""
    steps = {name: np.concatenate([choice.path[name] for choice in choices]) for name in choices[0].path}
    lengths = [len(choice.path["m"]) for choice in choices]
    chosen = np.concatenate([np.arange(n) == choice.chosen for n, choice in zip(lengths, choices, strict=True)])
    return WeightPath(choices[0].criterion, steps, chosen, None if labels is None else np.repeat(labels, lengths))
