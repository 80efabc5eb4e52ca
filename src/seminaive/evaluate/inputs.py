"""Models and data sets as people give them, checked once and named."""

from collections.abc import Mapping
from typing import Any

import narwhals as nw
import numpy as np
import numpy.typing as npt
from sklearn.base import is_classifier
from sklearn.utils.multiclass import type_of_target

__all__ = ["DataSet", "named_models", "named_sets"]

# Predictors as given, the classes in order, and the position of each row's class.
DataSet = tuple[Any, npt.NDArray[Any], npt.NDArray[np.intp]]


def named_models(models: Any) -> dict[str, Any]:
    """Name each classifier: by its class, or by its parameters where two are of the same class.

    Parameters
    ----------
    models : classifier, list of classifiers, or dict of name -> classifier

    Returns
    -------
    dict of name -> classifier

    Examples
    --------
    >>> from sklearn.naive_bayes import BernoulliNB, GaussianNB
    >>> list(named_models([GaussianNB(), BernoulliNB(), BernoulliNB(alpha=0.5)]))
    ['GaussianNB', 'BernoulliNB()', 'BernoulliNB(alpha=0.5)']
    """
    if isinstance(models, Mapping):
        named = {str(name): model for name, model in models.items()}
    else:
        given = list(models) if isinstance(models, (list, tuple)) else [models]
        # A pipeline goes by the name of its last step.
        last = [model.steps[-1][1] if hasattr(model, "steps") else model for model in given]
        kinds = [type(model).__name__ for model in last]
        named = {}
        for model, step, kind in zip(given, last, kinds, strict=True):
            name = kind if kinds.count(kind) == 1 else " ".join(repr(step).split())
            again, unique = 1, name
            while unique in named:
                again += 1
                unique = f"{name} ({again})"
            named[unique] = model
    if not named:
        raise ValueError("models is empty; give at least one classifier.")
    for name, model in named.items():
        if isinstance(model, type) or not hasattr(model, "get_params") or not is_classifier(model):
            raise ValueError(f"model {name!r} is {model!r}; it must be a scikit-learn classifier.")
    return named


def named_sets(datasets: Any) -> dict[str, DataSet]:
    """Name each data set and number its classes.

    Parameters
    ----------
    datasets : (X, y), list of (name, X, y), or dict of name -> (X, y)
        With a table, y may name one of its columns.

    Returns
    -------
    dict of name -> (X, classes, position of each row's class)

    Examples
    --------
    >>> X, classes, y = named_sets({"small": ([[1.0], [2.0], [3.0]], ["no", "yes", "no"])})["small"]
    >>> classes.tolist(), y.tolist()
    (['no', 'yes'], [0, 1, 0])
    """
    named: dict[str, DataSet] = {}
    for name, X, y in _triples(datasets):
        if name in named:
            raise ValueError(f"two data sets are called {name!r}; give each its own name.")
        named[name] = _checked(name, X, y)
    if not named:
        raise ValueError("datasets is empty; give at least one data set.")
    return named


def _triples(datasets: Any) -> list[tuple[str, Any, Any]]:
    wanted = "give (X, y), a list of (name, X, y), or a dict of name -> (X, y)"
    if isinstance(datasets, Mapping):
        for name, value in datasets.items():
            if not isinstance(value, (tuple, list)) or len(value) != 2:
                raise ValueError(f"data set {name!r} is not a pair (X, y); {wanted}.")
        return [(str(name), X, y) for name, (X, y) in datasets.items()]
    if _is_triple(datasets):
        return [tuple(datasets)]
    if isinstance(datasets, (list, tuple)) and all(_is_triple(item) for item in datasets):
        return [tuple(item) for item in datasets]
    if isinstance(datasets, tuple) and len(datasets) == 2:
        return [("data", *datasets)]
    raise ValueError(f"datasets is a {type(datasets).__name__} of an unknown form; {wanted}.")


def _is_triple(item: Any) -> bool:
    return isinstance(item, (tuple, list)) and len(item) == 3 and isinstance(item[0], str)


def _checked(name: str, X: Any, y: Any) -> DataSet:
    import pandas as pd

    frame = nw.from_native(X, eager_only=True, pass_through=True)
    if isinstance(y, str):
        if not isinstance(frame, nw.DataFrame):
            raise ValueError(f"data set {name!r}: y is {y!r}, but X is no table with a column of that name.")
        if y not in frame.columns:
            raise ValueError(
                f"data set {name!r}: there is no column {y!r}; the columns are {', '.join(frame.columns)}."
            )
        y, frame = frame.get_column(y).to_numpy(), frame.drop(y)
        X = frame.to_native()
    if not isinstance(frame, nw.DataFrame):
        if isinstance(X, (list, tuple)):
            X = np.asarray(X)
        elif hasattr(X, "tocsr"):
            X = X.tocsr()
        if not hasattr(X, "shape"):
            raise ValueError(
                f"data set {name!r}: X is a {type(X).__name__}; it must be an array, sparse matrix or table."
            )
    labels = np.asarray(y)
    if labels.ndim != 1 or len(labels) != X.shape[0]:
        raise ValueError(
            f"data set {name!r}: y has shape {labels.shape} and X has {X.shape[0]} rows; y must hold one label per row."
        )
    missing = int(pd.isna(labels).sum())
    if missing:
        raise ValueError(f"data set {name!r}: y has {missing} missing values; leave those rows out.")
    try:
        classes, positions = np.unique(labels, return_inverse=True)
    except TypeError:
        kinds = sorted({type(label).__name__ for label in labels.tolist()})
        raise ValueError(f"data set {name!r}: y mixes labels of types {', '.join(kinds)}; use one.") from None
    if labels.dtype.kind == "f" and type_of_target(labels).startswith("continuous"):
        raise ValueError(f"data set {name!r}: y holds continuous numbers such as {labels[0]}; it must hold classes.")
    if len(classes) < 2:
        raise ValueError(
            f"data set {name!r}: every label is {classes.tolist()[0]!r}; it must have two classes or more."
        )
    return X, classes, positions
