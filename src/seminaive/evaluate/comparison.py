"""What a comparison of models found: scores, tests, failures, a table, a plot."""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from seminaive.evaluate.adjust import adjust
from seminaive.evaluate.plots import plot_critical_differences
from seminaive.evaluate.ranks import Friedman, average_ranks, friedman, pairs, rank_tests
from seminaive.evaluate.resampled import corrected_standard_error, corrected_t_test
from seminaive.evaluate.scores import HIGHER_IS_BETTER

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes

__all__ = ["Comparison", "Failure"]

Floats = npt.NDArray[np.float64]


@dataclass(frozen=True)
class Failure:
    """One fit or prediction that stopped with an error."""

    dataset: str
    model: str
    repeat: int
    fold: int
    message: str


@dataclass(frozen=True, eq=False, repr=False)
class Comparison:
    """Scores of several models on the same folds of one or more data sets; returned by `compare`.

    Attributes
    ----------
    models, datasets, metrics : tuples of str
        Names, in the order given.
    scores : array of shape (data sets, models, metrics, repeats * folds)
        Score of every fold, repeat by repeat; NaN where a fit failed or the score is not defined.
    fit_seconds : array of shape (data sets, models)
        Median time of one fit.
    failures : tuple of Failure
        Fits that stopped with an error. The other results stand.
    cv, repeats, random_state : int
        Folds, repeats and the seed of the first repeat; repeat r has seed random_state + r.
    """

    models: tuple[str, ...]
    datasets: tuple[str, ...]
    metrics: tuple[str, ...]
    scores: Floats
    fit_seconds: Floats
    failures: tuple[Failure, ...]
    cv: int
    repeats: int
    random_state: int

    def means(self, metric: str | None = None) -> Floats:
        """Mean score over the folds that worked, of shape (data sets, models); NaN where none did."""
        folds = self._folds(metric)
        known = ~np.isnan(folds)
        # Rounded to what folds can carry, so that equal scores summed in another order stay ties.
        mean: Floats = np.round(np.nansum(folds, axis=2), 12) / np.where(known.any(axis=2), known.sum(axis=2), np.nan)
        return np.round(mean, 12)

    def standard_errors(self, metric: str | None = None) -> Floats:
        """Standard errors of the means, corrected for shared training rows (Nadeau and Bengio)."""
        return np.array(
            [
                [corrected_standard_error(f[~np.isnan(f)], 1 / (self.cv - 1)) for f in of_set]
                for of_set in self._folds(metric)
            ]
        )

    def ranked(self, metric: str | None = None) -> tuple[tuple[str, ...], tuple[str, ...]]:
        """Models and data sets that ranks and tests are taken over.

        Ranks need every score. While some are missing, or had a failed fold, the model or the data set with
        the largest share of them is left out (the data set if shares are equal).
        """
        means = self.means(metric)
        failed = {(f.dataset, f.model) for f in self.failures}
        complete = np.array([[(d, m) not in failed for m in self.models] for d in self.datasets])
        complete &= ~np.isnan(means)
        sets, models = list(range(len(self.datasets))), list(range(len(self.models)))
        while sets and models and not (kept := complete[np.ix_(sets, models)]).all():
            of_set, of_model = (~kept).mean(axis=1), (~kept).mean(axis=0)
            if of_set.max() >= of_model.max():
                del sets[int(of_set.argmax())]
            else:
                del models[int(of_model.argmax())]
        return tuple(self.models[m] for m in models), tuple(self.datasets[d] for d in sets)

    def average_ranks(self, metric: str | None = None) -> dict[str, float]:
        """Average rank of each ranked model over the ranked data sets; 1 is best."""
        models, ranks, _ = self._ranks(metric)
        return dict(zip(models, ranks.tolist(), strict=True))

    def friedman(self, metric: str | None = None) -> Friedman:
        """Friedman's test that all ranked models rank alike; needs two or more ranked data sets."""
        _, ranks, n_sets = self._ranks(metric)
        return friedman(ranks, n_sets)

    def pairwise(self, metric: str | None = None, dataset: str | None = None, method: str = "auto") -> "pd.DataFrame":
        """Test of every pair of models, one row per pair.

        Parameters
        ----------
        metric : str, optional
            The first metric if not given.
        dataset : str, optional
            Compare on this data set, by the corrected resampled t test over its folds. If not given and there
            are two or more data sets, compare average ranks over them.
        method : {"auto", "bergmann-hommel", "shaffer", "holm"}, default="auto"
            Adjustment of the p values; see `seminaive.evaluate.adjust`.

        Returns
        -------
        pandas.DataFrame
            Columns first, second, difference (of mean scores or average ranks, first less second), statistic
            (t or z), p_value, adjusted_p_value.
        """
        import pandas as pd

        if dataset is None and len(self.datasets) > 1:
            models, ranks, n_sets = self._ranks(metric)
            first, second = pairs(len(models))
            difference = ranks[first] - ranks[second]
            statistic, p = rank_tests(ranks, n_sets)
        else:
            folds = self._folds(metric)[self._position(dataset)]
            kept = np.flatnonzero(~np.isnan(folds).all(axis=1))
            models, folds = tuple(self.models[i] for i in kept), folds[kept]
            first, second = pairs(len(models))
            by_fold = [d[~np.isnan(d)] for d in folds[first] - folds[second]]
            difference = np.array([d.mean() if len(d) else np.nan for d in by_fold])
            tests = [corrected_t_test(d, 1 / (self.cv - 1)) for d in by_fold]
            statistic, p = np.array(tests).reshape(-1, 2).T
        untested = np.isnan(p)
        # A pair without a common fold says nothing: it counts as p = 1 for the others.
        adjusted = adjust(np.where(untested, 1.0, p), method) if len(p) else p
        return pd.DataFrame(
            {
                "first": [models[i] for i in first],
                "second": [models[j] for j in second],
                "difference": difference,
                "statistic": statistic,
                "p_value": p,
                "adjusted_p_value": np.where(untested, np.nan, adjusted),
            }
        )

    def differences(
        self, to: str | None = None, metric: str | None = None, dataset: str | None = None, level: float = 0.95
    ) -> "pd.DataFrame":
        """How far every other model is from one of them on a data set, fold by fold.

        Parameters
        ----------
        to : str, optional
            The model the others are compared with; the first if not given.
        metric : str, optional
            The first metric if not given.
        dataset : str, optional
            The first data set if not given.
        level : float, default=0.95
            Of the intervals, each of which stands for itself.

        Returns
        -------
        pandas.DataFrame
            Columns model, difference (its mean score less the other's), low, high (interval of the corrected
            resampled t test), p_value, and adjusted_p_value (by Holm, for having looked at all of these).
        """
        import pandas as pd
        from scipy import special

        reference = self.models[0] if to is None else to
        if reference not in self.models:
            raise ValueError(f"to is {to!r}; this comparison has {', '.join(map(repr, self.models))}.")
        if not 0 < level < 1:
            raise ValueError(f"level is {level!r}; it must lie between 0 and 1.")
        folds = self._folds(metric)[self._position(dataset)]
        own = folds[self.models.index(reference)]
        others = [i for i, name in enumerate(self.models) if name != reference]
        rows = []
        for d in (folds[i] - own for i in others):
            both = d[~np.isnan(d)]
            mean = float(both.mean()) if len(both) else float("nan")
            error = corrected_standard_error(both, 1 / (self.cv - 1))
            away = error * float(special.stdtrit(max(len(both) - 1, 1), 0.5 + level / 2))
            rows.append((mean, mean - away, mean + away, corrected_t_test(both, 1 / (self.cv - 1))[1]))
        table = pd.DataFrame(rows, columns=["difference", "low", "high", "p_value"], dtype=float)
        table.insert(0, "model", [self.models[i] for i in others])
        tested = table["p_value"].notna().to_numpy()
        table["adjusted_p_value"] = np.nan
        if tested.any():
            table.loc[tested, "adjusted_p_value"] = adjust(table.loc[tested, "p_value"].to_numpy(), "holm")
        return table

    def to_frame(self) -> "pd.DataFrame":
        """Means and corrected standard errors as a pandas DataFrame, one row per data set and model."""
        import pandas as pd

        n_sets, n_models = len(self.datasets), len(self.models)
        columns: dict[str, Any] = {
            "dataset": np.repeat(np.array(self.datasets, dtype=object), n_models),
            "model": np.tile(np.array(self.models, dtype=object), n_sets),
        }
        for metric in self.metrics:
            columns[metric] = self.means(metric).ravel()
            columns[f"{metric}_se"] = self.standard_errors(metric).ravel()
        columns["fit_seconds"] = self.fit_seconds.ravel()
        failed = [(f.dataset, f.model) for f in self.failures]
        columns["failures"] = [failed.count((d, m)) for d in self.datasets for m in self.models]
        return pd.DataFrame(columns)

    def plot(self, metric: str | None = None, alpha: float = 0.05, ax: "Axes | None" = None) -> "Axes":
        """Draw the critical-difference plot: average ranks over data sets, or mean scores on a single one.

        Parameters
        ----------
        metric : str, optional
            The first metric if not given.
        alpha : float, default=0.05
            Models are joined by a bar if no pair among them has a smaller adjusted p value.
        ax : matplotlib Axes, optional
            Where to draw; a new figure if not given.
        """
        metric = metric or self.metrics[0]
        table = self.pairwise(metric)
        if len(self.datasets) > 1:
            at = self.average_ranks(metric)
        else:
            tested = {*table["first"], *table["second"]}
            at = {m: s for m, s in zip(self.models, self.means(metric)[0].tolist(), strict=True) if m in tested}
        if len(at) < 2:
            raise ValueError(f"fewer than two models have a {metric} on the data; there is nothing to plot.")
        p = np.ones((len(at), len(at)))
        first, second = pairs(len(at))
        p[first, second] = p[second, first] = table["adjusted_p_value"].to_numpy()
        over_sets = len(self.datasets) > 1
        return plot_critical_differences(
            list(at.values()),
            p,
            list(at),
            alpha=alpha,
            higher_is_better=HIGHER_IS_BETTER[metric] and not over_sets,
            label="average rank" if over_sets else f"{metric} on {self.datasets[0]}",
            ax=ax,
        )

    def __str__(self) -> str:
        from seminaive.evaluate.report import comparison_text

        return comparison_text(self)

    __repr__ = __str__

    def _folds(self, metric: str | None) -> Floats:
        name = metric or self.metrics[0]
        if name not in self.metrics:
            raise ValueError(f"metric is {name!r}; this comparison has {', '.join(map(repr, self.metrics))}.")
        folds: Floats = self.scores[:, :, self.metrics.index(name)]
        return folds

    def _position(self, dataset: str | None) -> int:
        name = self.datasets[0] if dataset is None else dataset
        if name not in self.datasets:
            raise ValueError(f"dataset is {name!r}; this comparison has {', '.join(map(repr, self.datasets))}.")
        return self.datasets.index(name)

    def _ranks(self, metric: str | None) -> tuple[tuple[str, ...], Floats, int]:
        name = metric or self.metrics[0]
        means = self.means(name)
        models, sets = self.ranked(name)
        if len(models) < 2 or len(sets) < 2:
            raise ValueError(
                f"{len(models)} models have a complete {name} on {len(sets)} data sets; ranks need at least "
                "two of each. For one data set ask pairwise(dataset=...)."
            )
        rows = [self.datasets.index(d) for d in sets]
        columns = [self.models.index(m) for m in models]
        return models, average_ranks(means[np.ix_(rows, columns)], HIGHER_IS_BETTER[name]), len(sets)
