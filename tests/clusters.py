"""Clusters of worker processes on this machine."""

from __future__ import annotations

import warnings
from contextlib import contextmanager, suppress


@contextmanager
def worker_processes(n_workers, threads=1):
    """A client of a cluster of its own, of so many processes."""
    import distributed

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # such as: the port of the dashboard is taken
        local = distributed.LocalCluster(
            n_workers=n_workers, threads_per_worker=threads, processes=True, dashboard_address=":0", memory_limit=0
        )
        client = distributed.Client(local)
        try:
            yield client
        finally:
            with suppress(RuntimeError):  # "IOLoop is closed": it ended before we did
                client.close()
                local.close()
