"""Scratch survives from pass to pass, and may be lost at any time without a change of bits."""

from __future__ import annotations

from collections import OrderedDict
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

from seminaive import encode
from seminaive.table import scratch as module
from seminaive.table.scratch import drop, new_owner, scratch


@pytest.fixture
def block():
    return next(encode(np.arange(6.0)[:, None], [0, 1] * 3).map(lambda block: block))


@pytest.fixture
def owner():
    name = new_owner()
    yield name
    drop(name)


class Work:
    """Arrays of one number, the step; says how they were made."""

    def __init__(self):
        self.done = []

    def ask(self, owner, block, step):
        def build():
            self.done.append(f"build {step}")
            return np.full(6, float(step))

        def advance(before):
            self.done.append(f"advance to {step}")
            return before + 1

        found = scratch(owner, block, step, build, advance)
        assert found.tolist() == [float(step)] * 6
        return self.done


def test_the_next_step_is_made_from_the_last(block, owner):
    work = Work()
    for step in (0, 1, 1, 2):
        work.ask(owner, block, step)
    assert work.done == ["build 0", "advance to 1", "advance to 2"]


@pytest.mark.parametrize("step", [0, 3, 7])
def test_any_other_step_is_made_anew(block, owner, step):
    work = Work()
    work.ask(owner, block, 1)
    assert work.ask(owner, block, step) == ["build 1", "advance to 1" if step == 2 else f"build {step}"]


def test_searches_do_not_see_each_others_scratch(block, owner):
    work, other = Work(), new_owner()
    work.ask(owner, block, 1)
    assert work.ask(other, block, 2) == ["build 1", "build 2"]
    drop(other)
    assert work.ask(owner, block, 2)[2:] == ["advance to 2"]


def test_what_was_dropped_is_made_anew(block, owner):
    work = Work()
    work.ask(owner, block, 1)
    drop(owner)
    assert work.ask(owner, block, 2) == ["build 1", "build 2"]


def test_a_full_store_forgets_what_was_longest_unused(owner, monkeypatch):
    monkeypatch.setattr(module, "_kept", OrderedDict())  # what other searches left must not be what is forgotten
    monkeypatch.setattr(module, "_size", 0)
    monkeypatch.setattr(module, "LIMIT", 2 * 48)
    blocks = list(encode(np.arange(6.0)[:, None], [0, 1] * 3).map(lambda block: block))
    from dataclasses import replace

    three = [replace(blocks[0], first_row=at) for at in (0, 6, 12)]
    work = Work()
    for at in three:
        work.ask(owner, at, 0)
    work.ask(owner, three[2], 1)
    work.ask(owner, three[0], 1)
    assert work.done == ["build 0", "build 0", "build 0", "advance to 1", "build 1"]
    assert module._size <= module.LIMIT


def test_threads_may_ask_at_once(owner):
    table = encode(np.arange(600.0)[:, None], [0, 1] * 300)
    from dataclasses import replace

    block = next(table.map(lambda block: block))
    size = module._size
    with ThreadPoolExecutor(4) as pool:
        work = [
            pool.submit(scratch, owner, replace(block, first_row=i % 50), i // 50, lambda i=i: np.full(3, i // 50))
            for i in range(500)
        ]
        assert [job.result()[0] for job in work] == [i // 50 for i in range(500)]
    drop(owner)
    assert module._size == size
