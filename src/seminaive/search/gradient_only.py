"""The ridge fit without a Hessian, for very many predictors: N P K work per pass instead of N (P K)^2."""

import numpy as np
import numpy.typing as npt

from seminaive.search.linear import one_blas_thread
from seminaive.search.ridge import FREE, PATH, Fit, Problem, Restraint
from seminaive.search.weighted_evidence import Sums

__all__ = ["MANY", "gradient_only"]

Float = npt.NDArray[np.float64]

MANY = 1000  # weights from which the Hessian costs more than the extra passes


@one_blas_thread()
def gradient_only(
    problem: Problem,
    penalty: float,
    start: Fit,
    restraint: Restraint = FREE,
    tolerance: float = PATH,
) -> Fit:
    """Minimise the penalised loss by L-BFGS in units of each weight's own curvature; bounded if asked.

    Takes and gives what `newton` does, except that the sums of its fit hold no Hessian: leverages and
    standard errors are then out of reach, and the penalty is chosen by cross-validation.
    """
    from scipy.optimize import minimize

    centre = np.broadcast_to(restraint.centre, problem.size)
    bound = np.broadcast_to(restraint.nonnegative, problem.size)
    unit = 1.0 / np.sqrt(problem.diagonal(start.weights) + 2 * penalty)

    def objective(scaled: Float) -> tuple[float, Float]:
        away = scaled * unit
        sums = problem.sums(centre + away, 1)
        return sums.value + penalty * float(away @ away), unit * (sums.gradient + 2 * penalty * away)

    least = np.where(bound, -centre / unit, -np.inf)
    bounds = [(low, None) for low in least] if bound.any() else None
    # The decrement is quadratic in the scaled gradient, whence the square root.
    options = {"maxiter": 2000, "maxfun": 4000, "maxcor": 20, "gtol": np.sqrt(tolerance) * 1e-2, "ftol": 1e-15}
    begin = (start.weights - centre) / unit
    found = minimize(objective, begin, jac=True, method="L-BFGS-B", bounds=bounds, options=options)
    weights = restraint.inside(centre + found.x * unit)
    away = weights - centre
    value, gradient = float(found.fun) - penalty * float(away @ away), found.jac / unit - 2 * penalty * away
    sums = Sums(value, gradient, np.empty((0, 0)))
    free = (weights > 0) | ~bound
    pull = np.where(free, found.jac, np.minimum(found.jac, 0.0))
    # At the limit of rounding a line search may find nothing lower: then the decrement decides.
    converged = found.status == 0 or float(pull @ pull) <= tolerance * max(1.0, abs(found.fun))
    return Fit(weights, penalty, sums, free, found.nit, converged)
