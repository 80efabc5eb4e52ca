"""Is leave-one-out, to first order, as good a choice of the penalty as ten-fold cross-validation?

Both choose on the training rows; what counts is the loss on others. On DNA that is the fixed test set, on lymphography
(148 rows) the rows of each fold left out in turn, on generated sets 20,000 new rows for each of several draws.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from seminaive.evaluate.calibration import log_loss_bits
from seminaive.models.adjusted import AdjustedNB
from seminaive.models.adjusted_choice import Select
from seminaive.models.adjusted_terms import Form
from seminaive.reproduce.adjusted_sets import fixed_split, in_folds, read
from seminaive.reproduce.paper_table import Reproduction, Request

Codes = npt.NDArray[np.int64]
Pair = tuple[tuple[Any, npt.NDArray[Any]], tuple[Any, npt.NDArray[Any]]]
ASKED = 0.002
NEW_ROWS = 20_000


class TenFolds(AdjustedNB):
    """The penalty by ten-fold cross-validation; tables and weights are learned anew in every fold."""

    def _chosen_by(self, form: Form, rows: float) -> tuple[Select | None, int]:
        return "cv", 10


def repeated_columns(rng: np.random.Generator, n: int) -> tuple[Codes, Codes]:
    """Three classes; ten informative columns of four levels, each there three times with some noise."""
    y = rng.integers(0, 3, n)
    informed = rng.random((n, 10)) < 0.25
    plain = np.where(informed, (y[:, None] + np.arange(10)) % 4, rng.integers(0, 4, (n, 10)))
    copies = np.tile(plain, 3)
    return np.where(rng.random(copies.shape) < 0.3, rng.integers(0, 4, copies.shape), copies), y


def hidden_groups(rng: np.random.Generator, n: int) -> tuple[Codes, Codes]:
    """Five classes of unequal size, each of two hidden kinds that move half of the 24 columns: naive Bayes is wrong."""
    y = rng.choice(5, n, p=[0.4, 0.25, 0.2, 0.1, 0.05])
    kind = rng.integers(0, 2, n)
    j = np.arange(24)
    pull = np.where(j % 2, (y[:, None] + j) % 3, (y[:, None] + kind[:, None] + j) % 3)
    return np.where(rng.random((n, 24)) < 0.3, pull, rng.integers(0, 3, (n, 24))), y


def eight_levels(rng: np.random.Generator, n: int) -> tuple[Codes, Codes]:
    """Two classes; twelve columns of eight levels, so that tables are thin where rows are few."""
    y = rng.integers(0, 2, n)
    informed = rng.random((n, 12)) < 0.15
    return np.where(informed, (4 * y[:, None] + np.arange(12)) % 8, rng.integers(0, 8, (n, 12))), y


GENERATED: dict[str, tuple[Callable[[np.random.Generator, int], tuple[Codes, Codes]], int]] = {
    "repeated columns, 300 rows": (repeated_columns, 300),
    "repeated columns, 1500 rows": (repeated_columns, 1500),
    "repeated columns, 5000 rows": (repeated_columns, 5000),
    "hidden groups, 300 rows": (hidden_groups, 300),
    "hidden groups, 1500 rows": (hidden_groups, 1500),
    "hidden groups, 5000 rows": (hidden_groups, 5000),
}
LOGIT: dict[str, tuple[Callable[[np.random.Generator, int], tuple[Codes, Codes]], int]] = {
    f"eight levels, two classes, {n} rows": (eight_levels, n) for n in (60, 120, 300, 1000)
}


def generated(name: str, draws: int) -> Iterator[Pair]:
    """Training rows, and new ones from the same source, several times."""
    draw, n = {**GENERATED, **LOGIT}[name]
    for seed in range(draws):
        rng = np.random.default_rng(seed)
        yield draw(rng, n), draw(rng, NEW_ROWS)


def from_file(folder: Path, name: str, repetitions: int) -> Iterator[Pair]:
    """The fixed split of DNA, or ten folds several times."""
    X, y, train = read(folder, name)
    if train is not None:
        yield fixed_split(X, y, train)
        return
    for repetition in range(repetitions):
        yield from in_folds(X, y, 10, repetition)


def compared(pairs: Iterator[Pair], shared: bool) -> tuple[npt.NDArray[np.float64], npt.NDArray[np.float64]]:
    """Loss of the three choices on every test set, (test sets, 3), and the time each took."""
    losses, seconds = [], np.zeros(3)
    for (X, y), (new_X, new_y) in pairs:
        wishes: dict[str, Any] = {"shared": shared, "nominal": range(X.shape[1])}
        models = (
            AdjustedNB(select="alo", **wishes),
            AdjustedNB(select="cv", **wishes),
            TenFolds(**wishes),
        )
        row = []
        for i, model in enumerate(models):
            began = time.process_time()
            model.fit(X, y)
            seconds[i] += time.process_time() - began
            row.append(log_loss_bits(new_y, model.predict_proba(new_X), classes=model.classes_))
        losses.append(row)
    return np.array(losses), seconds


def run(request: Request) -> Iterator[str]:
    """One line per set; lymphography and DNA only where their folder is named. ``quick``: fewer draws."""
    draws, repetitions = (2, 1) if request.quick else (12, 5)
    sets: dict[str, Callable[[], Iterator[Pair]]] = {name: partial(generated, name, draws) for name in GENERATED}
    if request.data is not None:
        for name in ("dna", "lymphography"):
            if (request.data / f"{name}.parquet").is_file():
                sets[name] = partial(from_file, request.data, name, repetitions)
    groups = (("bits on new rows, chosen by", 38), ("more than with ten folds", 42), ("time / leave-one-out", 24))
    yield " " * 46 + "".join(f"{group:>{width}}" for group, width in groups)
    columns = ("leave-one-out", "5 folds", "10 folds", "leave-one-out", "5 folds", "5, 10 folds")
    yield " " * 46 + "".join(f"{c:>{width}}" for c, width in zip(columns, (14, 12, 12, 21, 21, 24), strict=True))
    logit: dict[str, Callable[[], Iterator[Pair]]] = {name: partial(generated, name, draws) for name in LOGIT}
    for shared in (False, True):
        for name, make in {**sets, **({} if shared else logit)}.items():
            losses, seconds = compared(make(), shared)
            title = f"{name}, {'one weight' if shared else 'a weight per class'}"
            shown = "".join(f"{loss:>12.4f}" for loss in losses.mean(axis=0))
            gaps = [losses[:, i] - losses[:, 2] for i in (0, 1)]
            took = f"{seconds[1] / seconds[0]:.1f}, {seconds[2] / seconds[0]:.1f}"
            verdict = f"  leave-one-out worse by more than {ASKED}" if gaps[0].mean() > ASKED else ""
            yield f"{title:<48}{shown}{more(gaps[0]):>21}{more(gaps[1]):>21}{took:>24}{verdict}"
    yield "±: standard error over draws or test sets"


def more(gap: npt.NDArray[np.float64]) -> str:
    """A mean difference and its standard error."""
    error = f" ± {gap.std(ddof=1) / np.sqrt(len(gap)):.4f}" if len(gap) > 1 else " " * 9
    return f"{gap.mean():+.4f}{error}"


TABLE = Reproduction(
    title="AdjustedNB: the penalty by leave-one-out or by ten folds",
    source="Data: Hong, Hosking, Natarajan (2002), DNA and lymphography, if --data names their folder; generated sets",
    run=run,
)
