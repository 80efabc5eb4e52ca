"""Explanations: evidence in words, numbers and bars, for single rows or for the model as a whole."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from seminaive.evidence.contributions import contrast
from seminaive.table.schema import Floats

if TYPE_CHECKING:
    import pandas as pd

Z95 = 1.959963984540054
"""Half-width of a 95 % interval in standard errors."""


@dataclass(frozen=True, eq=False)
class Explanation:
    """Why rows were classified as they were: one bar of evidence per term, with a 95 % credible interval.

    Evidence is in nats (natural logarithm): +0.69 doubles the odds of a class. With two classes it is relative to the
    first class; with more it is centred over the classes, unless a reference class was asked for, or each class has a
    logit of its own (link "ovr").

    Attributes
    ----------
    terms : list of str
    texts : list of lists of str
        The value of each term in each row, as read: a level, a number, "missing", or a value with "(never seen)".
    values, variances : arrays (rows, terms, classes)
    prior : array (classes,)
    classes : array
    probabilities : array (rows, classes)
    reference : int or None
        Position of the class the evidence is relative to; None: centred.
    link : "softmax" or "ovr"
        Of the model; "ovr" is evidence for a class against the rest.
    """

    terms: list[str]
    texts: list[list[str]]
    values: Floats
    variances: Floats
    prior: Floats
    classes: npt.NDArray[Any]
    probabilities: Floats
    reference: int | None
    link: str = "softmax"

    @property
    def relative(self) -> tuple[Floats, Floats]:
        """Evidence to read (relative or centred) and its standard errors, both (rows, terms, classes)."""
        return contrast(self.values, self.variances, self.reference, self.link)

    @property
    def against(self) -> str:
        """What the evidence for a class is relative to, in words."""
        if self.reference is not None:
            return str(self.classes[self.reference])
        return "the rest" if self.link == "ovr" else "the average class"

    @property
    def shown_classes(self) -> list[int]:
        """The classes worth a bar: all but the reference."""
        return [k for k in range(len(self.classes)) if k != self.reference]

    def to_frame(self) -> pd.DataFrame:
        """One line per row, class and term (the prior first): the value, its evidence, and a 95 % interval."""
        import pandas as pd

        evidence, error = self.relative
        prior, _ = contrast(self.prior, np.zeros_like(self.prior), self.reference, self.link)
        lines = []
        for row, texts in enumerate(self.texts):
            for k in self.shown_classes:
                lines.append((row, self.classes[k], "(prior)", "", prior[k], prior[k], prior[k]))
                for t, term in enumerate(self.terms):
                    e, half = evidence[row, t, k], Z95 * error[row, t, k]
                    lines.append((row, self.classes[k], term, texts[t], e, e - half, e + half))
        return pd.DataFrame(lines, columns=["row", "class", "term", "value", "evidence", "low", "high"])

    def plot(self, row: int = 0, ax: Any = None, max_terms: int = 20) -> Any:
        """Draw one row's evidence for its most probable class; returns the matplotlib Axes."""
        from seminaive.show.bars import plot_row

        return plot_row(self, row, ax, max_terms)

    def focus(self, row: int) -> int:
        """The class a row's bars are drawn for: the other one of two, else the most probable."""
        if self.reference is not None and len(self.classes) == 2:
            return 1 - self.reference
        best = int(np.argmax(self.probabilities[row]))
        return best if best != self.reference else int(np.argsort(-self.probabilities[row], kind="stable")[1])

    def __str__(self) -> str:
        return "\n\n".join(self._row_text(row) for row in range(len(self.texts)))

    def _row_text(self, row: int) -> str:
        evidence, error = self.relative
        prior, _ = contrast(self.prior, np.zeros_like(self.prior), self.reference, self.link)
        k = self.focus(row)
        best = int(np.argmax(self.probabilities[row]))
        head = (
            f"row {row}: {self.classes[best]} with probability {self.probabilities[row, best]:.3f}\n"
            f"evidence for {self.classes[k]} against {self.against} (nats, 95 % interval):"
        )
        width = max([len(t) for t in self.terms] + [7])
        value_width = min(max([len(t) for t in self.texts[row]] + [5]), 32)
        lines = [head, f"  {'(prior)':<{width}}  {'':<{value_width}} {prior[k]:+8.2f}"]
        for t in np.argsort(-np.abs(evidence[row, :, k]), kind="stable"):
            e, half = evidence[row, t, k], Z95 * error[row, t, k]
            text = shortened(self.texts[row][t], value_width)
            lines.append(
                f"  {self.terms[t]:<{width}}  {text:<{value_width}} {e:+8.2f}  [{e - half:+.2f}, {e + half:+.2f}]"
            )
        lines.append(f"  {'sum':<{width}}  {'':<{value_width}} {prior[k] + evidence[row, :, k].sum():+8.2f}")
        return "\n".join(lines)

    __repr__ = __str__


def shortened(text: str, width: int) -> str:
    """Text of at most so many characters; three dots say that there was more.

    >>> shortened("118.482 (117.213 to 127.624)", 20)
    '118.482 (117.213 ...'
    """
    return text if len(text) <= width else f"{text[: width - 3]}..."


@dataclass(frozen=True, eq=False)
class ModelExplanation:
    """What a model has learned: the evidence of every level, or along every numeric column.

    Attributes
    ----------
    terms : list of str
    texts : list of lists of str
        Per term, the values shown.
    values, variances : lists of arrays (values shown, classes)
    positions : list of arrays or None
        Per numeric term, the numbers behind ``texts``.
    sizes : list of lists of int, optional
        Per term, how many of its values belong to each of the families that speak for it side by side; none: one.
    """

    terms: list[str]
    texts: list[list[str]]
    values: list[Floats]
    variances: list[Floats]
    positions: list[Floats | None]
    prior: Floats
    classes: npt.NDArray[Any]
    reference: int | None
    link: str = "softmax"
    sizes: list[list[int]] | None = None

    def spread(self) -> Floats:
        """How much each term can say: the largest difference of its evidence between two shown values, over classes.

        Families that speak for a term side by side each add theirs.
        """
        spread = []
        for t, (values, variances) in enumerate(zip(self.values, self.variances, strict=True)):
            evidence, _ = contrast(values, variances, self.reference, self.link)
            sizes = self.sizes[t] if self.sizes else [len(evidence)]
            parts = [part for part in np.split(evidence, np.cumsum(sizes)[:-1]) if len(part)]
            spread.append(float(sum(np.ptp(part, axis=0) for part in parts).max()) if parts else 0.0)
        return np.array(spread)

    def to_frame(self) -> pd.DataFrame:
        """One line per term, shown value and class: the evidence and a 95 % interval."""
        import pandas as pd

        lines = []
        for term, texts, values, variances in zip(self.terms, self.texts, self.values, self.variances, strict=True):
            evidence, error = contrast(values, variances, self.reference, self.link)
            for i, text in enumerate(texts):
                for k, label in enumerate(self.classes):
                    if k != self.reference:
                        e, half = evidence[i, k], Z95 * error[i, k]
                        lines.append((term, text, label, e, e - half, e + half))
        return pd.DataFrame(lines, columns=["term", "value", "class", "evidence", "low", "high"])

    def plot(self, axes: Any = None, max_terms: int = 9) -> Any:
        """Draw the terms that can say most, one panel each; returns the array of matplotlib Axes."""
        from seminaive.show.bars import plot_model

        return plot_model(self, axes, max_terms)

    def __str__(self) -> str:
        spread = self.spread()
        order = np.argsort(-spread, kind="stable")
        lines = ["terms by how much they can say (nats between two of their values):"]
        lines += [f"  {spread[t]:8.2f}  {self.terms[t]}" for t in order[:20]]
        if len(order) > 20:
            lines.append(f"  ... and {len(order) - 20} more")
        return "\n".join(lines)

    __repr__ = __str__
