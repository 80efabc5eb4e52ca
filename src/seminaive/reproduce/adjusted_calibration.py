"""Can the probabilities be trusted? `AdjustedNB` beside naive Bayes, calibrated naive Bayes and scikit-learn's models.

Log loss in bits and calibration error on rows held out: five folds, ten times, the same for all.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd
from sklearn import datasets
from sklearn.calibration import CalibratedClassifierCV
from sklearn.compose import make_column_selector, make_column_transformer
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler
from threadpoolctl import threadpool_limits

from seminaive.evaluate.calibration import expected_calibration_error, log_loss_bits
from seminaive.models.adjusted import AdjustedNB
from seminaive.models.naive_bayes import NaiveBayes
from seminaive.reproduce.paper_table import Reproduction, Request
from seminaive.table.folds import stratified_folds

Labels = npt.NDArray[Any]
BUILT_IN = ("iris", "wine", "breast_cancer", "digits")
FROM_FILES = ("vote", "breast_cancer", "lymphography")
FOLDS = 5


def naive() -> NaiveBayes:
    """Naive Bayes with the tables that `AdjustedNB` starts from."""
    return NaiveBayes(numeric="bins", missing="value", smoothing_kind="class")


def isotonic(y: Labels) -> CalibratedClassifierCV:
    """Naive Bayes whose scores are bent by isotonic regression, in folds that also take classes of few rows."""
    fold = stratified_folds(np.unique(y, return_inverse=True)[1], FOLDS, 0)
    splits = [(np.flatnonzero(fold != number), np.flatnonzero(fold == number)) for number in range(FOLDS)]
    return CalibratedClassifierCV(naive(), method="isotonic", cv=splits)


def one_hot() -> Any:
    """Logistic regression on scaled numbers and one column per level."""
    numbers, words = make_column_selector(dtype_include="number"), make_column_selector(dtype_exclude="number")
    levels = OneHotEncoder(handle_unknown="ignore", sparse_output=False)
    return make_pipeline(
        make_column_transformer((StandardScaler(), numbers), (levels, words)), LogisticRegression(max_iter=2000)
    )


MODELS: dict[str, Callable[[Labels], Any]] = {
    "AdjustedNB": lambda y: AdjustedNB(),
    "... nonnegative": lambda y: AdjustedNB(nonnegative=True),
    "... residual": lambda y: AdjustedNB(residual=True),
    "NaiveBayes": lambda y: naive(),
    "NaiveBayes, isotonic": isotonic,
    "logistic, one-hot": lambda y: one_hot(),
    "boosted trees": lambda y: HistGradientBoostingClassifier(categorical_features="from_dtype", random_state=0),
}


def tables(request: Request) -> Iterator[tuple[str, pd.DataFrame, Labels]]:
    """The data sets: the paper's where their folder is named, and scikit-learn's own."""
    for name in FROM_FILES:
        if request.data is not None and (request.data / f"{name}.parquet").is_file():
            frame = pd.read_parquet(request.data / f"{name}.parquet")
            yield name, frame.drop(columns="class"), frame["class"].astype(str).to_numpy()
    for name in BUILT_IN:
        data = getattr(datasets, f"load_{name}")(as_frame=True)
        yield f"sklearn {name}", data.data, data.target.to_numpy()


def held_out(make: Callable[[Labels], Any], X: pd.DataFrame, y: Labels, seed: int) -> npt.NDArray[np.float64]:
    """Probabilities of every row, from a model that was fitted on the other folds."""
    classes, codes = np.unique(y, return_inverse=True)
    fold = stratified_folds(codes, FOLDS, seed)
    found = np.zeros((len(y), len(classes)))
    for number in range(FOLDS):
        training, test = fold != number, fold == number
        model = make(y[training]).fit(X[training], y[training])
        found[np.ix_(test, np.isin(classes, model.classes_))] = model.predict_proba(X[test])
    return found


def scores(make: Callable[[Labels], Any], X: pd.DataFrame, y: Labels, repetitions: int) -> npt.NDArray[np.float64]:
    """Loss in bits, calibration error in percent and error in percent of every repetition."""
    out = []
    classes = np.unique(y)
    for seed in range(repetitions):
        p = held_out(make, X, y, seed)
        calibration = expected_calibration_error(y, p, classes=classes)
        out.append([log_loss_bits(y, p, classes=classes), 100 * calibration, 100 * np.mean(classes[p.argmax(1)] != y)])
    return np.array(out)


def run(request: Request) -> Iterator[str]:
    """One table per data set; ``quick`` takes one repetition and leaves the digits out."""
    yield f"{'':<34}{'loss, bits':>18}{'calibration error, %':>23}{'error, %':>11}"
    asked = None
    with warnings.catch_warnings(), threadpool_limits(1):
        warnings.simplefilter("ignore")  # of scikit-learn, about classes of few rows
        for name, X, y in tables(request):
            if request.quick and "digits" in name:
                continue
            repetitions = 1 if request.quick or "digits" in name else 10
            yield f"{name}, {X.shape[0]} x {X.shape[1]}, {len(np.unique(y))} classes, {repetitions} x {FOLDS} folds"
            losses = {}
            for title, make in MODELS.items():
                found = scores(make, X, y, repetitions)
                losses[title] = found[:, 0]
                loss, calibration, error = found.mean(axis=0)
                spread = f" ± {found[:, 0].std(ddof=1):.3f}" if repetitions > 1 else " " * 8
                yield f"  {title:<32}{loss:>10.3f}{spread}{calibration:>23.1f}{error:>11.2f}"
            if name == "vote":
                asked = losses["AdjustedNB"].mean() < losses["NaiveBayes, isotonic"].mean()
    yield "±: spread over the repetitions, whose rows are the same"
    if asked is not None:
        yield f"asked: on vote a lower loss than isotonic naive Bayes: {'reached' if asked else 'NOT reached'}"


TABLE = Reproduction(
    title="Log loss and calibration of AdjustedNB beside other models",
    source="Data: scikit-learn's, and vote, breast_cancer and lymphography if --data names their folder",
    run=run,
)
