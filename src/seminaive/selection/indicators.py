"""Expert scores as yes/no indicators.

A score is a function of one object with a few parameters; evaluated on a grid of parameters and compared with
several thresholds it becomes many indicators,

    I(X) = 1  if  score(X, parameters) <= threshold,  else 0

redundant on purpose: a search then keeps the few that matter.
"""

from __future__ import annotations

import itertools
import warnings
from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.utils.validation import check_is_fitted

from seminaive.selection.scores import P_VALUE_LEVELS, Levels, Score, WindowScores, short_number
from seminaive.selection.series import read_series

__all__ = ["Score", "ScoreIndicators", "WindowScores"]

Floats = npt.NDArray[np.float64]


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
        Leave out indicators that are the same for all training objects, or the same as an earlier one.
        Both change what a search finds: for naive Bayes a copy doubles the weight of its twin.

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
                names += [f"{name}<={short_number(threshold)}" for threshold in thresholds]
                blocks.append(_compare(name, values, thresholds))
        if not names:
            raise ValueError("These scores and thresholds make no indicator.")
        twice = [name for name, count in zip(*np.unique(names, return_counts=True), strict=True) if count > 1]
        if twice:
            raise ValueError(
                f"Two indicators have the name {str(twice[0])!r}; give the scores different names or grids."
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
        blocks = [_compare(*score, thresholds) for score, thresholds in zip(evaluated, self.thresholds_, strict=True)]
        return np.hstack(blocks)[:, self.kept_]

    def get_feature_names_out(self, input_features: Any = None) -> npt.NDArray[np.object_]:
        """Names such as ``U(w=50,stride=5)|3of5<=0.01``."""
        check_is_fitted(self, "kept_")
        return self._names.copy()

    def _groups(self) -> Sequence[WindowScores | Score]:
        if self.scores is None:
            return [WindowScores()]
        groups = [self.scores] if isinstance(self.scores, (WindowScores, Score)) else list(self.scores)
        for group in groups:
            if not isinstance(group, (WindowScores, Score)):
                raise ValueError(f"Scores are WindowScores or Score(name, function), not {group!r}.")
        return groups

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
        try:
            thresholds = np.atleast_1d(np.asarray(levels, dtype=np.float64))
        except (TypeError, ValueError):
            raise ValueError(f"levels must be numbers or 'quantiles', not {levels!r}.") from None
        if np.isnan(thresholds).any():
            raise ValueError(f"levels must be numbers, not {levels!r}: nothing is at most NaN.")
        return thresholds

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
