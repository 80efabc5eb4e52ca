"""Adding rows to a model's sums, merging two models' sums, and taking rows out again."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import numpy.typing as npt

from seminaive.models.naive import Sums, gather_sums
from seminaive.statistics.moments import check_digits, subtract
from seminaive.statistics.normal_gamma import default_prior
from seminaive.table.schema import FIRST_LEVEL, MISSING, UNSEEN, Column, Integers, Schema, level_order
from seminaive.table.table import encode_more


def more_sums(sums: Sums, X: Any, y: Any, sample_weight: Any, n_jobs: int | None) -> Sums:
    """The sums with further rows; levels that occur for the first time are added in sorted order."""
    return merge_sums(sums, gather_sums(encode_more(sums.schema, X, y, sample_weight), n_jobs))


def merge_sums(a: Sums, b: Sums) -> Sums:
    """The sums of the rows of both, over the union of levels and classes."""
    schema = _union(a.schema, b.schema)
    a, b = a.under(schema), b.under(schema)
    return Sums(schema, a.class_weight + b.class_weight, a.counts + b.counts, a.moments + b.moments)


def _union(a: Schema, b: Schema) -> Schema:
    if a.names != b.names:
        raise ValueError(f"the columns differ: {a.names} and {b.names}")
    if a.classes.dtype.kind != b.classes.dtype.kind:
        raise ValueError(f"the class labels differ in type: {a.classes.tolist()} and {b.classes.tolist()}")
    columns = [_join(c, d) for c, d in zip(a.columns, b.columns, strict=True)]
    return Schema(tuple(columns), np.unique(np.concatenate([a.classes, b.classes])))


def _join(a: Column, b: Column) -> Column:
    if a.kind != b.kind:
        raise ValueError(f"column {a.name!r} is {a.kind} in one model and {b.kind} in the other")
    if not a.same_cuts(b):
        raise ValueError(f"column {a.name!r} has other cuts in the two models; let both start from the same cuts")
    if a.folded != b.folded and (a.folded or b.folded):
        raise ValueError(f"column {a.name!r} has other folded levels in the two models")
    new = [level for level in b.levels if level not in a.code_of]
    return replace(a, levels=tuple(sorted((*a.levels, *new), key=level_order))) if new else a


def forget_rows(sums: Sums, X: Any, y: Any, sample_weight: Any, declared: set[Any], n_jobs: int | None) -> Sums:
    """The sums without some rows; levels that nobody has any more are dropped, declared ones stay."""
    gone = gather_sums(encode_more(sums.schema, X, y, sample_weight), n_jobs)
    for before, after in zip(sums.schema.columns, gone.schema.columns, strict=True):
        new = [level for level in after.code_of if level not in before.code_of]
        if new:
            raise ValueError(f"column {before.name!r} never held {new[0]!r}: these rows were not learned")
    counts = _minus(sums.counts, gone.counts)
    weight = _minus(sums.class_weight, gone.class_weight)
    names = [sums.schema.columns[j].name for j in sums.schema.layout.valued]
    moments = subtract(sums.moments, gone.moments, names, sums.schema.classes.tolist())
    # The promise is about the variance that the model uses, to which its prior adds.
    check_digits(moments, names, sums.schema.classes.tolist(), added=2 * np.asarray(default_prior(moments).beta0))
    return _without_empty_levels(Sums(sums.schema, weight, counts, moments), declared)


def _minus(a: npt.NDArray[Any], b: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """A difference that cannot be negative; weighted sums are cleaned of what rounding leaves."""
    left = a - b
    noise = 1e-9 * np.maximum(np.abs(a), 1) if left.dtype.kind == "f" else 0
    if np.any(left < -noise):
        raise ValueError("cannot forget more rows than were learned: these rows are not all among them")
    return np.where(left <= noise, 0, left).astype(left.dtype)


def _without_empty_levels(sums: Sums, declared: set[Any]) -> Sums:
    columns: list[Column] = []
    kept: list[Integers] = []
    for j, column in enumerate(sums.schema.columns):
        start = sums.schema.layout.starts[j]
        codes = np.arange(column.n_codes) if column.is_coded else np.arange(0)
        if column.kind == "nominal" and not {column.name, j} & declared and not column.folded:
            used = np.any(sums.counts[:, start + FIRST_LEVEL : start + column.n_codes], axis=0)
            codes = np.concatenate([[UNSEEN, MISSING], FIRST_LEVEL + np.flatnonzero(used)])
            column = replace(column, levels=tuple(level for level, u in zip(column.levels, used, strict=True) if u))
        columns.append(column)
        kept.append(start + codes)
    flat = np.concatenate(kept).astype(np.int64)
    return replace(sums, schema=sums.schema.with_columns(columns), counts=sums.counts[:, flat])
