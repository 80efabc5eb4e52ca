"""The demo tells the truth about built-in data."""

from __future__ import annotations

import numpy as np

from seminaive.cli import demo, main
from seminaive.cli.demo import OURS, PEERS
from seminaive.datasets import make_loans


def test_the_demo_compares_every_model_and_explains_one_decision(capsys, monkeypatch):
    apart = np.concatenate([np.arange(20.0), np.arange(40.0, 60.0)])[:, None]
    few = {"loans": make_loans(200), "apart": (apart, np.repeat([0, 1], 20))}
    monkeypatch.setattr(demo, "built_in_tables", lambda: few.items())
    assert main(["demo"]) == 0
    out, complaint = capsys.readouterr()
    assert complaint == ""
    lines = out.splitlines()
    for name in [*OURS, *PEERS]:
        (line,) = [line for line in lines if line.startswith(f"{name}  ")]
        assert float(line.split()[-2]) >= 0.5
    assert "boat (never seen)" in out
    assert "income     missing" in out


def test_only_our_models_take_the_mixed_table():
    X, y = make_loans(60)
    assert all(demo._cell(model, X, y) != "-" for model in OURS.values())
    assert demo._cell(PEERS["GaussianNB (scikit-learn)"], X, y) == "-"
