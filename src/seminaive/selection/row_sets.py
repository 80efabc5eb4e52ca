"""Which rows teach the evidence, which ones judge a set of features, and which ones decide how many to keep.

fit       evidence and search on one half of each class, size on the other half
holdout   evidence from one half; search and size on the other half
cv        every row judged by the evidence of the other folds; search and size on all rows
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np

from seminaive.evidence.evidence import Evidence
from seminaive.models.naive import Estimation, gather_sums, naive_evidence
from seminaive.models.numeric import as_modelled
from seminaive.models.search_rows import search_problem
from seminaive.search.problem import SearchProblem
from seminaive.table.block import Block, row_classes, same_block, take_rows
from seminaive.table.discretize import binned_like
from seminaive.table.folds import stratified_folds
from seminaive.table.gather import as_table
from seminaive.table.schema import Integers, Schema

SearchOn = Literal["fit", "holdout", "cv"]


@dataclass(frozen=True, eq=False)
class RowSets:
    """The two problems of a search.

    Attributes
    ----------
    search, selection : SearchProblem
        Rows on which the criterion is lowered, and rows that decide the size.
    taught : Evidence or None
        The evidence of the fit half; there is none with cross-validation, where every fold has its own.
    """

    search: SearchProblem
    selection: SearchProblem
    taught: Evidence | None


FOLDS = 5


def row_sets(
    schema: Schema,
    rows: Block,
    how: Estimation,
    search_on: SearchOn,
    cv: int | None,
    seed: int,
    numeric: str = "gaussian",
) -> RowSets:
    """Split rows, learn from each part, and set the problems up.

    With ``numeric="mdl"`` the rows hold values, and every part learns its own cuts, which look at the class.

    ``cv`` None: five folds, and a class of fewer rows is in that many. Where its only row is held out, no evidence
    knows the class: it is wrong under every set of columns and decides nothing.
    """
    check_class_sizes(schema, rows, (cv or 1) if search_on == "cv" else 2, search_on)
    if search_on == "cv":
        folds = stratified_folds(row_classes(rows), cv or FOLDS, seed)
        parts = []
        for fold in range(cv or FOLDS):
            here = folds == fold
            if here.any():
                learned = evidence_of(schema, take_rows(rows, np.flatnonzero(~here)), how, numeric)
                parts.append(judged_by(learned, schema, take_rows(rows, np.flatnonzero(here))))
        problem = search_problem(parts)
        return RowSets(problem, problem, None)
    fit, select = (take_rows(rows, half) for half in halves(rows, seed))
    taught = evidence_of(schema, fit, how, numeric)
    selection = search_problem([judged_by(taught, schema, select)])
    search = search_problem([judged_by(taught, schema, fit)]) if search_on == "fit" else selection
    return RowSets(search, selection, taught)


def evidence_of(schema: Schema, rows: Block, how: Estimation, numeric: str = "gaussian") -> Evidence:
    """Naive Bayes evidence of some rows."""
    return naive_evidence(gather_sums(as_modelled(as_table(schema, rows), numeric)), how)


def judged_by(evidence: Evidence, schema: Schema, rows: Block) -> tuple[Block, Evidence]:
    """Rows coded as the evidence needs them, and the evidence."""
    (block,) = binned_like(as_table(schema, rows), evidence.schema).map(same_block)
    return block, evidence


def halves(rows: Block, seed: int) -> tuple[Integers, Integers]:
    """A random half of the rows of each class, and the others."""
    rng = np.random.default_rng(seed)
    first: list[Integers] = []
    for start, stop in zip(rows.starts[:-1], rows.starts[1:], strict=True):
        shuffled = rng.permutation(int(stop - start))
        first.append(start + np.sort(shuffled[: (stop - start) // 2]))
    fit = np.concatenate(first).astype(np.int64)
    return fit, np.setdiff1d(np.arange(rows.n_rows), fit)


def check_class_sizes(schema: Schema, rows: Block, least: int, search_on: str) -> None:
    """Refuse rows that cannot be split."""
    if len(rows.classes) < 2:
        raise ValueError(f"a search needs rows of at least 2 classes; y holds 1 class, {schema.classes.tolist()[0]!r}")
    sizes = np.diff(rows.starts)
    small = np.flatnonzero(sizes < least)
    if len(small):
        k = int(small[0])
        what = f"{least} folds" if search_on == "cv" else "two halves"
        hint = "use a smaller cv" if search_on == "cv" and sizes.min() >= 2 else "merge it with another class"
        raise ValueError(
            f"class {schema.classes.tolist()[rows.classes[k]]!r} has {sizes[k]} row(s), too few for {what}: "
            f"at least {least} are needed; {hint} or bring more rows"
        )
