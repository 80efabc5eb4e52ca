"""Whom to choose first: lift and profit when the most probable rows are acted on."""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from seminaive.evaluate.outcomes import of_one_class

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes

__all__ = ["LiftCurve", "ProfitCurve", "lift_curve", "plot_lift", "plot_profit", "profit_curve"]

Float = npt.NDArray[np.float64]


@dataclass(frozen=True)
class LiftCurve:
    """What is found when the rows are taken from the most to the least probable.

    One point per distinct probability (rows that share one are taken together), beginning at none:
    `share` of the rows taken, `found` share of all positives among them, `threshold` the lowest
    probability taken.
    """

    share: Float
    found: Float
    threshold: Float

    @property
    def lift(self) -> Float:
        """How many times more positives than random choice would find (1 at the end; undefined at none)."""
        lift: Float = np.full(len(self.share), np.nan)
        return np.divide(self.found, self.share, out=lift, where=self.share > 0)

    @property
    def area(self) -> float:
        """Area under found against share: 0.5 for random order."""
        return float(np.diff(self.share) @ (self.found[1:] + self.found[:-1]) / 2)

    def at(self, share: float) -> float:
        """Share of the positives found in the given share of the rows."""
        return float(np.interp(share, self.share, self.found))

    def to_frame(self) -> "pd.DataFrame":
        """One row per distinct probability."""
        import pandas as pd

        return pd.DataFrame({"share": self.share, "found": self.found, "lift": self.lift, "threshold": self.threshold})

    def __repr__(self) -> str:
        return f"LiftCurve({len(self.share)} points, area {self.area:.3f})"


@dataclass(frozen=True)
class ProfitCurve:
    """Profit against the share of rows acted on: as it was, and as the probabilities had promised.

    A calibrated model's two curves agree; naive Bayes usually promises too much.
    """

    share: Float
    profit: Float
    promised: Float
    threshold: Float

    @property
    def best(self) -> int:
        """Position of the highest realised profit."""
        return int(self.profit.argmax())

    def to_frame(self) -> "pd.DataFrame":
        """One row per distinct probability."""
        import pandas as pd

        names = ("share", "profit", "promised", "threshold")
        return pd.DataFrame({name: getattr(self, name) for name in names})

    def __repr__(self) -> str:
        highest = f"{self.profit[self.best]:g} at share {self.share[self.best]:.3f}"
        return f"ProfitCurve({len(self.share)} points, highest profit {highest})"


def lift_curve(
    y: npt.ArrayLike,
    probability: npt.ArrayLike,
    sample_weight: npt.ArrayLike | None = None,
    *,
    classes: npt.ArrayLike | None = None,
    of: Any = None,
) -> LiftCurve:
    """Share of positives found against share of rows taken.

    Parameters
    ----------
    y : array
        What happened: labels of `classes`, or positions (1 for a positive, if there are two classes).
    probability : array
        Predicted probability of a positive, or one column per class.
    sample_weight : array, optional
        Copies of each row.
    classes : array, optional
        Labels in the order of the columns: a model's ``classes_``.
    of : label, optional
        The class that is looked for; the last, unless named.

    Examples
    --------
    >>> curve = lift_curve([1, 1, 0, 1, 0, 0], [0.9, 0.8, 0.7, 0.6, 0.2, 0.1])
    >>> curve.at(0.5)
    0.6666666666666666
    """
    threshold, rows, positives, _ = _taken(y, probability, sample_weight, classes, of)
    return LiftCurve(rows / rows[-1], positives / max(positives[-1], 1e-300), threshold)


def profit_curve(
    y: npt.ArrayLike,
    probability: npt.ArrayLike,
    gain: float,
    cost: float,
    sample_weight: npt.ArrayLike | None = None,
    *,
    classes: npt.ArrayLike | None = None,
    of: Any = None,
) -> ProfitCurve:
    """Profit of acting on the most probable rows: `gain` for every positive, minus `cost` for every row.

    The other parameters are those of `lift_curve`.

    Examples
    --------
    Mailing costs 1, an answer is worth 5: the first two customers pay, the third does not.

    >>> curve = profit_curve([1, 1, 0, 0], [0.5, 0.4, 0.1, 0.05], gain=5, cost=1)
    >>> curve.profit, float(curve.threshold[curve.best])
    (array([0., 4., 8., 7., 6.]), 0.4)
    """
    threshold, rows, positives, expected = _taken(y, probability, sample_weight, classes, of)
    spent = cost * rows
    return ProfitCurve(rows / rows[-1], gain * positives - spent, gain * expected - spent, threshold)


def plot_lift(curve: LiftCurve, *, label: str | None = None, ax: "Axes | None" = None) -> "Axes":
    """Draw the share of positives found against the share of rows taken; the diagonal is random choice."""
    axes = _axes(ax)
    axes.plot([0, 1], [0, 1], color="0.6", linewidth=1, zorder=0)
    axes.plot(curve.share, curve.found, label=label)
    axes.set(xlim=(0, 1), ylim=(0, 1), xlabel="share of rows taken", ylabel="share of positives found")
    if label is not None:
        axes.legend()
    return axes


def plot_profit(curve: ProfitCurve, *, ax: "Axes | None" = None) -> "Axes":
    """Draw realised and promised profit against the share of rows acted on, and mark the best."""
    axes = _axes(ax)
    axes.axhline(0.0, color="0.6", linewidth=1, zorder=0)
    axes.plot(curve.share, curve.profit, label="realised")
    axes.plot(curve.share, curve.promised, linestyle="--", label="promised by the probabilities")
    best = curve.best
    axes.plot(curve.share[best], curve.profit[best], "o", color="C0")
    axes.set(xlim=(0, 1), xlabel="share of rows acted on", ylabel="profit")
    axes.legend()
    return axes


def _axes(ax: "Axes | None") -> Any:
    from matplotlib import pyplot as plt

    return plt.subplots()[1] if ax is None else ax


def _taken(
    y: npt.ArrayLike,
    probability: npt.ArrayLike,
    sample_weight: npt.ArrayLike | None,
    classes: npt.ArrayLike | None,
    of: Any,
) -> tuple[Float, Float, Float, Float]:
    """Rows, positives and expected positives among the rows above each distinct probability, from none on."""
    rows_of_y, rows_of_p = len(np.asarray(y)), len(np.asarray(probability))
    if rows_of_y != rows_of_p or rows_of_y == 0:
        raise ValueError(f"y and probability must be of equal length, got {rows_of_y} and {rows_of_p} rows.")
    happened, given = of_one_class(y, probability, classes, of)
    weight = np.ones(len(given)) if sample_weight is None else np.asarray(sample_weight, dtype=float)
    order = np.argsort(-given, kind="stable")
    given, weight, happened = given[order], weight[order], happened[order]
    last = np.append(given[1:] != given[:-1], True)  # rows with equal probability are taken together
    sums = (np.cumsum(values)[last] for values in (weight, weight * happened, weight * given))
    rows, positives, expected = (np.concatenate([[0.0], values]) for values in sums)
    return np.concatenate([[np.inf], given[last]]), rows, positives, expected
