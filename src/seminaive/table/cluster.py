"""Tasks on a Dask cluster: a few ahead of whoever reads their results, and sums that never meet in one place."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from seminaive.table.fold import add_up

PARTS = 16
"""Parts per thread of the cluster: few enough for a pass to be quick, many enough to lose little with a worker."""
FAN = 8
"""Results that one task adds up."""

Task = tuple[Callable[..., Any], tuple[Any, ...]]
"""A function and its arguments, to be called on a worker."""


def current_client() -> Any:
    """The active Dask client; a clear error when there is none."""
    try:
        from distributed import get_client
    except ImportError:
        raise ImportError("Dask input needs the packages dask and distributed: pip install 'seminaive[dask]'") from None
    try:
        return get_client()
    except ValueError:
        raise ValueError("Dask input needs a running client: from distributed import Client; Client()") from None


def in_parts(client: Any, pieces: Sequence[Any]) -> list[Sequence[Any]]:
    """The pieces in as many lists as there shall be tasks."""
    most = PARTS * max(sum(client.nthreads().values()), 1)
    return list(_slices(pieces, -(-len(pieces) // most)))


def sum_on_cluster(client: Any, tasks: Sequence[Task], workers: Sequence[str | None] = ()) -> Any:
    """What the tasks return, added up in order: on the cluster down to a few results, which are added here.

    ``workers`` may say where each task's data are.
    """
    where = list(workers) or [None] * len(tasks)
    leaves: list[Any] = []
    sums: list[Any] = []
    for (work, arguments), worker in zip(tasks, where, strict=True):
        leaves.append(submit(client, work, *arguments, worker=worker))
        if len(tasks) > FAN and len(leaves) == FAN:  # a sum that is submitted early is also added up early
            sums.append(submit(client, add_up, leaves))
            leaves = []
    sums += leaves
    while len(sums) > FAN:
        sums = [submit(client, add_up, some) for some in _slices(sums, FAN)]
    return add_up(results_of(client, sums))


def submit(client: Any, work: Callable[..., Any], *arguments: Any, worker: str | None = None) -> Any:
    """A future of what the work makes of the arguments, made by one worker if possible."""
    wish = {} if worker is None else {"workers": [worker], "allow_other_workers": True}
    return client.submit(work, *arguments, pure=False, **wish)


def in_order(client: Any, tasks: Iterator[Task]) -> Iterator[Any]:
    """The results that the tasks return as lists, one after the other; some tasks are ahead of the reader."""
    ahead = 2 * max(sum(client.nthreads().values()), 1)
    waiting: deque[Any] = deque()
    for work, arguments in tasks:
        waiting.append(submit(client, work, *arguments))
        if len(waiting) > ahead:
            yield from results_of(client, [waiting.popleft()])[0]
    while waiting:
        yield from results_of(client, [waiting.popleft()])[0]


def results_of(client: Any, futures: list[Any]) -> list[Any]:
    """What the futures hold; a worker that always dies gets a clear error."""
    from distributed import KilledWorker

    try:
        return list(client.gather(futures))
    except KilledWorker as problem:
        raise RuntimeError(
            "workers of the Dask cluster died again and again over the same task, most likely for want of memory; "
            f"give them more, or cut the rows into smaller pieces (task {problem.task}; the workers' logs say more)"
        ) from None


def _slices(items: Sequence[Any], size: int) -> Iterator[Sequence[Any]]:
    return (items[first : first + size] for first in range(0, len(items), max(size, 1)))


def share_out(holders: Sequence[Sequence[str]], workers: Sequence[str]) -> dict[str, list[int]]:
    """Which worker works on which parts, by who holds them; parts that nobody holds are dealt out evenly.

    Where a worker would have less than half of its share, as one that has just taken the place of a dead one, parts
    move: they are copied once, and every pass from then on is work for all.

    Examples
    --------
    >>> share_out([["a"], ["b"], ["a"]], ["a", "b"])
    {'a': [0, 2], 'b': [1]}
    >>> share_out([["a"], ["a"], ["a"], ["a"]], ["a", "b"])
    {'a': [0, 1], 'b': [2, 3]}
    """
    groups: dict[str, list[int]] = {worker: [] for worker in workers}
    for i, places in enumerate(holders):
        alive = [worker for worker in places if worker in groups]
        chosen = (
            min(alive, key=lambda w: (len(groups[w]), w)) if alive else workers[i % len(workers)] if workers else ""
        )
        groups.setdefault(chosen, []).append(i)
    share = len(holders) // max(len(groups), 1)
    if groups and 2 * min(map(len, groups.values())) < share:
        for poor in groups.values():
            while len(poor) < share:
                poor.append(max(groups.values(), key=len).pop())
    return {worker: sorted(group) for worker, group in groups.items()}
