"""Compare models by repeated stratified cross-validation on the same folds of one or more data sets."""

import os
import time
import warnings
from collections.abc import Iterable
from typing import Any

import narwhals as nw
import numpy as np
import numpy.typing as npt
from sklearn.base import clone
from sklearn.model_selection import StratifiedKFold
from sklearn.utils.parallel import Parallel, delayed

from seminaive.evaluate.comparison import Comparison, Failure
from seminaive.evaluate.finished import Folds, key_of, open_finished, write_finished
from seminaive.evaluate.inputs import named_models, named_sets
from seminaive.evaluate.scores import METRICS, score_predictions

__all__ = ["compare"]

Floats = npt.NDArray[np.float64]
Split = tuple[npt.NDArray[np.intp], npt.NDArray[np.intp]]
DEFAULT_METRICS = ("error", "log_loss", "auc", "brier")


def compare(
    models: Any,
    datasets: Any,
    cv: int = 10,
    repeats: int = 10,
    metrics: Iterable[str] | str = DEFAULT_METRICS,
    random_state: int = 0,
    n_jobs: int | None = 1,
    resume: str | os.PathLike[str] | None = None,
) -> Comparison:
    """Compare classifiers on the same folds of one or more data sets.

    Every model is fitted on every training fold of `repeats` stratified cross-validations. A fit that fails
    is reported by name and costs no other result.

    Parameters
    ----------
    models : list of classifiers, or dict of name -> classifier
        Any scikit-learn classifiers, pipelines included. They are cloned, never changed.
    datasets : (X, y), list of (name, X, y), or dict of name -> (X, y)
        X is a NumPy array, a SciPy sparse matrix, or a pandas, Polars or Arrow table, and reaches the models
        as such. With a table, y may be the name of the column that holds the classes.
    cv : int, default=10
        Number of folds.
    repeats : int, default=10
        Number of cross-validations; repeat r shuffles rows with seed ``random_state + r``.
    metrics : str or sequence of str, default=("error", "log_loss", "auc", "brier")
        Scores among accuracy, error, log_loss, auc, brier; the first one is what tests and the plot use
        unless told otherwise. Models without ``predict_proba`` get accuracy and error only.
    random_state : int, default=0
        Seed of the first repeat. A model's own randomness is its own ``random_state``.
    n_jobs : int, default=1
        Processes to use; -1 for all processors. The result is the same.
    resume : path, optional
        A file in which finished work is kept, repeat by repeat. The same call with the same file goes on where an
        interrupted one stopped, and a call with more models, data sets or repeats does only what is new. Models are
        known by their parameters: begin a new file after changing the code of one.

    Returns
    -------
    Comparison
        Print it to read it; ``to_frame()``, ``pairwise()``, ``friedman()`` and ``plot()`` for more.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.dummy import DummyClassifier
    >>> from sklearn.naive_bayes import GaussianNB
    >>> result = compare([GaussianNB(), DummyClassifier()], load_iris(return_X_y=True), cv=5, repeats=2)
    >>> result.to_frame()[["model", "error"]].round(3)
                 model  error
    0       GaussianNB  0.043
    1  DummyClassifier  0.667
    >>> bool(result.pairwise("error")["adjusted_p_value"][0] < 0.001)
    True
    """
    estimators = named_models(models)
    data = named_sets(datasets)
    chosen = (metrics,) if isinstance(metrics, str) else tuple(metrics)
    unknown = [m for m in chosen if m not in METRICS]
    if unknown or not chosen:
        raise ValueError(f"metrics is {metrics!r}; it must name one or more of {', '.join(METRICS)}.")
    for name, value, least in (("cv", cv, 2), ("repeats", repeats, 1)):
        if not isinstance(value, (int, np.integer)) or value < least:
            raise ValueError(f"{name} is {value!r}; it must be a whole number, at least {least}.")

    finished = {} if resume is None else open_finished(resume)
    names, unfitted = tuple(estimators), list(estimators.values())
    n_folds = cv * repeats
    scores = np.full((len(data), len(estimators), len(chosen), n_folds), np.nan)
    seconds = np.full((len(data), len(estimators), n_folds), np.nan)
    failures = []
    for d, (dataset, (X, classes, y)) in enumerate(data.items()):
        splits = _splits(dataset, y, cv, repeats, random_state)
        # One task is one repeat of one model: large enough to be worth sending to another process.
        tasks = [(m, r) for m in range(len(estimators)) for r in range(repeats)]
        keys = dict.fromkeys(tasks, "")
        if resume is not None:
            rows = key_of(X, classes, y)
            of_model = [key_of(model) for model in unfitted]
            keys = {(m, r): key_of(of_model[m], rows, chosen, int(cv), int(random_state) + r) for m, r in tasks}
        ahead = [task for task in tasks if keys[task] not in finished]
        done = Parallel(n_jobs=n_jobs)(
            delayed(_run)(unfitted[m], X, classes, y, splits[r * cv : (r + 1) * cv], chosen, keys[m, r], resume)
            for m, r in ahead
        )
        results = {task: finished[keys[task]] for task in tasks if keys[task] in finished}
        results |= dict(zip(ahead, done, strict=True))
        for (m, r), folds in results.items():
            for f, (values, took, message) in enumerate(folds):
                scores[d, m, :, r * cv + f] = values
                seconds[d, m, r * cv + f] = took
                if message:
                    failures.append(Failure(dataset, names[m], r, f, message))
    return Comparison(
        models=names,
        datasets=tuple(data),
        metrics=chosen,
        scores=scores,
        fit_seconds=_medians(seconds),
        failures=tuple(failures),
        cv=int(cv),
        repeats=int(repeats),
        random_state=int(random_state),
    )


def _medians(seconds: Floats) -> Floats:
    """Of the fits that worked: the first one in a process may compile, which a mean would show."""
    worked = ~np.isnan(seconds).all(axis=2)
    medians = np.full(worked.shape, np.nan)
    medians[worked] = np.nanmedian(seconds[worked], axis=1)
    return medians


def _run(
    model: Any,
    X: Any,
    classes: npt.NDArray[Any],
    y: npt.NDArray[np.intp],
    splits: list[Split],
    metrics: tuple[str, ...],
    key: str,
    resume: str | os.PathLike[str] | None,
) -> Folds:
    """Scores, seconds of the fit and message of failure for each fold of one repeat."""
    results: Folds = []
    for train, test in splits:
        try:
            fitted = clone(model)
            start = time.perf_counter()
            fitted.fit(_rows(X, train), classes[y[train]])
            took = time.perf_counter() - start
            predicted, probabilities = _predict(fitted, _rows(X, test), classes)
            values = [score_predictions(metric, y[test], predicted, probabilities) for metric in metrics]
            results.append((values, took, ""))
        except Exception as error:
            message = " ".join(f"{type(error).__name__}: {error}".split())
            results.append(([float("nan")] * len(metrics), float("nan"), message))
    # What failed is tried again next time.
    if resume is not None and not any(message for *_, message in results):
        write_finished(resume, key, results)
    return results


def _predict(fitted: Any, X: Any, classes: npt.NDArray[Any]) -> tuple[npt.NDArray[np.intp], Floats | None]:
    """Positions of the predicted classes, and probabilities with one column per class of the data set."""
    known = {label: position for position, label in enumerate(classes.tolist())}
    predicted = np.array([known.get(label, -1) for label in np.asarray(fitted.predict(X)).tolist()], dtype=np.intp)
    if not hasattr(fitted, "predict_proba"):
        return predicted, None
    given = np.asarray(fitted.predict_proba(X), dtype=np.float64)
    if not np.isfinite(given).all():
        raise ValueError("predict_proba returned values that are not finite.")
    # A class without a training row has no column: its probability is zero.
    probabilities = np.zeros((len(given), len(classes)))
    probabilities[:, [known[label] for label in np.asarray(fitted.classes_).tolist()]] = given
    return predicted, probabilities


def _rows(X: Any, positions: npt.NDArray[np.intp]) -> Any:
    frame = nw.from_native(X, eager_only=True, pass_through=True)
    return frame[positions].to_native() if isinstance(frame, nw.DataFrame) else X[positions]


def _splits(dataset: str, y: npt.NDArray[np.intp], cv: int, repeats: int, random_state: int) -> list[Split]:
    largest = int(np.bincount(y).max())
    if largest < cv:
        raise ValueError(
            f"data set {dataset!r}: cv is {cv}, but no class has more than {largest} rows; "
            f"it must be at most {largest}."
        )
    with warnings.catch_warnings():
        # A class with fewer rows than folds is missing from some of them; the scores allow for that.
        warnings.filterwarnings("ignore", message="The least populated class", category=UserWarning)
        return [
            split
            for repeat in range(repeats)
            for split in StratifiedKFold(cv, shuffle=True, random_state=random_state + repeat).split(y, y)
        ]
