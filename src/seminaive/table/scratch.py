"""Scratch: arrays beside a block, such as the joint scores of a search, that survive from one pass to the next.

Scratch is a cache and nothing else: every entry says which step of the search it belongs to, and whoever asks brings
the means to build it anew. So it may be dropped at any time, by a full store, a restart or a lost worker, and the
search goes on with the same bits.
"""

from __future__ import annotations

import os
import threading
from collections import OrderedDict
from collections.abc import Callable
from typing import Any

from seminaive.table.block import Block
from seminaive.table.schema import Floats

LIMIT = int(os.environ.get("SEMINAIVE_SCRATCH_BYTES", 256 * 2**20))
"""Bytes of scratch that a process keeps; the entries longest unused are dropped."""

_kept: OrderedDict[tuple[str, int], tuple[int, Any]] = OrderedDict()
_lock = threading.Lock()
_size = 0


def scratch(
    owner: str, block: Block, step: int, build: Callable[[], Floats], advance: Callable[[Floats], Floats] | None = None
) -> Floats:
    """The array of a block at a step of a search.

    Parameters
    ----------
    owner : str
        Names the search; unique, `new_owner` makes one.
    block : Block
        Its ``first_row`` tells the blocks of a search apart.
    step : int
        How many moves of the search the array must include.
    build : function
        Makes the array of this step from nothing but the block and the model.
    advance : function, optional
        Makes it from the array of the step before; must give the same bits as ``build``.
    """
    global _size
    key = (owner, block.first_row)
    with _lock:
        found = _kept.pop(key, None)
        _size -= found[1].nbytes if found else 0
    if found is not None and found[0] == step:
        array = found[1]
    elif found is not None and advance is not None and found[0] == step - 1:
        array = advance(found[1])
    else:
        array = build()
    with _lock:
        _kept[key] = (step, array)
        _size += array.nbytes
        while _size > LIMIT and _kept:
            _size -= _kept.popitem(last=False)[1][1].nbytes
    return array


def new_owner() -> str:
    """A name for the scratch of one search."""
    return os.urandom(8).hex()


def drop(owner: str) -> None:
    """Forget all scratch of a search in this process."""
    global _size
    with _lock:
        for key in [key for key in _kept if key[0] == owner]:
            _size -= _kept.pop(key)[1].nbytes
