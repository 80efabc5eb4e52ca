"""The classifiers of Table 3 of the Bayesian forest paper: ours, and their like in scikit-learn.

What scikit-learn's are given (levels to columns, numbers to a common scale) is learned from the training rows, too.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from sklearn.compose import ColumnTransformer
from sklearn.ensemble import HistGradientBoostingClassifier, RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV, KFold
from sklearn.multiclass import OneVsRestClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, OrdinalEncoder, StandardScaler
from sklearn.svm import SVC
from sklearn.tree import DecisionTreeClassifier

from seminaive.models.forest import BayesianForest
from seminaive.models.naive_bayes import NaiveBayes
from seminaive.models.tree_augmented import TreeAugmentedNB

WIDE = 1000
"""From so many columns on a forest's chains are two, of the published length."""


@dataclass(frozen=True)
class Peer:
    """One column of the table.

    Parameters
    ----------
    name : str
    paper : str
        The paper's column beside it.
    make : callable
        From training columns, whether numbers are cut at medians, and a seed to a classifier.
    ours : bool
    random : bool
        Whether the seed matters; if not, one run on a fixed split is enough.
    most_work : float
        Rows times columns times classes beyond which it is not run.
    """

    name: str
    paper: str
    make: Callable[[pd.DataFrame, bool, int], Any]
    ours: bool = False
    random: bool = False
    most_work: float = np.inf


def bins(medians: bool) -> dict[str, Any]:
    """How our models cut numeric columns."""
    return {"numeric": "bins", "n_bins": 2} if medians else {"numeric": "mdl"}


def forest(X: pd.DataFrame, medians: bool, seed: int) -> BayesianForest:
    d = X.shape[1]
    length: dict[str, Any] = {"n_iter": 10 * d, "thin": d // 20, "chains": 2} if d >= WIDE else {}
    return BayesianForest(random_state=seed, n_jobs=1, **bins(medians), **length)


def naive_bayes(X: pd.DataFrame, medians: bool, seed: int) -> NaiveBayes:
    return NaiveBayes(smoothing_kind="pooled", missing="value", **bins(medians))


def tree_augmented(X: pd.DataFrame, medians: bool, seed: int) -> TreeAugmentedNB:
    return TreeAugmentedNB(**bins(medians))


def logistic(X: pd.DataFrame, medians: bool, seed: int) -> Any:
    return make_pipeline(in_columns(X), LogisticRegression(max_iter=1000))


def lasso(X: pd.DataFrame, medians: bool, seed: int) -> Any:
    """Each class against the rest, the penalty by five folds."""
    # The parameter was renamed in scikit-learn 1.8.
    renamed = getattr(LogisticRegression(), "penalty", "deprecated") == "deprecated"
    kind: dict[str, Any] = {"l1_ratio": 1.0} if renamed else {"penalty": "l1"}
    one = LogisticRegression(solver="liblinear", max_iter=200, random_state=seed, **kind)
    penalties = {"estimator__C": np.logspace(-1.5, 1.5, 5)}
    folds = KFold(5, shuffle=True, random_state=seed)
    return make_pipeline(in_columns(X), GridSearchCV(OneVsRestClassifier(one), penalties, cv=folds))


def cart(X: pd.DataFrame, medians: bool, seed: int) -> Any:
    """A single tree, pruned a little."""
    tree = DecisionTreeClassifier(min_samples_leaf=5, ccp_alpha=0.003, random_state=seed)
    return make_pipeline(in_columns(X), tree)


def random_forest(X: pd.DataFrame, medians: bool, seed: int) -> Any:
    return make_pipeline(in_columns(X), RandomForestClassifier(200, random_state=seed))


def support_vectors(X: pd.DataFrame, medians: bool, seed: int) -> Any:
    return make_pipeline(in_columns(X), SVC())


def boosted(X: pd.DataFrame, medians: bool, seed: int) -> Any:
    nominal = nominal_columns(X)
    codes = OrdinalEncoder(handle_unknown="use_encoded_value", unknown_value=np.nan)
    encode = ColumnTransformer([("nominal", codes, nominal)], remainder="passthrough")
    codes_first = list(range(len(nominal)))
    model = HistGradientBoostingClassifier(categorical_features=codes_first, l2_regularization=1.0)
    return make_pipeline(encode, model)


def nominal_columns(X: pd.DataFrame) -> list[str]:
    """Names of the columns that are not numbers."""
    return [name for name in X.columns if isinstance(X[name].dtype, pd.CategoricalDtype) or X[name].dtype == bool]


def in_columns(X: pd.DataFrame) -> ColumnTransformer:
    """A column per level, a gap among them; numbers on a common scale."""
    return ColumnTransformer(
        [("nominal", OneHotEncoder(handle_unknown="ignore"), nominal_columns(X))], remainder=StandardScaler()
    )


PEERS = (
    Peer("SBFC", "SBFC", forest, ours=True, random=True),
    Peer("NB", "NB", naive_bayes, ours=True),
    Peer("TAN", "TAN", tree_augmented, ours=True),
    Peer("LR", "LR", logistic, most_work=5e7),
    Peer("lasso", "Lasso", lasso, random=True, most_work=1e7),
    Peer("CART", "CART", cart),
    Peer("RF", "RF", random_forest, random=True),
    Peer("SVM", "SVM", support_vectors, most_work=1e7),
    Peer("boosted", "BART", boosted, most_work=5e7),
)
