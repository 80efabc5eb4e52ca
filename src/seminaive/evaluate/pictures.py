"""Pictures of how good probabilities are, straight from what happened and what was predicted."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy.typing as npt

from seminaive.evaluate.calibration import Binning, plot_reliability, reliability_curve
from seminaive.evaluate.lift import lift_curve, plot_lift, plot_profit, profit_curve

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["calibration", "lift", "profit"]


def calibration(
    y: npt.ArrayLike,
    probability: npt.ArrayLike,
    *,
    classes: npt.ArrayLike | None = None,
    bins: int = 10,
    strategy: Binning = "quantile",
    sample_weight: npt.ArrayLike | None = None,
    label: str | None = None,
    ax: Axes | None = None,
) -> Axes:
    """Draw a reliability diagram: how often what was predicted with probability p came true.

    On the diagonal probabilities can be taken at their word; below it they promise too much.

    Parameters
    ----------
    y : array
        What happened: labels of ``classes``, or positions 0, 1, ...
    probability : array
        What was predicted for rows the model has not seen: one column per class, or of the second of two classes. With
        more than two classes the most probable class is judged.
    classes : array, optional
        Labels in the order of the columns: ``model.classes_``.
    bins : int
        Points in the picture.
    strategy : "quantile" or "width"
        Bins of equally many rows, or of equal width.
    sample_weight : array, optional
        Copies of each row.
    label : str, optional
        Name in the legend; call again with ``ax`` to compare.
    ax : Axes, optional

    Examples
    --------
    >>> import seminaive as snb
    >>> ax = snb.plot.calibration(["no", "yes", "yes"], [0.1, 0.8, 0.9], classes=["no", "yes"], bins=2)
    >>> ax.get_xlabel()
    'predicted probability'
    """
    curve = reliability_curve(
        y, probability, bins=bins, strategy=strategy, sample_weight=sample_weight, classes=classes
    )
    return plot_reliability(curve, label=label, ax=ax)


def lift(
    y: npt.ArrayLike,
    probability: npt.ArrayLike,
    *,
    classes: npt.ArrayLike | None = None,
    of: Any = None,
    sample_weight: npt.ArrayLike | None = None,
    label: str | None = None,
    ax: Axes | None = None,
) -> Axes:
    """Draw the share of a class found against the share of rows taken, the most probable first.

    Parameters are those of `calibration`; ``of`` is the label of the class that is looked for, the last unless named.

    Examples
    --------
    >>> import seminaive as snb
    >>> ax = snb.plot.lift(["no", "yes", "yes"], [0.1, 0.8, 0.9], classes=["no", "yes"])
    >>> ax.get_ylabel()
    'share of positives found'
    """
    curve = lift_curve(y, probability, sample_weight, classes=classes, of=of)
    return plot_lift(curve, label=label, ax=ax)


def profit(
    y: npt.ArrayLike,
    probability: npt.ArrayLike,
    *,
    gain: float,
    cost: float,
    classes: npt.ArrayLike | None = None,
    of: Any = None,
    sample_weight: npt.ArrayLike | None = None,
    ax: Axes | None = None,
) -> Axes:
    """Draw the profit of acting on the most probable rows: as it was, and as the probabilities had promised.

    Every row acted on costs ``cost``, every one of the class looked for brings ``gain``; the other parameters are those
    of `lift`. Calibrated probabilities keep their promise, so that one can stop where they stop to pay: at p = cost /
    gain.

    Examples
    --------
    >>> import seminaive as snb
    >>> ax = snb.plot.profit([0, 1, 1, 0], [0.1, 0.8, 0.9, 0.3], gain=5, cost=1)
    >>> ax.get_ylabel()
    'profit'
    """
    curve = profit_curve(y, probability, gain, cost, sample_weight, classes=classes, of=of)
    return plot_profit(curve, ax=ax)
