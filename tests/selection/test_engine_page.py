"""The worked example in the documentation says what the code says."""

import importlib.util
from pathlib import Path

import pytest

import seminaive

DOCS = Path(__file__).parent.parent.parent / "docs"


@pytest.mark.slow
@pytest.mark.skipif(not hasattr(seminaive, "NBSelector"), reason="the page uses the public names")
def test_the_outputs_on_the_engine_page_are_real():
    spec = importlib.util.spec_from_file_location("run_page", DOCS / "run_page.py")
    run_page = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(run_page)
    page = (DOCS / "engine-monitoring.md").read_text()
    assert run_page.renewed(page) == page
