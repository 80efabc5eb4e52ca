"""Small tables with everything in them that real ones have."""

from __future__ import annotations

import numpy as np
import pandas as pd

COLUMNS = ["colour", "word", "flag", "size", "count", "when", "took", "same"]


def messy(n=80, seed=0, classes=("no", "perhaps", "yes")):
    """A frame of eight kinds of columns with gaps, and labels that depend on some of them."""
    rng = np.random.default_rng(seed)
    labels = rng.integers(0, len(classes), n)
    gap = rng.random((n, 6)) < 0.1
    colour = (labels + (rng.random(n) < 0.3)) % 3
    size = np.where(gap[:, 0], np.nan, rng.normal(size=n) + labels)
    when = pd.Timestamp("2024-01-01") + pd.to_timedelta(np.round(rng.normal(size=n) + labels, 3), unit="D").round("s")
    took = pd.Series(pd.to_timedelta(rng.integers(0, 99, n), unit="min"))
    word = np.array(["", "a", "b", "a b"], dtype=object)[rng.integers(0, 4, n)]
    frame = pd.DataFrame(
        {
            "colour": pd.Categorical.from_codes(np.where(gap[:, 1], -1, colour), ["blue", "red", "green", "unused"]),
            "word": np.where(gap[:, 2], None, word),
            "flag": rng.random(n) < 0.3 + 0.2 * labels,
            "size": size,
            "count": rng.poisson(1 + labels),
            "when": pd.Series(when).mask(gap[:, 3]).astype("datetime64[us]"),
            "took": took.mask(gap[:, 4]).astype("timedelta64[us]"),
            "same": 7.0,
        }
    )
    return frame[COLUMNS], np.array(classes, dtype=object)[labels]


def numbers(n=60, p=4, seed=0):
    """Rounded numbers, many of them 0, and labels."""
    rng = np.random.default_rng(seed)
    y = rng.integers(0, 2, n)
    X = np.round(rng.normal(size=(n, p)) + y[:, None], 1) * (rng.random((n, p)) < 0.6)
    return X, y


def with_unseen(frame):
    """The frame with values that training never saw, and with gaps where there were none."""
    strange = frame.copy()
    strange["colour"] = strange["colour"].cat.add_categories(["pink"])
    strange.loc[::3, "colour"] = "pink"
    strange.loc[::4, "word"] = "never said"
    strange["flag"] = strange["flag"].astype(object).where(np.arange(len(strange)) % 5 > 0, None)
    strange.loc[::6, "size"] = np.nan
    strange.loc[1::6, "size"] = 1e9
    return strange


def said(parts, column):
    """What a column said for each class, (rows, classes): a column without a term says nothing."""
    if column not in parts.terms:
        return np.zeros(parts.scores.shape)
    return parts.values[:, parts.terms.index(column)]


def own_terms(parts):
    """Names of the terms that are columns: an average of models also has a term for the averaging."""
    return [term for term in parts.terms if term != "averaging"]


def is_answer(probabilities):
    """Whether every row is a distribution over classes, without NaN."""
    return bool(np.isfinite(probabilities).all()) and np.allclose(probabilities.sum(axis=1), 1, atol=1e-12)
