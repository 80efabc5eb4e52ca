"""A table's blocks as rows of weighted evidence: labels spelled out."""

from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt

from seminaive.search.design import Rows
from seminaive.search.weighted_evidence import Fold
from seminaive.table.block import Block, row_classes
from seminaive.table.fold import Blocks

__all__ = ["Dense", "over_blocks", "rows_of_block"]

Dense = Callable[[Block], npt.NDArray[np.float64]]
Places = npt.NDArray[np.int64]


def rows_of_block(block: Block, dense: Dense | None = None, places: Places | None = None) -> Rows:
    """Rows of a block.

    `dense` gives (scores, columns, rows) evidence of the block's numeric columns; `places` the number of each class
    among those that the model tells apart.
    """
    classes = row_classes(block)
    return Rows(
        block.codes8,
        (classes if places is None else places[classes]).astype(np.intp),
        block.weights,
        block.codes16 if len(block.codes16) else None,
        None if dense is None else dense(block),
    )


def over_blocks(
    blocks: Blocks, dense: Dense | None = None, places: Places | None = None, n_jobs: int | None = None
) -> Fold:
    """Fold over a table's blocks, wherever they are."""

    def run(function: Callable[[Rows], Any], /) -> Any:
        return blocks.fold(_on_block, function, dense, places, n_jobs=n_jobs)

    return run


def _on_block(block: Block, function: Callable[[Rows], Any], dense: Dense | None, places: Places | None) -> Any:
    return function(rows_of_block(block, dense, places))
