"""Plain bar pictures of evidence."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from seminaive.evidence.contributions import contrast
from seminaive.table.schema import Floats

if TYPE_CHECKING:
    from seminaive.show.explanation import Explanation, ModelExplanation

FOR, AGAINST, SILENT = "#2166ac", "#b2182b", "#777777"


LONGEST = 24
"""Characters of a name that fit beside a picture."""
SHOWN_LEVELS = 12
"""Most levels of a term that one panel shows."""


def plain(text: Any, longest: int = LONGEST) -> str:
    """A name as matplotlib must get it to show it as it is: no formula, not too long, not hidden by an underscore.

    What is too long loses its middle, since names often differ at their end.
    """
    shown = str(text)
    if len(shown) > longest:
        tail = (longest - 3) // 2
        shown = f"{shown[: longest - 3 - tail]}...{shown[-tail:]}"
    return (" " if shown.startswith("_") else "") + shown.replace("$", r"\$")


def plot_row(explanation: Explanation, row: int, ax: Any, max_terms: int) -> Any:
    """Horizontal bars, the strongest evidence on top, the prior first, the smallest terms summed in one bar."""
    import matplotlib.pyplot as plt

    if not 0 <= row < len(explanation.texts):
        raise ValueError(f"row must be between 0 and {len(explanation.texts) - 1}, got {row}")
    evidence, error = explanation.relative
    prior, _ = contrast(explanation.prior, np.zeros_like(explanation.prior), explanation.reference, explanation.link)
    k = explanation.focus(row)
    order = np.argsort(-np.abs(evidence[row, :, k]), kind="stable")
    shown, rest = order[:max_terms], order[max_terms:]
    labels = ["(prior)"] + [_row_label(explanation.terms[t], explanation.texts[row][t]) for t in shown]
    lengths = [prior[k], *evidence[row, shown, k]]
    halves = [0.0, *(1.96 * error[row, shown, k])]
    if len(rest):
        labels.append(f"{len(rest)} smaller terms")
        lengths.append(float(evidence[row, rest, k].sum()))
        halves.append(1.96 * float(np.sqrt((error[row, rest, k] ** 2).sum())))
    if ax is None:
        lines = [line for label in labels for line in label.split("\n")]
        size = 4.5 + 0.085 * max(map(len, lines)), 1.0 + 0.18 * len(labels) + 0.16 * len(lines)
        _, ax = plt.subplots(figsize=size, layout="constrained")
    at = np.arange(len(labels))
    colours = [FOR if length > 0 else AGAINST for length in lengths]
    finite = np.where(np.isfinite(halves), halves, 0.0)
    ax.barh(at, lengths, xerr=finite, color=colours, error_kw={"ecolor": "#333333", "elinewidth": 1, "capsize": 2})
    ax.set_yticks(at, labels)
    ax.set_ylim(len(labels) - 0.4, -0.6)
    ax.axvline(0, color=SILENT, linewidth=0.8)
    _keep_in_reach(ax.set_xlim, *(np.asarray(lengths) + step for step in (0.0, -finite, finite)))
    best = int(np.argmax(explanation.probabilities[row]))
    names = [plain(label) for label in explanation.classes]
    ax.set_xlabel(f"evidence for {names[k]} against {plain(explanation.against)}\n(nats, 95 % interval)")
    ax.set_title(f"{names[best]}: probability {explanation.probabilities[row, best]:.3f}")
    return ax


def _row_label(term: str, text: str) -> str:
    """A term and its value in a row; what a value is read with has a line of its own."""
    value, given, parents = text.partition(" given ")
    if given:
        return f"{plain(term.partition(' | ')[0])} = {plain(value)}\ngiven {plain(parents, 2 * LONGEST)}"
    return f"{plain(term)} = {plain(text)}" if text else plain(term)


def _keep_in_reach(limit: Any, evidence: Floats, low: Floats, high: Floats) -> None:
    """Limit the axis of the evidence: intervals of what is hardly known may not flatten what is."""
    reach = 2.5 * float(np.abs(evidence).max(initial=0.0))
    if reach > 0:
        limit(max(1.05 * low.min(initial=0.0), -reach), min(1.05 * high.max(initial=0.0), reach) or 0.05 * reach)


def plot_model(explanation: ModelExplanation, axes: Any, max_terms: int) -> Any:
    """One panel per term: bars over levels, or lines over a numeric column, a colour per class."""
    import matplotlib.pyplot as plt

    order = np.argsort(-explanation.spread(), kind="stable")[:max_terms]
    own = axes is None
    if own:
        columns = min(3, max(1, len(order)))
        rows = max(1, -(-len(order) // columns))
        _, axes = plt.subplots(rows, columns, figsize=(4 * columns, 2.8 * rows), squeeze=False, layout="constrained")
    panels = np.asarray(axes).ravel()
    shown = [k for k in range(len(explanation.classes)) if k != explanation.reference]
    for ax, t in zip(panels, order, strict=False):
        evidence, error = contrast(
            explanation.values[t], explanation.variances[t], explanation.reference, explanation.link
        )
        half = np.where(np.isfinite(error), 1.96 * error, 0.0)
        position, texts = explanation.positions[t], explanation.texts[t]
        title = plain(explanation.terms[t])
        if position is None and len(evidence) > SHOWN_LEVELS:
            loudest = np.sort(np.argsort(-np.abs(evidence).max(axis=1), kind="stable")[:SHOWN_LEVELS])
            title = f"{title}: {SHOWN_LEVELS} of {len(evidence)}"
            evidence, half, texts = evidence[loudest], half[loudest], [texts[i] for i in loudest]
        for i, k in enumerate(shown):
            label = plain(explanation.classes[k])
            if position is not None:
                (line,) = ax.plot(position, evidence[:, k], label=label)
                low, high = evidence[:, k] - half[:, k], evidence[:, k] + half[:, k]
                ax.fill_between(position, low, high, color=line.get_color(), alpha=0.15)
            else:
                width = 0.8 / len(shown)
                at = np.arange(len(evidence)) + i * width
                ax.bar(at, evidence[:, k], width, yerr=half[:, k], label=label, error_kw={"elinewidth": 0.8})
        if position is None:
            middle = np.arange(len(evidence)) + 0.4 - 0.4 / len(shown)
            ax.set_xticks(middle, [plain(text, 32) for text in texts], rotation=45, ha="right", fontsize=8)
            _keep_in_reach(ax.set_ylim, *((evidence + step)[:, shown] for step in (0.0, -half, half)))
        ax.axhline(0, color=SILENT, linewidth=0.8)
        ax.set_title(title, fontsize=10)
    if len(order):
        if own:  # above the panels: inside one it hides bars
            handles, labels = panels[0].get_legend_handles_labels()
            panels[0].figure.legend(handles, labels, loc="outside upper right", ncols=len(labels), fontsize=8)
        else:
            panels[0].legend(fontsize=8)
        panels[0].set_ylabel("evidence (nats)")
    for ax in panels[len(order) :]:
        ax.set_visible(False)
    return axes
