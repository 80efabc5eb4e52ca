r"""Averaged one-dependence: an average over all models in which one column leads and all others depend on it.

    P(x, k) = mean over leading columns i of  P(k) P(x_i | k) product over j != i of P(x_j | x_i, k)

No structure is chosen, so there is nothing to choose wrongly. A column leads a row only where its value occurred in
at least ``min_count`` training rows; where none does, naive Bayes answers.

Reference: Webb, Boughton and Wang, "Not so naive Bayes: aggregating one-dependence estimators", Machine Learning 58,
2005.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from seminaive.evidence.families import Families
from seminaive.evidence.mixture import Mixture, leading_codes
from seminaive.models.checks import check_choice, check_nonnegative, check_whole
from seminaive.models.dependence import _DependenceClassifier, known
from seminaive.models.k_dependence import information_with_class
from seminaive.models.naive import Sums
from seminaive.search.trees import DIGITS, LEAST
from seminaive.statistics.conditional import FamilySmoothing, conditional_evidence, evidence_given_one
from seminaive.table.families import n_codes
from seminaive.table.pair_scores import ScoredStrip, scored_strips
from seminaive.table.pairs import PairStrip
from seminaive.table.schema import FIRST_LEVEL, MISSING, Floats, Integers, Schema
from seminaive.table.table import Table

MOST_CELLS = 2**25
"""Cells of all tables together: a quarter of a gigabyte of evidence, and as much of its variance."""
KEPT_PAIRS = 10
"""Pairs of columns that the model remembers as the strongest."""


class AveragedOneDependence(_DependenceClassifier):
    """An average of one-dependence models: each predictor in turn leads, and all others depend on it and the class.

    Usually the best calibrated of the simple dependence models, and needs no search. Memory and time grow with the
    square of the number of predictors; for hundreds of them let the most telling lead (``leaders=20``).

    Parameters
    ----------
    min_count : float
        A value may lead only if it occurred in so many training rows (by weight).
    leaders : "varying", "all" or int
        Which columns lead: all that have more than one value; all, constant ones included, each of which is a vote
        for naive Bayes, as published; or so many of those that vary, the most telling about the class first.
    numeric : "mdl" or "bins"
        How numeric columns become levels: by cuts that tell the classes apart, or quantiles.
    n_bins : int
        Quantile bins per numeric column when ``numeric="bins"``.
    missing : "value" or "skip"
        A missing value is learned like any level, or says nothing and does not lead.
    prior : "empirical", "uniform" or probabilities
        Class prior, in the order of the sorted labels.
    smoothing : float
        Mass added to the counts of every combination of leading value and class; 0 leaves plain frequencies.
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
    parents_ : int array
        The columns that lead.
    pairs_ : int array (pairs, 2)
        The pairs of columns that depend most on one another given the class, the strongest first.
    pair_information_ : array (pairs,)
        The information that the two share given the class, in nats.
    class_count_ : array
        Total weight of each class.
    evidence_ : Mixture
        Prior, families, and which of them each leading column speaks with.

    Notes
    -----
    Contributions are the mean evidence over the models that have a say in a row; what the average of their
    probabilities is above the average of their logarithms is the visible term "averaging".

    Examples
    --------
    >>> import numpy as np
    >>> from seminaive.models.one_dependence import AveragedOneDependence
    >>> rng = np.random.default_rng(0)
    >>> X = rng.integers(0, 2, (500, 3)).astype(bool)
    >>> y = X[:, 0] == X[:, 2]
    >>> model = AveragedOneDependence().fit(X, y)
    >>> model.score(X, y), model.contributions(X).terms
    (1.0, ['0', '1', '2', 'averaging'])
    """

    parents_: Integers
    _title = "Averaged one-dependence"

    def __init__(
        self,
        *,
        min_count: float = 1,
        leaders: str | int = "varying",
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
        self.min_count = min_count
        self.leaders = leaders

    def _check_parameters(self) -> None:
        super()._check_parameters()
        check_nonnegative("min_count", self.min_count)
        if isinstance(self.leaders, str):
            check_choice("leaders", self.leaders, ("varying", "all"))
        else:
            check_whole("leaders", self.leaders, at_least=1)

    def _learn_families(self, table: Table, sums: Sums) -> None:
        occurs = sums.counts.sum(axis=0) > 0
        columns = self._speaking(sums.schema, occurs)
        self.parents_ = self._leading(columns, sums)
        together = _Together(sums.schema, columns, self.parents_, np.flatnonzero(occurs))
        pairs, information = np.zeros((0, 2), dtype=np.int64), np.zeros(0)
        for strip in scored_strips(table, "information", self.missing, self.n_jobs):
            together.add(strip.counts)
            pairs, information = _strongest(pairs, information, strip)
        self._note_pairs(pairs, information)
        self.evidence_ = self._mixture(sums, columns, together)

    def _speaking(self, schema: Schema, occurs: npt.NDArray[np.bool_]) -> Integers:
        """The columns that say something, or, if all are to lead, that have any value."""
        first = FIRST_LEVEL if self.missing == "skip" else MISSING
        starts = schema.layout.starts
        values = [
            int(occurs[start + first : start + n].sum()) for start, n in zip(starts, n_codes(schema), strict=True)
        ]
        return np.flatnonzero(np.array(values) >= (1 if self.leaders == "all" else 2))

    def _leading(self, columns: Integers, sums: Sums) -> Integers:
        if isinstance(self.leaders, str):
            return columns
        told = np.round(information_with_class(sums, self.missing)[columns], DIGITS)
        return np.sort(columns[np.argsort(-told, kind="stable")[: self.leaders]])

    def _mixture(self, sums: Sums, columns: Integers, together: _Together) -> Mixture:
        """The columns alone, then each leading column's children, and who speaks with whom."""
        schema, layout = sums.schema, sums.schema.layout
        as_class = self._described_as(sums)
        reads: list[tuple[int, ...]] = [(j,) for j in columns.tolist()]
        tables, variances = [np.empty((schema.n_classes, 0))], [np.empty((schema.n_classes, 0))]
        for j in columns.tolist():
            counts = sums.counts[:, layout.starts[j] : layout.starts[j] + schema.columns[j].n_codes]
            said = conditional_evidence(known(counts, self.missing), self.smoothing, self.smoothing_kind)
            for part, into in zip(said, (tables, variances), strict=True):
                into.append(part[as_class])
        alone, members = np.arange(len(columns)), []
        for i in self.parents_.tolist():
            counts, bounds = together.taken(i)
            said = evidence_given_one(counts, bounds, self.smoothing, self.smoothing_kind)
            own = int(np.searchsorted(columns, i))
            others = np.r_[0 : bounds[own], bounds[own + 1] : bounds[-1]]
            for part, into in zip(said, (tables, variances), strict=True):
                into.append(part[as_class][:, others].reshape(schema.n_classes, -1))
            members.append(np.append(len(reads) + np.arange(len(columns) - 1), own))
            reads += [(j, i) for j in columns.tolist() if j != i]
        sizes = n_codes(schema)
        families = Families(
            np.cumsum([0, *map(len, reads)]).astype(np.int64),
            np.array([j for family in reads for j in family], dtype=np.int64),
            np.cumsum([0, *(int(np.prod(sizes[list(family)])) for family in reads)]).astype(np.int64),
            np.concatenate(tables, axis=1),
            np.concatenate(variances, axis=1),
        )
        weight = np.append(np.ones(len(members)), 0.0 if members else 1.0)
        needs = [*self.parents_.tolist(), -1]
        may_lead = self._may_lead(sums)
        return Mixture.of(schema, self._log_prior(sums), families, [*members, alone], weight, False, needs, may_lead)

    def _may_lead(self, sums: Sums) -> npt.NDArray[np.bool_]:
        weight = sums.counts.sum(axis=0).astype(np.float64)
        may_lead = leading_codes(sums.schema, weight, float(self.min_count)) & (weight > 0)
        if self.missing == "skip":
            may_lead[sums.schema.layout.starts + MISSING] = False
        return may_lead

    def _dependence_in_words(self) -> str:
        d = len(self.evidence_.schema.columns)
        return f"{len(self.parents_)} of {d} columns lead in turn\n{super()._dependence_in_words()}"


class _Together:
    """How often the codes of every column occur together with those of each leading column, gathered strip by strip."""

    def __init__(self, schema: Schema, columns: Integers, leaders: Integers, flat: Integers) -> None:
        """``flat`` is where every level that occurs stands among all codes, one column after the other."""
        sizes = n_codes(schema)
        self.bounds = np.concatenate([[0], np.cumsum(sizes[columns])]).astype(np.int64)
        _check_room(schema, int(self.bounds[-1]), sizes[leaders])
        row = np.full(schema.layout.width, -1, dtype=np.int64)  # of every code among those of the speaking columns
        for j, first in zip(columns.tolist(), self.bounds[:-1].tolist(), strict=True):
            start = schema.layout.starts[j]
            row[start : start + sizes[j]] = first + np.arange(sizes[j])
        self.row = row[flat]
        self.code = flat - np.repeat(schema.layout.starts, sizes)[flat]
        self.counts = {i: np.zeros((schema.n_classes, self.bounds[-1], sizes[i])) for i in leaders.tolist()}

    def add(self, strip: PairStrip) -> None:
        """Take in what a strip says of the leading columns, whether they are the first or the second of a pair."""
        starts, base = strip.level_starts, strip.level_starts[strip.first]
        for i, counts in self.counts.items():
            own = slice(starts[i], starts[i + 1])
            if strip.first <= i < strip.last:
                after = slice(starts[i + 1], starts[-1])
                cells = strip.counts[:, starts[i] - base : starts[i + 1] - base, starts[i + 1] - base :]
                self._put(counts, after, own, cells.transpose(0, 2, 1))
            if i > strip.first:
                before = slice(base, starts[min(i, strip.last)])
                cells = strip.counts[:, : starts[min(i, strip.last)] - base, starts[i] - base : starts[i + 1] - base]
                self._put(counts, before, own, cells)

    def _put(self, counts: Floats, others: slice, own: slice, cells: Floats) -> None:
        rows = self.row[others]
        speaks = rows >= 0
        counts[:, rows[speaks][:, None], self.code[own]] += cells[:, speaks]

    def taken(self, leader: int) -> tuple[Floats, Integers]:
        """Counts (classes, codes of all columns, codes of the leader), given away, and where each column begins."""
        return self.counts.pop(leader), self.bounds


def _check_room(schema: Schema, rows: int, of_leaders: Integers) -> None:
    """Refuse tables that would not fit, and say how many columns may lead."""
    cells = schema.n_classes * rows * int(of_leaders.sum())
    if cells <= MOST_CELLS:
        return
    most = int((schema.n_classes * rows * np.cumsum(np.sort(of_leaders)[::-1]) <= MOST_CELLS).sum())
    advice = (
        f"let only the most telling lead, leaders={most} or fewer" if most else "use max_levels to fold rare levels"
    )
    raise ValueError(
        f"{len(of_leaders)} leading columns need tables of {cells:,} cells, more than the {MOST_CELLS:,} there is "
        f"room for: {advice}"
    )


def _strongest(pairs: Integers, information: Floats, strip: ScoredStrip) -> tuple[Integers, Floats]:
    """The strongest pairs of those so far and a strip's."""
    scores = np.round(strip.score, DIGITS).ravel()
    best = np.argsort(-scores, kind="stable")[:KEPT_PAIRS]
    best = best[scores[best] > LEAST]
    new = np.stack(np.divmod(best, strip.score.shape[1]), axis=1) + strip.first
    pairs, information = np.concatenate([pairs, new]), np.concatenate([information, scores[best]])
    order = np.lexsort((pairs[:, 1], pairs[:, 0], -information))[:KEPT_PAIRS]
    return pairs[order], information[order]
