"""What can be had: the best pairs of two classes' recalls, with the promised point."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from seminaive.table.schema import Floats

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True, eq=False)
class Front:
    """The attainable front of two recalls.

    Attributes
    ----------
    classes : pair of labels
    points : array (points, 2)
        Pairs of recalls of which none can be bettered in both, the first one rising.
    asked : pair of float
        The promised recalls (0 where nothing was promised).
    reached : pair of float
        The model's own recalls on these rows.
    """

    classes: tuple[Any, Any]
    points: Floats
    asked: tuple[float, float]
    reached: tuple[float, float]

    @property
    def attainable(self) -> bool:
        """Whether some point of the front reaches both promised recalls."""
        return bool(((self.points[:, 0] >= self.asked[0] - 1e-12) & (self.points[:, 1] >= self.asked[1] - 1e-12)).any())

    def to_frame(self) -> pd.DataFrame:
        """One row per point of the front."""
        import pandas as pd

        names = [f"recall of {label}" for label in self.classes]
        return pd.DataFrame(self.points, columns=names)

    def plot(self, ax: Any = None) -> Any:
        """Draw the front, the promised region and the model's point; returns the matplotlib Axes."""
        import matplotlib.pyplot as plt

        if ax is None:
            _, ax = plt.subplots(figsize=(5, 5), layout="constrained")
        ax.fill_betweenx([self.asked[1], 1], self.asked[0], 1, color="#2166ac", alpha=0.12, label="promised")
        ax.step(self.points[:, 0], self.points[:, 1], where="pre", color="#555555", label="what can be had")
        if min(self.asked) > 0:
            ax.plot(*self.asked, "s", color="#2166ac")
        colour = "#1a9641" if all(r >= a - 1e-12 for r, a in zip(self.reached, self.asked, strict=True)) else "#b2182b"
        ax.plot(*self.reached, "o", color=colour, label="this model")
        least = [  # where nothing is promised, the picture need not go down to zero
            min(self.points[:, i].min(), self.reached[i], self.asked[i] if self.asked[i] > 0 else 1.0) for i in (0, 1)
        ]
        ax.set_xlim(least[0] - 0.02, 1.01)
        ax.set_ylim(least[1] - 0.02, 1.01)
        ax.set_xlabel(f"recall of {self.classes[0]}")
        ax.set_ylabel(f"recall of {self.classes[1]}")
        ax.legend(loc="lower left")
        return ax

    def __str__(self) -> str:
        verdict = "can be had" if self.attainable else "cannot be had by class offsets"
        asked = " and ".join(f"{c!r} >= {r:g}" for c, r in zip(self.classes, self.asked, strict=True) if r > 0)
        reached = " and ".join(f"{r:.3f} of {c!r}" for c, r in zip(self.classes, self.reached, strict=True))
        start = f"recall of {asked} {verdict} on these rows; " if asked else ""
        return f"{start}the model reaches {reached}"

    __repr__ = __str__
