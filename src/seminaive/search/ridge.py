"""Safeguarded Newton for a convex loss with a ridge penalty, free or non-negative weights.

    F(alpha) = loss(alpha) + lambda |alpha - centre|^2

The loss comes as sums over rows (value, gradient, Hessian) from any object with those methods, so the
solver does not know where rows live. One pass over the rows per step: the step is tried in full, and its
sums are those of the next step if it lowers F, which it almost always does (Armijo halving otherwise).
"""

import warnings
from dataclasses import dataclass
from typing import Protocol

import numpy as np
import numpy.typing as npt
from sklearn.exceptions import ConvergenceWarning

from seminaive.search.bounded import bounded_minimum
from seminaive.search.linear import one_blas_thread, solve_positive
from seminaive.search.weighted_evidence import Sums

__all__ = [
    "FINAL",
    "PATH",
    "Fit",
    "Problem",
    "Restraint",
    "begin",
    "common_weight",
    "newton",
    "penalised_inverse",
    "scale",
]

Float = npt.NDArray[np.float64]
Mask = npt.NDArray[np.bool_]

PATH = 1e-10  # relative decrement at which a fit on the way is good enough
FINAL = 1e-16  # and the one that is kept
LIMIT = 100
UNKNOWN = Sums(np.nan, np.empty(0), np.empty((0, 0)))  # sums nobody has asked for yet


class Problem(Protocol):
    """What a solver needs of a loss: its number of weights, its rows' total weight, and its sums."""

    @property
    def size(self) -> int: ...

    @property
    def total(self) -> float: ...

    def sums(self, weights: Float, order: int = 2, /) -> Sums: ...

    def diagonal(self, weights: Float, /) -> Float: ...

    def bounded_loss(self, weights: Float, /) -> float: ...

    def left_out_loss(self, weights: Float, inverse: Float, /) -> float: ...


@dataclass(frozen=True)
class Restraint:
    """What holds the weights besides the data: the centre they are drawn to, and which must not be negative.

    Both may be given for each weight.
    """

    centre: float | Float = 0.0
    nonnegative: bool | Mask = False

    @property
    def bounds_some(self) -> bool:
        """Whether any weight is bounded."""
        return bool(np.any(self.nonnegative))

    def inside(self, weights: Float) -> Float:
        """The nearest weights that keep the bounds."""
        return np.where(np.broadcast_to(self.nonnegative, weights.shape), np.maximum(weights, 0.0), weights)


FREE = Restraint()


@dataclass(frozen=True)
class Fit:
    """Weights at one penalty, the sums of the loss there, and how the solver ended.

    `free` marks the weights not held at zero by non-negativity.
    """

    weights: Float
    penalty: float
    sums: Sums
    free: Mask
    steps: int = 0
    converged: bool = True

    @property
    def size(self) -> float:
        """m, the sum of squared weights."""
        return float(self.weights @ self.weights)


def begin(problem: Problem, weights: Float | float = 0.0) -> Fit:
    """Weights to start from."""
    start = np.broadcast_to(np.asarray(weights, dtype=float), problem.size).copy()
    return Fit(start, np.inf, UNKNOWN, np.ones(problem.size, dtype=bool))


def scale(problem: Problem) -> float:
    """s, the mean diagonal of the Hessian at weights 0: the unit in which penalties are counted."""
    return float(problem.diagonal(np.zeros(problem.size)).mean()) if problem.size else 0.0


def penalised_inverse(fit: Fit) -> Float:
    """Inverse of Hessian + 2 lambda I over the free weights, zero elsewhere: the weights' covariance."""
    inverse = np.zeros_like(fit.sums.hessian)
    inside = np.ix_(fit.free, fit.free)
    hessian = fit.sums.hessian[inside] + 2 * fit.penalty * np.eye(int(fit.free.sum()))
    if hessian.size:
        inverse[inside] = solve_positive(hessian, np.eye(len(hessian)))
    return inverse


@one_blas_thread()
def newton(
    problem: Problem,
    penalty: float,
    start: Fit,
    restraint: Restraint = FREE,
    tolerance: float = PATH,
) -> Fit:
    """Minimise the penalised loss from a start whose sums are known (a neighbour on the path).

    Never diverges: every step lowers the objective, also when classes are separable and the penalty tiny.
    """
    centre = restraint.centre
    weights, sums = restraint.inside(start.weights), start.sums
    moved = not np.array_equal(weights, start.weights)
    if moved or len(sums.hessian) != problem.size or not np.isfinite(sums.value):
        sums = problem.sums(weights)
    free, before = start.free, np.inf
    for step in range(LIMIT):
        objective = _objective(sums, weights, penalty, centre)
        gradient = sums.gradient + 2 * penalty * (weights - centre)
        direction, free = _descent(sums.hessian, gradient, weights, penalty, restraint)
        decrement = -float(gradient @ direction)
        unit = max(1.0, abs(objective))
        stalled = before < 1e-12 * unit and decrement > 0.25 * before  # nothing but rounding is left
        if decrement < tolerance * unit or stalled:
            # The last step is taken on the quadratic model, exact here to second order: no further pass.
            change = sums.hessian @ direction
            value = sums.value + float(direction @ (sums.gradient + change / 2))
            there = Sums(value, sums.gradient + change, sums.hessian)
            return Fit(weights + direction, penalty, there, free, step)
        length = 1.0
        while length > 1e-12:
            trial = weights + length * direction
            trial_sums = problem.sums(trial, 2 if length == 1.0 else 0)
            gain = objective - _objective(trial_sums, trial, penalty, centre)
            if gain >= 1e-4 * length * decrement - 1e-14 * unit:
                break
            length /= 2
        else:
            return Fit(weights, penalty, sums, free, step)
        weights, before = trial, decrement
        sums = trial_sums if length == 1.0 else problem.sums(trial)
    warnings.warn(
        f"The weights did not settle in {LIMIT} Newton steps at penalty {penalty:.3g}: the last are kept.",
        ConvergenceWarning,
        stacklevel=2,
    )
    return Fit(weights, penalty, sums, free, LIMIT, converged=False)


@one_blas_thread()
def common_weight(problem: Problem) -> float:
    """The one weight, between 0 and 1, that all predictors would share: how far to trust naive Bayes."""

    def slope(weight: float) -> float:
        return float(problem.sums(np.full(problem.size, weight), 1).gradient.sum())

    low, high = 0.0, 1.0
    slope_low, slope_high = slope(low), slope(high)
    if slope_low >= 0 or slope_high <= 0:
        return low if slope_low >= 0 else high
    for _ in range(100):  # the secant, with the end that stays counted half (Illinois)
        weight = (low * slope_high - high * slope_low) / (slope_high - slope_low)
        here = slope(weight)
        if abs(here) < 1e-12 * problem.total or high - low < 1e-12:
            break
        if here > 0:
            high, slope_high, slope_low = weight, here, slope_low / 2
        else:
            low, slope_low, slope_high = weight, here, slope_high / 2
    return weight


def _objective(sums: Sums, weights: Float, penalty: float, centre: float | Float) -> float:
    away = weights - centre
    return sums.value + penalty * float(away @ away)


def _descent(
    hessian: Float, gradient: Float, weights: Float, penalty: float, restraint: Restraint
) -> tuple[Float, Mask]:
    """To the minimum of the quadratic model, within bounds if there are any; and which weights are free."""
    size = len(weights)
    lift = 2 * penalty + 1e-12 * (1 + np.trace(hessian) / max(size, 1))
    curved = hessian + lift * np.eye(size)
    if restraint.bounds_some:
        target = bounded_minimum(curved, curved @ weights - gradient, restraint.nonnegative)
        return target - weights, (target > 0) | ~np.broadcast_to(restraint.nonnegative, size)
    return -solve_positive(curved, gradient), np.ones(size, dtype=bool)
