"""What can be had of two classes' recalls by offsets alone: the front of the best pairs."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float64]
Labels = npt.NDArray[np.int64]


def attainable_rates(scores: Floats, labels: Labels, a: int, b: int) -> Floats:
    """The front of two classes' recalls over all offsets of these two; other offsets stay (points, 2), sorted.

    With two classes these are all that offsets can reach. With more, the two move together in steps of a quarter nat
    against the others, and apart by every value at which a row changes sides.

    Examples
    --------
    >>> scores = np.array([[0.0, 0.0, 0.0, 0.0], [-3.0, -1.0, -2.0, 1.0]])
    >>> attainable_rates(scores, np.array([0, 0, 1, 1]), 0, 1)
    array([[0.5, 1. ],
           [1. , 0.5]])
    """
    k = len(scores)
    sizes = np.bincount(labels, minlength=k)[[a, b]].astype(np.float64)
    together = np.zeros(1) if k == 2 else np.concatenate([np.arange(-8, 8.1, 0.25), [1e6]])
    found = []
    for shift in together:
        moved = scores.copy()
        moved[[a, b]] += shift
        others = np.delete(moved, [a, b], axis=0).max(axis=0) if k > 2 else np.full(len(labels), -np.inf)
        # t is added to b and taken from a, half each
        own_a = 2 * np.minimum(0.5 * (moved[a] - moved[b]), moved[a] - others)[labels == a]
        own_b = 2 * np.minimum(0.5 * (moved[b] - moved[a]), moved[b] - others)[labels == b]
        # a row of class a is right below its limit; one of class b is right above minus its limit
        limits_a, limits_b = np.sort(own_a), np.sort(-own_b)
        ends = np.unique(np.concatenate([limits_a, limits_b]))
        t = np.concatenate([ends[:1] - 1, 0.5 * (ends[1:] + ends[:-1]), ends[-1:] + 1])
        right_a = len(limits_a) - np.searchsorted(limits_a, t, side="right")
        right_b = np.searchsorted(limits_b, t, side="left")
        found.append(np.stack([right_a, right_b], axis=1) / np.maximum(sizes, 1))
    points = np.unique(np.concatenate(found), axis=0)
    best_after = np.maximum.accumulate(points[::-1, 1])[::-1]
    beaten = np.append(best_after[1:] >= points[:-1, 1], False)
    return points[~beaten]
