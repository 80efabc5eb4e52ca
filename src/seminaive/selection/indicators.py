"""Expert scores as yes/no indicators.

A score is a function of one object with a few parameters; evaluated on a grid of parameters and compared with
several thresholds it becomes many indicators,

    I(X) = 1  if  score(X, parameters) <= threshold,  else 0

redundant on purpose: a search then keeps the few that matter. A score for which high values alarm is passed negated.
"""

from __future__ import annotations

import itertools
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

import numpy as np
import numpy.typing as npt
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.utils.validation import check_is_fitted

from seminaive.selection.series import read_series
from seminaive.selection.windows import (
    Confirmation,
    Series,
    confirmation_name,
    confirmed,
    window_counts,
    window_p_values,
)

__all__ = ["P_VALUE_LEVELS", "Score", "ScoreIndicators", "WindowScores"]

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
        for window in self.windows:
            if window % 2 or window < 4:
                raise ValueError(f"A window must be an even number of at least 4 points, not {window}.")
        for stride in self.strides:
            if stride < 1:
                raise ValueError(f"A stride must be at least 1, not {stride}.")
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
        ``function(x, **parameters)`` of a 1-D array: a number, low for an alarm; or, with ``confirmations``, an array
        of one number per window.
    grid : mapping of name to values, optional
        Every combination of the parameters is a score.
    confirmations : of pairs (b, g) and numbers r, optional
    levels : floats or "quantiles", optional
        Thresholds; the indicators' own, else quantiles of the training scores, if left out.
    nothing : float
        Score of an object without windows: 1 for p-values.

    Examples
    --------
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
        _check_confirmations(self.confirmations or ())

    def evaluate(self, series: Series) -> Iterator[tuple[str, Floats]]:
        """Name and values of every score, combination by combination, then confirmation."""
        for values in itertools.product(*self.grid.values()):
            parameters = dict(zip(self.grid, values, strict=True))
            found = [self.function(series[s], **parameters) for s in range(len(series))]
            name = self.name
            if parameters:
                name += "(" + ",".join(f"{key}={_number(value)}" for key, value in parameters.items()) + ")"
            if self.confirmations is None:
                yield name, np.array([float(value) for value in found])
                continue
            windows = [np.atleast_1d(np.asarray(value, dtype=np.float64)) for value in found]
            counts = np.array([len(w) for w in windows], dtype=np.int64)
            together = np.concatenate([*windows, np.empty(0)])
            for confirmation in self.confirmations:
                scores = confirmed(together, counts, confirmation, self.nothing)
                yield f"{name}|{confirmation_name(confirmation)}", scores


class ScoreIndicators(TransformerMixin, BaseEstimator):  # type: ignore[misc, unused-ignore]
    """Turn series into yes/no indicators: every score of a grid compared with every threshold.

    Fitting learns thresholds and which columns to keep, and never looks at a target.

    Parameters
    ----------
    scores : list of WindowScores and Score, optional
        The default: three tests on windows of 20 to 80 points with five confirmations, 810 indicators.
    levels : floats or "quantiles", optional
        Thresholds of scores that bring none of their own.
    n_quantiles : int, default=9
        Number of thresholds where they are quantiles of the training scores.
    drop_constant, drop_duplicates : bool, default=False
        Leave out indicators that are the same for all training objects, or the same as an earlier one. Both change
        what a search finds: for naive Bayes a copy doubles the weight of its twin.

    Attributes
    ----------
    scores_ : list of str
        Names of the scores.
    thresholds_ : list of arrays
        Thresholds of each.
    kept_ : bools
        Which of all indicators are kept.

    See Also
    --------
    seminaive.datasets.engine_signals.make_engine_signals : signals to try it on.

    Examples
    --------
    A calm series and one whose level jumps:

    >>> rng = np.random.default_rng(0)
    >>> calm, jump = rng.normal(size=60), rng.normal(size=45)
    >>> jump[20:] += 3
    >>> grid = [WindowScores(windows=[20], tests=["U"], confirmations=[(1, 1), (2, 3)], levels=[0.001, 0.01])]
    >>> indicators = ScoreIndicators(grid).fit([calm, jump])
    >>> for name, values in zip(indicators.get_feature_names_out(), indicators.transform([calm, jump]).T):
    ...     print(name, values)
    U(w=20,stride=5)|1of1<=0.001 [0 1]
    U(w=20,stride=5)|1of1<=0.01 [0 1]
    U(w=20,stride=5)|2of3<=0.001 [0 0]
    U(w=20,stride=5)|2of3<=0.01 [0 1]
    """

    def __init__(
        self,
        scores: Sequence[WindowScores | Score] | None = None,
        *,
        levels: Levels | None = None,
        n_quantiles: int = 9,
        drop_constant: bool = False,
        drop_duplicates: bool = False,
    ) -> None:
        self.scores = scores
        self.levels = levels
        self.n_quantiles = n_quantiles
        self.drop_constant = drop_constant
        self.drop_duplicates = drop_duplicates

    def fit(self, X: Any, y: Any = None) -> ScoreIndicators:
        """Learn thresholds and names from series (see `transform`); ``y`` is not used."""
        self._fit(X)
        return self

    def fit_transform(self, X: Any, y: Any = None, **fit_params: Any) -> npt.NDArray[np.uint8]:
        """Fit, and transform the same series without evaluating every score again."""
        return self._fit(X)

    def _fit(self, X: Any) -> npt.NDArray[np.uint8]:
        series = read_series(X)
        if not len(series):
            raise ValueError("ScoreIndicators needs at least one series; got 0 sample(s).")
        groups = self._groups()
        self.scores_: list[str] = []
        self.thresholds_: list[Floats] = []
        names: list[str] = []
        blocks = []
        for group in groups:
            group.check()
            for name, values in group.evaluate(series):
                thresholds = self._thresholds(group, values)
                self.scores_.append(name)
                self.thresholds_.append(thresholds)
                names += [f"{name}<={_number(threshold)}" for threshold in thresholds]
                blocks.append(_compare(name, values, thresholds))
        if not names:
            raise ValueError("These scores and thresholds make no indicator.")
        twice = [name for name, count in zip(*np.unique(names, return_counts=True), strict=True) if count > 1]
        if twice:
            raise ValueError(
                f"Two indicators have the name {twice[0]!r}; give the scores different names or grids."
            )
        indicators = np.hstack(blocks)
        self.kept_ = self._keep(indicators)
        self._names = np.array(names, dtype=object)[self.kept_]
        return indicators[:, self.kept_]

    def transform(self, X: Any) -> npt.NDArray[np.uint8]:
        """Indicators of series.

        Parameters
        ----------
        X : list of 1-D arrays, 2-D array padded with NaN, or pandas or Polars column of lists
            Series of any lengths; one shorter than a window raises no alarm there.

        Returns
        -------
        (n, P) uint8 array, score by score, thresholds innermost.
        """
        check_is_fitted(self, "kept_")
        series = read_series(X)
        evaluated = itertools.chain.from_iterable(group.evaluate(series) for group in self._groups())
        blocks = [
            _compare(*score, thresholds)
            for score, thresholds in zip(evaluated, self.thresholds_, strict=True)
        ]
        return np.hstack(blocks)[:, self.kept_]

    def get_feature_names_out(self, input_features: Any = None) -> npt.NDArray[np.object_]:
        """Names such as ``U(w=50,stride=5)|3of5<=0.01``."""
        check_is_fitted(self, "kept_")
        return self._names.copy()

    def _groups(self) -> Sequence[WindowScores | Score]:
        return [WindowScores()] if self.scores is None else self.scores

    def _thresholds(self, group: WindowScores | Score, values: Floats) -> Floats:
        levels = group.levels if group.levels is not None else self.levels
        if levels is None:
            levels = P_VALUE_LEVELS if isinstance(group, WindowScores) else "quantiles"
        if isinstance(levels, str):
            if levels != "quantiles":
                raise ValueError(f"levels must be numbers or 'quantiles', not {levels!r}.")
            finite = values[np.isfinite(values)]
            shares = np.arange(1, self.n_quantiles + 1) / (self.n_quantiles + 1)
            return np.unique(np.quantile(finite, shares)) if len(finite) else np.empty(0)
        return np.asarray(levels, dtype=np.float64)

    def _keep(self, indicators: npt.NDArray[np.uint8]) -> npt.NDArray[np.bool_]:
        kept = np.ones(indicators.shape[1], dtype=bool)
        if self.drop_constant:
            kept &= indicators.min(axis=0) != indicators.max(axis=0)
        if self.drop_duplicates:
            _, first = np.unique(np.packbits(indicators, axis=0), axis=1, return_index=True)
            kept &= np.isin(np.arange(len(kept)), first)
        return kept

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        tags.target_tags.required = False
        tags.transformer_tags.preserves_dtype = []
        return tags


def _compare(name: str, values: Floats, thresholds: Floats) -> npt.NDArray[np.uint8]:
    missing = np.isnan(values)
    if missing.any():
        warnings.warn(
            f"Score {name} is not a number for {int(missing.sum())} objects; their indicators are 0.",
            stacklevel=4,
        )
    return (values[:, None] <= thresholds).astype(np.uint8)


def _number(value: Any) -> str:
    """As short as it can be without becoming another number."""
    if not isinstance(value, (int, float, np.integer, np.floating)) or isinstance(value, bool):
        return str(value)
    short = f"{value:g}"
    return short if float(short) == float(value) else repr(float(value))


def _check_confirmations(confirmations: Sequence[Confirmation]) -> None:
    for confirmation in confirmations:
        if isinstance(confirmation, tuple):
            if not 1 <= confirmation[0] <= confirmation[1]:
                raise ValueError(f"A confirmation (b, g) needs 1 <= b <= g, not {confirmation}.")
        elif not 0.0 < confirmation <= 1.0:
            raise ValueError(f"A share of windows must be above 0 and at most 1, not {confirmation}.")
