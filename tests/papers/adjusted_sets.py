"""Encoded inputs of the reference values for adjusted probability models."""

import json
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from seminaive.search.design import Rows, table_design
from seminaive.search.weighted_evidence import WeightedEvidence, in_memory
from seminaive.statistics.adjustment import class_adjustments, log_odds_adjustments, one_against_rest

HERE = Path(__file__).parent


def reference(name):
    """Frozen reference values: "small" sets are inline or generated, "data" ones need their files."""
    return json.loads((HERE / f"adjusted_{name}.json").read_text())


@dataclass(frozen=True)
class CodedSet:
    """Codes (0 unseen, 1 reserved, 2.. the sorted values), labels, and counts by class."""

    codes: np.ndarray
    labels: np.ndarray
    levels: list
    starts: np.ndarray
    counts: np.ndarray
    prior: np.ndarray

    def code(self, columns, labels=None):
        """Rows of other data under these codes."""
        place = [{value: 2 + i for i, value in enumerate(level)} for level in self.levels]
        codes = np.array([[p.get(v, 0) for v in c] for p, c in zip(place, columns, strict=True)], dtype=np.uint8)
        return Rows(codes, np.zeros(codes.shape[1], np.intp) if labels is None else labels)

    def entry(self, column, value):
        """Position of a column's value in the flat tables."""
        return self.starts[column] + 2 + self.levels[column].index(value)

    def against_rest(self, k, smoothing=1.0, kind="class"):
        """Binary problem of one class against the rest."""
        counts, prior = one_against_rest(self.counts, k), one_against_rest(self.prior, k)
        tables = log_odds_adjustments(counts, self.starts, prior, smoothing, kind)[None]
        return self.problem(table_design(np.log(prior[1:] / prior[:1]), tables, self.starts, positive=k))

    def softmax(self, shared):
        """Multiclass problem."""
        tables = class_adjustments(self.counts, self.starts, self.prior)
        return self.problem(table_design(np.log(self.prior), tables, self.starts, shared=shared))

    def problem(self, design, rows=None):
        """Problem on the given rows, or on all."""
        rows = Rows(self.codes, self.labels) if rows is None else rows
        return WeightedEvidence(design, in_memory([rows]), rows.total)


def coded_set(columns, labels):
    """Encode columns of values."""
    levels = [sorted(set(column)) for column in columns]
    codes = np.array([[2 + lv.index(v) for v in c] for lv, c in zip(levels, columns, strict=True)], dtype=np.uint8)
    starts = np.cumsum([0] + [2 + len(level) for level in levels])
    labels = np.asarray(labels, dtype=np.intp)
    classes = int(labels.max()) + 1
    counts = np.zeros((classes, starts[-1]))
    for column, first in enumerate(starts[:-1]):
        np.add.at(counts, (labels, first + codes[column].astype(np.intp)), 1.0)
    return CodedSet(codes, labels, levels, starts, counts, np.bincount(labels) / len(labels))


def generated(seed, rows, classes):
    """The generator of the reference values: six noisy columns, a copy and a constant."""
    u = np.random.Generator(np.random.PCG64(seed)).random((rows, 9))
    labels = np.floor(classes * u[:, 0]).astype(np.intp)
    columns = []
    for j in range(1, 7):
        shift = ((labels + j) % classes) / (classes - 1 + 1e-9)
        columns.append(np.clip(np.floor(4 * (0.75 * u[:, j] + 0.25 * shift)), 0, 3).astype(int))
    columns += [columns[0], np.zeros(rows, dtype=int)]
    return coded_set([[str(v) for v in column] for column in columns], labels)
