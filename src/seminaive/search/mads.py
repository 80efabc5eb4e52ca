"""The literature's way, as a cross-check: mesh adaptive direct search (NOMAD) on the same problem.

It needs the optional package PyNomadBBO. The constraint of a demand on rows is the margin of its last required row,
which is smooth almost everywhere; other demands use their slack, a step function.

Reference: Audet and Dennis, "Mesh adaptive direct search algorithms for constrained optimization" (2006).
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from seminaive.search.constrained import Moved
from seminaive.search.linear import one_blas_thread
from seminaive.search.promises import SAFE, Problem
from seminaive.statistics.confusion import count_confusion, margins

Floats = npt.NDArray[np.float64]

REACH = 30.0
# Without quadratic models and sorting by them, 1000 evaluations take a tenth of a second instead of 18 seconds.
OPTIONS = (
    "DIRECTION_TYPE ORTHO 2N",
    "QUAD_MODEL_SEARCH no",
    "SGTELIB_MODEL_SEARCH no",
    "NM_SEARCH no",
    "EVAL_QUEUE_SORT DIR_LAST_SUCCESS",
    "DISPLAY_DEGREE 0",
    "DISPLAY_ALL_EVAL false",
    "NB_THREADS_PARALLEL_EVAL 1",
)


def mesh_search() -> Any:
    """The optional package, or one sentence that says how to get it."""
    try:
        import PyNomad
    except ImportError:
        raise ImportError("method='mads' needs the package PyNomadBBO: pip install 'seminaive[mads]'") from None
    return PyNomad


def move_by_mesh(problem: Problem, random_state: int = 0, evaluations: int = 3000, steps: bool = False) -> Moved:
    """Search from the mode; with ``steps`` the constraints are the hard counts alone, as in the literature.

    Parameters
    ----------
    problem : Problem
    random_state : int
    evaluations : int
        Limit on evaluations.
    steps : bool
        Use the slack of every demand, a step function, instead of margins.
    """
    nomad = mesh_search()
    size = problem.model.size
    by_margin = problem.about_rows and not steps
    n_outputs = len(problem.demands)
    best: list[Any] = [np.zeros(size), 0.0, problem.slack(np.zeros(size))]

    def outputs(z: Floats) -> list[float]:
        point = problem.model.at(z)
        scores = problem.model.scores(point)
        confusion = count_confusion(scores, problem.labels, problem.weights, safe=SAFE)
        slacks = [float(demand.slack(confusion)) for demand in problem.demands]
        worst = min(slacks)
        if (worst >= 0, min(worst, 0.0), -point.loss) > (best[2] >= 0, min(best[2], 0.0), -best[1]):
            best[:] = [z.copy(), point.loss, worst]
        if by_margin:
            margin, _ = margins(scores, problem.labels)
            needed = [margin[rows].min(initial=1.0) for rows in problem.required(margin)]
            return [point.loss, *[2 * SAFE - float(m) for m in needed]]
        return [point.loss, *[-s for s in slacks]]

    def evaluate(point: Any) -> bool:
        z = np.array([point.get_coord(i) for i in range(size)])
        with np.errstate(all="ignore"):
            values = outputs(z)
        if not np.isfinite(values).all():
            return False
        point.setBBO(" ".join(f"{v:.17g}" for v in values).encode("utf-8"))
        return True

    if best[2] < 0 and size:
        options = [
            f"BB_OUTPUT_TYPE OBJ {' '.join(['PB'] * n_outputs)}",
            f"MAX_BB_EVAL {evaluations}",
            f"SEED {random_state % 2**31}",
            *OPTIONS,
        ]
        with one_blas_thread():
            nomad.optimize(evaluate, [0.0] * size, [-REACH] * size, [REACH] * size, options)
    return Moved(best[0], best[1], best[2], 0)
