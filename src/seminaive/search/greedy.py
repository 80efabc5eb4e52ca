"""Greedy search: at every step the one move that leads to the best set.

Forward, each feature outside the set is a candidate to be added; backward, each feature inside to be
removed. The candidate whose set has the lowest criterion wins. Ties are broken by the criterion, then
(under the criterion "error", if wanted) by the error probability, then by the lowest feature number.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Literal, get_args

import numpy as np
import numpy.typing as npt

from seminaive.search.candidates import Candidates, Standing
from seminaive.search.odds import Criterion, Odds
from seminaive.search.path import EQUAL, Path
from seminaive.search.problem import SearchProblem

__all__ = ["Progress", "Ties", "While", "greedy_path"]

Integers = npt.NDArray[np.int64]
Ties = Literal["probability", "index"]
While = Literal["always", "better", "not worse"]
Progress = Callable[[int, int, float], None]
"""Called after every step with the step, the number of steps a whole path has, and the criterion."""


def greedy_path(
    problem: SearchProblem,
    direction: Literal["forward", "backward"] = "forward",
    criterion: Criterion = "probability",
    *,
    start: Iterable[int] | None = None,
    candidates: Iterable[int] | None = None,
    ties: Ties = "probability",
    go_on: While = "always",
    patience: int | None = None,
    max_steps: int | None = None,
    progress: Progress | None = None,
) -> Path:
    """One phase of greedy search, until every candidate has moved.

    Parameters
    ----------
    problem : SearchProblem
    direction : {"forward", "backward"}
    criterion : {"error", "probability", "log_loss"}
        What to minimise on the rows of the problem.
    start : iterable of ints, optional
        Set to begin with: the empty one forward, all features backward, if left out.
    candidates : iterable of ints, optional
        Features that may move; all if left out.
    ties : {"probability", "index"}
        How to choose between candidates of equal error.
    go_on : {"always", "better", "not worse"}
        Stop when the best candidate is not strictly better, or when it is worse, than the present set.
    patience : int, optional
        Stop after this many steps without a new best criterion.
    max_steps : int, optional
    progress : callable, optional

    Returns
    -------
    Path
        Complete up to the step reached if the search is interrupted from the keyboard.

    Examples
    --------
    >>> from seminaive.search.problem import arrange_rows
    >>> order, segments = arrange_rows([0, 0, 0, 0, 1, 1, 1, 1])
    >>> says = [[1, 1, 0.75, 0.25], [1, 1, 0.25, 0.75]]
    >>> problem = SearchProblem(
    ...     segments, np.log([[0.5, 0.5]]),
    ...     codes=np.array([[2, 2, 3, 2, 3, 2, 3, 3], [2, 2, 2, 2, 3, 3, 3, 2]], dtype=np.uint8),
    ...     tables=np.log([np.hstack([says, says])]), offsets=np.array([0, 4, 8]))
    >>> path = greedy_path(problem, "forward", "error")
    >>> path.features.tolist(), path.values.tolist()
    ([1, 0], [0.125, 0.25])
    """
    check_names(criterion, ties, go_on)
    if direction not in ("forward", "backward"):
        raise ValueError(f"direction must be 'forward' or 'backward', not {direction!r}.")
    forward = direction == "forward"
    if start is None:
        start = () if forward else range(problem.n_features)
    begin = tuple(sorted({int(feature) for feature in start}))
    odds = Odds(problem, begin)
    free = np.zeros(problem.n_features, dtype=bool)
    free[list(range(problem.n_features) if candidates is None else candidates)] = True
    free &= ~odds.included if forward else odds.included

    start_value, start_error = odds.value(criterion), odds.error()
    n_free = int(free.sum())
    most = n_free if max_steps is None else min(max_steps, n_free)
    steps: list[tuple[int, float, float]] = []
    evaluations = 0
    interrupted = False
    try:
        standing = Standing(odds, free)
        scored = Candidates(odds, 1 if forward else -1)
        value = best = start_value
        since_best = 0
        while len(steps) < most:
            evaluations += n_free - len(steps)
            feature, new_value = _best_move(scored, standing.features(), criterion, ties)
            if go_on != "always" and new_value >= value + (-EQUAL if go_on == "better" else EQUAL):
                break
            odds.move(feature)
            standing.take(feature)
            value = odds.value(criterion)
            error = value if criterion == "error" else odds.error()
            steps.append((feature, value, error))
            if progress is not None:
                progress(len(steps), most, value)
            since_best = 0 if value < best - EQUAL else since_best + 1
            best = min(best, value)
            if patience is not None and since_best >= patience:
                break
    except KeyboardInterrupt:
        interrupted = True
    return Path(
        direction,
        criterion,
        begin,
        start_value,
        start_error,
        np.array([step[0] for step in steps], dtype=np.int64),
        np.array([step[1] for step in steps], dtype=np.float64),
        np.array([step[2] for step in steps], dtype=np.float64),
        evaluations,
        interrupted,
    )


def check_names(criterion: str, ties: str, go_on: str = "always") -> None:
    """Say which word is wrong and which would be right."""
    for name, value, known in (
        ("criterion", criterion, get_args(Criterion)),
        ("ties", ties, get_args(Ties)),
        ("go_on", go_on, get_args(While)),
    ):
        if value not in known:
            raise ValueError(f"{name} must be one of {', '.join(map(repr, known))}, not {value!r}.")


def _best_move(scored: Candidates, standing: Integers, criterion: Criterion, ties: Ties) -> tuple[int, float]:
    """The winning feature and the criterion it leads to."""
    values = scored.score(criterion, standing)
    tied = np.flatnonzero(values <= values.min() + EQUAL)
    if criterion == "error" and ties == "probability" and len(tied) > 1:
        probabilities = scored.score("probability", standing[tied])
        tied = tied[probabilities <= probabilities.min() + EQUAL]
    return int(standing[tied[0]]), float(values[tied[0]])
