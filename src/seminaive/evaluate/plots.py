"""Critical-difference plot: who ranks where, and who cannot be told apart.

After J. Demšar (2006): classifiers stand on one axis, best at the left; a thick bar joins neighbours among
which no pair differs significantly. Here "significantly" is by adjusted p values, not by one critical length.
"""

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["indistinguishable_groups", "plot_critical_differences"]


def indistinguishable_groups(positions: npt.ArrayLike, p_values: npt.ArrayLike, alpha: float = 0.05) -> list[list[int]]:
    """Longest runs of neighbours, in order of position, among which every pair has p >= alpha.

    Parameters
    ----------
    positions : array of shape (k,)
        Average rank, or mean score, of each classifier.
    p_values : array of shape (k, k)
        Adjusted p value of every pair; the diagonal is not read. NaN counts as not significant.
    alpha : float, default=0.05
        Level of significance.

    Returns
    -------
    list of runs of at least two classifiers, none inside another

    Examples
    --------
    >>> p = [[1, 0.2, 0.01], [0.2, 1, 0.3], [0.01, 0.3, 1]]
    >>> indistinguishable_groups([1.1, 1.9, 3.0], p)
    [[0, 1], [1, 2]]
    """
    order = np.argsort(np.asarray(positions, dtype=np.float64), kind="stable")
    p = np.asarray(p_values, dtype=np.float64)
    together = ~(p[np.ix_(order, order)] < alpha)
    groups: list[list[int]] = []
    reached = 0
    for start in range(len(order)):
        stop = start + 1
        while stop < len(order) and together[start:stop, stop].all():
            stop += 1
        if stop - start > 1 and stop > reached:
            groups.append(order[start:stop].tolist())
            reached = stop
    return groups


def plot_critical_differences(
    positions: npt.ArrayLike,
    p_values: npt.ArrayLike,
    names: Sequence[str],
    alpha: float = 0.05,
    higher_is_better: bool = False,
    label: str = "average rank",
    ax: "Axes | None" = None,
) -> "Axes":
    """Draw a critical-difference plot.

    Parameters
    ----------
    positions : array of shape (k,)
        Average rank, or mean score, of each classifier.
    p_values : array of shape (k, k)
        Adjusted p value of every pair.
    names : sequence of k str
        Names of the classifiers.
    alpha : float, default=0.05
        Pairs with a smaller p value are not joined.
    higher_is_better : bool, default=False
        True if a larger position is better; the axis then runs from right to left.
    label : str, default="average rank"
        What the axis shows.
    ax : matplotlib Axes, optional
        Where to draw; a new figure if not given.

    Returns
    -------
    matplotlib Axes

    Examples
    --------
    >>> p = [[1, 0.2, 0.01], [0.2, 1, 0.3], [0.01, 0.3, 1]]
    >>> ax = plot_critical_differences([1.1, 1.9, 3.0], p, ["A", "B", "C"])
    >>> ax.get_xlabel()
    'average rank'
    """
    at = np.asarray(positions, dtype=np.float64)
    k = len(at)
    groups = indistinguishable_groups(at, p_values, alpha)
    order = np.argsort(at, kind="stable")
    n_left = (k + 1) // 2
    if ax is None:
        import matplotlib.pyplot as plt

        # Four inches of axis, and room for the longest name on either side.
        letters = [max((len(names[m]) for m in side), default=0) + 8 for side in (order[:n_left], order[n_left:])]
        width, height = 4.0 + 0.085 * sum(letters), 1.0 + 0.18 * len(groups) + 0.3 * n_left
        _, ax = plt.subplots(figsize=(width, height), layout="constrained")

    low, high = (1.0, float(k)) if label == "average rank" else (float(at.min()), float(at.max()))
    span = (high - low) or 1.0
    # Bars hang below the axis first, then the names; one unit of depth is one line of text.
    for bar, group in enumerate(groups, start=1):
        ends = at[group].min() - 0.01 * span, at[group].max() + 0.01 * span
        ax.plot(ends, [-0.6 * bar] * 2, color="black", linewidth=3.5, solid_capstyle="butt")
    top = -0.6 * (len(groups) + 1) - 0.4
    for place, model in enumerate(order):
        on_left = place < n_left
        depth = top - (place if on_left else k - 1 - place)
        end = low - 0.08 * span if on_left else high + 0.08 * span
        ax.plot([at[model], at[model], end], [0, depth, depth], color="0.35", linewidth=0.9)
        left_aligned = on_left == higher_is_better
        ax.annotate(
            f"{names[model]}  ({at[model]:.3g})",
            (end, depth),
            xytext=(4 if left_aligned else -4, 0),
            textcoords="offset points",
            ha="left" if left_aligned else "right",
            va="center",
        )

    # The names stand outside the axes, where a constrained layout makes room for them.
    ax.set_xlim(low - 0.08 * span, high + 0.08 * span)
    if higher_is_better:
        ax.invert_xaxis()
    ax.set_ylim(top - n_left + 0.5, 0)
    ax.xaxis.set_ticks_position("top")
    ax.xaxis.set_label_position("top")
    ax.set_xlabel(label)
    if label == "average rank":
        ax.set_xticks(range(1, k + 1))
    ax.set_yticks([])
    for side in ("left", "right", "bottom"):
        ax.spines[side].set_visible(False)
    ax.spines["top"].set_bounds(low, high)
    return ax
