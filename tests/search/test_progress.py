"""Searches that take long show one line, when asked."""

import time

import pytest

from seminaive.search.progress import count_line, progress_line


@pytest.fixture
def hardly_any_time_passes(monkeypatch):
    monkeypatch.setattr(time, "monotonic", iter([10.0, 10.1, 10.3, 10.35]).__next__)


def test_nothing_is_shown_unless_asked_for():
    assert progress_line("error", 0) is None
    assert count_line("iterations", 10, verbose=False) is None


def test_the_line_is_renewed_now_and_then_and_ended_with_the_last_step(hardly_any_time_passes, capsys):
    show = progress_line("error", verbose=True)
    for step in (1, 2, 3, 4):
        show(step, 4, 1 / step)
    lines = ["\rerror 1.0000, step 1 of 4", "\rerror 0.3333, step 3 of 4", "\rerror 0.2500, step 4 of 4\n"]
    assert capsys.readouterr().err == "".join(lines)


def test_steps_of_all_threads_are_counted(hardly_any_time_passes, capsys):
    show = count_line("iterations", 10, verbose=1)
    for steps in (3, 2, 4, 1):
        show(steps)
    lines = ["\riterations: 3 of 10", "\riterations: 9 of 10", "\riterations: 10 of 10\n"]
    assert capsys.readouterr().err == "".join(lines)
