"""A comparison in words and columns."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from seminaive.evaluate.adjust import MAX_EXACT

if TYPE_CHECKING:
    from seminaive.evaluate.comparison import Comparison

__all__ = ["aligned", "comparison_text"]

MOST_PAIRS = 15


def comparison_text(comparison: "Comparison") -> str:
    """Write a comparison: scores with standard errors, tests, what failed.

    Parameters
    ----------
    comparison : Comparison
        As returned by `compare`.

    Returns
    -------
    str

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.naive_bayes import GaussianNB
    >>> from seminaive.evaluate.compare import compare
    >>> data = load_iris(return_X_y=True)
    >>> print(comparison_text(compare([GaussianNB()], data, cv=5, repeats=2, metrics=["error", "auc"])))
    1 model on data: 2 x 5-fold cross-validation from seed 0, mean (standard error)
    <BLANKLINE>
                       error           auc
    GaussianNB  0.043 (.021)  0.995 (.004)
    """
    c = comparison
    where = c.datasets[0] if len(c.datasets) == 1 else f"{len(c.datasets)} data sets"
    head = (
        f"{len(c.models)} model{'s' * (len(c.models) > 1)} on {where}: {c.repeats} x {c.cv}-fold "
        f"cross-validation from seed {c.random_state}, mean (standard error)"
    )
    tables = [_one_set(c)] if len(c.datasets) == 1 else [_metric_table(c, metric) for metric in c.metrics]
    return "\n\n".join(part for part in [head, *tables, _tests(c), _failures(c)] if part)


def _one_set(c: "Comparison") -> str:
    columns = [[_cell(m, e) for m, e in zip(c.means(x)[0], c.standard_errors(x)[0], strict=True)] for x in c.metrics]
    return aligned(["", *c.models], [[name, *cells] for name, cells in zip(c.metrics, columns, strict=True)])


def _metric_table(c: "Comparison", metric: str) -> str:
    means, errors = c.means(metric), c.standard_errors(metric)
    models, sets = c.ranked(metric)
    with_ranks = len(models) > 1 and len(sets) > 1
    ranks = c.average_ranks(metric) if with_ranks else {}
    columns = []
    for j, model in enumerate(c.models):
        cells = [_cell(m, e) for m, e in zip(means[:, j], errors[:, j], strict=True)]
        columns.append([model, *cells, *([f"{ranks[model]:.2f}" if model in ranks else "-"] * with_ranks)])
    return aligned([metric, *c.datasets, *(["average rank"] * with_ranks)], columns)


def _tests(c: "Comparison") -> str:
    metric = c.metrics[0]
    models, sets = c.ranked(metric)
    lines = []
    if len(c.datasets) > 1:
        for kind, all_names, kept in (("model", c.models, models), ("data set", c.datasets, sets)):
            left_out = [name for name in all_names if name not in kept]
            if left_out and len(c.models) > 1:
                lines.append(f"Not ranked, for want of complete scores: {kind} {', '.join(left_out)}.")
        if len(models) < 2 or len(sets) < 2:
            return "\n".join(lines)
        test = c.friedman(metric)
        lines.append(
            f"Ranks by {metric} over {len(sets)} data sets: Friedman chi2 = {test.statistic:.2f}, "
            f"p = {test.p_value:.2g}; Iman-Davenport F = {test.iman_davenport:.2f}, "
            f"p = {test.iman_davenport_p_value:.2g}"
        )
    table = c.pairwise(metric)
    if len(table) == 0:
        return "\n".join(lines)
    n_models = len({*table["first"], *table["second"]})
    how = "Bergmann-Hommel" if n_models <= MAX_EXACT else "Shaffer"
    what = "average ranks" if len(c.datasets) > 1 else f"mean {metric} (corrected resampled t test)"
    lines.append(f"Pairs by {what}, p adjusted by {how}:")
    shown = table.sort_values("adjusted_p_value", kind="stable").head(MOST_PAIRS)
    pairs = [f"  {first} - {second}" for first, second in zip(shown["first"], shown["second"], strict=True)]
    differences = [f"{d:+.3g}" for d in shown["difference"]]
    adjusted = ["p not known" if np.isnan(p) else f"p = {p:.2g}" for p in shown["adjusted_p_value"]]
    lines.append(aligned(pairs, [differences, adjusted]))
    if len(table) > MOST_PAIRS:
        lines.append(f"  ... and {len(table) - MOST_PAIRS} more in pairwise()")
    return "\n".join(lines)


def _failures(c: "Comparison") -> str:
    by_place: dict[tuple[str, str], list[str]] = {}
    for failure in c.failures:
        by_place.setdefault((failure.model, failure.dataset), []).append(failure.message)
    return "\n".join(
        f"{model} failed on {dataset} in {len(messages)} of {c.cv * c.repeats} folds: {_shortened(messages[0])}"
        for (model, dataset), messages in by_place.items()
    )


def _shortened(message: str, most: int = 160) -> str:
    return message if len(message) <= most else message[: most - 3] + "..."


def _cell(mean: float, error: float) -> str:
    if np.isnan(mean):
        return "-"
    return f"{mean:.3f}" if np.isnan(error) else f"{mean:.3f} ({f'{error:.3f}'.removeprefix('0')})"


def aligned(labels: Sequence[str], columns: Sequence[Sequence[str]]) -> str:
    """Labels flush left, columns flush right.

    Examples
    --------
    >>> print(aligned(["", "naive"], [["error", "0.1"], ["rank", "1"]]))
           error  rank
    naive    0.1     1
    """
    wide = max(map(len, labels))
    widths = [max(map(len, column)) for column in columns]
    return "\n".join(
        "  ".join([label.ljust(wide), *(cell.rjust(w) for cell, w in zip(row, widths, strict=True))]).rstrip()
        for label, *row in zip(labels, *columns, strict=True)
    )
