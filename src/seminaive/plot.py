"""The pictures there are: ``seminaive.plot.NAME(...)``. Each is drawn in the room that knows its numbers.

Every function takes ``ax=`` and gives the matplotlib axes it drew on.
"""

from seminaive.evaluate.pictures import calibration, lift, profit
from seminaive.evaluate.plots import plot_critical_differences as critical_differences
from seminaive.models.constrained import plot_front as front
from seminaive.show.path import plot_path as path

__all__ = ["calibration", "critical_differences", "front", "lift", "path", "profit"]
