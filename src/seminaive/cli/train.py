"""`seminaive train`: learn a model from a file, say what was learned and how good it is on rows it has not seen."""

from __future__ import annotations

import warnings
from argparse import Namespace
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt
from sklearn.dummy import DummyClassifier

from seminaive.cli.models import make_model
from seminaive.cli.names import chosen_columns, column_named
from seminaive.cli.output import check_place
from seminaive.cli.scores import FEWEST_ROWS, FOLDS, Scores, cross_validated
from seminaive.table.files import read_file
from seminaive.table.frames import as_labels

if TYPE_CHECKING:
    import pyarrow as pa

LOOKED_AT, STRAY = 10_000, 0.1  # rows of a column of text that are looked at, and words in it that may be strays


def train(options: Namespace) -> None:
    """Run the command."""
    if options.output is not None:
        check_place(options.output, options.data)
    X, y, nominal = rows_and_labels(options)
    model = make_model(options.model, options.numeric, nominal)
    try:
        model.fit(X, y)
    except (TypeError, ValueError) as problem:
        raise ValueError(f"{options.data}: {problem}") from None
    print(f"{options.data}: {len(y)} rows; target {options.target!r}\n")
    print(model.summary(), "\n", sep="")
    print("\n".join(report(options.model, model, X, y)))
    if options.output is None:
        print("\nnot saved; add -o model.snb to keep the model")
    else:
        model.save(options.output)
        print(f"\nsaved to {options.output}")


def rows_and_labels(options: Namespace) -> tuple[pa.Table, npt.NDArray[Any], list[str]]:
    """What there is to learn from: the columns, the target, and which columns are nominal whatever they hold."""
    table = read_file(options.data)
    target = column_named(options.target, table.column_names, options.data)
    y = labels_of(table, target, options.data)
    dropped = {target, *chosen_columns(options.drop, table.column_names, options.data)}
    nominal = chosen_columns(options.nominal, table.column_names, options.data)
    X = table.select([name for name in table.column_names if name not in dropped])
    if X.num_columns == 0:
        raise ValueError(f"{options.data} has no column besides the target to learn from")
    for advice in almost_numbers(X, nominal):
        warnings.warn(advice, stacklevel=2)
    return X, y, [name for name in nominal if name not in dropped]


def almost_numbers(X: pa.Table, nominal: Sequence[str]) -> list[str]:
    """Advice on columns of text that were probably meant as numbers: a stray word among them, or decimal commas.

    Examples
    --------
    >>> import pyarrow as pa
    >>> for advice in almost_numbers(pa.table({"age": ["31", "old"] + ["40"] * 8, "size": ["1,5"] * 10}), nominal=[]):
    ...     print(advice)
    column 'age' is read as text because row 1 holds 'old'; leave such cells empty if it is a number
    column 'size' is read as text because of its decimal commas; write decimal points if it is a number
    """
    import pyarrow as pa

    found = []
    for name in X.column_names:
        column = X.column(name)
        if name in nominal or not pa.types.is_string(column.type):
            continue
        cells = [cell for cell in column[:LOOKED_AT].to_pylist() if cell is not None]
        words = [cell for cell in cells if not _is_number(cell)]
        if words and all(_is_number(cell.replace(",", ".", 1)) for cell in cells):
            why = "of its decimal commas; write decimal points if it is a number"
        elif words and len(words) <= len(cells) * STRAY:
            row = column.index(words[0]).as_py()
            why = f"row {row} holds {words[0]!r}; leave such cells empty if it is a number"
        else:
            continue
        found.append(f"column {name!r} is read as text because {why}")
    return found


def _is_number(cell: str) -> bool:
    try:
        float(cell)
    except ValueError:
        return False
    return True


def labels_of(table: pa.Table, target: str, path: str) -> npt.NDArray[Any]:
    """The target column, which must be whole and hold labels."""
    column = table.column(target)
    if column.null_count:
        first = column.is_null().index(True).as_py()
        raise ValueError(
            f"{path}: the target {target!r} is missing in {column.null_count} of {len(column)} rows, first in row "
            f"{first}; leave such rows out"
        )
    labels = as_labels(column)
    if labels.dtype.kind == "f" and np.any(labels != np.floor(labels)):
        raise ValueError(
            f"{path}: the target {target!r} holds fractions such as {labels[labels % 1 != 0][0]}, not labels"
        )
    if labels.dtype.kind in "Mm":
        raise ValueError(f"{path}: the target {target!r} holds dates or times, not labels")
    return labels


def report(name: str, model: Any, X: pa.Table, y: npt.NDArray[Any]) -> list[str]:
    """Cross-validated scores in words."""
    if len(model.classes_) == 1:
        only = model.classes_.tolist()[0]
        return [f"the target holds {only!r} only: there is nothing to tell apart, and nothing to score"]
    if len(y) < FEWEST_ROWS:
        return [
            f"too few rows for cross-validation ({len(y)}; {FEWEST_ROWS} are needed): how good this is, is not known"
        ]
    ours = cross_validated(model, X, y)
    majority = cross_validated(DummyClassifier(strategy="prior"), X, y)
    head = f"{FOLDS}-fold cross-validation"
    width = max(len(head), len("always the most frequent class")) + 2
    lines = [f"{head:<{width}}  accuracy        log loss"]
    lines += [_line(f"  {name}", ours, width), _line("  always the most frequent class", majority, width)]
    if ours.lonely:
        lines.append(
            f"labels with a single row, which cannot be tested: {', '.join(map(str, ours.lonely[:5]))}"
            f"{' ...' if len(ours.lonely) > 5 else ''} (counted as errors, left out of the log loss)"
        )
    if ours.accuracy <= majority.accuracy and ours.log_loss >= majority.log_loss:
        lines.append("no better than always saying the most frequent class: with this model the columns do not help")
    elif ours.log_loss >= majority.log_loss:
        lines.append("the classes are good, their probabilities are not: do not rely on how sure the model says it is")
    return lines


def _line(name: str, scores: Scores, width: int) -> str:
    return f"{name:<{width}}  {scores.accuracy:.3f} ± {scores.accuracy_error:.3f}   {scores.log_loss:.3f}"
