"""The pictures there are: ``seminaive.plot.NAME(...)``. Each is drawn in the room that knows its numbers.

Every function takes ``ax=`` and gives the matplotlib axes it drew on.
"""

from seminaive.evaluate.pictures import calibration, lift, profit
from seminaive.evaluate.plots import plot_critical_differences as critical_differences
from seminaive.models.constrained import plot_front as front
from seminaive.show.forest_picture import plot_forest as forest
from seminaive.show.forest_shares import plot_edges as edges
from seminaive.show.forest_shares import plot_inclusion as inclusion
from seminaive.show.forest_trace import plot_trace as trace
from seminaive.show.path import plot_path as path

__all__ = [
    "calibration",
    "critical_differences",
    "edges",
    "forest",
    "front",
    "inclusion",
    "lift",
    "path",
    "profit",
    "trace",
]
