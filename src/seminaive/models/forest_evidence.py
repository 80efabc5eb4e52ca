"""From sampled forests to what predicts: every distinct family counted once, every distinct signal graph a member."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from seminaive.evidence.families import Families
from seminaive.evidence.mixture import Mixture
from seminaive.models.forest_samples import AT_ONCE, ForestSamples
from seminaive.statistics.conditional import FamilySmoothing
from seminaive.table.families import FamilyCounts, family_counts
from seminaive.table.schema import MISSING, Floats, Integers
from seminaive.table.table import Table


def forest_mixture(
    table: Table,
    samples: ForestSamples,
    class_weight: Floats,
    varies: np.ndarray,
    prior: Floats,
    mass: float,
    kind: FamilySmoothing,
    missing: str,
    n_jobs: int | None = None,
) -> Mixture:
    """The average of all sampled signal graphs; only columns of the signal group say something of the class.

    Parameters
    ----------
    table : Table
        All columns coded.
    samples : ForestSamples
    class_weight : (classes,) array
    varies : (columns,) bool array
        Columns that are the same in all rows say nothing, neither alone nor as parents.
    prior : (classes,) array
    mass : float
    kind : "shrink" or "bd"
    missing : "value" or "skip"
    """
    graphs, weights = _distinct_graphs(samples, varies)
    d = len(varies)
    known = np.empty(0, dtype=np.int64)
    for i in range(0, len(graphs), AT_ONCE):
        known = np.union1d(known, np.concatenate(graphs[i : i + AT_ONCE]))
    children, parents = known // (d + 1), known % (d + 1) - 1
    reads = [(j,) if p < 0 else (j, p) for j, p in zip(children.tolist(), parents.tolist(), strict=True)]
    counted = family_counts(table, reads, n_jobs)
    if missing == "skip":
        counted = _without_missing(counted, table)
    families = _described(Families.learned(counted, table.schema, mass, kind), class_weight)
    members = [np.searchsorted(known, graph) for graph in graphs]
    return Mixture.of(table.schema, prior, families, members, weights, normalise=True)


def _distinct_graphs(samples: ForestSamples, varies: np.ndarray) -> tuple[list[Integers], Floats]:
    """The families of every distinct signal graph, as numbers child * (d + 1) + parent + 1, and the graphs' weights.

    In the order in which the chains met them, so that one differs little from the next.
    """
    d = len(varies)
    parent = np.where(samples.parent >= 0, samples.parent, d)
    speaks = np.append(varies, False)
    place: dict[bytes, int] = {}
    graphs: list[Integers] = []
    weights: list[float] = []
    for of_draw, group, weight in zip(parent, samples.group, samples.weight, strict=True):
        signal = np.flatnonzero((group == 1) & varies)
        above = np.where(speaks[of_draw[signal]], of_draw[signal], -1)
        families = signal * (d + 1) + above + 1
        at = place.setdefault(families.tobytes(), len(graphs))
        if at == len(graphs):
            graphs.append(families.astype(np.int64))
            weights.append(0.0)
        weights[at] += float(weight)
    return graphs, np.array(weights)


def _without_missing(counted: FamilyCounts, table: Table) -> FamilyCounts:
    """A gap does not count, neither in the column nor in its parent."""
    counts = counted.counts.copy()
    for f in range(len(counted.starts) - 1):
        reads = counted.reads[counted.read_starts[f] : counted.read_starts[f + 1]]
        cells = counts[:, counted.starts[f] : counted.starts[f + 1]]
        shaped = cells.reshape(-1, *(table.schema.columns[j].n_codes for j in reads))
        for axis in range(1, shaped.ndim):
            np.moveaxis(shaped, axis, 0)[MISSING] = 0.0
        counts[:, counted.starts[f] : counted.starts[f + 1]] = shaped.reshape(cells.shape)
    return replace(counted, counts=counts)


def _described(families: Families, class_weight: Floats) -> Families:
    """A class without rows is described like the heaviest one, so that only its prior tells it apart."""
    own = np.where(class_weight > 0, np.arange(len(class_weight)), np.argmax(class_weight))
    if np.array_equal(own, np.arange(len(class_weight))):
        return families
    return replace(families, tables=families.tables[own], variances=families.variances[own])
