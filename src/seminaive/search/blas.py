"""One thread for the many small matrix products of a fit."""

from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache

import scipy.linalg  # noqa: F401  its own BLAS must be loaded to be found
from threadpoolctl import ThreadpoolController  # type: ignore[import-untyped]

__all__ = ["one_blas_thread"]

_controller = cache(ThreadpoolController)


@contextmanager
def one_blas_thread() -> Iterator[None]:
    """Keep BLAS to one thread while a fit runs (usable as a decorator).

    The products are small, so more threads hardly help an idle machine, and on a busy one they wait for
    each other: a path of fits on 2,000 rows took 15 s instead of 0.7.
    """
    with _controller().limit(limits=1, user_api="blas"):
        yield
