"""The methods of the stagewise paper as this library has them, fitted to the same rows; their numbers as a table."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt

from seminaive.models.naive_bayes import NaiveBayes
from seminaive.models.penalized import PenalizedNB
from seminaive.models.selective import SelectiveNB
from seminaive.models.stagewise import StagewiseNB
from seminaive.models.weighted import WeightedNB
from seminaive.selection.filter_selectors import CFSFilter
from seminaive.table.door import encode

Floats = npt.NDArray[np.float64]
Mask = npt.NDArray[np.bool_]

SOURCE = "Vidaurre, Bielza, Larrañaga (2012), Forward stagewise naïve Bayes"
PAPER_COLUMNS = ("NB", "SNB", "WNB", "aL1/L2", "fsNB", "CFS+NB")
AS_IN_THE_PAPER: dict[str, Any] = {"smoothing": 0.0, "variance_prior": None}
"""Frequencies, means and deviations as they are."""
PAPER_MODE: dict[str, Any] = {"criterion": "error", "lookahead": 20, "ties": "last", **AS_IN_THE_PAPER}

NAIVE, SELECTIVE, WEIGHTED, PENALISED, FILTERED = "NB", "SNB", "WNB", "aL1/L2", "CFS+NB"
PATIENT_1, PATIENT_10 = "fsNB, paper mode, patience 1", "fsNB, paper mode, patience 10"
STAGEWISE, AS_IT_COMES = "StagewiseNB, s = 0", "StagewiseNB as it comes, s = 1"
COLUMN_OF = {PATIENT_1: "fsNB", PATIENT_10: "fsNB", STAGEWISE: "fsNB", AS_IT_COMES: "fsNB"}
"""The column of the paper's tables beside which a method is shown, where its name is another."""

METHODS: dict[str, Callable[[], Any]] = {
    NAIVE: lambda: NaiveBayes(smoothing_kind="pooled", **AS_IN_THE_PAPER),
    SELECTIVE: lambda: SelectiveNB(**AS_IN_THE_PAPER),
    WEIGHTED: lambda: WeightedNB(weights="deviation", **AS_IN_THE_PAPER),
    PENALISED: lambda: PenalizedNB(**AS_IN_THE_PAPER),
    PATIENT_1: lambda: StagewiseNB(**PAPER_MODE),
    PATIENT_10: lambda: StagewiseNB(patience=10, **PAPER_MODE),
    STAGEWISE: lambda: StagewiseNB(**AS_IN_THE_PAPER),
    AS_IT_COMES: StagewiseNB,
}
ALL_METHODS = (*METHODS, FILTERED)
FOOTNOTES = (
    "s: mass that smooths the tables of levels; 0, as in the paper, if not told. fsNB: the paper's rule (errors, 20",
    "steps looked ahead, the last of equals), whose patience it does not name. WNB: the paper's formula; it has none",
    "for numbers, which count as three levels. aL1/L2: weights 1/D as in the paper's text, not D as printed.",
)


@dataclass(frozen=True, eq=False)
class Outcome:
    """What one method made of one training and test set.

    Attributes
    ----------
    error : float
        Share of test rows that are wrong.
    selected : bool array (columns,)
    evaluations : int
        Candidate models compared; 0 for methods that compare none.
    """

    error: float
    selected: Mask
    evaluations: int = 0


def outcomes(
    X: Floats, y: npt.NDArray[Any], new: Floats, truth: npt.NDArray[Any], nominal: Sequence[int] = ()
) -> dict[str, Outcome]:
    """Every method on the same rows, which are encoded once."""
    table, found = encode(X, y, nominal=list(nominal)), {}
    for name, make in METHODS.items():
        model = make().fit(table)
        support = getattr(model, "get_support", lambda: np.ones(X.shape[1], dtype=bool))()
        evaluations = getattr(getattr(model, "path_", None), "evaluations", 0)
        found[name] = Outcome(float(np.mean(model.predict(new) != truth)), support, evaluations)
    found[FILTERED] = _filtered(X, y, new, truth, nominal)
    return found


def _filtered(X: Floats, y: npt.NDArray[Any], new: Floats, truth: npt.NDArray[Any], nominal: Sequence[int]) -> Outcome:
    """Naive Bayes on the columns that the correlation filter keeps; on none, the most frequent class."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # that no column tells anything
        kept = CFSFilter(nominal=list(nominal), allow_empty=True).fit(X, y).get_support()
    if not kept.any():
        classes, counts = np.unique(y, return_counts=True)
        return Outcome(float(np.mean(truth != classes[counts.argmax()])), kept)
    words = np.flatnonzero(np.isin(np.flatnonzero(kept), nominal)).tolist()
    model = NaiveBayes(smoothing_kind="pooled", nominal=words, **AS_IN_THE_PAPER).fit(X[:, kept], y)
    return Outcome(float(np.mean(model.predict(new[:, kept]) != truth)), kept)


@dataclass(frozen=True)
class Printed:
    """A row of the paper's tables: means and standard deviations in the order of `PAPER_COLUMNS`.

    Attributes
    ----------
    errors : sequence of (mean, deviation)
    selected, noisy : sequence of (mean, deviation)
        Of the four methods that select.
    sets : int
        How many test errors the means rest on.
    """

    errors: Sequence[tuple[float, float]]
    selected: Sequence[tuple[float, float]]
    noisy: Sequence[tuple[float, float]] = field(default=())
    sets: int = 10

    @property
    def digits(self) -> int:
        """Decimals of the printed errors."""
        return 2 if all(round(value, 2) == value for value, _ in self.errors) else 3

    def of(self, method: str) -> tuple[str, str, str]:
        """Error, predictors selected and noisy ones, as printed."""
        column = COLUMN_OF.get(method, method)
        error = self.errors[PAPER_COLUMNS.index(column)][0]
        selecting = [name for name in PAPER_COLUMNS if name not in (NAIVE, WEIGHTED)]
        chosen = self.selected[selecting.index(column)][0] if column in selecting else None
        noisy = self.noisy[selecting.index(column)][0] if self.noisy and column in selecting else None
        sizes = ["-" if value is None else f"{value:.1f}" for value in (chosen, noisy)]
        return f"{error:.{self.digits}f}", sizes[0], sizes[1]

    def agrees(self, method: str, mean: float, deviation_of_mean: float) -> bool:
        """Whether an error is as near to the printed one as chance (two standard errors) and rounding explain."""
        paper, spread = self.errors[PAPER_COLUMNS.index(COLUMN_OF.get(method, method))]
        chance = 2 * np.hypot(deviation_of_mean, spread / np.sqrt(self.sets))
        return abs(mean - paper) <= chance + 0.5 * 10.0**-self.digits


def mean_and_error(values: Sequence[float] | Floats) -> tuple[float, float]:
    """Mean and its standard error (of a single value 0).

    Examples
    --------
    >>> mean_and_error([1.0, 2.0, 3.0])
    (2.0, 0.577...)
    """
    array = np.asarray(values, dtype=np.float64)
    spread = array.std(ddof=1) / np.sqrt(len(array)) if len(array) > 1 else 0.0
    return float(array.mean()), float(spread)


HEAD = (
    f"  {'':<30}{'error':>7} -> {'ours ± s.e.':<15}{'selected':>9} -> {'ours':<6}"
    f"{'noisy':>6} -> {'ours':<6}{'evaluations':>11}"
)


def lines_of(
    printed: Printed, runs: Sequence[Mapping[str, Outcome]], noisy: Sequence[Mask] = (), units: Sequence[int] = ()
) -> list[str]:
    """One line per method: the paper's numbers beside ours, and which errors differ by more than chance.

    ``units`` numbers the data sets that are independent, where runs are folds: standard errors are among their means.
    """
    lines = []
    groups = np.arange(len(runs)) if len(units) == 0 else np.asarray(units)
    for method in ALL_METHODS:
        found = [run[method] for run in runs]
        errors = by_group([outcome.error for outcome in found], groups)
        mean, spread = mean_and_error(errors)
        selects = method not in (NAIVE, WEIGHTED)
        size = f"{np.mean([outcome.selected.sum() for outcome in found]):.1f}" if selects else "-"
        of_noise = "-"
        if noisy and selects:
            pairs = zip(found, noisy, strict=True)
            of_noise = f"{np.mean([outcome.selected[mask].sum() for outcome, mask in pairs]):.1f}"
        evaluations = np.mean([outcome.evaluations for outcome in found])
        compared = f"{evaluations:.0f}" if method not in (NAIVE, WEIGHTED, PENALISED, FILTERED) else "-"
        paper = printed.of(method)
        verdict = "" if printed.agrees(method, mean, spread) else "  NOT REPRODUCED"
        if method in (STAGEWISE, AS_IT_COMES):
            verdict = ""  # ours, not the paper's
        lines.append(
            f"  {method:<30}{paper[0]:>7} -> {f'{mean:.4f} ± {spread:.4f}':<15}{paper[1]:>9} -> {size:<6}"
            f"{paper[2]:>6} -> {of_noise:<6}{compared:>11}{verdict}"
        )
    return lines


def by_group(values: Sequence[float], groups: npt.ArrayLike) -> Floats:
    """Means of the values of every group.

    Examples
    --------
    >>> by_group([1.0, 3.0, 5.0], [0, 0, 1])
    array([2., 5.])
    """
    numbers = np.asarray(groups)
    return np.array([np.mean(np.asarray(values)[numbers == group]) for group in np.unique(numbers)])


def differences(runs: Sequence[Mapping[str, Outcome]], first: str, second: str) -> tuple[float, float]:
    """Mean and standard error of the first error less the second, on the same rows."""
    return mean_and_error([run[first].error - run[second].error for run in runs])
