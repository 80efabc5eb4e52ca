"""Do promised class rates hold on rows that nobody has seen? Simulated classes with a large test set, and real halves.

Simulated rows are judged on 40,000 new ones of each class; of real data a random half is learned and the other half
counted, so that a broken promise there is partly the noise of the test half.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Hashable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from seminaive.models.constrained import ConstrainedNB

Floats = npt.NDArray[np.float64]
Rows = tuple[Floats, npt.NDArray[Any]]
Source = Callable[[int], tuple[Rows, Rows]]
"""From the number of a draw to the rows to learn from, and the new ones."""


def five_normals(rng: np.random.Generator, n: int) -> Rows:
    """Five independent normal columns, the positive class .6 higher in each: naive Bayes is right (AUC .83)."""
    y = np.arange(n) % 2
    return rng.normal(size=(n, 5)) + 0.6 * y[:, None], y


def five_bent(rng: np.random.Generator, n: int) -> Rows:
    """The same with a common part in all columns and exponential tails: naive Bayes is wrong."""
    x, y = five_normals(rng, n)
    return np.exp(0.5 * (x + 0.7 * rng.normal(size=(n, 1)))), y


def simulated(draw: Callable[[np.random.Generator, int], Rows], n: int) -> Source:
    """New rows to learn from in every draw; always the same 80,000 to count on."""
    new = draw(np.random.default_rng(10**6), 80_000)
    return lambda i: (draw(np.random.default_rng(i), n), new)


def halves(x: Floats, y: npt.NDArray[Any]) -> Source:
    """A random half of each class to learn from, the other to count on."""

    def draw(i: int) -> tuple[Rows, Rows]:
        rng = np.random.default_rng(i)
        learned = np.zeros(len(y), dtype=bool)
        for label in np.unique(y):
            rows = rng.permutation(np.flatnonzero(y == label))
            learned[rows[: len(rows) // 2]] = True
        return (x[learned], y[learned]), (x[~learned], y[~learned])

    return draw


@dataclass(frozen=True)
class Held:
    """What became of promises on new rows.

    Attributes
    ----------
    kept, broken : int
        Draws with a model that claims to keep all promises: those where it does on new rows, and those where it fails.
    refused : int
        Draws in which the promises could not be had, or not be certified.
    rates : tuple of float
        Mean recall on new rows of every promised class, over the draws with a model.
    """

    kept: int
    broken: int
    refused: int
    rates: tuple[float, ...]

    @property
    def share(self) -> float:
        """Of the models that claim to keep their promises, those that do."""
        return self.kept / (self.kept + self.broken) if self.kept + self.broken else float("nan")

    def __str__(self) -> str:
        if not self.kept + self.broken:
            return "too few cases"
        return f"{self.share:.2f} ({', '.join(f'{rate:.3f}' for rate in self.rates)})"


def held(source: Source, recalls: Mapping[Hashable, float], draws: int, **how: Any) -> Held:
    """Promise recalls in so many draws, and count on new rows which of the promises hold."""
    constraints = {label: {"recall": rate} for label, rate in recalls.items()}
    reached, refused = [], 0
    for i in range(draws):
        (x, y), (new, labels) = source(i)
        model = ConstrainedNB(constraints=constraints, on_infeasible="warn", random_state=i, **how)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", UserWarning)
            model.fit(x, y)
        if model.status_ not in ("feasible", "map_feasible"):
            refused += 1
            continue
        right = model.predict(new) == labels
        reached.append([float(right[labels == label].mean()) for label in recalls])
    rates = np.array(reached).reshape(-1, len(recalls))
    kept = int((rates >= np.array(list(recalls.values()))).all(axis=1).sum())
    means = tuple(rates.mean(axis=0).tolist()) if len(rates) else ()
    return Held(kept, len(rates) - kept, refused, means)


def columns(data: Path | None) -> dict[str, tuple[Source, dict[Hashable, float]]]:
    """The sources of the study with what is promised there; the diabetes data only where their file is at hand."""
    from sklearn.datasets import load_breast_cancer

    x, y = load_breast_cancer(return_X_y=True)
    found: dict[str, tuple[Source, dict[Hashable, float]]] = {
        "normal, 200 rows": (simulated(five_normals, 200), {1: 0.95}),
        "normal, 1000 rows": (simulated(five_normals, 1000), {1: 0.95}),
        "bent, 200 rows": (simulated(five_bent, 200), {1: 0.95}),
        "breast cancer": (halves(x, y), {0: 0.95}),
    }
    if data is not None and (data / "diabetes.parquet").is_file():
        import pandas as pd

        frame = pd.read_parquet(data / "diabetes.parquet")
        numbers = frame.drop(columns="class").to_numpy(dtype=np.float64)
        found["diabetes (.9)"] = (halves(numbers, frame["class"].to_numpy().astype(str)), {"positive": 0.9})
    return found


LINES: tuple[tuple[str, str, float | None], ...] = (
    *(("offset", place, confidence) for place in ("train", "holdout", "cv") for confidence in (None, 0.95)),
    ("density", "train", None),
    ("density", "cv", None),
    ("density", "cv", 0.95),
    ("auto", "cv", 0.95),
)
"""Method, where promises are counted, confidence."""


def generalisation(draws: int, moved_draws: int, data: Path | None) -> Iterator[str]:
    """How often a promised recall holds on new rows, by where it was counted and with or without a bound."""
    sources = columns(data)
    yield "A promised recall of .95 on new rows: share of promises that hold (mean recall)"
    yield f"  {'':<22} " + " ".join(f"{name:>18}" for name in sources)
    for method, place, confidence in LINES:
        n_draws = moved_draws if method == "density" else draws
        cells = []
        for name, (source, recalls) in sources.items():
            slow = method == "density" and "200" not in name
            how = {"method": method, "evaluate_on": place, "confidence": confidence}
            cells.append("" if slow else str(held(source, recalls, n_draws, **how)))
        label = f"{method}, {place}" + (" + bound" if confidence else "")
        yield f"  {label:<22} " + " ".join(f"{cell:>18}" for cell in cells).rstrip()
    yield (
        f"  {draws} draws per cell, {moved_draws} for density, which is not run where it is slow; breast cancer and "
        f"diabetes: random halves, {'diabetes with a promise of .9' if len(sources) > 4 else 'diabetes need --data'}"
    )
