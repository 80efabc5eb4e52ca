"""How probable it is that a column matters, as bars, and that two are joined, as a heat map."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from seminaive.show.bars import plain
from seminaive.show.forest_graph import BLUES, DARK_FROM, ForestGraph, forest_of, shade
from seminaive.table.schema import Floats, Integers

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["joined_shares", "plot_edges", "plot_inclusion"]

WRITTEN = 15
"""Up to so many columns the numbers stand in the cells."""
GREY = "#555555"


def plot_inclusion(model: Any, max_columns: int = 30, ax: Axes | None = None) -> Axes:
    """Draw how probable it is that each column matters, the most probable on top.

    Lines span what the chains disagree about. Columns that are the same in all rows are not shown: what they have is
    prior, not evidence.

    Parameters
    ----------
    model : BayesianForest
        Fitted. An exact one has no chains, and bars without lines.
    max_columns : int
    ax : matplotlib Axes, optional

    Returns
    -------
    Axes
        Of the numbers in ``model.graph(0).nodes_to_frame()``.

    Examples
    --------
    >>> import seminaive as snb
    >>> X, y = snb.datasets.make_corral()
    >>> axes = snb.plot.inclusion(snb.BayesianForest().fit(X, y))
    >>> [label.get_text() for label in axes.get_yticklabels()][-1]
    'irrelevant'
    """
    import matplotlib.pyplot as plt

    frame = forest_of(model).graph(0.0).nodes_to_frame()
    shown = frame.head(max_columns)
    if ax is None:
        _, ax = plt.subplots(figsize=(6.5, 1.2 + 0.24 * max(len(shown), 1)), layout="constrained")
    share, at = shown["inclusion"].to_numpy(), np.arange(len(shown))
    ax.barh(at, share, height=0.72, color=[BLUES[shade(p)] for p in share], edgecolor=BLUES[-1], linewidth=0.5)
    chains = 0 if model.exact_ else len(model.posterior_.inclusion_by_chain)
    if chains > 1:
        ax.hlines(at, shown["low"], shown["high"], color="#e08214", linewidth=2.2, zorder=3)
        ends = np.concatenate([shown["low"], shown["high"]])
        ax.plot(ends, np.tile(at, 2), "|", color="#e08214", markersize=7, markeredgewidth=1.6, zorder=3)
    ax.set_yticks(at, [plain(name) for name in shown["feature"]])
    ax.set_ylim(max(len(shown), 1) - 0.4, -0.6)
    ax.set_xlim(0, 1.02)
    ax.axvline(0.5, color="#bbbbbb", linestyle="--", linewidth=0.8, zorder=0)
    ax.set_xlabel("probability that the column matters")
    how = "exact" if model.exact_ else f"line: from the least to the largest of {chains} chains" if chains > 1 else ""
    rest = len(frame) - len(shown)
    left_out = f"{rest} more columns, the next at {frame['inclusion'].iloc[len(shown)]:.2f}" if rest else ""
    ax.set_title("\n".join(part for part in (how, left_out) if part), fontsize="medium")
    return ax


def plot_edges(model: Any, max_columns: int = 30, min_probability: float = 0.2, ax: Axes | None = None) -> Axes:
    """Draw how probable it is that two columns are joined, as a map: above the diagonal in signal, below in noise.

    A pair of signal columns speaks together of the class; a pair of noise columns belongs together and says nothing of
    it. Columns that are joined stand beside each other.

    Parameters
    ----------
    model : BayesianForest
        Fitted, exact or not.
    max_columns : int
        Those that matter most or are most surely joined.
    min_probability : float
        Columns that neither matter nor are joined with at least this probability are left out.
    ax : matplotlib Axes, optional

    Returns
    -------
    Axes
        Of the numbers in ``model.edges_``; a bar of the colours is put beside it.

    Examples
    --------
    >>> import seminaive as snb
    >>> X, y = snb.datasets.make_corral()
    >>> axes = snb.plot.edges(snb.BayesianForest().fit(X, y))
    >>> sorted(label.get_text() for label in axes.get_xticklabels())
    ['a0', 'a1', 'b0', 'b1', 'correlated']
    """
    import matplotlib.pyplot as plt
    from matplotlib.colors import BoundaryNorm, ListedColormap

    seen = forest_of(model).graph(min_probability).most_probable(max_columns)
    order = _neighbours(seen)
    names = [plain(seen.names[j]) for j in order]
    n = len(order)
    if ax is None:
        side = 2.2 + 0.28 * max(n, 4)
        _, ax = plt.subplots(figsize=(side + 1.2, side), layout="constrained")
    if not n:
        ax.set_axis_off()
        ax.text(0.5, 0.5, "no column is probable enough", ha="center", va="center", transform=ax.transAxes, color=GREY)
        return ax
    shares = joined_shares(model.graph(0.0).only(np.asarray(order)), order)
    cells = np.ma.masked_where(np.eye(n, dtype=bool), shares)
    colours = ListedColormap(list(BLUES)).with_extremes(bad="#d9d9d9")
    image = ax.imshow(cells, cmap=colours, norm=BoundaryNorm(np.linspace(0, 1, len(BLUES) + 1), len(BLUES)))
    ax.set_xticks(np.arange(n), names, rotation=90)
    ax.set_yticks(np.arange(n), names)
    if n <= WRITTEN:
        for i, j in zip(*np.nonzero(shares >= 0.005), strict=True):
            ink = "white" if shade(float(shares[i, j])) >= DARK_FROM else "#1a1a1a"
            ax.text(j, i, f"{shares[i, j]:.2f}".lstrip("0"), ha="center", va="center", fontsize=7, color=ink)
    bar = ax.figure.colorbar(image, ax=ax, shrink=0.8, ticks=[0, 1])
    bar.set_label("probability of an edge")
    ax.set_title("above the diagonal in signal,\nbelow it in noise", fontsize="medium")
    return ax


def joined_shares(graph: ForestGraph, order: list[int]) -> Floats:
    """Probabilities of edges as a matrix over some columns, signal above the diagonal and noise below."""
    place: Integers = np.full(len(graph.names), -1)
    place[order] = np.arange(len(order))
    a, b = place[graph.first], place[graph.second]
    shares = np.zeros((len(order), len(order)))
    up: npt.NDArray[np.bool_] = graph.group == 1
    low, high = np.minimum(a, b), np.maximum(a, b)
    shares[low[up], high[up]] = graph.probability[up]
    shares[high[~up], low[~up]] = graph.probability[~up]
    return shares


def _neighbours(graph: ForestGraph) -> list[int]:
    """Columns in an order in which joined ones follow each other: from the one that matters most along its edges."""
    joined: dict[int, list[tuple[float, int]]] = {j: [] for j in graph.nodes.tolist()}
    for a, b, p in zip(graph.first.tolist(), graph.second.tolist(), graph.probability.tolist(), strict=True):
        joined[a].append((-p, b))
        joined[b].append((-p, a))
    order: list[int] = []
    seen: set[int] = set()
    for start in sorted(joined, key=lambda j: (-graph.inclusion[j], -len(joined[j]), j)):
        waiting = [start]
        while waiting:
            j = waiting.pop()
            if j not in seen:
                seen.add(j)
                order.append(j)
                waiting.extend(other for _, other in sorted(joined[j], reverse=True))
    return order
