"""A damaged file of a real model is one clear error, whatever the damage."""

import random

import numpy as np
import pandas as pd
import pytest

from seminaive import NaiveBayes, load


def saved(path):
    rng = np.random.default_rng(0)
    y = rng.integers(0, 3, 60)
    X = pd.DataFrame(
        {"word": rng.choice(["", "a", "b"], 60), "size": rng.normal(size=60) + y, "n": rng.integers(0, 9, 60)}
    )
    NaiveBayes().fit(X, np.array(["p", "q", "r"])[y]).save(path)
    return path.read_bytes()


def damaged(good, rng):
    """Flip, cut, double, swap or overwrite some bytes."""
    data = bytearray(good)
    at, size = rng.randrange(len(data)), rng.randrange(1, 65)
    kind = rng.randrange(5)
    if kind == 0:
        data[at] ^= 1 << rng.randrange(8)
    elif kind == 1:
        del data[at : at + size]
    elif kind == 2:
        data[at:at] = data[at : at + size]
    elif kind == 3:
        data = data[:at]
    else:
        data[at : at + size] = rng.randbytes(size)
    return bytes(data)


def check_damage(tmp_path, n_files):
    path = tmp_path / "model.snb"
    good, rng = saved(path), random.Random(1)
    for _ in range(n_files):
        bad = damaged(good, rng)
        if bad != good:
            path.write_bytes(bad)
            with pytest.raises(ValueError, match=r"\S"):
                load(path)


def test_damaged_models_are_refused(tmp_path):
    check_damage(tmp_path, 300)


@pytest.mark.slow
def test_ten_thousand_damaged_models_are_refused(tmp_path):
    check_damage(tmp_path, 10_000)


@pytest.mark.parametrize("spoil", ["prior", "mean", "table", "classes"])
def test_a_model_whose_parts_do_not_fit_together_is_refused(spoil, tmp_path):
    from dataclasses import replace

    X, y = pd.DataFrame({"w": ["a", "b", "a"], "x": [1.0, 2.0, 4.0]}), [0, 1, 1]
    model = NaiveBayes().fit(X, y)
    evidence = model.evidence_
    if spoil == "classes":
        model.classes_ = np.array([0, 1, 2])
    elif spoil == "prior":
        object.__setattr__(evidence, "prior", np.zeros(3))
    else:
        j = 0 if spoil == "table" else 1
        wrong = {"table": {"table": np.zeros((2, 9))}, "mean": {"mean": np.zeros(5)}}[spoil]
        terms = list(evidence.terms)
        terms[j] = replace(terms[j], **wrong)
        object.__setattr__(evidence, "terms", tuple(terms))
    model.save(tmp_path / "model.snb")
    with pytest.raises(ValueError, match=r"prior|Gaussian|table|classes"):
        load(tmp_path / "model.snb")
