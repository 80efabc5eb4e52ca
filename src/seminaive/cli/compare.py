"""`seminaive compare`: several models on the same folds of a file, and whether they differ by more than chance."""

from __future__ import annotations

from argparse import Namespace
from difflib import get_close_matches
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.dummy import DummyClassifier

from seminaive.cli.models import MODELS, make_model
from seminaive.cli.output import check_picture, draw
from seminaive.cli.scores import FEWEST_ROWS
from seminaive.cli.train import rows_and_labels
from seminaive.evaluate.compare import compare as compared
from seminaive.evaluate.comparison import Comparison
from seminaive.evaluate.report import aligned

METRICS = ("accuracy", "log_loss")
MAJORITY = "always the most frequent class"
NOT_ASKED = ("constrained",)
"""Models of the registry that take part only if named: without a promise this one is naive Bayes."""


def compare(options: Namespace) -> None:
    """Run the command."""
    names = chosen_models(options.models)
    check_picture(options.plot)
    X, y, nominal = rows_and_labels(options)
    check_folds(options.data, y, options.folds, options.repeats)
    models: dict[str, Any] = {name: make_model(name, options.numeric, nominal) for name in names}
    models[MAJORITY] = DummyClassifier(strategy="prior")
    data = {Path(options.data).name: (X, y)}
    asked = {"cv": options.folds, "repeats": options.repeats, "n_jobs": options.jobs, "resume": options.resume}
    comparison = compared(models, data, metrics=METRICS, **asked)
    times = f"{options.repeats} times " * (options.repeats > 1)
    print(f"{options.data}: {len(y)} rows, {X.num_columns} columns; target {options.target!r}")
    print(f"{times}{options.folds}-fold cross-validation, the same folds for all models\n")
    print("\n".join([scores(comparison), "", *differences(comparison)]))
    if options.plot is not None:
        draw(comparison, options.plot)
    failed = {failure.model: failure.message for failure in comparison.failures}
    if failed:
        said = "; ".join(f"{name}: {message}" for name, message in failed.items())
        raise ValueError(f"{options.data}: not every model could be fitted and tested on every fold: {said}")


def chosen_models(given: str | None) -> list[str]:
    """The models named, in that order; if none are, all that mean something without further choices."""
    if given is None:
        return [name for name in MODELS if name not in NOT_ASKED]
    names = list(dict.fromkeys(part.strip() for part in given.split(",") if part.strip()))
    for name in names:
        if name not in MODELS:
            near = get_close_matches(name, MODELS, n=1)
            hint = f"did you mean {near[0]!r}? " if near else ""
            raise ValueError(f"--models: there is no model {name!r}; {hint}(there are: {', '.join(MODELS)})")
    if not names:
        raise ValueError(f"--models names no model (there are: {', '.join(MODELS)})")
    return names


def check_folds(path: str, y: Any, folds: int, repeats: int) -> None:
    """Refuse what cannot be cross-validated, before any work is done."""
    for name, value, least in (("folds", folds, 2), ("repeats", repeats, 1)):
        if value < least:
            raise ValueError(f"--{name} is {value}; it must be at least {least}")
    labels, counts = np.unique(y, return_counts=True)
    if len(labels) == 1:
        raise ValueError(f"{path}: the target holds {labels.tolist()[0]!r} only: there is nothing to tell apart")
    if len(y) < FEWEST_ROWS:
        raise ValueError(f"{path} has {len(y)} rows, too few for cross-validation; {FEWEST_ROWS} are needed")
    if counts.max() < folds:
        raise ValueError(
            f"{path}: no label has more than {counts.max()} rows; --folds {folds} is too many, use at most "
            f"{max(2, counts.max())}"
        )


def scores(comparison: Comparison) -> str:
    """Mean scores with standard errors, one line per model."""
    columns = [
        [metric.replace("_", " "), *(f"{m:.3f} ± {e:.3f}" if m == m else "failed" for m, e in zip(*pair, strict=True))]
        for metric in METRICS
        for pair in [(comparison.means(metric)[0], comparison.standard_errors(metric)[0])]
    ]
    took = ["seconds per fit", *("" if np.isnan(s) else f"{s:.2g}" for s in comparison.fit_seconds[0])]
    return aligned(["", *comparison.models], [*columns, took])


def differences(comparison: Comparison) -> list[str]:
    """Paired differences to the first model, with intervals."""
    first, n_others = comparison.models[0], len(comparison.models) - 1
    columns, real = [], []
    for metric in METRICS:
        table, name = comparison.differences(metric=metric), metric.replace("_", " ")
        columns.append([name, *(_interval(row) for row in table.itertuples())])
        real += [f"{m} in {name}" for m in table["model"][table["adjusted_p_value"] < 0.05]]
    lines = [
        aligned([f"difference to {first}", *comparison.models[1:]], columns),
        "",
        "in brackets 95 % intervals of the difference from fold to fold, widened because folds share training rows",
        "(Nadeau and Bengio); more accuracy is better, less log loss is better",
    ]
    if n_others > 1:
        lines.append(f"more than chance at 5 %, {n_others} models allowed for (Holm): {', '.join(real) or 'none'}")
    return lines


def _interval(row: Any) -> str:
    if np.isnan(row.difference):
        return "-"
    mean, low, high = (round(v, 3) + 0.0 for v in (row.difference, row.low, row.high))  # no -0.000
    return f"{mean:+.3f} [{low:+.3f}, {high:+.3f}]"
