"""A real cluster of processes, started once, for every test that needs one."""

from __future__ import annotations

import pytest

from clusters import worker_processes

WORKERS = [2, pytest.param(1, marks=pytest.mark.slow), pytest.param(4, marks=pytest.mark.slow)]


@pytest.fixture(scope="session", params=WORKERS, ids="{} workers".format)
def cluster(request):
    """A client of a Dask cluster of worker processes; two of them in fast tests, also one and four in slow ones."""
    pytest.importorskip("distributed")
    with worker_processes(request.param) as client:
        yield client
