"""Naive Bayes without smoothing on the splice junctions of DNA, 2,000 rows to learn from and 1,186 to test."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from seminaive.models.naive_bayes import NaiveBayes
from seminaive.reproduce.paper_table import Line, PaperTable
from seminaive.table.files import read_file

LEAST = 1e-10
"""What the paper puts in the place of a probability of zero."""


def lines(folder: Path) -> list[Line]:
    """Error in percent, and loss in bits: the mean of -log2 P(class of the row)."""
    table = read_file(folder / "dna.parquet")
    train = table.column("split").to_numpy() == "train"
    y = table.column("class").to_numpy()
    X = table.drop_columns(["split", "class"])
    model = NaiveBayes(smoothing_kind="none").fit(X.filter(train), y[train])
    probabilities = model.predict_proba(X.filter(~train))
    of_class = probabilities[np.arange(len(probabilities)), np.searchsorted(model.classes_, y[~train])]
    error = np.mean(model.predict(X.filter(~train)) != y[~train])
    return [
        Line("test error, %", 5.40, 100 * float(error)),
        Line("loss, bits", 0.25, float(-np.log2(np.maximum(of_class, LEAST)).mean())),
    ]


TABLE = PaperTable(
    title="Naive Bayes without smoothing on DNA",
    source="Hong, Hosking, Natarajan (2002), Multiplicative Adjustment of Class Probability, Table 1, DNA, All, NB",
    lines=lines,
    files=("dna.parquet",),
)
