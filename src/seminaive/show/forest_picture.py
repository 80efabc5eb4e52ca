"""The picture of a graph of columns: what matters is dark, what belongs together is joined."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from seminaive.show.bars import AGAINST
from seminaive.show.forest_boxes import LETTERS, PADDING, SMALL, Drawing, arrange, between, width_of
from seminaive.show.forest_graph import BLUES, DARK_FROM, EDGE_WIDTH, ForestGraph, forest_of, shade
from seminaive.table.schema import Floats

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["plot_forest"]

LARGEST = (16.0, 13.0)
"""Inches; what needs more gets smaller letters."""
TITLE, ROW = 10.0, 14.0
"""Size of the title's letters and height of a row of the legend, in points."""
INK, GREY, PALE = "#1a1a1a", "#555555", "#999999"
BROKEN: Any = (0, (2.5, 1.5))


def plot_forest(
    model: Any,
    graph: str | int = "average",
    *,
    min_probability: float = 0.2,
    noise: bool = True,
    max_columns: int = 60,
    ax: Axes | None = None,
) -> Axes:
    """Draw a Bayesian forest: which columns matter, and which of them belong together.

    The bluer a column, the more probable it is that it says something of the class; the wider a line, the more probable
    that two columns are joined. Where chains differ by more than .1, the least and the largest of their shares are
    written beside it. `BayesianForest.graph` gives the same as numbers, with ``to_frame`` and ``nodes_to_frame``.

    Parameters
    ----------
    model : BayesianForest
        Fitted.
    graph : "average", "map" or int
        The average over all forests, the most probable one, or the draw of that number. One forest has two groups:
        columns that say something of the class, and joined ones that do not. Its lines have no direction: any column
        of a tree can be its root.
    min_probability : float
        Less probable edges are left out of the average, and columns that are neither joined nor as probable.
    noise : bool
        Also joins among columns that say nothing of the class, as broken lines.
    max_columns : int
        At most so many columns, the most probable ones; how many more there are is written below.
    ax : matplotlib Axes, optional
        Letters shrink to what fits; without it the picture is as large as it needs to be.

    Returns
    -------
    Axes

    Examples
    --------
    >>> import seminaive as snb
    >>> X, y = snb.datasets.make_corral()
    >>> axes = snb.plot.forest(snb.BayesianForest().fit(X, y))
    >>> axes.get_title()
    '5 of 6 columns, exact'
    """
    forest_of(model)
    if isinstance(graph, str) and graph not in ("average", "map"):
        raise ValueError(f"graph must be 'average', 'map' or the number of a draw, got {graph!r}")
    if graph == "average":
        shown = model.graph(min_probability, noise=noise)
        title, bad = _how_sure(model, len(shown.nodes), len(shown.names))
    else:
        shown = model.map_graph_ if graph == "map" else model.sample_graph(graph)
        shown = shown if noise else shown.only(np.flatnonzero(shown.inclusion == 1))
        title, bad = ("the most probable forest" if graph == "map" else f"sampled forest {graph}"), False
    return draw_graph(shown, max_columns, ax, title, AGAINST if bad else INK)


def _how_sure(model: Any, n_shown: int, n_columns: int) -> tuple[str, bool]:
    of_all = f"{n_shown} of {n_columns} columns"
    if model.exact_:
        return f"{of_all}, exact", False
    rhat = float(model.diagnostics_.loc["log posterior", "R-hat"])
    chains = len(model.posterior_.inclusion_by_chain)
    if model.converged_:
        return f"{of_all}, average of {chains} {'chains' if chains > 1 else 'chain'}, R-hat {rhat:.2f}", False
    return f"{of_all}; THE CHAINS HAVE NOT MET (R-hat {rhat:.2f})", True


def draw_graph(
    graph: ForestGraph, max_columns: int, ax: Axes | None = None, title: str = "", colour: str = INK
) -> Axes:
    """Draw any graph of columns."""
    import matplotlib.pyplot as plt

    left_out = max(0, len(graph.nodes) - max_columns)
    graph = graph.most_probable(max_columns)
    drawing = arrange(graph)
    legend = _legend(graph, drawing, left_out)
    width = max([float(drawing.extent[0]), width_of(title, TITLE), *[row.width for row in legend]]) + 16
    below = ROW * len(legend) + 12
    height = float(drawing.extent[1]) + below + 12 + (16 if graph.directed else 0)
    if ax is None:
        size = min(width / 72 + 0.1, LARGEST[0]), min(height / 72 + 0.3, LARGEST[1])
        _, ax = plt.subplots(figsize=size, layout="constrained")
    ax.set_axis_off()
    ax.set_title(title, fontsize=TITLE, color=colour)
    figure: Any = ax.figure.canvas.figure  # the whole one, even if the axes are in a part of it
    figure.draw_without_rendering()  # only now is known how large the axes are
    box = ax.get_window_extent()
    dots = figure.dpi / 72
    room = np.array([box.width, box.height]) / dots
    scale = float(min(1.0, *(room / [width, height])))
    free = room / scale - [width, height]
    ax.set_xlim(-free[0] / 2, width + free[0] / 2)
    ax.set_ylim(-free[1] / 2, height + free[1] / 2)
    ax.set_aspect("equal", adjustable="box")
    corner = np.array([(width - drawing.extent[0]) / 2, below + 4])
    _draw_nodes_and_edges(ax, graph, replace(drawing, place=drawing.place + corner), corner, scale)
    indent = (width - max([row.width for row in legend], default=0.0)) / 2
    for i, row in enumerate(legend):
        _draw_row(ax, row, ROW * (len(legend) - i), indent, scale)
    return ax


def _draw_nodes_and_edges(ax: Axes, graph: ForestGraph, drawing: Drawing, corner: Floats, scale: float) -> None:
    from matplotlib.patches import FancyBboxPatch

    place, sizes = drawing.place, drawing.sizes
    if not len(place):
        x, y = corner + drawing.extent / 2
        ax.text(x, y, "no column is probable enough", ha="center", va="center", fontsize=LETTERS * scale, color=GREY)
    taken: list[tuple[Floats, Floats]] = []
    for e in np.argsort(graph.probability, kind="stable"):
        a, b = place[drawing.ends[e]]
        p, signal = float(graph.probability[e]), graph.group[e] == 1
        style: Any = "-" if signal else BROKEN
        colour = GREY if signal else PALE
        ax.plot([a[0], b[0]], [a[1], b[1]], linestyle=style, color=colour, lw=EDGE_WIDTH * p * scale, zorder=1)
        note = between(float(graph.low[e]), float(graph.high[e]))
        if note:
            _write_on_line(ax, note, a, b, drawing, taken, scale)
    for j, (label, note) in enumerate(zip(drawing.labels, drawing.notes, strict=True)):
        blue = shade(float(graph.inclusion[graph.nodes[j]]))
        letters = "white" if blue >= DARK_FROM else INK
        (x, y), (w, h) = place[j], sizes[j]
        outline = f"round,pad=0,rounding_size={min(h / 2, 9.0):.1f}"
        look: Any = {"facecolor": BLUES[blue], "edgecolor": BLUES[-1], "linewidth": 0.8 * scale}
        ax.add_patch(FancyBboxPatch((x - w / 2, y - h / 2), w, h, boxstyle=outline, zorder=2, **look))
        up = 0.62 * SMALL if note else 0.0
        inside: Any = {"ha": "center", "va": "center", "color": letters, "zorder": 3, "linespacing": 1.15}
        ax.text(x, y + up, label, fontsize=LETTERS * scale, **inside)
        if note:
            ax.text(x, y - h / 2 + PADDING[1] / 2 + 0.5 * SMALL, note, fontsize=SMALL * scale, **inside)
    if drawing.divider is not None:
        x, top = drawing.divider + corner[0], drawing.extent[1] + corner[1]
        ax.plot([x, x], [corner[1], top + 14], color="#cccccc", lw=0.8 * scale, zorder=0)
        titles: Any = {"ha": "center", "va": "bottom", "fontsize": LETTERS * scale, "color": GREY}
        ax.text((corner[0] + x) / 2, top + 6, "signal", **titles)
        ax.text((x + corner[0] + drawing.extent[0]) / 2, top + 6, "joined noise", **titles)
        if graph.inclusion[graph.nodes].all():
            titles["va"] = "top"
            ax.text((x + corner[0] + drawing.extent[0]) / 2, top - 4, "none", **titles)


def _write_on_line(
    ax: Axes, note: str, a: Floats, b: Floats, drawing: Drawing, taken: list[tuple[Floats, Floats]], scale: float
) -> None:
    """Beside the middle of a line, or as near to it as there is room; where there is none the numbers stay away."""
    size = np.array([width_of(note, SMALL) + 4, 1.3 * SMALL])
    boxes = np.concatenate([drawing.place, *[spot[None] for spot, _ in taken]])
    extents = np.concatenate([drawing.sizes, *[extent[None] for _, extent in taken]])
    for share in (0.5, 0.42, 0.58, 0.34, 0.66, 0.27, 0.73):
        spot = a + share * (b - a)
        if not (np.abs(spot - boxes) < (size + extents) / 2 + 1).all(axis=1).any():
            paper = {"boxstyle": "square,pad=0.12", "facecolor": "white", "edgecolor": "none"}
            look: Any = {"ha": "center", "va": "center", "fontsize": SMALL * scale, "color": INK, "zorder": 1.5}
            ax.text(float(spot[0]), float(spot[1]), note, bbox=paper, **look)
            taken.append((spot, size))
            return


# --- what it means ----------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Row:
    """A row of the legend: a text, and the sign before it."""

    text: str
    sign: Literal["blues", "widths", "broken", "none"]

    @property
    def indent(self) -> float:
        """Points that the sign takes."""
        return {"blues": 116.0, "widths": 116.0, "broken": 116.0, "none": 0.0}[self.sign]

    @property
    def width(self) -> float:
        return self.indent + width_of(self.text, SMALL)


def _legend(graph: ForestGraph, drawing: Drawing, left_out: int) -> list[Row]:
    rows = []
    if not graph.directed and len(graph.nodes):
        rows.append(Row("probability that the column matters", "blues"))
    if not graph.directed and len(graph.first):
        rows.append(Row("probability that two columns are joined", "widths"))
    if len(graph.group) and not graph.group.all():
        rows.append(Row("joined among noise", "broken"))
    if any(drawing.notes) or any(between(a, b) for a, b in zip(graph.low, graph.high, strict=True)):
        rows.append(Row("numbers: from the least to the largest share among the chains", "none"))
    if left_out:
        rows.append(Row(f"and {left_out} less probable columns", "none"))
    return rows


def _draw_row(ax: Axes, row: Row, y: float, x: float, scale: float) -> None:
    look: Any = {"va": "center", "fontsize": SMALL * scale, "color": GREY}
    ax.text(x + row.indent, y, row.text, ha="left", **look)
    if row.sign == "blues":
        from matplotlib.patches import Rectangle

        ax.text(x + 10, y, "0", ha="right", **look)
        for i, blue in enumerate(BLUES):
            corner = (x + 14 + 11 * i, y - 4.5)
            ax.add_patch(Rectangle(corner, 11, 9, facecolor=blue, edgecolor=BLUES[-1], linewidth=0.4 * scale))
        ax.text(x + 95, y, "1", ha="left", **look)
    elif row.sign == "widths":
        for i, p in enumerate((0.2, 0.5, 1.0)):
            at = x + 36 * i
            ax.text(at + 10, y, f"{p:g}", ha="right", **look)
            ax.plot([at + 13, at + 29], [y, y], color=GREY, lw=EDGE_WIDTH * p * scale, solid_capstyle="butt")
    elif row.sign == "broken":
        ax.plot([x + 62, x + 101], [y, y], color=PALE, lw=EDGE_WIDTH / 2 * scale, linestyle=BROKEN)
