"""Expert scores: functions of one series, evaluated on a grid of their parameters.

Low values alarm, as p-values do; a score for which high values alarm is passed negated.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from seminaive.selection.windows import (
    Confirmation,
    Series,
    confirmation_name,
    confirmed,
    window_counts,
    window_p_values,
)

__all__ = ["P_VALUE_LEVELS", "Levels", "Score", "WindowScores", "short_number"]

Floats = npt.NDArray[np.float64]
Levels = Sequence[float] | Literal["quantiles"]

P_VALUE_LEVELS = (1e-6, 1e-5, 1e-4, 1e-3, 0.005, 0.01, 0.02, 0.05, 0.1)
TESTS = ("U", "KS", "F", "min")


@dataclass(frozen=True)
class WindowScores:
    """P-values of two-sample tests between the halves of sliding windows, confirmed by neighbouring windows.

    Parameters
    ----------
    windows : ints
        Numbers of points, even.
    strides : ints
    tests : of "U", "KS", "F", "min"
        Mann-Whitney, Kolmogorov-Smirnov, ratio of variances, the smallest of the three.
    confirmations : of pairs (b, g) and numbers r
        At least b of g consecutive windows; at least a share r of all windows.
    levels : floats or "quantiles", optional
        Thresholds; the indicators' own, else `P_VALUE_LEVELS`, if left out.
    """

    windows: Sequence[int] = (20, 30, 40, 50, 60, 80)
    strides: Sequence[int] = (5,)
    tests: Sequence[str] = ("U", "KS", "F")
    confirmations: Sequence[Confirmation] = ((1, 1), (2, 3), (3, 5), (5, 5), 0.3)
    levels: Levels | None = None

    def check(self) -> None:
        for name in ("windows", "strides", "tests", "confirmations"):
            values = getattr(self, name)
            if isinstance(values, str) or not isinstance(values, Iterable):
                raise ValueError(f"{name} must be a list, such as [{values!r}], not {values!r}.")
        for window in self.windows:
            if not _is_whole(window) or window % 2 or window < 4:
                raise ValueError(f"A window must be an even number of at least 4 points, not {window!r}.")
        for stride in self.strides:
            if not _is_whole(stride) or stride < 1:
                raise ValueError(f"A stride must be at least 1, not {stride!r}.")
        for test in self.tests:
            if test not in TESTS:
                raise ValueError(f"A test must be one of {', '.join(TESTS)}, not {test!r}.")
        _check_confirmations(self.confirmations)

    def evaluate(self, series: Series) -> Iterator[tuple[str, Floats]]:
        """Name and values of every score, window by window, then stride, test, confirmation."""
        for window, stride in itertools.product(self.windows, self.strides):
            counts = window_counts(series, window, stride)
            p = window_p_values(series, self.tests, window, stride)
            for test, confirmation in itertools.product(self.tests, self.confirmations):
                name = f"{test}(w={window},stride={stride})|{confirmation_name(confirmation)}"
                yield name, confirmed(p[test], counts, confirmation)


@dataclass(frozen=True)
class Score:
    """A score of one's own.

    Parameters
    ----------
    name : str
    function : callable
        ``function(x, **parameters)`` of a 1-D array: a number, low for an alarm; or, with
        ``confirmations``, an array of one number per window.
    grid : mapping of name to values, optional
        Every combination of the parameters is a score.
    confirmations : of pairs (b, g) and numbers r, optional
    levels : floats or "quantiles", optional
        Thresholds; the indicators' own, else quantiles of the training scores, if left out.
    nothing : float
        Score of an object without windows: 1 for p-values.

    Examples
    --------
    >>> from seminaive.selection.indicators import ScoreIndicators
    >>> score = Score("range", lambda x, cut: cut - np.ptp(x), {"cut": [2.0, 5.0]}, levels=[0.0])
    >>> indicators = ScoreIndicators([score]).fit([[0.0, 3.0], [0.0, 9.0]])
    >>> indicators.get_feature_names_out().tolist(), indicators.transform([[0.0, 4.0]]).tolist()
    (['range(cut=2)<=0', 'range(cut=5)<=0'], [[1, 0]])
    """

    name: str
    function: Callable[..., Any]
    grid: Mapping[str, Sequence[Any]] = field(default_factory=dict)
    confirmations: Sequence[Confirmation] | None = None
    levels: Levels | None = None
    nothing: float = np.inf

    def check(self) -> None:
        if not callable(self.function):
            raise ValueError(f"The function of score {self.name!r} cannot be called.")
        for key, values in self.grid.items():
            if isinstance(values, str) or not isinstance(values, Iterable):
                raise ValueError(f"The grid of score {self.name!r} needs a list of values for {key!r}, not {values!r}.")
        _check_confirmations(self.confirmations or ())

    def evaluate(self, series: Series) -> Iterator[tuple[str, Floats]]:
        """Name and values of every score, combination by combination, then confirmation."""
        for values in itertools.product(*self.grid.values()):
            parameters = dict(zip(self.grid, values, strict=True))
            found = [self._of(s, series[s], parameters) for s in range(len(series))]
            name = self.name
            if parameters:
                name += "(" + ",".join(f"{key}={short_number(value)}" for key, value in parameters.items()) + ")"
            if self.confirmations is None:
                yield name, np.array([value.item() for value in found])
                continue
            windows = [np.atleast_1d(value) for value in found]
            counts = np.array([len(w) for w in windows], dtype=np.int64)
            together = np.concatenate([*windows, np.empty(0)])
            for confirmation in self.confirmations:
                scores = confirmed(together, counts, confirmation, self.nothing)
                yield f"{name}|{confirmation_name(confirmation)}", scores

    def _of(self, number: int, x: Floats, parameters: Mapping[str, Any]) -> Floats:
        """The function of one series, checked: one number, or with confirmations one per window."""
        try:
            found = self.function(x, **parameters)
        except Exception as error:
            error.add_note(f"Score {self.name!r} failed on series {number}, which has {len(x)} points.")
            raise
        try:
            value = np.asarray(found, dtype=np.float64)
        except (TypeError, ValueError):
            raise ValueError(f"Score {self.name!r} must give numbers; of series {number} it gave {found!r}.") from None
        if found is None or value.ndim > (self.confirmations is not None):
            wanted = "one number, or have confirmations" if self.confirmations is None else "one number per window"
            raise ValueError(f"Score {self.name!r} must give {wanted}; of series {number} it gave {found!r}.")
        return value


def _is_whole(value: Any) -> bool:
    return isinstance(value, (int, np.integer)) and not isinstance(value, bool)


def short_number(value: Any) -> str:
    """As short as it can be without becoming another number."""
    if not isinstance(value, (int, float, np.integer, np.floating)) or isinstance(value, bool):
        return str(value)
    short = f"{value:g}"
    return short if float(short) == float(value) else repr(float(value))


def _check_confirmations(confirmations: Sequence[Confirmation]) -> None:
    for confirmation in confirmations:
        if isinstance(confirmation, list) or (not isinstance(confirmation, tuple) and confirmation > 1):
            raise ValueError(
                f"A confirmation is a pair such as (3, 5) or a share of at most 1, not {confirmation!r}; "
                "confirmations is a list of them."
            )
        if isinstance(confirmation, tuple):
            if not 1 <= confirmation[0] <= confirmation[1]:
                raise ValueError(f"A confirmation (b, g) needs 1 <= b <= g, not {confirmation}.")
        elif not 0.0 < confirmation <= 1.0:
            raise ValueError(f"A share of windows must be above 0 and at most 1, not {confirmation}.")
