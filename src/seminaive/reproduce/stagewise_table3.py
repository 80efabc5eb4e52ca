"""Forward stagewise naive Bayes on brain images of the StarPlus study: Table 3 beside ours, where the files are there.

The files are public but not ours to ship (see `seminaive.datasets.starplus`).
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from sklearn.model_selection import StratifiedKFold

from seminaive.datasets.starplus import SUBJECTS, load_starplus, starplus_files
from seminaive.reproduce.paper_table import Reproduction, Request
from seminaive.reproduce.stagewise_methods import (
    FOOTNOTES,
    HEAD,
    PAPER_COLUMNS,
    SOURCE,
    Outcome,
    Printed,
    lines_of,
    outcomes,
)

PRINTED = {
    "04799": Printed(
        [(0.47, 0.08), (0.45, 0.04), (0.47, 0.08), (0.52, 0.07), (0.41, 0.26), (0.50, 0.23)],
        [(3.8, 1.51), (0.2, 0.02), (1.0, 0.77), (1.1, 0.81)],
    ),
    "05675": Printed(
        [(0.44, 0.07), (0.43, 0.06), (0.44, 0.07), (0.51, 0.06), (0.50, 0.11), (0.46, 0.19)],
        [(3.5, 1.32), (0.3, 0.01), (0.9, 0.30), (1.0, 0.66)],
    ),
    "04820": Printed(
        [(0.44, 0.07), (0.43, 0.06), (0.44, 0.07), (0.55, 0.03), (0.37, 0.34), (0.34, 0.21)],
        [(4.9, 1.31), (0.1, 0.01), (1.3, 1.04), (0.9, 1.01)],
    ),
    "05680": Printed(
        [(0.45, 0.05), (0.44, 0.06), (0.45, 0.05), (0.57, 0.04), (0.35, 0.26), (0.48, 0.16)],
        [(5.5, 2.50), (0.3, 0.02), (1.2, 0.79), (1.2, 0.36)],
    ),
    "04847": Printed(
        [(0.36, 0.06), (0.33, 0.05), (0.36, 0.06), (0.57, 0.06), (0.35, 0.06), (0.44, 0.18)],
        [(4.2, 1.51), (0.1, 0.02), (1.8, 0.03), (2.1, 0.77)],
    ),
    "05710": Printed(
        [(0.40, 0.07), (0.45, 0.06), (0.40, 0.07), (0.55, 0.02), (0.36, 0.26), (0.48, 0.32)],
        [(5.9, 1.82), (0.2, 0.03), (1.5, 0.91), (2.0, 0.52)],
    ),
}


def run(request: Request) -> Iterator[str]:
    """Ten folds per person; with ``quick`` of the first person only."""
    files = starplus_files(request.data) if request.data is not None else {}
    if not files:
        yield from without_files(request)
        return
    yield HEAD + "   (paper -> ours)"
    for subject in list(files)[:1] if request.quick else files:
        images = load_starplus(files[subject])
        yield f"{subject}: {len(images.y)} images, {len(images.regions)} regions, {images.trial.max() + 1} trials"
        runs: list[dict[str, Outcome]] = []
        for training, test in StratifiedKFold(10, shuffle=True, random_state=100).split(images.X, images.y):
            runs.append(outcomes(images.X[training], images.y[training], images.X[test], images.y[test]))
        yield from lines_of(PRINTED[subject], runs)
    missing = [subject for subject in SUBJECTS if subject not in files]
    if missing:
        yield f"no files of {', '.join(missing)}"
    yield ""
    yield "folds: StratifiedKFold(10, shuffle=True, random_state=100) over images, as it seems in the paper: images"
    yield "of one trial are half a second apart and stand in both training and test rows, so that errors are too small."
    yield from FOOTNOTES


def without_files(request: Request) -> Iterator[str]:
    """What is missing, and the paper's numbers."""
    where = "--data names no folder" if request.data is None else f"{request.data} holds none of them"
    yield "NOT RUN: the files of the study are not here, and cannot be shipped with this library."
    yield f"They are public: data-starplus-{SUBJECTS[0]}-v7.mat and five more; {where}."
    yield ""
    yield "The paper's errors (predictors selected):"
    yield f"  {'subject':<9}" + "".join(f"{name:>14}" for name in PAPER_COLUMNS)
    for subject, printed in PRINTED.items():
        cells = []
        for name in PAPER_COLUMNS:
            error, size, _ = printed.of(name)
            cells.append(f"{error} ({size})" if size != "-" else error)
        yield f"  {subject:<9}" + "".join(f"{cell:>14}" for cell in cells)
    spreads = np.array([printed.errors[PAPER_COLUMNS.index("fsNB")][1] for printed in PRINTED.values()])
    yield f"Printed deviations of fsNB's errors reach {spreads.max():.2f} among ten folds: we cannot explain them."


TABLE = Reproduction(
    title="Stagewise naive Bayes and its rivals on brain images: picture or sentence? (needs the StarPlus files)",
    source=f"{SOURCE}, Table 3",
    run=run,
)
