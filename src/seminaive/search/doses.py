"""A path of models in which every column has a dose: 0 says nothing, 1 says all that naive Bayes would.

`Path` follows sets of columns; this follows amounts. The forward stagewise search raises one dose by a small step at a
time; a penalty that is relaxed raises several at once. Along both, the model with the least

    AIC = mean of -2 log P(y | x)  +  2 / N * number of columns with a dose

is a model as good as cross-validation's choice, and costs nothing.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from seminaive.evidence.storage import storable
from seminaive.search.path import EQUAL, measured
from seminaive.show.path import Curve, PathPicture
from seminaive.table.schema import Floats, Integers

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["DosePath", "first_least"]


@storable
@dataclass(frozen=True, eq=False)
class DosePath:
    """Every model of a path, the first of which says nothing.

    Attributes
    ----------
    criterion : str
        What the search lowered, such as "log_loss" or "error"; "penalised likelihood" for a path of penalties.
    doses : (models, columns)
        How much of each column every model uses, between 0 and 1.
    values, errors, log_losses : (models,)
        Criterion, error and mean of -log P(y | x) on the training rows.
    n_rows : float
        How many rows (or how much weight) these rest on.
    chosen : int
        The model that was kept.
    evaluations : int
        How many candidate models were compared.
    interrupted : bool
        Stopped from the keyboard; the models so far are complete.
    penalties : (models,), optional
        The penalty of each model.
    held_out : (models,), optional
        Mean of -log P(y | x) on rows held out, where these chose the model.
    select : str
        What chose: "aic", "cv" or "validation"; "given" where there was no choice.

    Examples
    --------
    >>> doses = np.array([[0.0, 0.0], [0.0, 0.5], [0.0, 1.0], [0.1, 1.0]])
    >>> losses = np.array([0.7, 0.5, 0.4, 0.399])
    >>> path = DosePath("log_loss", doses, losses, np.array([0.5, 0.2, 0.1, 0.1]), losses, n_rows=100.0)
    >>> path.sizes.tolist(), path.features.tolist(), path.aic.round(3).tolist()
    ([0, 1, 1, 2], [-1, 1, 1, 0], [1.4, 1.02, 0.82, 0.838])
    >>> path.chosen_by_aic().chosen
    2
    >>> path.to_frame()[["step", "feature", "action", "size", "dose"]]
       step  feature action  size  dose
    0     0       -1  start     0   0.0
    1     1        1    add     1   0.5
    2     2        1  raise     1   1.0
    3     3        0    add     2   0.1
    """

    criterion: str
    doses: Floats
    values: Floats
    errors: Floats
    log_losses: Floats
    n_rows: float
    chosen: int = 0
    evaluations: int = 0
    interrupted: bool = False
    penalties: Floats | None = None
    held_out: Floats | None = None
    select: str = "aic"

    def __len__(self) -> int:
        return len(self.doses)

    @property
    def sizes(self) -> Integers:
        """How many columns say something in each model."""
        return np.count_nonzero(self.doses > 0, axis=1)

    @property
    def aic(self) -> Floats:
        """Mean deviance plus twice the number of columns per row."""
        return 2 * self.log_losses + 2 * self.sizes / self.n_rows

    @property
    def features(self) -> Integers:
        """The column whose dose changed most from the model before, the first among equals; -1 where none did."""
        if self.doses.shape[1] == 0:
            return np.full(len(self.doses), -1, dtype=np.int64)
        change = np.abs(np.diff(self.doses, axis=0, prepend=self.doses[:1]))
        return np.where(change.max(axis=1) > 0, change.argmax(axis=1), -1)

    @property
    def actions(self) -> list[str]:
        """What happened to that column: "add", "raise", "lower" or "remove"; "start" and "none" where nothing did."""
        words = []
        for step, j in enumerate(self.features.tolist()):
            if step == 0 or j < 0:
                words.append("none" if step else "start")
                continue
            before, after = self.doses[step - 1, j], self.doses[step, j]
            words.append(("add" if before == 0 else "raise") if after > before else "lower" if after > 0 else "remove")
        return words

    def chosen_by_aic(self) -> DosePath:
        """The same path with the model of least AIC chosen, the first among equals."""
        return replace(self, chosen=first_least(self.aic), select="aic")

    def to_frame(self) -> pd.DataFrame:
        """One row per model: step, feature, action, criterion, error, size, log_loss, aic, dose; and penalty and
        held_out where there are such.

        ``feature`` is the column whose dose changed most, ``dose`` its new dose.
        """
        import pandas as pd

        features = self.features
        moved = features >= 0
        dose = np.zeros(len(self))
        dose[moved] = self.doses[np.flatnonzero(moved), features[moved]]
        columns = {
            "step": np.arange(len(self)),
            "feature": features,
            "action": self.actions,
            "criterion": self.values,
            "error": self.errors,
            "size": self.sizes,
            "log_loss": self.log_losses,
            "aic": self.aic,
            "dose": dose,
        }
        optional = {"penalty": self.penalties, "held_out": self.held_out}
        return pd.DataFrame(columns | {name: values for name, values in optional.items() if values is not None})

    def picture(self, kept: tuple[int, ...] | None = None) -> PathPicture:
        """Error, log loss and AIC (halved: on the scale of the log loss) of every model, the chosen one, the doses."""
        steps = np.arange(len(self))
        at = steps.astype(np.float64)
        curves = measured(steps, self.errors, self.log_losses, "log_loss")
        curves.append(Curve("AIC / 2", at, self.aic / 2, "nats per row", "other"))
        if self.held_out is not None:
            curves.append(Curve("log loss on rows held out", at, self.held_out, "nats per row", "held out"))
        label = "step" if self.penalties is None else "step (the penalty falls)"
        return PathPicture(label, curves, [float(self.chosen)], doses=self.doses)


def first_least(values: Floats) -> int:
    """Where the least value is, the first among equals.

    Examples
    --------
    >>> first_least(np.array([0.5, 0.3, 0.3 - 1e-15]))
    1
    """
    return int(np.flatnonzero(values <= values.min() + EQUAL)[0])
