"""What all estimators share: the way in (any table), the way out (scores, probabilities, contributions, files)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from os import PathLike
from typing import Any, Self

import numpy as np
import numpy.typing as npt
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils.validation import check_is_fitted, validate_data

from seminaive.evidence.contributions import Contributions, contributions
from seminaive.evidence.evidence import Evidence
from seminaive.evidence.mixture import Mixture
from seminaive.evidence.model import Model
from seminaive.evidence.storage import register_estimator, save
from seminaive.models.checks import check_n_jobs
from seminaive.models.numeric import in_words
from seminaive.show.explain import explain_model, explain_rows
from seminaive.show.explanation import Explanation, ModelExplanation
from seminaive.show.summary import summarize
from seminaive.table.block import Block, same_block
from seminaive.table.door import columns_to_keep, has_own_names, open_rows, open_table
from seminaive.table.facts import Wishes
from seminaive.table.fold import Kernel, Rows
from seminaive.table.frames import Frame, open_frame
from seminaive.table.predictions import write_predictions
from seminaive.table.schema import Floats
from seminaive.table.table import Table


class TableEstimator(BaseEstimator):
    """Whatever learns from labelled rows of any kind; it implements ``_learn(table)``."""

    classes_: npt.NDArray[Any]
    n_jobs: int | None = None
    nominal: Any = None
    levels: Any = None
    max_levels: int | None = None

    def __init_subclass__(cls, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        if not cls.__name__.startswith("_"):
            register_estimator(cls)

    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Self:
        """Learn from labelled rows.

        Parameters
        ----------
        X : table of any kind, or a `Table` made by ``seminaive.encode``
            pandas, Polars or Arrow table, NumPy array, SciPy sparse matrix. Gaps are welcome.
        y : array-like of shape (n_rows,)
            Class labels; left out when X is a `Table`.
        sample_weight : array-like of shape (n_rows,), optional
            Weight 2 means the row twice, weight 0 the row left out.
        """
        with unchanged_on_error(self):
            check_n_jobs(self.n_jobs)
            self._check_parameters()
            table = self._encode(X, y, sample_weight)
            self._forget_everything()
            self._note_columns(X, table)
            self.classes_ = table.schema.classes
            self._learn(table)
        return self

    def _check_parameters(self) -> None:
        """Refuse parameters that make no sense, before anything is read."""

    def _learn(self, table: Table) -> None:
        """Learn from encoded rows."""
        raise NotImplementedError

    def _encode(self, X: Any, y: Any, sample_weight: Any) -> Table:
        return open_table(X, y, sample_weight, Wishes(self.nominal, self.levels, self.max_levels), self.n_jobs)

    def _forget_everything(self) -> None:
        """Drop what an earlier fit learned, so that nothing stale survives."""
        for name in [name for name in vars(self) if name.endswith("_")]:
            delattr(self, name)

    def _note_columns(self, X: Any, table: Table) -> None:
        if has_own_names(X):
            names = table.schema.names
            self.n_features_in_ = len(names)
            if all(isinstance(name, str) for name in names):
                self.feature_names_in_ = np.array(names, dtype=object)
        else:
            validate_data(self, X, reset=True, skip_check_array=True)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        tags.input_tags.sparse = True
        tags.input_tags.categorical = True
        # Text is welcome, too, but scikit-learn couples that tag with accepting nested cells, which are refused here.
        tags.input_tags.string = False
        return tags


class EvidenceClassifier(ClassifierMixin, TableEstimator):
    """A classifier whose fitted state is an `Evidence`, a prior plus a sum of terms, or a `Mixture` of such sums.

    A model implements ``_learn(table)``, which sets ``evidence_`` and whatever else it learned; everything users call
    is here, once.
    """

    evidence_: Model
    class_count_: npt.NDArray[Any]
    numeric: str
    n_bins: int

    # --- predicting ---------------------------------------------------------------------------------------------------

    def predict_joint_log_proba(self, X: Any) -> Floats:
        """The scores: prior plus evidence, one column per class."""
        return self._by_row(X, joint_scores)

    def predict_log_proba(self, X: Any) -> Floats:
        """Logarithms of the class probabilities."""
        return self._by_row(X, log_probabilities)

    def predict_proba(self, X: Any) -> Floats:
        """Class probabilities, one column per class in the order of ``classes_``."""
        return self._by_row(X, probabilities)

    def predict(self, X: Any) -> npt.NDArray[Any]:
        """The most probable class of each row; the first of ``classes_`` among equals."""
        best = self._by_row(X, best_class)
        return np.asarray(self.classes_[best])

    def predict_parquet(self, X: Any, path: str | PathLike[str], keep: Sequence[str] = ()) -> int:
        """Write the prediction and all probabilities of every row to a Parquet file, and give the number of rows.

        Works block by block: neither the rows (files, a Dask DataFrame) nor the result need fit in memory; on a cluster
        the workers score. The file appears under its name only when it is complete.

        Parameters
        ----------
        X : rows of any kind
        path : path of the file
        keep : names of columns, optional
            Written before the predictions, such as the keys of the rows; X must be a scan, whose files hold them.
        """
        evidence = self._fitted()
        rows = self._rows(X).map(probabilities, evidence, n_jobs=self.n_jobs)
        return write_predictions(path, self.classes_, rows, columns_to_keep(X, keep, self.classes_))

    def _fitted(self) -> Model:
        check_is_fitted(self, "evidence_")
        return self.evidence_

    def _rows(self, X: Any) -> Rows:
        """Rows of any kind as blocks under this model's schema."""
        evidence = self._fitted()
        return open_rows(X if has_own_names(X) else self._open(X), evidence.schema)

    def _open(self, X: Any) -> Frame:
        frame = open_frame(X)
        validate_data(self, X, reset=False, skip_check_array=True)
        return frame

    def _by_row(self, X: Any, kernel: Kernel) -> npt.NDArray[Any]:
        """What a kernel says of every row, in row order; it runs where the rows are."""
        parts = list(self._rows(X).map(kernel, self._fitted(), n_jobs=self.n_jobs))
        if not parts:
            raise ValueError("X has no rows to predict")
        return np.concatenate(parts)

    # --- explaining and keeping ---------------------------------------------------------------------------------------

    def contributions(self, X: Any) -> Contributions:
        """What each term adds to each class's score: ``prior + values.sum(axis=1)`` are the scores."""
        evidence = self._fitted()
        rows = self._rows(X)
        return contributions(evidence, rows.map(same_block), rows.n_rows)

    def explain(self, X: Any = None, reference: Any = None) -> Explanation | ModelExplanation:
        """Why: for the rows of X, or, without X, what the model has learned.

        Parameters
        ----------
        X : table, optional
            Rows to explain.
        reference : class label, optional
            Show evidence relative to this class. Default: the first of two classes; with more classes, the average
            over all. Classes that each have their own logit (``coupling="ovr"``) are shown against the rest.

        Returns
        -------
        Explanation or ModelExplanation
            With ``to_frame()`` and ``plot()``; printing it shows it in words.
        """
        evidence = self._fitted()
        position = _reference(reference, evidence)
        if X is None:
            return explain_model(evidence, position)
        if has_own_names(X):
            raise ValueError(
                f"explain needs rows in memory, not a {type(X).__name__}: pass a frame of the rows to explain"
            )
        return explain_rows(evidence, self._open(X), position)

    def _in_words(self, title: str, *found: str) -> str:
        """A summary: what all models tell, and after its first line what this one found."""
        return summarize(title, self._fitted(), self.class_count_, in_words(self.numeric, self.n_bins), *found)

    def save(self, path: str | PathLike[str]) -> None:
        """Write the model to one file, which ``seminaive.load`` reads; nothing in it is ever executed."""
        self._fitted()
        save(self, path)

    def _check_restored(self) -> None:
        """Refuse a loaded state whose parts do not fit together."""
        evidence = vars(self).get("evidence_")
        if not isinstance(evidence, (Evidence, Mixture)):
            raise ValueError("the model file holds no evidence")
        if len(self.classes_) != evidence.schema.n_classes or self.n_features_in_ != len(evidence.schema.columns):
            raise ValueError("the model file's classes or columns do not fit its evidence")


# --- kernels of prediction: a result per row, in row order ------------------------------------------------------------


def joint_scores(block: Block, evidence: Model) -> Floats:
    """The scores (rows, classes) of a block."""
    return block.in_row_order(evidence.scores(block)).T


def log_probabilities(block: Block, evidence: Model) -> Floats:
    """Logarithms of the class probabilities (rows, classes) of a block."""
    return block.in_row_order(evidence.log_probabilities(evidence.scores(block))).T


def probabilities(block: Block, evidence: Model) -> Floats:
    """Class probabilities (rows, classes) of a block."""
    return block.in_row_order(evidence.probabilities(evidence.scores(block))).T


def best_class(block: Block, evidence: Model) -> npt.NDArray[np.int64]:
    """The position of the class with the highest score in each row of a block."""
    return block.in_row_order(evidence.scores(block).argmax(axis=0))


# --- when something goes wrong ----------------------------------------------------------------------------------------


@contextmanager
def unchanged_on_error(estimator: Any) -> Iterator[None]:
    """Whatever fails or is interrupted inside leaves the estimator exactly as it was."""
    before = dict(vars(estimator))
    try:
        yield
    except BaseException:
        vars(estimator).clear()
        vars(estimator).update(before)
        raise


def _reference(label: Any, evidence: Model) -> int | None:
    schema = evidence.schema
    if evidence.link == "ovr":
        if label is not None:
            raise ValueError(f"reference={label!r} has no meaning here: every class is shown against the rest")
        return None
    if label is None:
        return 0 if schema.n_classes == 2 else None
    if label not in schema.classes.tolist():
        raise ValueError(f"reference must be one of the classes {schema.classes.tolist()}, got {label!r}")
    return int(schema.classes.tolist().index(label))
