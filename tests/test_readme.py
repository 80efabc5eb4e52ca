"""What the README shows is what happens: its examples are run, in order, and their output is compared."""

from __future__ import annotations

import doctest
import re
import shlex
from pathlib import Path

import pytest

from seminaive.cli import main

ROOT = Path(__file__).parents[1]
README = (ROOT / "README.md").read_text()
BLOCKS = re.findall(r"^```(\w+)\n(.*?)^```$", README, re.M | re.S)


def test_the_tour_of_the_readme_is_true(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    runner = doctest.DocTestRunner(optionflags=doctest.NORMALIZE_WHITESPACE)
    names: dict[str, object] = {}
    for kind, text in BLOCKS:
        if kind == "pycon":
            examples = doctest.DocTestParser().get_doctest(text, names, "README.md", "README.md", 0)
            report: list[str] = []
            failed, tried = runner.run(examples, out=report.append, clear_globs=False)
            names = examples.globs
            assert tried > 0
            assert failed == 0, "".join(report)
        elif kind == "console":
            for session in re.split(r"^\$ ", text, flags=re.M)[1:]:
                command, _, expected = session.partition("\n")
                assert main(shlex.split(command)[1:]) == 0
                assert capsys.readouterr().out.split() == expected.split(), command
    assert (tmp_path / "predicted.csv").exists()


@pytest.mark.parametrize("page", ["README.md", *(str(p.relative_to(ROOT)) for p in ROOT.glob("docs/**/*.md"))])
def test_links_lead_somewhere(page):
    path = ROOT / page
    for link in re.findall(r"\]\(([^)#]+)", path.read_text()):
        assert link.startswith("https://") or (path.parent / link).exists(), link


@pytest.mark.parametrize("target", re.findall(r"`?make ([a-z-]+)", README))
def test_every_make_command_of_the_readme_exists(target):
    assert re.search(rf"^{target}:", (ROOT / "Makefile").read_text(), re.M)


def test_pictures_are_small():
    assert all(picture.stat().st_size < 60_000 for picture in ROOT.glob("docs/pictures/*"))
