"""Mutual information of all pairs of columns, from one product of their indicators."""

from __future__ import annotations

import math
from typing import Any

from numba import njit

Array = Any  # numba kernels are typed by their arguments, not by annotations


@njit(cache=True, nogil=True, inline="never")
def _cell(both: float, left: float, right: float, n: float) -> float:
    return both * math.log(both * n / (left * right)) if both > 0.0 else 0.0


@njit(cache=True, nogil=True)
def pair_information(product: Array, margins: Array, starts: Array, last: Array, n: float, out: Array) -> None:
    """Mutual information in nats of every pair of columns, written to both triangles of ``out``.

    Parameters
    ----------
    product : (T, T)
        How often (or with what weight) two levels occur together, the last level of every column left out.
    margins : (T,)
        How often each of these levels occurs.
    starts : (P + 1,) ints
        Levels of column p are ``starts[p]:starts[p + 1]``.
    last : (P,)
        How often the last level of each column occurs.
    """
    for i in range(starts.size - 1):
        for j in range(i, starts.size - 1):
            total = 0.0
            corner = last[j]
            for a in range(starts[i], starts[i + 1]):
                row = product[a]
                rest = margins[a]
                for b in range(starts[j], starts[j + 1]):
                    both = float(row[b])
                    rest -= both
                    total += _cell(both, margins[a], margins[b], n)
                total += _cell(rest, margins[a], last[j], n)
                corner -= rest
            for b in range(starts[j], starts[j + 1]):
                rest = margins[b]
                for a in range(starts[i], starts[i + 1]):
                    rest -= product[a, b]
                total += _cell(rest, last[i], margins[b], n)
            total += _cell(corner, last[i], last[j], n)
            out[i, j] = out[j, i] = max(total / n, 0.0)
