"""Can the probabilities be trusted? Log loss, Brier score, reliability and calibration error.

Probabilities come as one column (of the second of two classes) or one column per class; `y` holds labels
with `classes`, the labels in the order of the columns, or else positions: 0, 1, ... Everything takes row
weights.
"""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
import numpy.typing as npt

from seminaive.evaluate.outcomes import class_positions, probability_columns

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes

__all__ = [
    "ReliabilityCurve",
    "brier_score",
    "expected_calibration_error",
    "log_loss_bits",
    "plot_reliability",
    "reliability_curve",
]

Float = npt.NDArray[np.float64]
Binning = Literal["width", "quantile"]

FLOOR = 1e-10  # no probability is taken to be nearer to 0 or 1


@dataclass(frozen=True)
class ReliabilityCurve:
    """Predicted against observed rates, by bins of the prediction.

    `predicted` is the mean probability of a bin, `observed` the rate of positives in it, `low` and
    `high` its Wilson interval, `weight` its rows, `edges` where the bins begin and end.
    """

    predicted: Float
    observed: Float
    low: Float
    high: Float
    weight: Float
    edges: Float

    @property
    def error(self) -> float:
        """Expected calibration error: mean distance of observed from predicted, by rows."""
        return float(np.abs(self.observed - self.predicted) @ self.weight / self.weight.sum())

    def to_frame(self) -> "pd.DataFrame":
        """One row per bin that holds rows."""
        import pandas as pd

        columns = ("predicted", "observed", "low", "high", "weight")
        return pd.DataFrame({name: getattr(self, name) for name in columns})

    def __repr__(self) -> str:
        return f"ReliabilityCurve({len(self.weight)} bins, calibration error {self.error:.3f})"


def log_loss_bits(
    y: npt.ArrayLike,
    probability: npt.ArrayLike,
    sample_weight: npt.ArrayLike | None = None,
    classes: npt.ArrayLike | None = None,
) -> float:
    """Mean of -log2 of the probability given to what happened, held between 1e-10 and 1 - 1e-10.

    1 bit per row is what tossing a coin earns with two equal classes.

    Examples
    --------
    >>> log_loss_bits([1, 0, 1, 1], [0.5, 0.5, 0.25, 1.0])
    1.00000000003...
    """
    _, own = _one_hot(y, probability, classes)
    loss = -np.log2(np.clip(own, FLOOR, 1 - FLOOR))
    return _mean(loss, sample_weight)


def brier_score(
    y: npt.ArrayLike,
    probability: npt.ArrayLike,
    sample_weight: npt.ArrayLike | None = None,
    classes: npt.ArrayLike | None = None,
) -> float:
    """Mean squared distance of the probabilities from what happened, between 0 and 1.

    Half the squared distance summed over classes, which with two classes is that of the positive class.

    Examples
    --------
    >>> brier_score([1, 0], [0.8, 0.4])
    0.1
    """
    truth, _ = _one_hot(y, probability, classes)
    score = ((probability_columns(probability) - truth) ** 2).sum(axis=1)
    return _mean(score, sample_weight) / 2


def reliability_curve(
    y: npt.ArrayLike,
    probability: npt.ArrayLike,
    *,
    bins: int = 10,
    strategy: Binning = "width",
    confidence: float = 0.95,
    sample_weight: npt.ArrayLike | None = None,
    classes: npt.ArrayLike | None = None,
) -> ReliabilityCurve:
    """Compare predicted with observed rates, bin by bin.

    Parameters
    ----------
    y : array
        Labels of `classes`, or positions of the true class.
    probability : array
        One column per class: with two classes the question is whether the second comes as often as its
        probability says, with more whether the most probable class is right as often as that. Or the
        column of the second of two classes.
    bins : int
        How many bins.
    strategy : str
        "width" for bins of equal width, "quantile" for bins of equally many rows.
    confidence : float
        Level of the intervals around the observed rates.
    sample_weight : array, optional
        Copies of each row.
    classes : array, optional
        Labels in the order of the columns: a model's ``classes_``.

    Examples
    --------
    >>> curve = reliability_curve([0, 0, 1, 1, 1, 0], [0.1, 0.1, 0.9, 0.9, 0.9, 0.9], bins=2)
    >>> curve.predicted, curve.observed
    (array([0.1, 0.9]), array([0.  , 0.75]))
    """
    happened, given = _events(y, probability, classes)
    weight = np.ones(len(given)) if sample_weight is None else np.asarray(sample_weight, dtype=float)
    if bins < 1:
        raise ValueError(f"bins must be at least 1, got {bins}.")
    if strategy == "width":
        edges = np.linspace(0.0, 1.0, bins + 1)
    elif strategy == "quantile":
        inner = np.arange(1, bins) / bins
        order = np.argsort(given, kind="stable")
        reached = np.cumsum(weight[order])
        cuts = given[order][np.searchsorted(reached, inner * reached[-1])]
        edges = np.unique(np.concatenate([[0.0], cuts, [1.0]]))
    else:
        raise ValueError(f"strategy must be 'width' or 'quantile', got {strategy!r}.")
    # A probability on an edge belongs to the bin above it, 1 to the last.
    which = np.searchsorted(edges[1:-1], given, side="right")
    total, events, mass = (
        np.bincount(which, weights=values, minlength=len(edges) - 1).astype(np.float64)
        for values in (weight, weight * happened, weight * given)
    )
    used = total > 0
    total, events, mass = total[used], events[used], mass[used]
    low, high = _wilson(events / total, total, confidence)
    return ReliabilityCurve(mass / total, events / total, low, high, total, edges)


def expected_calibration_error(
    y: npt.ArrayLike,
    probability: npt.ArrayLike,
    *,
    bins: int = 10,
    strategy: Binning = "width",
    sample_weight: npt.ArrayLike | None = None,
    classes: npt.ArrayLike | None = None,
) -> float:
    """Mean distance between predicted and observed rates over the bins of `reliability_curve`.

    Examples
    --------
    >>> expected_calibration_error([0, 0, 1, 1, 1, 0], [0.1, 0.1, 0.9, 0.9, 0.9, 0.9], bins=2)
    0.1333333333333...
    """
    return reliability_curve(
        y, probability, bins=bins, strategy=strategy, sample_weight=sample_weight, classes=classes
    ).error


def plot_reliability(curve: ReliabilityCurve, *, label: str | None = None, ax: "Axes | None" = None) -> "Axes":
    """Draw observed against predicted rates with their intervals; the diagonal is perfect calibration.

    The area of a point is its share of the rows. With a label several curves can be told apart, each with its error.
    """
    from matplotlib import pyplot as plt

    axes: Any = plt.subplots(figsize=(5, 5))[1] if ax is None else ax
    spread = np.stack([curve.observed - curve.low, curve.high - curve.observed]).clip(0)
    axes.plot([0, 1], [0, 1], color="0.6", linewidth=1, zorder=0)
    error = f"calibration error {100 * curve.error:.1f} %"
    named = None if label is None else f"{label} ({error})"
    drawn = axes.errorbar(curve.predicted, curve.observed, spread, linewidth=1, capsize=2, label=named)
    share = curve.weight / curve.weight.sum()
    axes.scatter(curve.predicted, curve.observed, 20 + 300 * share, color=drawn[0].get_color(), alpha=0.6)
    axes.set(xlim=(0, 1), ylim=(0, 1), xlabel="predicted probability", ylabel="observed rate")
    axes.set_title(f"Reliability ({error})" if named is None else "Reliability")
    if named is not None:
        axes.legend()
    return axes


def _one_hot(y: npt.ArrayLike, probability: npt.ArrayLike, classes: npt.ArrayLike | None) -> tuple[Float, Float]:
    """Classes that happened as 0/1 columns, and the probability each row gave to its own."""
    given = probability_columns(probability)
    if len(np.asarray(y)) != len(given):
        raise ValueError(f"y has {len(np.asarray(y))} rows, probability {len(given)}.")
    rows, position = np.arange(len(given)), class_positions(y, given.shape[1], classes)
    truth = np.zeros(given.shape)
    truth[rows, position] = 1.0
    return truth, given[rows, position]


def _mean(values: Float, sample_weight: npt.ArrayLike | None) -> float:
    weight = np.ones(len(values)) if sample_weight is None else np.asarray(sample_weight, dtype=float)
    return float(values @ weight / weight.sum())


def _events(y: npt.ArrayLike, probability: npt.ArrayLike, classes: npt.ArrayLike | None) -> tuple[Float, Float]:
    """Did it happen (0 or 1), and with which probability was it predicted?"""
    truth, _ = _one_hot(y, probability, classes)
    given = probability_columns(probability)
    if given.shape[1] == 2:
        return truth[:, 1], given[:, 1]
    top = given.argmax(axis=1)
    rows = np.arange(len(given))
    return truth[rows, top], given[rows, top]


def _wilson(rate: Float, rows: Float, confidence: float) -> tuple[Float, Float]:
    """Wilson's score interval of a proportion."""
    from scipy.special import ndtri

    z = ndtri(0.5 + confidence / 2)
    middle = (rate + z**2 / (2 * rows)) / (1 + z**2 / rows)
    half = z / (1 + z**2 / rows) * np.sqrt(rate * (1 - rate) / rows + z**2 / (4 * rows**2))
    return np.clip(middle - half, 0.0, 1.0), np.clip(middle + half, 0.0, 1.0)
