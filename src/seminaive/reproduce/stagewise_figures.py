"""The figures of the stagewise paper: what noisy predictors do to naive Bayes, and what doses and a path do about it.

The data are those of `make_stagewise_example`: three good predictors of three classes, and noise. Where the paper
leaves a choice open (the share of equal rows in figures 3 and 4, the step of figure 5), ours is printed.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from seminaive.datasets.stagewise import StagewiseData, make_stagewise_example
from seminaive.models.mixed import Mixed
from seminaive.models.naive import Estimation, gather_sums
from seminaive.models.naive_bayes import NaiveBayes
from seminaive.models.stagewise import StagewiseNB
from seminaive.reproduce.paper_table import Reproduction, Request
from seminaive.reproduce.stagewise_methods import AS_IN_THE_PAPER, PAPER_MODE, SOURCE, mean_and_error
from seminaive.table.door import encode

if TYPE_CHECKING:
    from matplotlib.figure import Figure

Floats = npt.NDArray[np.float64]

STEPS = 40
"""Doses are looked at in so many steps."""
EQUAL = 0.5
"""Share of the rows in which X3 is set to X2 in figures 3b and 4b."""
CLASSES = ("class 1", "class 2", "class 3")


def run(request: Request) -> Iterator[str]:
    """All six; pictures are written if a folder is named. ``quick`` draws fewer data sets for figure 1."""
    if request.pictures is not None:
        request.pictures.mkdir(parents=True, exist_ok=True)
    for number, figure in enumerate(FIGURES, start=1):
        lines, draw = figure(request)
        yield from lines
        if request.pictures is not None:
            yield f"  -> {save(draw, request.pictures / f'stagewise-figure{number}.png')}"
        yield ""
    if request.pictures is None:
        yield "--output FOLDER writes the pictures"


Drawing = Callable[["Figure"], None]


def save(draw: Drawing, file: Path) -> Path:
    """Draw without a window and write the picture."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(8, 4), layout="constrained")
    draw(figure)
    figure.savefig(file, dpi=120)
    return file


# --- what columns say at every dose -----------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class Said:
    """What every column says of some rows at every dose.

    Attributes
    ----------
    prior : array (classes,)
    evidence : array (STEPS + 1, rows, columns, classes)
    truth : array (rows,)
    """

    prior: Floats
    evidence: Floats
    truth: npt.NDArray[np.int64]

    def scores(self, doses: npt.NDArray[np.int64]) -> Floats:
        """Scores (rows, classes) with these doses, counted in steps."""
        return self.prior + sum(self.evidence[dose, :, j] for j, dose in enumerate(doses.tolist()))

    def error(self, doses: npt.NDArray[np.int64]) -> float:
        """Share of the rows that are wrong."""
        return float(np.mean(self.scores(doses).argmax(axis=1) != self.truth))


def said_of(data: StagewiseData, nominal: bool) -> tuple[Said, Said]:
    """What the columns, learned from the training rows, say of these and of the test rows."""
    columns = list(range(data.X.shape[1])) if nominal else []
    how = Estimation(smoothing=0.0, smoothing_kind="pooled", variance_prior=None)
    model = NaiveBayes(smoothing_kind="pooled", nominal=columns, **AS_IN_THE_PAPER).fit(data.X, data.y)
    plain = model.evidence_
    mixed = Mixed(plain, gather_sums(encode(data.X, data.y, nominal=columns)), how, "parameters")
    parts: list[list[Floats]] = [[], []]
    for dose in range(1, STEPS + 1):
        model.evidence_ = replace(plain, terms=tuple(mixed.term(t.column, dose / STEPS) for t in plain.terms))
        for part, rows in zip(parts, (data.X, data.X_test), strict=True):
            part.append(model.contributions(rows).values)
    silent = [np.zeros_like(part[0]) for part in parts]
    training, test = (np.stack([nothing, *part]) for nothing, part in zip(silent, parts, strict=True))
    return Said(plain.prior, training, data.y), Said(plain.prior, test, data.y_test)


# --- figures 1 and 2: naive Bayes among noise -------------------------------------------------------------------------


def figure_1(request: Request) -> tuple[list[str], Drawing]:
    """Test errors without noise, with 50 irrelevant and with 50 redundant columns."""
    draws = 10 if request.quick else 100
    kinds: dict[str, dict[str, Any]] = {
        "no noise": {},
        "50 irrelevant": {"n_noisy": 50},
        "50 copies of X1": {"n_noisy": 50, "redundant": True},
    }
    errors = {
        name: [naive_error(make_stagewise_example(seed, **how)) for seed in range(draws)] for name, how in kinds.items()
    }
    lines = [f"Figure 1: test error of naive Bayes, mean ± s.e. of {draws} data sets (seeds from 0)"]
    for name, found in errors.items():
        mean, spread = mean_and_error(found)
        quartiles = "/".join(f"{q:.3f}" for q in np.quantile(found, [0.25, 0.5, 0.75]))
        lines.append(f"  {name:<16} {mean:.4f} ± {spread:.4f}   quartiles {quartiles}")
    means = [float(np.mean(found)) for found in errors.values()]
    holds = means[0] < means[1] < means[2]
    lines.append(f"  paper: both kinds of noise hurt, copies more: {'holds' if holds else 'does NOT hold'}")

    def draw(figure: Figure) -> None:
        ax = figure.subplots()
        ax.boxplot(list(errors.values()))
        ax.set_xticks(range(1, 4), list(errors))
        ax.set_ylabel("test error of naive Bayes")

    return lines, draw


def naive_error(data: StagewiseData) -> float:
    """Test error of naive Bayes on all columns."""
    nominal = list(range(data.X.shape[1]))
    model = NaiveBayes(smoothing_kind="pooled", nominal=nominal, **AS_IN_THE_PAPER).fit(data.X, data.y)
    return float(np.mean(model.predict(data.X_test) != data.y_test))


def figure_2(request: Request) -> tuple[list[str], Drawing]:
    """Test error of all rows and of each class as columns come in one by one."""
    curves = {}
    for name, redundant in (("irrelevant", False), ("redundant", True)):
        data = make_stagewise_example(0, n_noisy=47, redundant=redundant)
        model = NaiveBayes(smoothing_kind="pooled", nominal=list(range(50)), **AS_IN_THE_PAPER).fit(data.X, data.y)
        parts = model.contributions(data.X_test)
        scores = parts.prior + np.cumsum(parts.values, axis=1)
        wrong = scores.argmax(axis=2) != data.y_test[:, None]
        curves[name] = np.array([wrong.mean(axis=0), *(wrong[data.y_test == k].mean(axis=0) for k in range(3))])
    lines = ["Figure 2: test error while noisy columns are added, seed 0; all rows, and those of each class"]
    for name, of_kind in curves.items():
        for size in (3, 10, 20, 50):
            cells = "  ".join(f"{value:.3f}" for value in of_kind[:, size - 1])
            lines.append(f"  {name:<11} {size:>2} columns   {cells}")
    copies = curves["redundant"]
    better = copies[1, -1] < copies[1, 2]
    worse = bool((copies[2:, -1] > copies[2:, 2]).any())
    verdict = "holds" if better and worse else "does NOT hold"
    lines.append(f"  paper: copies of X1 serve class 1, which X1 tells from the others, at their cost: {verdict}")

    def draw(figure: Figure) -> None:
        for ax, (name, of_kind) in zip(figure.subplots(1, 2, sharey=True), curves.items(), strict=True):
            for label, style, values in zip(("all", *CLASSES), ("-", "--", ":", "-."), of_kind, strict=True):
                ax.plot(range(1, 51), values, style, color="black", label=label)
            ax.axvline(3, color="#bbbbbb")
            ax.set_xlabel(f"columns (after the third: {name})")
        figure.axes[0].set_ylabel("test error")
        figure.axes[1].legend()

    return lines, draw


# --- figures 3 and 4: how loudly two columns should speak -------------------------------------------------------------


def _surfaces(number: int, continuous: bool) -> tuple[list[str], Drawing]:
    grid = np.arange(0, STEPS + 1, 2)
    found: dict[str, Floats] = {}
    what = "continuous" if continuous else "discrete"
    lines = [f"Figure {number}: test error by the doses of X2 and X3 ({what}; X1 in full), mean of seeds 0 to 4"]
    shown = (0, len(grid) // 2, len(grid) - 1)
    for name, equal in (("a, independent", 0.0), (f"b, X3 = X2 in {EQUAL:.0%} of the rows", EQUAL)):
        surfaces = []
        for seed in range(5):
            test = said_of(make_stagewise_example(seed, equal=equal, continuous=continuous), not continuous)[1]
            errors = [[test.error(np.array([STEPS, a, b])) for b in grid.tolist()] for a in grid.tolist()]
            surfaces.append(np.array(errors))
        surface = found[name] = np.mean(surfaces, axis=0)
        i, j = np.unravel_index(surface.argmin(), surface.shape)
        lines.append(f"  {name}: least error {surface.min():.4f} at ({grid[i] / STEPS:g}, {grid[j] / STEPS:g})")
        for at in shown:
            cells = "  ".join(f"({grid[at] / STEPS:g}, {grid[to] / STEPS:g}) {surface[at, to]:.4f}" for to in shown)
            lines.append(f"    {cells}")
        inside = surface[-1, -1] - surface[1:-1, 1:-1].min()
        lines.append(f"    doses between 0 and 1 spare {inside:+.4f} of the error of naive Bayes")

    def draw(figure: Figure) -> None:
        for place, (name, surface) in enumerate(found.items(), start=1):
            ax: Any = figure.add_subplot(1, 2, place, projection="3d")
            x, y = np.meshgrid(grid / STEPS, grid / STEPS, indexing="ij")
            ax.plot_surface(x, y, surface, cmap="viridis")
            ax.set_xlabel("dose of X2")
            ax.set_ylabel("dose of X3")
            ax.set_title(name, fontsize="small")

    return lines, draw


def figure_3(request: Request) -> tuple[list[str], Drawing]:
    """Three discrete columns of which two repeat each other in part."""
    return _surfaces(3, continuous=False)


def figure_4(request: Request) -> tuple[list[str], Drawing]:
    """Three continuous ones."""
    return _surfaces(4, continuous=True)


# --- figures 5 and 6: along the path ----------------------------------------------------------------------------------

EARLY = 2
"""So many steps of the paper's rule come before the model of figure 5."""


def among_noise(seed: int) -> StagewiseData:
    """Three good columns and twelve irrelevant ones."""
    return make_stagewise_example(seed, n_noisy=12)


def doses_along(model: StagewiseNB) -> npt.NDArray[np.int64]:
    """The doses of every model of a path, in steps."""
    return np.rint(model.path_.doses * STEPS).astype(np.int64)


def figure_5(request: Request) -> tuple[list[str], Drawing]:
    """Training and test error along the dose of a relevant and of an irrelevant column, at an early model."""
    data = among_noise(0)
    training, test = said_of(data, nominal=True)
    start = doses_along(StagewiseNB(nominal=list(range(15)), **PAPER_MODE).fit(data.X, data.y))[EARLY]
    relevant = int(np.argmin(start[:3]))
    columns = {f"X{relevant + 1}, relevant": relevant, "X4, irrelevant": 3}
    curves: dict[str, tuple[npt.NDArray[np.int64], Floats]] = {}
    told = ", ".join(f"X{j + 1} {start[j] / STEPS:g}" for j in np.flatnonzero(start))
    lines = [f"Figure 5: errors along the dose of one column after {EARLY} steps of the paper's rule ({told}), seed 0"]
    for name, column in columns.items():
        doses = np.arange(start[column], STEPS + 1)
        errors = []
        for dose in doses.tolist():
            at = start.copy()
            at[column] = dose
            errors.append((training.error(at), test.error(at)))
        curves[name] = doses, np.array(errors)
        of_training = curves[name][1][:, 0]
        best = int(of_training.argmin())
        lines.append(
            f"  {name:<15} training error {of_training[0]:.4f} now, {of_training[1]:.4f} a step on, "
            f"{of_training[best]:.4f} at dose {doses[best] / STEPS:g}, {of_training[-1]:.4f} at 1; "
            f"test error {errors[0][1]:.4f} -> {errors[best][1]:.4f}"
        )
    lines.append("  paper: the best dose lies several steps ahead, so that one step is not enough to see it")

    def draw(figure: Figure) -> None:
        for ax, (name, (doses, errors)) in zip(figure.subplots(1, 2, sharey=True), curves.items(), strict=True):
            ax.plot(doses / STEPS, errors[:, 0], "--", color="black", label="training")
            ax.plot(doses / STEPS, errors[:, 1], "-", color="black", label="test")
            ax.set_xlabel(f"dose of {name}")
        figure.axes[0].set_ylabel("error")
        figure.axes[1].legend()

    return lines, draw


def figure_6(request: Request) -> tuple[list[str], Drawing]:
    """Errors and AIC along the path, by the paper's rule and by the default."""
    data = among_noise(0)
    training, test = said_of(data, nominal=True)
    nominal = list(range(15))
    models = {
        "the paper's rule, patience 10": StagewiseNB(nominal=nominal, patience=10, **PAPER_MODE),
        "StagewiseNB, s = 0": StagewiseNB(nominal=nominal, **AS_IN_THE_PAPER),
    }
    lines = ["Figure 6: errors and AIC along the path, 3 relevant and 12 irrelevant columns, seed 0"]
    found: dict[str, tuple[StagewiseNB, Floats]] = {}
    for name, model in models.items():
        model.fit(data.X, data.y)
        errors = np.array([(training.error(doses), test.error(doses)) for doses in doses_along(model)])
        found[name] = model, errors
        path, best = model.path_, int(errors[:, 1].argmin())
        noise = int((path.doses[path.chosen] > 0)[3:].sum())
        lines.append(
            f"  {name}: {len(path) - 1} steps; AIC chooses step {path.chosen}, {path.sizes[path.chosen]} columns, "
            f"{noise} irrelevant, test error {errors[path.chosen, 1]:.4f}; least {errors[best, 1]:.4f} at step {best}"
        )
    lines.append("  paper: the model of least AIC is nearly the one of least test error")

    def draw(figure: Figure) -> None:
        figure.set_size_inches(8, 7)
        axes: Any = figure.subplots(2, 2)
        for (left, right), (name, (model, errors)) in zip(axes, found.items(), strict=True):
            path, steps = model.path_, range(len(errors))
            left.plot(steps, errors[:, 0], "--", color="black", label="training error")
            left.plot(steps, errors[:, 1], "-", color="black", label="test error")
            left.axvline(int(errors[:, 1].argmin()), color="#bbbbbb")
            right.plot(steps, path.aic, "-", color="black", label="AIC")
            right.plot(steps, 2 * path.log_losses, "--", color="black", label="deviance")
            right.plot(steps, 2 * path.sizes / path.n_rows, "-.", color="black", label="penalty")
            right.axvline(path.chosen, color="#bbbbbb")
            left.set_title(name, fontsize="small")
            for ax in (left, right):
                ax.set_xlabel("step")
                ax.legend(fontsize="small")

    return lines, draw


FIGURES: tuple[Callable[[Request], tuple[list[str], Drawing]], ...] = (
    figure_1,
    figure_2,
    figure_3,
    figure_4,
    figure_5,
    figure_6,
)

TABLE = Reproduction(
    title="What noisy predictors do to naive Bayes, and doses about it: six figures",
    source=f"{SOURCE}, Figures 1 to 6",
    run=run,
)
