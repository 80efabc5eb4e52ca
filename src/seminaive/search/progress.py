"""One line on the screen while a search runs."""

from __future__ import annotations

import sys
import threading
import time
from collections.abc import Callable

from seminaive.search.greedy import Progress

SECONDS = 0.2
"""The line is not written more often."""


def progress_line(what: str, verbose: bool | int) -> Progress | None:
    """What to call after every step: it keeps one line up to date (nothing if ``verbose`` is 0)."""
    if not verbose:
        return None
    last = 0.0

    def show(step: int, most: int, value: float) -> None:
        nonlocal last
        now = time.monotonic()
        if now - last >= SECONDS or step == most:
            last = now
            end = "\n" if step == most else ""
            print(f"\r{what} {value:.4f}, step {step} of {most}", end=end, file=sys.stderr, flush=True)

    return show


def count_line(what: str, most: int, verbose: bool | int) -> Callable[[int], None] | None:
    """What to call with the number of steps done since, from any thread: it keeps one line up to date."""
    if not verbose:
        return None
    done, last, lock = 0, 0.0, threading.Lock()

    def show(steps: int) -> None:
        nonlocal done, last
        with lock:
            done += steps
            now = time.monotonic()
            if now - last >= SECONDS or done == most:
                last = now
                end = "\n" if done == most else ""
                print(f"\r{what}: {done} of {most}", end=end, file=sys.stderr, flush=True)

    return show
