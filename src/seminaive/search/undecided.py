"""Which rows a search by errors still has to look at.

Most rows are right, or wrong, whichever feature moves next: their log odds are farther from 0 than any feature's
shift. They are counted once per step and not once per candidate. The rows that are looked at lie in tiles of their own,
laid out anew when a row comes back within reach or many have left. On the simulated engine signals (3,000 rows, 814
indicators) a candidate looks at a third of the rows forward and at one in thirty backward.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from seminaive.kernels.search import UNDECIDED, WRONG, mark_outlook
from seminaive.search.odds import Odds
from seminaive.search.tiles import Tiles, lay_out

__all__ = ["Undecided"]

Floats = npt.NDArray[np.float64]

FARTHER = 2.0
"""Laid out are rows that so many times the largest shift could decide otherwise: then it need not be done often."""

WORTH_IT = 0.7
"""Fewer rows are laid out anew where they are less than this share of the ones before."""


class Undecided:
    """The rows that the next move could turn right or wrong.

    Parameters
    ----------
    odds : Odds
    whole : Tiles
        All rows.
    shifts : (segments, codes, rivals) floats
        What any move adds to log odds.
    """

    def __init__(self, odds: Odds, whole: Tiles, shifts: Floats) -> None:
        self.odds = odds
        self.whole = self.tiles = whole
        self.up, self.down = shifts.max(axis=1), shifts.min(axis=1)
        self.elsewhere = np.zeros(odds.problem.segments.n_rows, dtype=bool)
        self.n_reached = 0

    def look(self) -> tuple[Tiles, float]:
        """Tiles of the rows to look at from the present set, and the weight of the others that are wrong."""
        outlook = self._outlook(1.0)
        reached = outlook == UNDECIDED
        n_reached = int(np.count_nonzero(reached))
        if n_reached < WORTH_IT * self.n_reached or (reached & self.elsewhere).any() or self.n_reached == 0:
            outlook = self._lay_out_anew()
            self.n_reached = max(n_reached, 1)
        wrong = (outlook == WRONG) & self.elsewhere
        weights = self.odds.weights
        return self.tiles, float(np.count_nonzero(wrong) if weights is None else weights[wrong].sum())

    def _lay_out_anew(self) -> npt.NDArray[np.uint8]:
        outlook = self._outlook(FARTHER)
        self.elsewhere = outlook != UNDECIDED
        rows = np.flatnonzero(~self.elsewhere)
        if len(rows) < WORTH_IT * len(outlook):
            self.tiles = lay_out(self.odds.problem, rows)
        else:
            self.tiles = self.whole
            self.elsewhere[:] = False
        return outlook

    def _outlook(self, times: float) -> npt.NDArray[np.uint8]:
        """Whether each row is RIGHT or WRONG after any move of so many times its size, or UNDECIDED."""
        decided = self.odds.decided()
        out = np.empty(decided.shape[1], dtype=np.uint8)
        mark_outlook(decided, self.odds.problem.segments.starts, times * self.up, times * self.down, out)
        return out
