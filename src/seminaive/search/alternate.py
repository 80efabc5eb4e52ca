"""Whole searches: one phase, or forward and backward phases in turn.

The result of a phase is the smallest set with the lowest error among all sets on its path and the empty
one. With two directions, each phase starts from the result of the one before; a result is accepted if its
error is lower, or the same with fewer features, and the first that is not ends the search. (The floating
search of the literature, which steps back after every single move, is something else.)
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, get_args

import numpy as np
import numpy.typing as npt

from seminaive.evidence.storage import storable
from seminaive.search.greedy import Progress, Ties, greedy_path
from seminaive.search.odds import Criteria, Criterion, Odds, trace
from seminaive.search.path import EQUAL, Choice, Path, Size, choose, measured
from seminaive.search.problem import SearchProblem
from seminaive.show.path import Curve, PathPicture

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["Direction", "Phase", "Search", "alternate", "ranking_search"]

Direction = Literal["forward", "backward", "forward-backward", "backward-forward"]


@storable
@dataclass(frozen=True)
class Phase:
    """One phase: its path, the criteria along it on the rows that decide sizes, and the set it leads to.

    ``selection`` has the columns error, probability and log loss; its first row belongs to the start set, row i to
    the set after step i.
    """

    path: Path
    selection: npt.NDArray[np.float64]
    choice: Choice
    accepted: bool

    @property
    def selection_errors(self) -> npt.NDArray[np.float64]:
        """Error of the start set and after each step on the rows that decide sizes."""
        return self.selection[:, 0]


@storable
@dataclass(frozen=True)
class Search:
    """All phases of a search and the set chosen in the end."""

    phases: tuple[Phase, ...]
    choice: Choice

    @property
    def features(self) -> tuple[int, ...]:
        return self.choice.features

    @property
    def criterion(self) -> str:
        """What every step lowered."""
        return self.phases[0].path.criterion

    @property
    def chosen(self) -> int:
        """The step, counted over all phases, after which the chosen set was reached; 0 if it is the empty set."""
        done = 0
        for phase in self.phases:
            sets = [set(phase.path.features_after(step)) for step in range(len(phase.path.features) + 1)]
            if phase.accepted and set(self.features) in sets:
                return done + sets.index(set(self.features))
            done += len(phase.path.features)
        return 0

    @property
    def interrupted(self) -> bool:
        return self.phases[-1].path.interrupted

    def to_frame(self) -> pd.DataFrame:
        """One row per step, phase after phase, with the error on the selection rows beside the one
        searched."""
        import pandas as pd

        frames: list[pd.DataFrame] = []
        for number, phase in enumerate(self.phases, start=1):
            frame = phase.path.to_frame()
            frame["step"] += sum(len(earlier) for earlier in frames)
            frame.insert(0, "phase", number)
            frame["selection_error"] = phase.selection_errors[1:]
            frames.append(frame)
        return pd.concat(frames, ignore_index=True)

    def picture(self, kept: tuple[int, ...] | None = None) -> PathPicture:
        """Errors and criterion after every step, phase after phase, and the step that led to the chosen set."""
        paths = [phase.path for phase in self.phases]
        ends = np.cumsum([len(path.features) for path in paths])
        steps = np.arange(1, ends[-1] + 1)
        errors, values = (np.concatenate([getattr(path, name) for path in paths]) for name in ("errors", "values"))
        curves = measured(steps, errors, values, self.criterion)
        along = np.concatenate([phase.selection_errors[1:] for phase in self.phases])
        if not np.array_equal(along, errors):
            curves.append(Curve("error on the selection rows", steps.astype(float), along, "error", "held out"))
        return PathPicture("step", curves, [float(self.chosen)], breaks=(ends[:-1] + 0.5).tolist())


def alternate(
    problem: SearchProblem,
    direction: Direction = "forward",
    criterion: Criterion = "probability",
    *,
    selection: SearchProblem | None = None,
    size: Size = "best",
    ties: Ties = "probability",
    patience: int | None = None,
    max_phases: int = 20,
    progress: Progress | None = None,
) -> Search:
    """Search for a set of features.

    Parameters
    ----------
    problem : SearchProblem
        Rows on which the criterion is minimised.
    direction : {"forward", "backward", "forward-backward", "backward-forward"}
    criterion : {"error", "probability", "log_loss"}
    selection : SearchProblem, optional
        Rows with the same features on which sizes are chosen; those of ``problem`` if left out.
    size : {"best", "one-se"} or int
        How the last accepted phase's set is chosen; between phases it is always "best".
    ties, patience, progress
        See `greedy_path`.
    max_phases : int
        Two directions: stop after so many phases.

    Examples
    --------
    >>> from seminaive.search.problem import arrange_rows
    >>> order, segments = arrange_rows([0, 0, 0, 0, 1, 1, 1, 1])
    >>> says = [[1, 1, 0.75, 0.25], [1, 1, 0.25, 0.75]]
    >>> problem = SearchProblem(
    ...     segments, np.log([[0.5, 0.5]]),
    ...     codes=np.array([[2, 2, 3, 2, 3, 2, 3, 3], [2, 2, 2, 2, 3, 3, 3, 2]], dtype=np.uint8),
    ...     tables=np.log([np.hstack([says, says])]), offsets=np.array([0, 4, 8]))
    >>> search = alternate(problem, "forward-backward", "error")
    >>> search.features, [phase.accepted for phase in search.phases]
    ((1,), [True, False])
    """
    if direction not in get_args(Direction):
        raise ValueError(f"direction must be one of {', '.join(map(repr, get_args(Direction)))}, not {direction!r}.")
    turns: list[Literal["forward", "backward"]] = ["forward", "backward"]
    if direction.startswith("backward"):
        turns.reverse()
    judge = problem if selection is None else selection
    n_rows = Odds(judge).total_weight
    empty_error = Odds(judge).error()

    phases: list[Phase] = []
    best: Phase | None = None
    for number in range(max_phases if "-" in direction else 1):
        begin: Iterable[int] | None = None if best is None else best.choice.features
        path = greedy_path(
            problem,
            turns[number % 2],
            criterion,
            start=begin,
            ties=ties,
            patience=patience,
            progress=progress,
        )
        along = np.array(list(trace(judge, path.start, path.features.tolist())))
        choice = choose(path, along[:, 0].tolist(), n_rows, "best", empty_error)
        accepted = best is None or _better(choice, best.choice)
        phases.append(Phase(path, along, choice, accepted))
        if not accepted:
            break
        best = phases[-1]
        if path.interrupted:
            break
    assert best is not None
    chosen = choose(best.path, best.selection_errors.tolist(), n_rows, size, empty_error)
    return Search(tuple(phases), chosen)


def ranking_search(
    ranking: Iterable[int], selection: SearchProblem, size: Size = "best"
) -> tuple[Choice, tuple[Criteria, ...]]:
    """Choose how many features of a ranking to keep, by the rule that searches use.

    Returns
    -------
    choice : Choice
    along : tuple of Criteria
        Of the empty set, the first feature, the first two, ...
    """
    order = np.array(list(ranking), dtype=np.int64)
    along = tuple(trace(selection, (), order.tolist()))
    errors = np.array([criteria.error for criteria in along])
    path = Path("forward", "error", (), errors[0], errors[0], order, errors[1:], errors[1:])
    return choose(path, errors.tolist(), Odds(selection).total_weight, size), along


def _better(choice: Choice, than: Choice) -> bool:
    lower = choice.error < than.error - EQUAL
    same = abs(choice.error - than.error) <= EQUAL
    return lower or (same and len(choice.features) < len(than.features))
