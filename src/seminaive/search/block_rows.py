"""A table's blocks as rows of weighted evidence: labels spelled out, folds held out."""

from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt

from seminaive.search.design import Rows
from seminaive.search.weighted_evidence import Fold
from seminaive.table.block import Block, row_classes
from seminaive.table.fold import Blocks

__all__ = ["over_blocks", "rows_of_block"]

Dense = Callable[[Block], npt.NDArray[np.float64]]


def rows_of_block(block: Block, dense: Dense | None = None, fold: int | None = None, held_out: bool = False) -> Rows:
    """Rows of a block; with `fold` only the rows outside it, or, `held_out`, only those in it.

    `dense` gives (scores, columns, rows) evidence of the block's numeric columns.
    """
    length = np.diff(block.starts)
    rows = Rows(
        block.codes8,
        row_classes(block).astype(np.intp),
        block.weights,
        block.codes16 if len(block.codes16) else None,
        None if dense is None else dense(block),
    )
    if fold is None:
        return rows
    return rows.take(np.repeat((block.folds == fold) == held_out, length))


def over_blocks(
    blocks: Blocks,
    dense: Dense | None = None,
    fold: int | None = None,
    held_out: bool = False,
    n_jobs: int | None = None,
) -> Fold:
    """Fold over a table's blocks, wherever they are."""

    def run(function: Callable[[Rows], Any], /) -> Any:
        return blocks.fold(_on_block, function, dense, fold, held_out, n_jobs=n_jobs)

    return run


def _on_block(
    block: Block, function: Callable[[Rows], Any], dense: Dense | None, fold: int | None, held_out: bool
) -> Any:
    return function(rows_of_block(block, dense, fold, held_out))
