"""What class offsets within a zone can still achieve: one pass over the rows."""

from __future__ import annotations

from typing import Any

from numba import njit

Array = Any


@njit(cache=True, nogil=True)
def bound_zone(
    scores: Array, labels: Array, weights: Array, upper: Array, forms: Array, width: float,
    most: Array, least: Array, inside: Array, total: Array,
) -> None:  # fmt: skip
    """Bounds of linear forms of the confusion counts over all offsets b with b_p - b_q < upper[p, q].

    A row can be given class p while scores[p] - scores[q] + upper[p, q] > width for every q. ``most`` and ``least``
    (forms) receive the largest and smallest sum of forms[f, label, class] over the classes each row can be given.
    Where that choice matters and is open, ``inside[p, q]`` counts the values of b_p - b_q at which a row changes
    sides, and ``total[p, q]`` adds them up, so that their mean can be found.
    """
    n_classes, n_rows = scores.shape
    n_forms = forms.shape[0]
    for n in range(n_rows):
        y, weight = labels[n], weights[n]
        possible, any_possible = 0, False
        for p in range(n_classes):
            can = True
            for q in range(n_classes):
                if q != p and scores[p, n] - scores[q, n] + upper[p, q] <= width:
                    can = False
                    break
            if can:
                possible |= 1 << p
                any_possible = True
        if not any_possible:  # only rounding can bring this about
            possible = (1 << n_classes) - 1
        matters = False
        for f in range(n_forms):
            high, low = -1e300, 1e300
            for p in range(n_classes):
                if possible >> p & 1:
                    high = max(high, forms[f, y, p])
                    low = min(low, forms[f, y, p])
            most[f] += weight * high
            least[f] += weight * low
            matters = matters or high > low
        if matters:
            for p in range(n_classes):
                for q in range(p + 1, n_classes):
                    change = scores[q, n] - scores[p, n]
                    if (
                        possible >> p & 1
                        and possible >> q & 1
                        and -upper[q, p] + width < change
                        and change < upper[p, q] - width
                    ):
                        inside[p, q] += 1
                        total[p, q] += change


@njit(cache=True, nogil=True)
def nearest_change(scores: Array, p: int, q: int, low: float, high: float, target: float) -> float:
    """The value scores[q] - scores[p] strictly between low and high that is nearest to the target."""
    best, distance = target, 1e300
    for n in range(scores.shape[1]):
        change = scores[q, n] - scores[p, n]
        if low < change < high and abs(change - target) < distance:
            best, distance = change, abs(change - target)
    return best
