"""A Table: rows encoded once, ready for any number of fits."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
from sklearn.utils.multiclass import check_classification_targets

from seminaive.statistics.moments import Moments
from seminaive.table.block import same_block
from seminaive.table.encode import stream_blocks
from seminaive.table.facts import extend_columns
from seminaive.table.fold import Blocks, Kernel, MemoryBlocks
from seminaive.table.frames import Frame, as_labels, open_frame, take_rows
from seminaive.table.schema import Floats, Integers, Schema
from seminaive.table.sources import Source
from seminaive.table.sums import class_counts, class_moments, class_weights

LARGEST_WEIGHT = 1e20
"""Sums of weighted squares stay finite."""
LEAST_WEIGHT = 1e-100
"""A weight below it counts as 0: products of weights, and what is divided by them, stay finite."""


@dataclass(frozen=True, eq=False)
class Table:
    """Rows as blocks of codes and values under a schema, made by `seminaive.encode`; every ``fit`` takes one.

    Attributes
    ----------
    schema : Schema
        Columns, levels and class labels.
    blocks : Blocks
        Where the rows are; `fold` and `map` run kernels over them.
    """

    schema: Schema
    blocks: Blocks

    @property
    def n_rows(self) -> int:
        return self.blocks.n_rows

    def fold(self, kernel: Kernel, *model: Any, n_jobs: int | None = None) -> Any:
        """Sum of ``kernel(block, *model)`` over all blocks."""
        return self.blocks.fold(kernel, *model, n_jobs=n_jobs)

    def map(self, kernel: Kernel, *model: Any, n_jobs: int | None = None) -> Iterator[Any]:
        """``kernel(block, *model)`` for every block, in order."""
        return self.blocks.map(kernel, *model, n_jobs=n_jobs)

    def class_weights(self, n_jobs: int | None = None) -> npt.NDArray[Any]:
        """Total weight of each class."""
        return np.asarray(self.fold(class_weights, self.schema.n_classes, n_jobs=n_jobs))

    def counts(self, n_jobs: int | None = None) -> npt.NDArray[Any]:
        """Weight of each code in each class, flat over columns: shape (classes, layout.width)."""
        return np.asarray(self.fold(class_counts, self.schema.layout, self.schema.n_classes, n_jobs=n_jobs))

    def moments(self, n_jobs: int | None = None) -> Moments:
        """Moments of each valued column in each class."""
        total: Moments = self.fold(class_moments, self.schema.n_classes, n_jobs=n_jobs)
        return total

    def kept(self, n_jobs: int | None = None) -> Table:
        """The same rows where many passes over them are quick: those of files encoded, on disk or on the cluster."""
        if self.blocks.is_kept:
            return self
        return Table(self.schema, self.blocks.transform(same_block, n_jobs=n_jobs))

    def __repr__(self) -> str:
        kinds = [column.kind for column in self.schema.columns]
        return (
            f"Table({self.n_rows} rows, {kinds.count('nominal')} nominal and {kinds.count('numeric')} numeric columns, "
            f"{self.schema.n_classes} classes)"
        )


def encode_more(schema: Schema, X: Any, y: Any, sample_weight: Any = None) -> Table:
    """Encode further rows under a schema, extended by the levels that occur for the first time.

    Labels must be among the schema's classes.
    """
    rows = LabelledRows.open(X, y, sample_weight, classes=schema.classes)
    columns, sources = extend_columns(schema.columns, rows.frame)
    return rows.as_table(schema.with_columns(columns), sources)


@dataclass(frozen=True)
class LabelledRows:
    """A frame with its class codes and weights, rows of weight 0 left out."""

    frame: Frame
    classes: npt.NDArray[Any]
    codes: Integers
    weights: Floats | None

    @classmethod
    def open(
        cls,
        X: Any,
        y: Any,
        sample_weight: Any = None,
        classes: npt.NDArray[Any] | None = None,
        may_be_empty: bool = False,
    ) -> LabelledRows:
        """Check target and weights against the rows; the labels become codes.

        A part of a larger input may turn out empty: all its rows may have weight 0.
        """
        if y is None:
            raise ValueError("fit requires y to be passed, but the target y is None")
        frame = open_frame(X)
        labels = as_labels(y)
        if len(labels) != frame.n_rows:
            raise ValueError(
                f"Found input variables with inconsistent numbers of samples: {[frame.n_rows, len(labels)]} (X, y)"
            )
        found, codes = sort_labels(labels)
        check_classification_targets(np.repeat(found, 2))  # once each, many classes would look like numbers
        if classes is not None:
            codes = codes_among(found, classes)[codes]
        weights = _check_weights(sample_weight, frame.n_rows, may_be_empty)
        if weights is not None and not weights.any():
            return cls(Frame(frame.names, 0, frame.read), found, np.zeros(0, dtype=np.int64), None)
        if weights is not None and np.any(weights == 0):
            keep = weights > 0
            frame, codes, weights = open_frame(take_rows(X, keep)), codes[keep], weights[keep]
        if weights is not None and np.all(weights == 1):
            weights = None
        return cls(frame, found if classes is None else classes, codes.astype(np.int64), weights)

    def as_table(self, schema: Schema, sources: list[Source | None]) -> Table:
        """The rows as blocks under a schema."""
        blocks = stream_blocks(schema, self.frame, self.codes, self.weights, sources=sources)
        return Table(schema, MemoryBlocks(tuple(blocks)))


def sort_labels(labels: npt.NDArray[Any]) -> tuple[npt.NDArray[Any], Integers]:
    """The distinct labels in sorted order, and each row's position among them; rows are not sorted if avoidable."""
    if labels.dtype.kind in "bui" and len(labels):
        least = int(labels.min())
        span = int(labels.max()) - least
        if span < 65_536:
            offset = labels.astype(np.int64) - least
            present = np.flatnonzero(np.bincount(offset, minlength=span + 1))
            position = np.zeros(span + 1, dtype=np.int64)
            position[present] = np.arange(len(present))
            return (present + least).astype(labels.dtype), position[offset]
    if labels.dtype.kind in "OU":
        seen: dict[Any, int] = {}
        codes = np.array([seen.setdefault(label, len(seen)) for label in labels.tolist()], dtype=np.int64)
        distinct = np.array(list(seen), dtype=labels.dtype)
        found, place = np.unique(distinct, return_inverse=True)
        return found, place[codes]
    found, codes = np.unique(labels, return_inverse=True)
    return found, codes


def codes_among(labels: npt.NDArray[Any], classes: npt.NDArray[Any]) -> Integers:
    """Position of each label among the known classes."""
    position = {label: k for k, label in enumerate(classes.tolist())}
    for label in labels.tolist():
        if label not in position:
            raise ValueError(f"y holds {label!r}, which is not among the classes {classes.tolist()}")
    return np.array([position[label] for label in labels.tolist()], dtype=np.int64)


def _check_weights(sample_weight: Any, n_rows: int, may_be_empty: bool) -> Floats | None:
    if sample_weight is None:
        return None
    try:
        weights = np.asarray(sample_weight, dtype=np.float64)
    except (TypeError, ValueError):
        raise ValueError("sample_weight must hold numbers, one per row") from None
    if weights.ndim == 0:
        weights = np.full(n_rows, float(weights))
    if weights.shape != (n_rows,):
        if weights.ndim != 1:
            raise ValueError(f"Sample weights must be 1D array or scalar, got {weights.ndim}D array")
        raise ValueError(f"sample_weight.shape == {weights.shape}, expected {(n_rows,)}: one weight per row")
    bad = ~((weights >= 0) & (weights <= LARGEST_WEIGHT))
    if bad.any():
        row = int(np.flatnonzero(bad)[0])
        raise ValueError(
            f"sample_weight, row {row}: {weights[row]} is not a weight; "
            f"weights are 0 or positive, at most {LARGEST_WEIGHT:g}"
        )
    weights = np.where(weights < LEAST_WEIGHT, 0.0, weights)
    if not weights.any() and not may_be_empty:
        raise ValueError(f"all sample weights are zero (or below {LEAST_WEIGHT:g}): no row is left to learn from")
    return weights
