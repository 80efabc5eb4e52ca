"""What became of promised rates: the report, the nearest miss, and the error that says a promise cannot be kept."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from seminaive.evidence.storage import storable
from seminaive.statistics.confusion import Demand, measure
from seminaive.statistics.constraints import OVERALL, Constraint
from seminaive.table.schema import Floats

if TYPE_CHECKING:
    import pandas as pd

PLACES = {
    "train": "the rows it was fitted to",
    "cv": "rows scored by models that did not see them",
    "holdout": "held-out rows",
}
MOST_SHOWN = 6
"""Rates that were not promised and are printed all the same."""


@storable
@dataclass(frozen=True)
class Promise:
    """One constraint, and what was counted.

    Attributes
    ----------
    label : class label, or "*"
    metric : str
    asked : float
        The promised rate (for a cost: the largest mean cost).
    needed : int or None
        Right cases needed on the judged rows, for the metrics that count right cases.
    counted : int or None
        Right cases there.
    cases : float
        Cases the rate is a share of.
    rate : float
        The rate there.
    rate_train : float
        The rate of the served model on (a sample of) the rows it was fitted to.
    bound : float
        Confidence bound on the rate for new rows; NaN without a certificate.
    certificate : str
        "exact", "approximate" or "none".
    slack : float
        Cases to spare; negative: cases missing.
    kept : bool
        Whether the promise, as asked, holds on the judged rows.
    cases_to_certify : int or None
        The fewest cases with which the asked confidence is possible at all.
    """

    label: Any
    metric: str
    asked: float
    needed: int | None
    counted: int | None
    cases: float
    rate: float
    rate_train: float
    bound: float
    certificate: str
    slack: float
    kept: bool
    cases_to_certify: int | None


@storable
@dataclass(frozen=True, eq=False)
class ConstraintReport:
    """One line per promise; printing it says what holds, where it was counted, and how sure it is.

    Attributes
    ----------
    status, method, place, confidence
        As the estimator's.
    promises : tuple of Promise
    repeats : tuple of tuples of column names
        Columns that repeat each other within a class, as far as a hundred rows of each of the largest classes show:
        naive Bayes counts what they say several times. Tables of more than 30 such columns are not looked at.
    price : tuple of (what, rate, rate of naive Bayes)
        What was not promised, on the judged rows: the other classes' recalls, and the accuracy.
    """

    status: str
    method: str
    place: str
    confidence: float | None
    promises: tuple[Promise, ...]
    repeats: tuple[tuple[Any, ...], ...] = ()
    price: tuple[tuple[str, float, float], ...] = ()

    def to_frame(self) -> pd.DataFrame:
        """One row per promise."""
        import pandas as pd

        return pd.DataFrame([asdict(promise) for promise in self.promises])

    def __str__(self) -> str:
        lines = [f"status {self.status}; method {self.method}; counted on {PLACES[self.place]}"]
        for p in self.promises:
            sign, what = ("<=", p.metric) if p.metric == "cost" else (">=", p.metric)
            where = "overall" if p.metric in OVERALL else f"of {p.label!r}"  # a class may be called "*" itself
            count = f" ({p.counted} of {p.cases:g} cases, {p.needed} needed)" if p.counted is not None else ""
            if p.certificate == "none":
                sure = "no certificate"
            else:
                sure = f"{self.confidence:.0%} bound {p.bound:.3f}, {p.certificate}"
            lines.append(f"  {what} {where} {sign} {p.asked:g}: {p.rate:.3f}{count}; {sure}")
        if self.price and self.method != "mode":
            parts = [f"{what} {rate:.3f} (naive Bayes {before:.3f})" for what, rate, before in self.price]
            shown = parts if len(parts) <= MOST_SHOWN else [*parts[: MOST_SHOWN - 2], "...", parts[-1]]
            lines.append(f"not promised: {', '.join(shown)}")
        if self.repeats:
            groups = "; ".join(", ".join(map(str, group)) for group in self.repeats)
            lines.append(f"columns that repeat each other within a class: {groups}")
        return "\n".join(lines)

    __repr__ = __str__


@storable
@dataclass(frozen=True, eq=False)
class Nearest:
    """The model that misses the promises least.

    Attributes
    ----------
    confusion : array (classes, classes)
        Its counts on the judged rows, [true, predicted].
    missing : dict
        Per promise that is missed, how many cases it lacks.
    """

    confusion: Floats
    missing: dict[str, float]

    def __str__(self) -> str:
        if not self.missing:
            return "the nearest model keeps every promise"
        parts = [f"{name} lacks {cases:.3g} case{'' if cases == 1 else 's'}" for name, cases in self.missing.items()]
        return "the nearest model: " + ", ".join(parts)

    __repr__ = __str__


class InfeasibleConstraintsError(ValueError):
    """The promised rates were not reached; ``status``, ``nearest``, ``proof`` and ``report`` say what is known.

    ``status`` is "proved_infeasible" when no model of the kind asked for can keep the promises, and "not_found" when
    the search failed, which proves nothing.
    """

    def __init__(self, status: str, nearest: Nearest, proof: str | None, advice: str, report: ConstraintReport) -> None:
        known = f"proved: {proof}" if proof else "no model was found; that is not a proof that there is none"
        super().__init__(f"the constraints cannot be kept ({status}; {known}); {nearest}. {advice}")
        self.status = status
        self.nearest = nearest
        self.proof = proof
        self.advice = advice
        self.report = report


def nearest_of(demands: Sequence[Demand], confusion: Floats) -> Nearest:
    """Which demands the counts miss, and by how much."""
    missing = {str(d.constraint): float(-d.slack(confusion)) for d in demands if d.slack(confusion) < 0}
    return Nearest(confusion, missing)


def promise_of(demand: Demand, certified: Demand, confusion: Floats, on_train: Floats, certificate: str) -> Promise:
    """One line of the report.

    Parameters
    ----------
    demand, certified : Demand
        The promise as a plain rate, and with its confidence.
    confusion, on_train : arrays (classes, classes)
        Counts on the judged rows, and of the served model on the rows it was fitted to.
    certificate : str
        The kind of certificate that the judged rows can give.
    """
    c = demand.constraint
    sure = certificate != "none" and certified.delta > 0 and bool(certified.satisfied(confusion))
    counts_right = c.metric in ("recall", "specificity", "accuracy") and not demand.weighted
    asked = certified if certified.delta > 0 and certified.certifiable else demand
    right = float((demand.weight * confusion).sum())
    return Promise(
        label=c.label,
        metric=f"f{c.beta:g}" if c.metric == "fbeta" else c.metric,
        asked=c.rate,
        needed=int(asked.least) if counts_right else None,
        counted=round(right) if counts_right else None,
        cases=demand.cases,
        rate=measure(c, confusion),
        rate_train=measure(c, on_train),
        bound=certified.bound(confusion) if sure else float("nan"),
        certificate=certificate if sure else "none",
        slack=float(asked.slack(confusion)),
        kept=bool(demand.satisfied(confusion)),
        cases_to_certify=certified.cases_to_certify() if certified.delta > 0 else None,
    )


def promised_recalls(constraints: Sequence[Constraint], n_classes: int) -> dict[int, float]:
    """Recalls that are promised, by position of the class; of two classes, one's specificity is the other's recall."""
    found = {c.position: c.rate for c in constraints if c.metric == "recall"}
    if n_classes == 2:
        for c in constraints:
            if c.metric == "specificity":
                found[1 - c.position] = max(c.rate, found.get(1 - c.position, 0.0))
    return found


def price_of(
    constraints: Sequence[Constraint], classes: Sequence[Any], confusion: Floats, before: Floats
) -> tuple[tuple[str, float, float], ...]:
    """What was not promised: rates of the served model, and those of naive Bayes."""
    promised = promised_recalls(constraints, len(classes))
    rates = [Constraint("recall", 0.0, k, label) for k, label in enumerate(classes) if k not in promised]
    if not any(c.metric == "accuracy" for c in constraints):
        rates.append(Constraint("accuracy", 0.0))
    return tuple((_what(c), measure(c, confusion), measure(c, before)) for c in rates)


def _what(constraint: Constraint) -> str:
    return f"{constraint.metric} of {constraint.label!r}" if constraint.position >= 0 else constraint.metric


def advice_for(demands: Sequence[Demand], confusion: Floats, method: str, front: str = "") -> str:
    """What to do about it, in a sentence or two; ``front`` says what can be had, where that is known."""
    rates = [
        f"{d.constraint} reaches {np.nan_to_num(measure(d.constraint, confusion)):.3f}"
        for d in demands
        if d.slack(confusion) < 0
    ]
    how = "try method='density', which moves the parameters too" if method == "offset" else "add predictors or rows"
    less = front or f"Ask for less ({'; '.join(rates)})"
    return f"{less}; or {how}; on_infeasible='warn' keeps the nearest model."


def front_in_words(points: Floats, labels: tuple[Any, Any], asked: tuple[float, float]) -> str:
    """Of two promised recalls: how much of one can be had with the other, from points of the attainable front.

    Examples
    --------
    >>> front_in_words(np.array([[0.5, 1.0], [0.9, 0.7], [1.0, 0.2]]), ("sick", "well"), (0.8, 0.9))
    "Ask for less: class offsets can have 0.8 of 'sick' with 0.700 of 'well', or 0.9 of 'well' with 0.500 of 'sick'"
    """
    parts = []
    for i in (0, 1):
        enough = points[points[:, i] >= asked[i] - 1e-12, 1 - i]
        if len(enough):
            parts.append(f"{asked[i]:g} of {labels[i]!r} with {enough.max():.3f} of {labels[1 - i]!r}")
    return f"Ask for less: class offsets can have {', or '.join(parts)}" if parts else ""


def too_few_cases(certified: Sequence[Demand], confusion: Floats, confidence: float | None) -> str:
    """Why promises that hold on these rows cannot be certified."""
    parts = []
    for demand in certified:
        needed = demand.cases_to_certify()
        if not demand.certifiable:
            least = "no number of cases is enough" if needed is None else f"at least {needed} cases are needed"
            parts.append(f"{demand.constraint}: {least}, there are {demand.cases:g}")
        elif not demand.satisfied(confusion):
            bound = demand.bound(confusion)
            parts.append(f"{demand.constraint}: the bound is {bound:.3f} with {demand.cases:g} cases")
    return f"the rates hold on these rows, but cannot be certified at confidence {confidence}: {'; '.join(parts)}"
