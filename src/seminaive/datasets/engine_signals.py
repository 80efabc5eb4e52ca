"""Simulated signals of aircraft engines, and the grids of indicators that experts might try on them.

A normal signal is white noise. From a change point in its central 60 % on, an abnormal one has another
mean (by 1 to 5), another standard deviation (2 to 6), or a linear trend that ends between 1 and 5.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from seminaive.selection.scores import WindowScores

__all__ = ["CLASS_NAMES", "EngineSignals", "coarse_grid", "fine_grid", "make_engine_signals"]

CLASS_NAMES = ("normal", "mean", "variance", "trend")


class EngineSignals(NamedTuple):
    """Signals of different lengths, and the class of each: 0 normal, 1 mean, 2 variance, 3 trend."""

    signals: list[npt.NDArray[np.float64]]
    y: npt.NDArray[np.int64]


def make_engine_signals(
    seed: int, n_per_class: Sequence[int] = (3000, 1000, 1000, 1000), lengths: tuple[int, int] = (100, 200)
) -> EngineSignals:
    """Simulate signals with and without a change.

    Parameters
    ----------
    seed : int
    n_per_class : four ints
    lengths : (int, int)
        Shortest and longest signal; lengths are uniform between.

    Examples
    --------
    >>> signals, y = make_engine_signals(1, n_per_class=(3, 1, 1, 1))
    >>> y.tolist(), [len(signal) for signal in signals]
    ([2, 0, 0, 0, 3, 1], [195, 125, 131, 187, 142, 127])
    """
    rng = np.random.default_rng(seed)
    y = rng.permutation(np.repeat([0, 1, 2, 3], n_per_class))
    sizes = rng.integers(lengths[0], lengths[1] + 1, len(y))
    signals = []
    for kind, m in zip(y, sizes, strict=True):
        x = rng.standard_normal(m)
        if kind > 0:
            t = rng.integers(np.ceil(0.2 * m), np.floor(0.8 * m) + 1)
            if kind == 1:
                x[t:] += rng.uniform(1, 5)
            elif kind == 2:
                x[t:] *= rng.uniform(2, 6)
            else:
                x[t:] += np.linspace(0, rng.uniform(1, 5), m - t)
        signals.append(x)
    return EngineSignals(signals, y)


def fine_grid() -> list[WindowScores]:
    """Many windows and thresholds, one stride: 814 indicators.

    >>> len(fine_grid())
    2
    """
    return [
        WindowScores(),
        WindowScores(windows=(50,), tests=("min",), confirmations=((1, 1),), levels=(1e-7, 1e-5, 1e-3, 1e-2)),
    ]


def coarse_grid() -> list[WindowScores]:
    """Few windows and thresholds, several strides and confirmations: 814 indicators."""
    return [
        WindowScores(
            windows=(30, 50, 80),
            strides=(1, 5, 10),
            confirmations=((1, 1), (2, 2), (3, 3), (5, 5), (2, 3), (3, 5), (4, 7), 0.1, 0.3, 0.5),
            levels=(0.005, 0.1, 0.5),
        ),
        WindowScores(windows=(50,), tests=("min",), confirmations=((1, 1),), levels=(1e-4, 1e-3, 0.01, 0.05)),
    ]
