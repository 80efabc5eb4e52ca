"""`seminaive demo`: a tour on built-in data, with scores beside scikit-learn's and one decision explained."""

from __future__ import annotations

from argparse import Namespace
from collections.abc import Iterator
from typing import Any

import numpy as np
import numpy.typing as npt
from sklearn import datasets
from sklearn.dummy import DummyClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from threadpoolctl import threadpool_limits

from seminaive.cli.scores import FOLDS, cross_validated
from seminaive.datasets.loans import make_loans
from seminaive.models.adjusted import AdjustedNB
from seminaive.models.forest import BayesianForest
from seminaive.models.naive_bayes import NaiveBayes
from seminaive.models.one_dependence import AveragedOneDependence
from seminaive.models.selective import SelectiveNB
from seminaive.models.stagewise import StagewiseNB
from seminaive.models.tree_augmented import TreeAugmentedNB

OURS = {
    "NaiveBayes": NaiveBayes(),
    "NaiveBayes, bins": NaiveBayes(numeric="bins"),
    "NaiveBayes, kde": NaiveBayes(numeric="kde"),
    "SelectiveNB": SelectiveNB(),
    "StagewiseNB": StagewiseNB(),
    "AdjustedNB": AdjustedNB(),
    "TreeAugmentedNB": TreeAugmentedNB(),
    "AveragedOneDependence": AveragedOneDependence(),
    "BayesianForest": BayesianForest(),
}
"""Our models, one line each."""

PEERS = {
    "GaussianNB (scikit-learn)": GaussianNB(),
    "LogisticRegression, scaled": make_pipeline(StandardScaler(), LogisticRegression(max_iter=1000)),
    "always the majority": DummyClassifier(strategy="prior"),
}
"""What they are compared with."""


def demo(options: Namespace) -> None:
    """Run the command."""
    print(
        f"Accuracy and log loss of {FOLDS}-fold cross-validation, the same folds for all (log loss: less is better).\n"
    )
    tables = dict(built_in_tables())
    with threadpool_limits(1):  # LogisticRegression's products are so small that threads only get in their way
        for line in comparison(tables):
            print(line, flush=True)
    print(
        "\n-: takes no text and no gaps. 'loans' is generated: text, numbers and gaps. On the digits naive Bayes takes"
    )
    print(
        "every pixel for news, though its neighbours said the same: far too sure, which the log loss shows. The models"
    )
    print("that weigh their columns, or let them depend on each other, repair that.\n")
    X, y = tables["loans"]
    model = NaiveBayes().fit(X.iloc[:-1], y[:-1])
    newcomer = X.iloc[-1:].assign(purpose="boat", income=np.nan)
    print("Why? One decision of NaiveBayes on 'loans', as it says it itself. The purpose 'boat' never occurred before,")
    print("and the income is missing: neither breaks anything, and neither says anything.\n")
    print(model.explain(newcomer))
    print("\nThe sum is the logarithm of the odds. Evidence of +0.69 doubles the odds, -0.69 halves them.")


def built_in_tables() -> Iterator[tuple[str, tuple[Any, npt.NDArray[Any]]]]:
    """The loans, and scikit-learn's data sets that come with it."""
    yield "loans", make_loans()
    for name in ("iris", "wine", "breast_cancer", "digits"):
        data = getattr(datasets, f"load_{name}")()
        yield name, (data.data, data.target_names[data.target])


def comparison(tables: dict[str, tuple[Any, npt.NDArray[Any]]]) -> Iterator[str]:
    """One line per model, one column per data set."""
    models: dict[str, Any] = {**OURS, **PEERS}
    width = max(map(len, models))
    yield f"{'':<{width}}" + "".join(f"{name:>15}" for name in tables)
    sizes = [f"{len(y)} x {np.shape(X)[1]}" for X, y in tables.values()]
    yield f"{'rows x columns':<{width}}" + "".join(f"{size:>15}" for size in sizes)
    for name, model in models.items():
        yield f"{name:<{width}}" + "".join(f"{_cell(model, X, y):>15}" for X, y in tables.values())


def _cell(model: Any, X: Any, y: npt.NDArray[Any]) -> str:
    try:
        with np.errstate(divide="ignore"):  # the logarithm of a probability of zero, in scikit-learn
            scores = cross_validated(model, X, y)
    except ValueError:  # scikit-learn's models refuse text
        return "-"
    loss = f"{scores.log_loss:.2f}" if scores.log_loss < 1000 else f"{scores.log_loss:.0e}"
    return f"{scores.accuracy:.3f} {loss:>7}"
