"""One line on the screen while a search runs."""

from __future__ import annotations

import sys
import threading
import time
from collections.abc import Callable

from seminaive.search.greedy import Progress

SECONDS = 0.2
"""The line is not written more often."""


class _Line:
    """The line, and when it was last written."""

    def __init__(self) -> None:
        self.last = 0.0

    def show(self, text: str, ended: bool) -> None:
        now = time.monotonic()
        if ended or now - self.last >= SECONDS:
            self.last = now
            print(f"\r{text}", end="\n" if ended else "", file=sys.stderr, flush=True)


def progress_line(what: str, verbose: bool | int) -> Progress | None:
    """What to call after every step: it keeps one line up to date (nothing if ``verbose`` is 0)."""
    if not verbose:
        return None
    line = _Line()

    def show(step: int, most: int, value: float) -> None:
        line.show(f"{what} {value:.4f}, step {step} of {most}", ended=step == most)

    return show


def count_line(what: str, most: int, verbose: bool | int) -> Callable[[int], None] | None:
    """What to call with the number of steps done since, from any thread: it keeps one line up to date."""
    if not verbose:
        return None
    line, lock, done = _Line(), threading.Lock(), 0

    def show(steps: int) -> None:
        nonlocal done
        with lock:
            done += steps
            line.show(f"{what}: {done} of {most}", ended=done == most)

    return show
