"""Public names are imported on first use, and look as if they had always been there."""

from __future__ import annotations

import ast
import subprocess
import sys
from pathlib import Path

import pytest

import seminaive


def test_what_type_checkers_read_is_what_runs():
    tree = ast.parse(Path(seminaive.__file__).read_text())
    told = {}
    for statement in ast.walk(tree):
        if isinstance(statement, ast.ImportFrom) and statement.module.partition(".")[0] == "seminaive":
            for name in statement.names:
                told[name.name] = statement.module.removeprefix("seminaive").removeprefix(".") or name.name
                assert name.asname == name.name  # the form by which a type checker knows a name to be public
    assert told == seminaive._HOMES


def test_every_public_name_is_there_and_is_offered():
    for name in seminaive.__all__:
        found = getattr(seminaive, name)
        assert getattr(found, "__name__", "").split(".")[-1] in (name, "")
    assert set(seminaive.__all__) <= set(dir(seminaive))


def test_an_unknown_name_is_an_attribute_error():
    with pytest.raises(AttributeError, match="module 'seminaive' has no attribute 'NaiveBase'"):
        seminaive.NaiveBase  # noqa: B018


LEFT_OUT = ("matplotlib", "pyarrow.dataset", "dask", "polars", "sklearn.feature_selection", "seminaive.search")


def test_a_first_fit_imports_what_it_needs():
    code = "import sys; from seminaive import NaiveBayes; NaiveBayes().fit([[0.0], [1.0], [3.0]], [0, 1, 1]); "
    code += f"print([name for name in {LEFT_OUT} if name in sys.modules])"
    done = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True)
    assert done.stdout.strip() == "[]"
