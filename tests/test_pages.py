"""The worked examples in the documentation say what the code says."""

import importlib.util
from pathlib import Path

import pytest

DOCS = Path(__file__).parent.parent / "docs"


@pytest.mark.slow
@pytest.mark.parametrize("page", ["adjusted", "bayesian-forest", "constrained", "engine-monitoring", "scale"])
def test_the_outputs_on_a_page_are_real(page):
    if page == "scale":
        pytest.importorskip("distributed")
    spec = importlib.util.spec_from_file_location("run_page", DOCS / "run_page.py")
    run_page = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(run_page)
    text = (DOCS / f"{page}.md").read_text()
    assert run_page.renewed(text) == text
