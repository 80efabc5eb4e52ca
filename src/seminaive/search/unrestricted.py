"""Weights without a penalty: the limit lambda -> 0 of the ridge fit, also when evidence repeats itself."""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from scipy.linalg import LinAlgError

from seminaive.search.linear import one_blas_thread
from seminaive.search.ridge import FINAL, FREE, PATH, Fit, Problem, Restraint, begin, newton
from seminaive.search.weighted_evidence import Sums

__all__ = ["WEAKEST", "fit_unrestricted"]

Float = npt.NDArray[np.float64]

WEAKEST = 1e-10  # the penalty, in units of s, that holds the weights of separable classes


@one_blas_thread()
def fit_unrestricted(problem: Problem, scale: float, restraint: Restraint = FREE) -> tuple[Fit, bool]:
    """The weights without penalty, nearest to the centre if many are equally good; and whether none exist.

    Separable classes have their optimum at infinity. That shows in a last bit of penalty (1e-10 s) still
    moving the weights by more than a percent; the weights held by it are then returned, and True.
    """
    centre, unit = restraint.centre, scale or 1.0
    held = begin(problem, centre)
    for relative in (1e-1, 1e-3, 1e-5, 1e-7, WEAKEST):
        held = newton(problem, relative * unit, held, restraint, FINAL if relative == WEAKEST else PATH)
    basis = _row_space(problem)
    if _still_moving(held, basis, centre):
        return held, True
    if restraint.bounds_some:  # the last bit of penalty has been shown to be negligible
        return held, False
    inside = _Rotated(problem, basis, centre)
    start = Fit(basis.T @ (held.weights - centre), 0.0, inside.turn(held.sums), np.ones(basis.shape[1], bool))
    bare = newton(inside, 0.0, start, tolerance=FINAL)
    weights = centre + basis @ bare.weights
    return Fit(weights, 0.0, problem.sums(weights), held.free, bare.steps, bare.converged), False


def _row_space(problem: Problem) -> Float:
    """Orthonormal basis of the directions that change any score: repeated and constant evidence fall out."""
    # The null space is the same at any weights; at 0 every row still counts.
    gram = problem.sums(np.zeros(problem.size)).hessian
    length = np.sqrt(np.diag(gram))
    seen = length > 1e-12 * length.max(initial=0.0)
    value, vector = np.linalg.eigh(gram[np.ix_(seen, seen)] / np.outer(length[seen], length[seen]))
    idle = vector[:, value < 1e-12 * max(1, seen.sum())] / length[seen][:, None]
    complete, _ = np.linalg.qr(idle, mode="complete")
    basis = np.zeros((problem.size, int(seen.sum()) - idle.shape[1]))
    basis[seen] = complete[:, idle.shape[1] :]
    return basis


def _still_moving(fit: Fit, basis: Float, centre: float | Float) -> bool:
    """Would dropping the last penalty move the weights by more than one percent of their size?"""
    basis = basis[fit.free]
    away = basis.T @ (fit.weights - centre)[fit.free]
    hessian = basis.T @ fit.sums.hessian[np.ix_(fit.free, fit.free)] @ basis
    if not away.size:
        return False
    try:
        step = np.linalg.solve(hessian + 1e-18 * np.eye(len(hessian)), 2 * fit.penalty * away)
    except LinAlgError:
        return True
    return bool(np.linalg.norm(step) > 0.01 * (np.linalg.norm(away) + 1e-12))


@dataclass(frozen=True)
class _Rotated:
    """The problem seen in coordinates of a subspace around the centre."""

    problem: Problem
    basis: Float
    centre: float | Float

    @property
    def size(self) -> int:
        return int(self.basis.shape[1])

    @property
    def total(self) -> float:
        return self.problem.total

    def turn(self, sums: Sums) -> Sums:
        return Sums(sums.value, self.basis.T @ sums.gradient, self.basis.T @ sums.hessian @ self.basis)

    def sums(self, weights: Float, order: int = 2, /) -> Sums:
        sums = self.problem.sums(self.centre + self.basis @ weights, 2 if order else 0)
        return self.turn(sums) if order else sums

    def diagonal(self, weights: Float, /) -> Float:
        return np.diag(self.sums(weights).hessian)

    def bounded_loss(self, weights: Float, /) -> float:
        return self.problem.bounded_loss(self.centre + self.basis @ weights)

    def left_out_loss(self, weights: Float, inverse: Float, /) -> float:
        return self.problem.left_out_loss(self.centre + self.basis @ weights, self.basis @ inverse @ self.basis.T)
