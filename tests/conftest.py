"""A real cluster of processes, started once, for every test that needs one."""

from __future__ import annotations

import warnings

import pytest

WORKERS = [2, pytest.param(1, marks=pytest.mark.slow), pytest.param(4, marks=pytest.mark.slow)]


@pytest.fixture(scope="session", params=WORKERS, ids="{} workers".format)
def cluster(request):
    """A client of a Dask cluster of worker processes; two of them in fast tests, also one and four in slow ones."""
    distributed = pytest.importorskip("distributed")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        local = distributed.LocalCluster(
            n_workers=request.param, threads_per_worker=1, processes=True, dashboard_address=None, memory_limit=0
        )
        client = distributed.Client(local)
        yield client
        client.close()
        local.close()
