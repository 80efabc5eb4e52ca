"""Table 3 of the Bayesian forest paper beside ours: accuracy and log loss of nine classifiers on its data sets.

All models are fitted on the training rows and nothing else, bins included. On some sets the published level is reached
only if bins are learned from all rows, the test rows' classes among them; ``leaky`` shows what that gives.
"""

from __future__ import annotations

import warnings
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd
from sklearn.exceptions import ConvergenceWarning
from threadpoolctl import threadpool_limits

from seminaive.evaluate.scores import score_predictions
from seminaive.reproduce.adjusted_sets import read
from seminaive.reproduce.forest_peers import PEERS, Peer
from seminaive.reproduce.forest_sets import ABSENT, PRINTED, SETS, DataSet
from seminaive.reproduce.paper_table import Reproduction, Request
from seminaive.selection.discretizer import Discretizer

FOLDS, RUNS, QUICK = 5, 3, ("corral", "iris", "heart")
MOST_LOSS = 0.40
"""Asked of the forest's mean log loss over the sets of at most 5,000 rows."""
NEAR, NEAR_IF_FEW, FEW, NAIVE_NEAR = 1.5, 3.0, 200, 0.5
"""How many points the forest may be off its aim, with fewer than 200 rows, and naive Bayes on a fixed split."""

Labels = npt.NDArray[np.int64]
Splits = list[list[tuple[npt.NDArray[np.bool_], npt.NDArray[np.bool_]]]]


@dataclass(frozen=True, eq=False)
class Rows:
    """A data set ready to be split."""

    X: pd.DataFrame
    y: Labels
    train: npt.NDArray[np.bool_] | None

    @property
    def n_classes(self) -> int:
        return int(self.y.max()) + 1


@dataclass
class Scores:
    """Accuracy in percent and log loss of every run."""

    accuracy: list[float] = field(default_factory=list)
    loss: list[float] = field(default_factory=list)

    @property
    def mean(self) -> float:
        return float(np.mean(self.accuracy))

    @property
    def mean_loss(self) -> float:
        return float(np.mean(self.loss))

    @property
    def spread(self) -> str:
        """Standard deviation over the runs."""
        return f"±{np.std(self.accuracy, ddof=1):.1f}" if len(self.accuracy) > 1 else ""


@dataclass
class Outcome:
    """What was measured on one data set: scores by classifier, with bins from training rows and from all rows."""

    data: DataSet
    rows: Rows
    fair: dict[str, Scores] = field(default_factory=lambda: defaultdict(Scores))
    leaky: dict[str, Scores] = field(default_factory=lambda: defaultdict(Scores))
    skipped: list[str] = field(default_factory=list)
    fits: int = 0
    apart: int = 0
    """Forests, and those whose chains had not met."""


def rows_of(folder: Path, data: DataSet) -> Rows:
    """The rows as the paper takes them: without gaps, but for one set."""
    table, labels, train = read(folder, data.file.removesuffix(".parquet"))
    X = table.drop_columns(list(data.drop)).to_pandas()
    kept = np.ones(len(X), dtype=bool) if data.gaps else ~X.isna().any(axis=1).to_numpy()
    y = np.unique(labels[kept], return_inverse=True)[1].astype(np.int64)
    return Rows(X[kept].reset_index(drop=True), y, train[kept] if train is not None and data.split else None)


def splits_of(rows: Rows, runs: int) -> Splits:
    """For every run the pairs of training and test rows: the fixed split, or random folds."""
    if rows.train is not None:
        return [[(rows.train, ~rows.train)]] * runs
    fold_of = [np.random.default_rng(run).permutation(len(rows.y)) % FOLDS for run in range(runs)]
    return [[(fold != number, fold == number) for number in range(FOLDS)] for fold in fold_of]


def predicted(model: Any, X: pd.DataFrame, n_classes: int) -> tuple[Labels, npt.NDArray[np.float64] | None]:
    """Predicted classes, and probabilities of all classes; one that is not in the training rows has none."""
    labels = np.asarray(model.predict(X))
    if not hasattr(model, "predict_proba"):
        return labels, None
    probabilities = np.zeros((len(X), n_classes))
    probabilities[:, model.classes_] = model.predict_proba(X)
    return labels, probabilities


def one_run(
    peer: Peer, X: pd.DataFrame, y: Labels, pairs: Sequence[Any], medians: bool, seed: int
) -> tuple[float, float, int]:
    """Accuracy in percent and log loss over all test rows, and how many chains had not met."""
    n_classes = int(y.max()) + 1
    right, losses, apart = 0.0, 0.0, 0
    tested = sum(int(test.sum()) for _, test in pairs)
    for train, test in pairs:
        with warnings.catch_warnings(record=True) as heard:
            warnings.simplefilter("always")
            model = peer.make(X[train], medians, seed).fit(X[train], y[train])
            labels, probabilities = predicted(model, X[test], n_classes)
        apart += any(issubclass(w.category, ConvergenceWarning) for w in heard) and peer.ours
        right += float(np.sum(labels == y[test]))
        losses += float(test.sum()) * score_predictions("log_loss", y[test], labels, probabilities)
    return 100 * right / tested, losses / tested, apart


def measure(folder: Path, data: DataSet, runs: int, leaky: bool) -> Outcome:
    """Fit and score everything on one data set."""
    rows = rows_of(folder, data)
    found = Outcome(data, rows)
    splits = splits_of(rows, runs)
    work = float(splits[0][0][0].sum()) * rows.X.shape[1] * rows.n_classes
    seen = Discretizer().fit_transform(rows.X, rows.y) if leaky and not data.medians else rows.X
    with threadpool_limits(1):
        for peer in PEERS:
            if work > peer.most_work:
                found.skipped.append(peer.name)
                continue
            for seed, pairs in enumerate(splits):
                if seed and rows.train is not None and not peer.random:
                    break
                accuracy, loss, apart = one_run(peer, rows.X, rows.y, pairs, data.medians, seed)
                found.fair[peer.name].accuracy.append(accuracy)
                found.fair[peer.name].loss.append(loss)
                if peer.name == "SBFC":
                    found.fits, found.apart = found.fits + len(pairs), found.apart + apart
                if leaky and peer.ours:
                    accuracy, loss, _ = one_run(peer, seen, rows.y, pairs, data.medians, seed)
                    found.leaky[peer.name].accuracy.append(accuracy)
                    found.leaky[peer.name].loss.append(loss)
    return found


# --- printing -------------------------------------------------------------------------------------------------------


def cells(values: Sequence[str]) -> str:
    """Cells of one width, numbers below one another: what follows the first blank stands behind."""
    parts = [value.partition(" ") for value in values]
    return "".join(f"{number:>8} {more:<5}" for number, _, more in parts).rstrip()


def as_lines(found: Outcome) -> Iterator[str]:
    """A block of lines: the paper's accuracy, ours, and log loss."""
    printed = PRINTED[found.data.name]
    paper = [printed.get(peer.paper) for peer in PEERS]
    yield f"{found.data.name:<13}{'paper':<10}" + cells([f"{p[0]:.1f} ±{p[1]:g}" if p else "-" for p in paper])
    n, d = found.rows.X.shape
    beside = {"ours": (f"{n} x {d}", "fixed split" if found.rows.train is not None else f"{FOLDS} folds")}
    for what, by_peer in (("ours", found.fair), ("leaky", found.leaky)):
        if not by_peer:
            continue
        first, second = beside.get(what, ("", ""))
        scores = [by_peer.get(peer.name) for peer in PEERS]
        means = [f"{s.mean:.1f} {s.spread}" if s else "-" for s in scores]
        losses = [f"{s.mean_loss:.3f}" if s and np.isfinite(s.mean_loss) else "-" for s in scores]
        yield f"{first:<13}{what:<10}" + cells(means)
        yield f"{second:<13}{'log loss':<10}" + cells(losses)


def verdicts(found: Outcome) -> tuple[list[str], list[str]]:
    """What was asked on one set, and which of it was not reached."""
    aim, n = found.data.aim, len(found.rows.y)
    if aim is None:
        return [], []
    near = NEAR_IF_FEW if n < FEW else NEAR
    asked = [("SBFC", found.fair["SBFC"].mean, aim.accuracy, near)]
    if found.rows.train is not None:
        asked.append(("NB", found.fair["NB"].mean, aim.naive, NAIVE_NEAR))
    texts = [
        (f"{found.data.name} {name} {ours:.2f}, asked {to:.1f} ± {by}", abs(ours - to) <= by + 0.05)
        for name, ours, to, by in asked
    ]  # the aim is rounded to a tenth
    return [text for text, _ in texts], [text for text, reached in texts if not reached]


def summary(outcomes: Sequence[Outcome]) -> Iterator[str]:
    """Means over the sets of few rows, of the classifiers that ran on all of them."""
    everywhere = [p for p in PEERS if all(p.name in o.fair for o in outcomes)]
    yield f"means over {len(outcomes)} sets of at most 5,000 rows"
    yield f"{'':<23}" + cells([peer.name for peer in everywhere])
    for title, what, digits in (("accuracy", "mean", 2), ("log loss", "mean_loss", 3)):
        means = [np.mean([getattr(o.fair[p.name], what) for o in outcomes]) for p in everywhere]
        yield f"{title:<23}" + cells([f"{m:.{digits}f}" if np.isfinite(m) else "-" for m in means])


def verdict(outcomes: Sequence[Outcome]) -> Iterator[str]:
    """What was asked, and what of it is not reached."""
    asked, missed = [], []
    for of_one in map(verdicts, outcomes):
        asked += of_one[0]
        missed += of_one[1]
    small = [o.fair["SBFC"].mean_loss for o in outcomes if o.data.few_rows]
    asked.append(f"mean log loss of SBFC over {len(small)} sets {np.mean(small):.3f}, asked <= {MOST_LOSS:.2f}")
    missed += asked[-1:] if np.mean(small) > MOST_LOSS else []
    yield asked[-1]
    yield from (f"NOT REACHED: {text}" for text in missed)
    yield f"{len(asked) - len(missed)} of {len(asked)} figures asked for are reached"


def chosen(request: Request, folder: Path) -> tuple[list[DataSet], dict[str, list[str]]]:
    """The sets to run, and the rows of the paper's table that are not run, by reason."""
    run: list[DataSet] = []
    left: dict[str, list[str]] = defaultdict(list)
    for data in SETS:
        if request.quick and data.name not in QUICK:
            left["--quick"].append(data.name)
        elif not (data.few_rows or request.every):
            left["large: run with --all"].append(data.name)
        elif not data.held(folder):
            left["the folder does not hold it"].append(data.name)
        else:
            run.append(data)
    for name, reason in ABSENT.items():
        left[reason].append(name)
    return run, left


def run(request: Request) -> Iterator[str]:
    """Block by block as they are known."""
    assert request.data is not None
    sets, left = chosen(request, request.data)
    runs = 1 if request.quick else RUNS
    yield f"accuracy in percent ± its spread over runs (paper 5, ours {runs}); log loss in nats; boosted beside BART"
    yield f"{'':<23}" + cells([peer.name for peer in PEERS])
    outcomes = []
    for data in sets:
        outcomes.append(measure(request.data, data, runs, request.leaky))
        yield from as_lines(outcomes[-1])
    yield ""
    yield from summary([o for o in outcomes if o.data.few_rows])
    yield ""
    if runs == RUNS:
        yield from verdict(outcomes)
    else:
        yield f"what was asked is judged on the mean of {RUNS} runs, not here"
    fits, apart = sum(o.fits for o in outcomes), sum(o.apart for o in outcomes)
    yield f"forests whose chains had not met: {apart} of {fits}"
    for o in outcomes:
        if o.skipped:
            yield f"{o.data.name}: {', '.join(o.skipped)} would take too long"
    for reason, names in left.items():
        yield f"not run ({reason}): {', '.join(names)}"
    yield from NOTES


NOTES = (
    "Rows with gaps are left out, but in vote, as in the paper. madelon is the authors' two-valued version. Bins are",
    "learned from training rows: medians for isolet and arcene, cuts where the classes differ (MDL) for all others.",
    "leaky: bins learned from all rows, classes of the test rows included. It is not a fair measure.",
    "Splits of chess, segment, letter and shuttle have the paper's sizes, perhaps not its members.",
)

TABLE = Reproduction(
    title="Bayesian forest and eight other classifiers on the data sets of its paper",
    source="Krakovna, Du and Liu (2015), Selective Bayesian Forest Classifier, Table 3",
    run=run,
    files=tuple(data.file for data in SETS if data.name in QUICK),
)
