"""Graphs of columns: the average over sampled forests, or one forest; as a table, DOT text or a networkx graph."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from seminaive.table.schema import Floats, Integers

if TYPE_CHECKING:
    import pandas as pd

GROUPS = ("noise", "signal")
BLUES = ("#f7fbff", "#deebf7", "#c6dbef", "#9ecae1", "#6baed6", "#3182bd", "#08519c")
"""Seven blues, from never to always signal."""
DARK_FROM = 5
"""Blues on which black letters cannot be read."""
EDGE_WIDTH = 5.0
"""Points of width of an edge that is always there."""


@dataclass(frozen=True, eq=False)
class ForestGraph:
    """Columns that matter, and the edges between them.

    Attributes
    ----------
    names : list of str
        Of all columns of the table.
    nodes : int array
        Positions of the columns in the graph.
    inclusion : array (columns,)
        Of all columns.
    spread : array (columns, 2)
        Least and largest inclusion among the chains.
    first, second : int arrays (edges,)
        Columns of each edge; in one forest, ``first`` is the parent.
    group : array (edges,)
        1 for edges among signal columns, 0 among noise.
    probability, low, high : arrays (edges,)
        And the least and the largest share among the chains.
    directed : bool
        True of one forest, whose edges point from parent to child.
    """

    names: list[str]
    nodes: Integers
    inclusion: Floats
    spread: Floats
    first: Integers
    second: Integers
    group: npt.NDArray[np.uint8]
    probability: Floats
    low: Floats
    high: Floats
    directed: bool = False

    def __repr__(self) -> str:
        kind = "one forest" if self.directed else "average graph"
        return f"ForestGraph({kind}: {len(self.nodes)} columns, {len(self.first)} edges)"

    def only(self, nodes: Integers) -> ForestGraph:
        """The part of the graph that these columns make, given by their positions in the table."""
        nodes = np.intersect1d(self.nodes, nodes)
        kept = np.isin(self.first, nodes) & np.isin(self.second, nodes)
        per_edge = ("first", "second", "group", "probability", "low", "high")
        return replace(self, nodes=nodes, **{name: getattr(self, name)[kept] for name in per_edge})

    def most_probable(self, n_columns: int) -> ForestGraph:
        """The part of the columns that matter most; of equals those that are most surely joined."""
        joined = np.zeros(len(self.names))
        for ends in (self.first, self.second):
            np.maximum.at(joined, ends, self.probability)
        order = np.lexsort((self.nodes, -joined[self.nodes], -self.inclusion[self.nodes]))
        return self.only(self.nodes[order[:n_columns]])

    def plot(self, ax: Any = None, max_columns: int = 60) -> Any:
        """Draw it, as `seminaive.plot.forest` does; returns the matplotlib Axes."""
        from seminaive.show.forest_picture import draw_graph

        return draw_graph(self, max_columns, ax)

    def to_frame(self) -> pd.DataFrame:
        """One row per edge, the most probable first: feature, with, group, probability, low, high."""
        import pandas as pd

        order = np.lexsort((self.second, self.first, -self.probability))
        names = np.array(self.names, dtype=object)
        return pd.DataFrame(
            {
                "feature": names[self.first[order]],
                "with": names[self.second[order]],
                "group": np.array(GROUPS, dtype=object)[self.group[order]],
                "probability": self.probability[order],
                "low": self.low[order],
                "high": self.high[order],
            }
        )

    def nodes_to_frame(self) -> pd.DataFrame:
        """One row per column of the graph: feature, inclusion, low, high."""
        import pandas as pd

        order = self.nodes[np.argsort(-self.inclusion[self.nodes], kind="stable")]
        return pd.DataFrame(
            {
                "feature": np.array(self.names, dtype=object)[order],
                "inclusion": self.inclusion[order],
                "low": self.spread[order, 0],
                "high": self.spread[order, 1],
            }
        )

    def to_dot(self) -> str:
        """The graph in the language of Graphviz; noise edges are dashed.

        Examples
        --------
        >>> often, sure = np.array([0.9]), np.ones(2)
        >>> ends, group = (np.array([0]), np.array([1])), np.array([1])
        >>> graph = ForestGraph(["a", "b"], np.arange(2), sure, np.ones((2, 2)), *ends, group, often, often, often)
        >>> print(graph.to_dot())
        graph forest {
          node [style=filled, shape=ellipse];
          n0 [label="a", fillcolor="#08519c", fontcolor="white", tooltip="inclusion 1.00 (1.00 to 1.00)"];
          n1 [label="b", fillcolor="#08519c", fontcolor="white", tooltip="inclusion 1.00 (1.00 to 1.00)"];
          n0 -- n1 [penwidth=4.50, style=solid, label="0.90"];
        }
        """
        lines = [f"{'digraph' if self.directed else 'graph'} forest {{", "  node [style=filled, shape=ellipse];"]
        for j in self.nodes.tolist():
            blue = shade(float(self.inclusion[j]))
            letters = "white" if blue >= DARK_FROM else "black"
            low, high = self.spread[j]
            tip = f"inclusion {self.inclusion[j]:.2f} ({low:.2f} to {high:.2f})"
            look = f'fillcolor="{BLUES[blue]}", fontcolor="{letters}", tooltip="{tip}"'
            lines.append(f"  n{j} [label={quoted(self.names[j])}, {look}];")
        joint = "->" if self.directed else "--"
        for a, b, group, p in zip(self.first, self.second, self.group, self.probability, strict=True):
            style = "solid" if group == 1 else "dashed"
            lines.append(f'  n{a} {joint} n{b} [penwidth={EDGE_WIDTH * p:.2f}, style={style}, label="{p:.2f}"];')
        return "\n".join([*lines, "}"])

    def to_networkx(self) -> Any:
        """A networkx graph: nodes carry ``inclusion``, edges ``probability`` and ``group``.

        Two edges between the same columns, one in either group, are possible in an average.
        """
        try:
            import networkx  # type: ignore[import-untyped, import-not-found, unused-ignore]
        except ImportError:
            raise ImportError("to_networkx needs the package networkx, which is not installed; see to_frame") from None
        graph = networkx.DiGraph() if self.directed else networkx.MultiGraph()
        for j in self.nodes.tolist():
            graph.add_node(self.names[j], inclusion=float(self.inclusion[j]))
        for a, b, group, p in zip(self.first, self.second, self.group, self.probability, strict=True):
            graph.add_edge(self.names[a], self.names[b], probability=float(p), group=GROUPS[int(group)])
        return graph


def forest_of(model: Any) -> Any:
    """The model, if it is a forest: all others have nothing to draw."""
    if not hasattr(type(model), "graph"):
        raise ValueError(f"{type(model).__name__} has no forest to draw; give a fitted BayesianForest")
    return model


def shade(inclusion: float) -> int:
    """Which of the seven blues a probability gets."""
    return min(int(inclusion * len(BLUES)), len(BLUES) - 1)


def quoted(text: str) -> str:
    """A text as DOT must get it."""
    escaped = text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
    return f'"{escaped}"'
