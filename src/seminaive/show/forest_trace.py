"""How the chains of a forest went: a line per chain, and whether they tell the same story."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from seminaive.show.bars import AGAINST
from seminaive.show.forest_graph import forest_of
from seminaive.table.schema import Floats, Integers

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes

__all__ = ["WHAT", "ForestTrace", "plot_trace"]

WHAT = ("log posterior", "signal size", "edges", "autocorrelation", "tree sizes")
"""What a trace can be of."""
COLOURS = ("#2166ac", "#e08214", "#1a9641", "#762a83", "#01665e", "#8c510a", "#c51b7d", "#4d4d4d")
WORST = 1.05
"""R-hat above which chains have not met."""
AXIS = {
    "log posterior": ("iteration", "log posterior (unnormalised, nats)"),
    "signal size": ("iteration", "columns that matter"),
    "edges": ("iteration", "edges per column of the group"),
    "autocorrelation": ("iterations apart", "correlation of the log posterior"),
    "tree sizes": ("columns in a tree", "trees per forest"),
}


@dataclass(frozen=True, eq=False)
class ForestTrace:
    """One quantity along every chain.

    Attributes
    ----------
    what : str
        One of `WHAT`.
    x : int array (points,)
        Iterations, lags or sizes of trees; numbers of draws where there are no chains.
    lines : dict of arrays (chains, points)
        By group ("signal", "noise") where groups differ, else under "".
    n_burnt : int
        Points that are burn-in.
    rhat, ess : dicts of float
        R-hat and effective sample size of each of the lines, after burn-in; empty where they mean nothing.
    draws : int
        Draws after burn-in, of all chains.
    exact : bool
        Whether the draws are independent ones from the exact posterior: there is nothing to converge.
    """

    what: str
    x: Integers
    lines: dict[str, Floats]
    n_burnt: int
    rhat: dict[str, float]
    ess: dict[str, float]
    draws: int
    exact: bool

    @property
    def met(self) -> bool:
        """Whether no R-hat is above 1.05."""
        return all(rhat <= WORST for rhat in self.rhat.values())

    def to_frame(self) -> pd.DataFrame:
        """One row per chain and point: chain, iteration (or lag, or size), burn_in, and the value of each group."""
        import pandas as pd

        n_chains, n_points = next(iter(self.lines.values())).shape
        name = "draw" if self.exact and self.n_points_are_draws else AXIS[self.what][0]
        columns: dict[str, Any] = {
            "chain": np.repeat(np.arange(n_chains), n_points),
            name: np.tile(self.x, n_chains),
        }
        if self.n_points_are_draws:
            columns["burn_in"] = np.tile(np.arange(n_points) < self.n_burnt, n_chains)
        for group, values in self.lines.items():
            columns[f"{self.what}, {group}" if group else self.what] = values.ravel()
        return pd.DataFrame(columns)

    @property
    def n_points_are_draws(self) -> bool:
        """Whether points follow each other in time."""
        return self.what in WHAT[:3]

    def plot(self, ax: Axes | None = None) -> Axes:
        """Draw it, as `seminaive.plot.trace` does."""
        import matplotlib.pyplot as plt

        if ax is None:
            _, ax = plt.subplots(figsize=(7.5, 4), layout="constrained")
        for group, values in self.lines.items():
            for c, line in enumerate(values):
                self._draw_line(ax, group, c, line)
        across, up = AXIS[self.what]
        ax.set_xlabel("draw" if self.exact and self.n_points_are_draws else across)
        ax.set_ylabel(up)
        self._keep_in_sight(ax)
        title, bad = self._verdict()
        ax.set_title(title, fontsize="medium", color=AGAINST if bad else "#1a1a1a")
        self._name_lines(ax)
        return ax

    def _draw_line(self, ax: Axes, group: str, c: int, line: Floats) -> None:
        n_chains = len(next(iter(self.lines.values())))
        colour = COLOURS[c % len(COLOURS)]
        broken = ":" if group == "noise" else "-"
        if self.what == "tree sizes":
            width = 0.8 / (n_chains * len(self.lines))
            place = c + n_chains * list(self.lines).index(group)
            pale = 0.45 if group == "noise" else 1.0
            ax.bar(self.x - 0.4 + (place + 0.5) * width, line, width, color=colour, alpha=pale)
        elif self.exact and self.n_points_are_draws:
            ax.plot(self.x, line, ".", markersize=2.5, color=colour if group != "noise" else "#999999")
        else:
            ax.plot(self.x, line, broken, color=colour, linewidth=0.9)

    def _keep_in_sight(self, ax: Axes) -> None:
        """What counts fills the picture; where a chain started far off its line comes in from outside."""
        if self.what in ("signal size", "tree sizes"):
            from matplotlib.ticker import MaxNLocator

            whole = ax.yaxis if self.what == "signal size" else ax.xaxis
            whole.set_major_locator(MaxNLocator(integer=True))
        if self.what == "autocorrelation":
            ax.axhline(0, color="#777777", linewidth=0.8)
            ax.set_ylim(top=1.05)
        if not self.n_points_are_draws:
            return
        ax.margins(x=0)
        if not self.n_burnt:
            return
        kept = np.concatenate([values[:, self.n_burnt :].ravel() for values in self.lines.values()])
        burnt = np.concatenate([values[:, : self.n_burnt].ravel() for values in self.lines.values()])
        low, high = float(kept.min()), float(kept.max())
        pad = 0.08 * (high - low) or 1.0
        bounds = low - pad, high + pad
        outside = np.any((burnt < bounds[0]) | (burnt > bounds[1]))
        ax.set_ylim(bounds)
        first = float(self.x[self.n_burnt]) if self.n_burnt < len(self.x) else float(self.x[-1])
        ax.axvspan(float(self.x[0]), first, color="#eeeeee", zorder=0)
        note = "burn-in\n(starts outside)" if outside else "burn-in"
        middle = (float(self.x[0]) + first) / 2
        place: Any = {"transform": ax.get_xaxis_transform(), "ha": "center", "va": "bottom", "fontsize": "small"}
        ax.text(
            middle, 0.03, note, bbox={"facecolor": "#eeeeee", "edgecolor": "none", "pad": 1.0, "alpha": 0.6}, **place
        )

    def _verdict(self) -> tuple[str, bool]:
        if self.exact:
            return f"{self.draws} independent draws from the exact posterior: nothing has to converge", False
        parts = []
        for group, rhat in self.rhat.items():
            label = f"{group}: " if group else ""
            parts.append(f"{label}R-hat {rhat:.2f}, {self.draws} draws worth {self.ess[group]:.0f}")
        if not parts:
            return f"{self.draws} draws", False
        verdict = "; ".join(parts)
        return (verdict, False) if self.met else (f"THE CHAINS HAVE NOT MET: {verdict}", True)

    def _name_lines(self, ax: Axes) -> None:
        from matplotlib.lines import Line2D

        n_chains = len(next(iter(self.lines.values())))
        handles = []
        if n_chains > 1:
            handles = [Line2D([], [], color=COLOURS[c % len(COLOURS)], label=f"chain {c + 1}") for c in range(n_chains)]
        if len(self.lines) > 1:
            plain_lines = not self.exact and self.what != "tree sizes"
            pale = "black" if plain_lines else "#999999"
            shape: Any = ":" if plain_lines else "-"
            handles += [Line2D([], [], color=COLOURS[0] if self.exact else "black", label="signal")]
            handles += [Line2D([], [], color=pale, linestyle=shape, label="noise")]
        if handles:
            ax.legend(handles=handles, fontsize="small", loc="upper left", bbox_to_anchor=(1.0, 1.0), frameon=False)


def plot_trace(model: Any, what: str = "log posterior", ax: Axes | None = None) -> Axes:
    """Draw how the chains of a Bayesian forest went, with R-hat and effective sample size; red when they have not met.

    Lines of different chains that cannot be told apart are what one wants to see. Levels of their own mean that what
    was learned depends on where a chain began: take more iterations.

    Parameters
    ----------
    model : BayesianForest
        Fitted. A model of few columns is exact and has no chains: its independent draws are shown.
    what : "log posterior", "signal size", "edges", "autocorrelation" or "tree sizes"
        Look at the log posterior first, it is the last to converge. Edges are counted per column of their group: near 1
        a group is one tree. Autocorrelation is that of the log posterior.
    ax : matplotlib Axes, optional

    Returns
    -------
    Axes
        Of the numbers in ``model.trace(what).to_frame()``.

    Examples
    --------
    >>> import seminaive as snb
    >>> X, y = snb.datasets.make_corral(n_noise=14)
    >>> model = snb.BayesianForest(n_iter=2000, thin=10).fit(X, y)
    >>> axes = snb.plot.trace(model, "signal size")
    >>> axes.get_ylabel()
    'columns that matter'
    """
    trace: ForestTrace = forest_of(model).trace(what)
    return trace.plot(ax)
