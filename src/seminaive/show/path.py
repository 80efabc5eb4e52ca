"""One picture for everything that was found along a path: criteria against steps, and the doses of columns."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from seminaive.show.bars import plain
from seminaive.table.schema import Floats

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["Curve", "PathPicture", "plot_path"]

COLOURS = {"error": "#2166ac", "criterion": "#b2182b", "other": "#1a9641", "held out": "#e08214"}
NAMED = 8
"""Columns whose doses have a colour and a name of their own; the others are grey."""


@dataclass(frozen=True, eq=False)
class Curve:
    """One measure along a path.

    Parameters
    ----------
    label : str
    x, y : arrays
    unit : str
        Curves of a second unit have their axis at the right.
    role : "error", "criterion", "held out" or "other"
    """

    label: str
    x: Floats
    y: Floats
    unit: str
    role: str


@dataclass(frozen=True, eq=False)
class PathPicture:
    """What is to be drawn of a path.

    Parameters
    ----------
    x_label : str
    curves : sequence of Curve
    chosen : sequence of float
        Where the chosen model is; one place per class if every class has a path of its own.
    breaks : sequence of float
        Where a new phase begins.
    doses : array (models, columns), optional
    falling : bool
        A logarithmic axis that runs from large to small.
    """

    x_label: str
    curves: Sequence[Curve]
    chosen: Sequence[float] = ()
    breaks: Sequence[float] = ()
    doses: Floats | None = None
    falling: bool = False

    def plot(self, names: Sequence[str], ax: Axes | None = None) -> Axes:
        """Draw it; doses have a panel of their own below."""
        import matplotlib.pyplot as plt
        from matplotlib.ticker import MaxNLocator

        if ax is None:
            _, ax = plt.subplots(figsize=(7, 4 if self.doses is None else 6), layout="constrained")
        lower = None if self.doses is None else _panel_below(ax)
        axes = {curve.unit: ax for curve in self.curves[:1]}
        for curve in self.curves:
            if curve.unit not in axes:
                axes[curve.unit] = twin = ax.twinx()
                twin.set_axes_locator(ax.get_axes_locator())  # the panel below took part of the room
            colour = COLOURS[curve.role] if len(self.chosen) < 2 else None
            few = len(curve.x) <= 30
            axes[curve.unit].plot(curve.x, curve.y, color=colour, label=curve.label, marker="." if few else None)
        if all(np.all(curve.x == np.floor(curve.x)) for curve in self.curves):  # no step 1.5
            ax.xaxis.set_major_locator(MaxNLocator(integer=True))
        if self.falling:
            ax.set_xscale("log")
            ax.invert_xaxis()
        for unit, home in axes.items():
            home.set_ylabel(unit)
        for panel in (ax, lower):
            if panel is not None:
                for at in self.breaks:
                    panel.axvline(at, color="#bbbbbb", linewidth=0.8)
                for at in self.chosen:
                    panel.axvline(
                        at, color="#555555", linestyle="--", linewidth=1, label="chosen" if panel is ax else None
                    )
        if lower is not None and self.doses is not None:
            _draw_doses(lower, self.doses, int(self.chosen[0]) if self.chosen else len(self.doses) - 1, names)
        (lower or ax).set_xlabel(self.x_label)
        handles = [pair for home in axes.values() for pair in zip(*home.get_legend_handles_labels(), strict=True)]
        shown = {label: handle for handle, label in handles}
        list(axes.values())[-1].legend(shown.values(), shown.keys(), fontsize="small") if shown else None
        return ax


def _panel_below(ax: Axes) -> Any:
    """A second panel in the place of the first, with the same steps."""
    from mpl_toolkits.axes_grid1 import make_axes_locatable  # type: ignore[import-untyped]

    below = make_axes_locatable(ax).append_axes("bottom", size="85%", pad=0.15, sharex=ax)
    ax.tick_params(labelbottom=False)
    return below


def _draw_doses(ax: Axes, doses: Floats, chosen: int, names: Sequence[str]) -> None:
    """One line per column; those that say most in the chosen model have names."""
    loudest = [j for j in np.argsort(-doses[chosen], kind="stable")[:NAMED].tolist() if doses[chosen, j] > 0]
    steps = np.arange(len(doses))
    for j in range(doses.shape[1]):
        if j not in loudest:
            ax.plot(steps, doses[:, j], color="#bbbbbb", linewidth=0.8)
    for j in loudest:
        ax.plot(steps, doses[:, j], linewidth=1.5, label=plain(names[j]))
    ax.set_ylim(-0.03, 1.03)
    ax.set_ylabel("dose")
    if loudest:
        ax.legend(fontsize="x-small", ncols=2)


def plot_path(model: Any, ax: Axes | None = None) -> Axes:
    """Draw the path a model or a selector was found on: its criteria at every step, the chosen step, and doses.

    Parameters
    ----------
    model : fitted estimator with a ``path_``
        `SelectiveNB`, `NBSelector`, `StagewiseNB`, `PenalizedNB`, `AdjustedNB` or a filter that chose its own size.
    ax : matplotlib Axes, optional
        Its room is shared by two panels where columns have doses.

    Returns
    -------
    Axes
        Of the criteria.

    Examples
    --------
    >>> import numpy as np
    >>> from seminaive import PenalizedNB, plot
    >>> y = np.arange(60) % 2
    >>> X = np.column_stack([y + np.arange(60) % 7, np.arange(60) % 5])
    >>> axes = plot.path(PenalizedNB().fit(X, y))
    >>> axes.get_ylabel()
    'error'
    """
    path = getattr(model, "path_", None)
    if path is None:
        raise ValueError(f"{type(model).__name__} has no path_: it was not fitted, or not found by a search")
    support = getattr(model, "support_", None)
    kept = None if support is None else tuple(np.flatnonzero(support).tolist())
    evidence = getattr(model, "evidence_", None)
    names = [] if evidence is None else [str(column.name) for column in evidence.schema.columns]
    picture: PathPicture = path.picture(kept)
    return picture.plot(names, ax)
