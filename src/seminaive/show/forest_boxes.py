"""A graph of columns as boxes with names on paper, before any ink: sizes, places, and what is written in them."""

from __future__ import annotations

import re
from dataclasses import dataclass

import numpy as np

from seminaive.show.forest_graph import ForestGraph
from seminaive.show.forest_layout import lay_out
from seminaive.table.schema import Floats, Integers

__all__ = ["LETTERS", "PADDING", "SMALL", "Drawing", "arrange", "between", "in_box", "width_of"]

LETTERS, SMALL = 9.0, 7.0
"""Size of names, and of what is written beside them, in points."""
PADDING = np.array([12.0, 8.0])
"""Room of a name in its box, left and right together, above and below together."""
WIDE = 0.1
"""A difference between chains from which on it is written down."""
LINE = 26
"""Characters of a name on one line of a box."""
BETWEEN = 46.0
"""Points between the two groups of one forest."""


@dataclass(frozen=True, eq=False)
class Drawing:
    """A graph on paper, in points: the left lower corner is the origin.

    Attributes
    ----------
    labels, notes : lists of str
        In each box: the name, and below it what the chains disagree about, if they do.
    sizes, place : (boxes, 2) arrays
        Width and height, and centres.
    ends : (lines, 2) int array
    divider : float or None
        Where signal ends and noise begins, from left to right.
    extent : (2,) array
        Width and height of the whole.
    """

    labels: list[str]
    notes: list[str]
    sizes: Floats
    place: Floats
    ends: Integers
    divider: float | None
    extent: Floats


def arrange(graph: ForestGraph) -> Drawing:
    labels = [in_box(graph.names[j]) for j in graph.nodes]
    notes = [between(*graph.spread[j]) for j in graph.nodes]
    sizes = np.array([_box_size(label, note) for label, note in zip(labels, notes, strict=True)]).reshape(-1, 2)
    ends = np.searchsorted(graph.nodes, np.stack([graph.first, graph.second], axis=1)).reshape(-1, 2)
    place, divider = np.zeros((len(labels), 2)), None
    if not graph.directed:
        place = lay_out(sizes, ends, graph.probability)
    else:
        x = 0.0
        for group in (1, 0):  # signal at the left, noise at the right
            inside = np.flatnonzero(graph.inclusion[graph.nodes] == group)
            own = graph.group == group
            of_group = lay_out(sizes[inside], np.searchsorted(inside, ends[own]), graph.probability[own])
            place[inside] = of_group + np.array([x, 0.0])
            if group == 1:
                reach = (of_group[:, 0] + sizes[inside, 0] / 2).max(initial=90.0)
                divider = float(reach) + BETWEEN / 2
                x = divider + BETWEEN / 2
        tops = (place[:, 1] + sizes[:, 1] / 2).max(initial=0.0)
        for group in (0, 1):  # both hang from the same height
            inside = np.flatnonzero(graph.inclusion[graph.nodes] == group)
            place[inside, 1] += tops - (place[inside, 1] + sizes[inside, 1] / 2).max(initial=0.0)
    extent = (place + sizes / 2).max(axis=0, initial=0.0 if len(place) else 60.0)
    if divider is not None:
        extent[0] = max(extent[0], divider + BETWEEN / 2 + 90)
    return Drawing(labels, notes, sizes, place, ends, divider, extent)


def in_box(name: str) -> str:
    """A name on one line or two; what is still too long loses its middle, since names often differ at their end.

    Examples
    --------
    >>> print(in_box("mean_temperature_of_the_inlet_valve"))
    mean_temperature_
    of_the_inlet_valve
    """
    lines = [name]
    if len(name) > LINE:
        breaks = [m.end() for m in re.finditer(r"[\s_|,;:/.\-)]+", name) if 0 < m.end() < len(name)]
        at = min(breaks, key=lambda i: abs(i - len(name) / 2), default=len(name) // 2)
        at = at if abs(at - len(name) / 2) < len(name) / 4 else len(name) // 2
        lines = [name[:at].rstrip(), name[at:]]
    half = LINE // 2 - 1
    short = [line if len(line) <= LINE else f"{line[:half]}..{line[-half:]}" for line in lines]
    return "\n".join(short).replace("$", r"\$")


def between(low: float, high: float) -> str:
    """Shares of the chains that are far apart; nothing if they are not."""
    return f"{low:.2f} to {high:.2f}" if high - low > WIDE else ""


def width_of(text: str, size: float = LETTERS) -> float:
    """Points that the longest line of a text takes."""
    from matplotlib.font_manager import FontProperties
    from matplotlib.textpath import TextToPath

    measure = TextToPath().get_text_width_height_descent
    return float(
        max(measure(line.replace(r"\$", "S"), FontProperties(size=size), False)[0] for line in text.split("\n"))
    )


def _box_size(label: str, note: str) -> Floats:
    lines = label.count("\n") + 1
    width = max(width_of(label), width_of(note, SMALL) if note else 0.0)
    return np.array([width, 1.25 * LETTERS * lines + (1.25 * SMALL if note else 0.0)]) + PADDING
