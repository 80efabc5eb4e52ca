"""Proofs that promised recalls cannot be kept on a sample, whatever the parameters and the class offsets.

One numeric predictor: each class's score is a parabola, so along the axis the winning classes form at most 2K - 1
intervals whose labels have no equal neighbours and no a..b..a..b. All such label sequences, with all cuts between
distinct values, are tried at once: a table says which numbers of errors per class can be had.

Equal rows: rows with the same values get the same class, so two classes that share rows cannot both keep them.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

import numpy as np
import numpy.typing as npt

from seminaive.statistics.confusion import Demand
from seminaive.table.block import Block

Floats = npt.NDArray[np.float64]
Labels = npt.NDArray[np.int64]

MOST_WORK = 300_000_000
"""Cells the interval proof may look at; larger problems get no proof of this kind."""


def prove_infeasible(block: Block, labels: Labels, demands: Sequence[Demand], one_gaussian: bool) -> str | None:
    """A sentence that proves the demands impossible on these rows, or None.

    Parameters
    ----------
    block : Block
        The rows; all columns are used.
    labels : int array (rows,)
    demands : sequence of Demand
        Only demands on recalls are looked at.
    one_gaussian : bool
        Whether the model's only predictor is one Gaussian column.
    """
    recalls = {d.constraint.position: d for d in demands if d.constraint.metric == "recall"}
    if block.weights is not None or not recalls:
        return None
    proof = _equal_rows(block, labels, recalls)
    if proof is None and one_gaussian and not np.isnan(block.values).any():
        values = block.values[0]
        budget = {k: int(d.cases - d.least) for k, d in recalls.items()}
        if interval_slack(values, labels, len(demands[0].class_weight), budget, least=0) == -1:
            proof = (
                "one numeric predictor: no way to cut its axis into the intervals that Gaussian classes can win "
                "leaves few enough errors in every class"
            )
    return proof


def _equal_rows(block: Block, labels: Labels, recalls: dict[int, Demand]) -> str | None:
    cells = np.concatenate([block.codes8.astype(np.float64), block.codes16.astype(np.float64), block.values])
    if len(cells) == 0:
        return None
    _, kind = np.unique(np.where(np.isnan(cells), np.inf, cells), axis=1, return_inverse=True)
    k = int(max(labels.max(), *recalls)) + 1
    counts = np.zeros((k, int(kind.max()) + 1), dtype=np.int64)
    np.add.at(counts, (labels, kind.ravel()), 1)
    for a in recalls:
        for b in recalls:
            shared = int(np.minimum(counts[a], counts[b]).sum())
            possible = int(counts[a].sum() + counts[b].sum()) - shared
            needed = int(recalls[a].least + recalls[b].least)
            if a < b and needed > possible:
                first, second = recalls[a].constraint.label, recalls[b].constraint.label
                return (
                    f"equal rows: {shared} rows of {first!r} and {second!r} have the same values, so at most "
                    f"{possible} rows of the two can be right, and {needed} are needed"
                )
    return None


def interval_slack(
    values: Floats, labels: Labels, n_classes: int, budget: dict[int, int], least: int | None = None
) -> int | None:
    """The largest slack s such that intervals exist with at most budget[k] - s errors in every class k.

    Parameters
    ----------
    values : array (rows,)
        The predictor, without missing values.
    labels : int array (rows,)
    n_classes : int
    budget : dict
        Errors allowed per promised class.
    least : int, optional
        Only ask whether this slack is reached: the answer is it, or -1 less, or None if the table would be too large.

    Returns
    -------
    int or None
        None: not decided, because the tables would be too large.
    """
    distinct, place = np.unique(values, return_inverse=True)
    counts = np.zeros((len(distinct), n_classes), dtype=np.int64)
    np.add.at(counts, (place.ravel(), labels), 1)
    sequences = label_sequences(n_classes)
    parents = np.array([sequences.index(s[:-1]) if len(s) > 1 else -1 for s in sequences])
    ends = np.array([s[-1] for s in sequences])
    promised = sorted(budget)
    s = min(budget.values()) if least is None else least
    while True:
        allowed = [budget[k] - s for k in promised]
        if min(allowed) < 0:
            reached = False
        elif len(sequences) * len(distinct) * float(np.prod([a + 1.0 for a in allowed])) > MOST_WORK:
            return None
        else:
            reached = _reachable(counts, parents, ends, promised, allowed)
        if reached:
            return s
        if least is not None:
            return least - 1
        s -= 1
        if s < -len(values):
            return s


def _reachable(
    counts: npt.NDArray[np.int64], parents: Labels, ends: Labels, promised: list[int], allowed: list[int]
) -> bool:
    """Whether some label sequence has no more than the allowed errors in every promised class."""
    shape = (len(parents), *(a + 1 for a in allowed))
    reach = np.zeros(shape, dtype=bool)
    reach.reshape(len(parents), -1)[parents < 0, 0] = True
    child = np.flatnonzero(parents >= 0)
    by_end = [np.flatnonzero(ends == k) for k in np.unique(ends)]
    for at_value in counts:
        # a new interval may begin at this value; an interval without values would be the same as a shorter sequence
        reach[child] |= reach[parents[child]]
        for group in by_end:
            errors = [0 if ends[group[0]] == k else int(at_value[k]) for k in promised]
            if any(errors):
                reach[group] = _shifted(reach[group], errors)
    return bool(reach.any())


def _shifted(reach: npt.NDArray[np.bool_], errors: list[int]) -> npt.NDArray[np.bool_]:
    out = np.zeros_like(reach)
    if all(e < n for e, n in zip(errors, reach.shape[1:], strict=True)):
        to = tuple(slice(e, None) for e in errors)
        source = tuple(slice(0, n - e) for e, n in zip(errors, reach.shape[1:], strict=True))
        out[(slice(None), *to)] = reach[(slice(None), *source)]
    return out


def label_sequences(n_classes: int) -> list[tuple[int, ...]]:
    """All sequences of labels without equal neighbours and without a..b..a..b, shorter ones first.

    Examples
    --------
    >>> len(label_sequences(2)), len(label_sequences(3))
    (6, 51)
    """
    found: list[tuple[int, ...]] = []
    level: list[tuple[int, ...]] = [(k,) for k in range(n_classes)]
    while level:
        found += level
        level = [(*s, k) for s in level for k in range(n_classes) if k != s[-1] and not _alternates((*s, k))]
    return found


def _alternates(sequence: tuple[int, ...]) -> bool:
    """Whether the last label completes a..b..a..b with another one."""
    last = sequence[-1]
    for other in set(sequence) - {last}:
        pattern = [k for k in sequence if k in (last, other)]
        if 1 + sum(a != b for a, b in pairwise(pattern)) >= 4:
            return True
    return False
