"""The six data sets of the adjusted probability models, and how their table scores predictions."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from seminaive.evaluate.calibration import log_loss_bits
from seminaive.models.adjusted import AdjustedNB
from seminaive.models.adjusted_terms import Form, Reading, unweighted_evidence
from seminaive.models.naive import Estimation, gather_sums
from seminaive.table.files import read_file
from seminaive.table.folds import stratified_folds
from seminaive.table.table import Table

Labels = npt.NDArray[Any]
Rows = tuple[pa.Table, Labels]
ALL = "all"


@dataclass(frozen=True)
class DataSet:
    """One of the paper's data sets and how the paper treats it.

    Parameters
    ----------
    name, title : str
    classes : dict
        The paper's name of each class that has lines of its own, and its label.
    mass, kind : float or "1/n", str
        Smoothing, in the words of `AdjustedNB`.
    repetitions : int
        Of ten folds; of the search, where there is a fixed split.
    """

    name: str
    title: str
    classes: dict[str, str]
    mass: Any
    kind: str
    repetitions: int

    @property
    def file(self) -> str:
        return f"{self.name}.parquet"

    @property
    def binary(self) -> bool:
        """Two classes have one model, and no line for all of them."""
        return len(self.classes) == 1

    def repeated(self, quick: bool) -> int:
        """Repetitions to run; chance cannot be told from a single search on a fixed split."""
        few = 3 if self.name == "dna" else 1
        return min(few, self.repetitions) if quick else self.repetitions

    def parameters(self) -> dict[str, Any]:
        """The paper's estimates."""
        return {"smoothing": self.mass, "smoothing_kind": self.kind, "missing": "value"}


SPLICE = {"1": "ei", "2": "ie", "3": "n"}
LYMPH = {"1": "normal", "2": "metastases", "3": "malign_lymph", "4": "fibrosis"}
SETS = (
    DataSet("dna", "DNA", SPLICE, 0.0, "none", 10),
    DataSet("sdna", "SDNA", SPLICE, 0.0, "none", 1),
    DataSet("mushroom", "Mushroom", {"": "p"}, "1/n", "half", 1),
    DataSet("breast_cancer", "Breast", {"": "recurrence-events"}, 1.0, "half", 10),
    DataSet("vote", "Vote", {"": "republican"}, "1/n", "half", 10),
    DataSet("lymphography", "Lymph", LYMPH, 1.0, "likelihood", 3),
)
FILES = tuple(data.file for data in SETS)


def read(folder: Path, name: str) -> tuple[pa.Table, Labels, Labels | None]:
    """Columns, classes, and, with a fixed split, which rows are for training."""
    table = read_file(folder / f"{name}.parquet")
    y = np.asarray(table.column("class").to_numpy(zero_copy_only=False)).astype(str)
    train = None
    if "split" in table.column_names:
        train = table.column("split").to_numpy(zero_copy_only=False) == "train"
    return table.drop_columns([name for name in ("split", "class") if name in table.column_names]), y, train


def fixed_split(X: pa.Table, y: Labels, train: Labels) -> tuple[Rows, Rows]:
    """Training and test rows."""
    return (X.filter(pa.array(train)), y[train]), (X.filter(pa.array(~train)), y[~train])


def in_folds(X: pa.Table, y: Labels, n_folds: int, seed: int) -> Iterator[tuple[Rows, Rows]]:
    """Training and test rows of every fold; each class is spread evenly."""
    fold = stratified_folds(np.unique(y, return_inverse=True)[1], n_folds, seed)
    for number in range(n_folds):
        yield fixed_split(X, y, fold != number)


class AllOnes(AdjustedNB):
    """Naive Bayes as the paper has it, every weight 1: "ovr" for its lines of single classes, "softmax" for all."""

    def _learn(self, table: Table) -> None:
        table = table.kept()
        sums = gather_sums(table)
        present = np.flatnonzero(sums.class_weight > 0)
        how = Estimation("empirical", self._mass(sums), self.smoothing_kind, self.missing)
        form: Form = "logit" if len(present) == 2 else self.coupling
        self.evidence_ = unweighted_evidence(table, sums, Reading(form, present, how, kde=False))


def of_class(model: Any, X: pa.Table, y: Labels, label: str) -> tuple[float, float]:
    """Error in percent and loss in bits of one class against the rest, by the class's own logit."""
    k = model.classes_.tolist().index(label)
    logit = model.predict_joint_log_proba(X)[:, k]
    loss = log_loss_bits(y == label, 1.0 / (1.0 + np.exp(-logit)))
    return 100 * float(np.mean((logit > 0) != (y == label))), loss


def of_all(model: Any, X: pa.Table, y: Labels) -> tuple[float, float]:
    """Error in percent and loss in bits of all classes."""
    error = 100 * float(np.mean(model.predict(X) != y))
    return error, log_loss_bits(y, model.predict_proba(X), classes=model.classes_)
