"""Dirichlet priors of the levels of nominal columns: one strength for all, or one's own per column, level and class.

Counting s more rows of every level is the mode of the posterior under Dirichlet(s + 1), and the mean under
Dirichlet(s): P(v | k) = (n_vk + s_vk) / sum over levels u of (n_uk + s_uk).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from seminaive.table.schema import FIRST_LEVEL, MISSING, Floats, Schema

DEFAULT = 1.0
"""What is added to every level of a column that a dict does not name."""


def added_counts(schema: Schema, smoothing: Any) -> Floats:
    """What is added to the count of every code of every coded column, (classes, layout.width).

    A missing value that counts as a level gets the column's mean.

    Examples
    --------
    >>> from seminaive.table.schema import Column
    >>> schema = Schema((Column("word", "nominal", ("a", "b")),), np.array(["no", "yes"]))
    >>> added_counts(schema, {"word": [[1, 5], [3, 3]]})
    array([[0., 3., 1., 5.],
           [0., 3., 3., 3.]])
    """
    k, layout = schema.n_classes, schema.layout
    if not isinstance(smoothing, Mapping):
        return np.full((k, layout.width), float(smoothing))
    unknown = [name for name in smoothing if name not in schema.names]
    if unknown:
        raise ValueError(f"smoothing names {unknown[0]!r}, which is not one of the columns {schema.names}")
    out = np.zeros((k, layout.width))
    for j, column in enumerate(schema.columns):
        if column.is_coded:
            own = _of_column(column.name, smoothing.get(column.name, DEFAULT), k, column.n_levels)
            start = layout.starts[j]
            out[:, start + FIRST_LEVEL : start + column.n_codes] = own
            out[:, start + MISSING] = own.mean(axis=1)
    return out


def strength_of(smoothing: Any, name: Any) -> float:
    """What is added to being there and to being missing, for a column of numbers."""
    if not isinstance(smoothing, Mapping):
        return float(smoothing)
    own = smoothing.get(name, DEFAULT)
    if np.ndim(own):
        raise ValueError(f"smoothing[{name!r}] must be a number: the column has no levels")
    return float(own)


def _of_column(name: Any, own: Any, k: int, n_levels: int) -> Floats:
    shapes = ((), (n_levels,), (k, n_levels))
    try:
        array = np.asarray(own, dtype=np.float64)
    except (TypeError, ValueError):
        array = np.full((0,), np.nan)
    if array.shape not in shapes or not np.isfinite(array).all() or (array < 0).any():
        raise ValueError(
            f"smoothing[{name!r}] must be a number >= 0, {n_levels} (one per level) or {k} x {n_levels} of them "
            f"(one per class and level); got {own!r}"
        )
    return np.broadcast_to(array, shapes[2])
