"""What became of promised rates: the report, the nearest miss, and the error that says a promise cannot be kept."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from seminaive.evidence.storage import storable
from seminaive.statistics.confusion import Demand, measure
from seminaive.table.schema import Floats

if TYPE_CHECKING:
    import pandas as pd

PLACES = {
    "train": "the rows it was fitted to",
    "cv": "rows scored by models that did not see them",
    "holdout": "held-out rows",
}


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
    """

    status: str
    method: str
    place: str
    confidence: float | None
    promises: tuple[Promise, ...]
    repeats: tuple[tuple[Any, ...], ...] = ()

    def to_frame(self) -> pd.DataFrame:
        """One row per promise."""
        import pandas as pd

        return pd.DataFrame([asdict(promise) for promise in self.promises])

    def __str__(self) -> str:
        lines = [f"status {self.status}; method {self.method}; counted on {PLACES[self.place]}"]
        for p in self.promises:
            sign, what = ("<=", p.metric) if p.metric == "cost" else (">=", p.metric)
            where = "overall" if p.label == "*" else f"of {p.label!r}"
            count = f" ({p.counted} of {p.cases:g} cases, {p.needed} needed)" if p.counted is not None else ""
            if p.certificate == "none":
                sure = "no certificate"
            else:
                sure = f"{self.confidence:.0%} bound {p.bound:.3f}, {p.certificate}"
            lines.append(f"  {what} {where} {sign} {p.asked:g}: {p.rate:.3f}{count}; {sure}")
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


def advice_for(demands: Sequence[Demand], confusion: Floats, method: str) -> str:
    """What to do about it, in a sentence."""
    rates = [
        f"{d.constraint} reaches {np.nan_to_num(measure(d.constraint, confusion)):.3f}"
        for d in demands
        if d.slack(confusion) < 0
    ]
    how = "try method='density', which moves the parameters too" if method == "offset" else "add predictors or rows"
    return f"Ask for less ({'; '.join(rates)}), or {how}; on_infeasible='warn' keeps the nearest model."
