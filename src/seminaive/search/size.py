"""Weights whose squares sum to m, and the search over m of Hong, Hosking and Natarajan (2002)."""

from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from seminaive.search.linear import one_blas_thread
from seminaive.search.penalty import BITS, Folds
from seminaive.search.ridge import Fit, Mask, Problem, Restraint, newton, penalised_inverse, scale
from seminaive.search.unrestricted import fit_unrestricted

__all__ = ["SizeSearch", "choose_size", "fit_size"]

Float = npt.NDArray[np.float64]


@one_blas_thread()
def fit_size(problem: Problem, m: float, start: Fit, *, nonnegative: bool | Mask = False) -> Fit:
    """The weights with sum of squares m: the ridge fit at the one penalty where |alpha|^2 = m.

    Newton on 1/|alpha|, which is almost linear in lambda, inside a bracket; then two steps on the pair
    (gradient, size). `start` is any fit under the same bounds whose squares sum to more, or it is already
    the answer: the unrestricted weights, or those of a larger m.
    """
    if m <= 0:
        raise ValueError(f"m must be positive, got {m}: it is the sum of the squared weights.")
    if start.size <= m:
        return start
    fit = _near_size(problem, m, start, nonnegative)
    return _polish(problem, _polish(problem, fit, m), m)


def _near_size(problem: Problem, m: float, start: Fit, nonnegative: bool | Mask) -> Fit:
    """The fit with |alpha|^2 = m to seven digits."""
    if start.size <= m:
        return start
    fit, penalty = start, start.penalty
    low, high = penalty, np.inf
    for _ in range(100):
        stretch = np.sqrt(fit.size / m) - 1.0
        if abs(stretch) < 5e-8:
            break
        low, high = (penalty, high) if stretch > 0 else (low, penalty)
        slope = float(fit.weights @ penalised_inverse(fit) @ fit.weights)
        penalty += stretch * fit.size / (2 * slope)
        if not low < penalty < high:
            penalty = np.sqrt(low * high) if low > 0 and high < np.inf else 2 * low + high / 2
        fit = newton(problem, penalty, fit, Restraint(nonnegative=nonnegative))
    return fit


def _polish(problem: Problem, fit: Fit, m: float) -> Fit:
    """One Newton step on the pair gradient = 0, |alpha|^2 = m."""
    inverse = penalised_inverse(fit)
    residual = np.where(fit.free, fit.sums.gradient + 2 * fit.penalty * fit.weights, 0.0)
    pull, drift = inverse @ fit.weights, inverse @ residual
    change = ((fit.size - m) / 2 - fit.weights @ drift) / (2 * fit.weights @ pull)
    weights = np.where(fit.free, fit.weights - drift - 2 * change * pull, 0.0)
    return replace(fit, weights=weights, penalty=float(fit.penalty + change), sums=problem.sums(weights))


@dataclass(frozen=True)
class SizeSearch:
    """Sizes tried, mean and median held-out bits over the folds, the best m, and each fold's own m_u."""

    sizes: Float
    mean_bits: Float
    median_bits: Float
    m: float
    fold_limits: Float


@one_blas_thread()
def choose_size(folds: Folds, m_unrestricted: float, *, nonnegative: bool | Mask = False) -> SizeSearch:
    """The paper's search: ten sizes up to m_u, then ten between the neighbours of the best.

    A fold whose own unrestricted weights are smaller than m keeps them. Equal means go to the smaller m.
    """
    limits = [
        fit_unrestricted(training, scale(training), Restraint(nonnegative=nonnegative))[0] for training, _ in folds
    ]
    coarse = m_unrestricted * np.arange(1, 11) / 10
    first = _held_out_bits(folds, coarse, limits, nonnegative)
    best = int(np.argmin(first.mean(axis=0)))
    low = coarse[best - 1] if best > 0 else 0.0
    high = coarse[min(best + 1, 9)]
    fine = low + np.arange(1, 11) * (high - low) / 10
    second = _held_out_bits(folds, fine, limits, nonnegative)
    sizes, bits = np.concatenate([coarse, fine]), np.concatenate([first, second], axis=1)
    mean = bits.mean(axis=0)
    m = float(sizes[np.lexsort((sizes, mean))[0]])
    return SizeSearch(sizes, mean, np.median(bits, axis=0), m, np.array([fit.size for fit in limits]))


def _held_out_bits(folds: Folds, sizes: Float, limits: list[Fit], nonnegative: bool | Mask) -> Float:
    """Bits per held-out row, folds x sizes; within a fold each size starts from the next larger one."""
    bits = np.empty((len(folds), len(sizes)))
    for row, ((training, held_out), fit) in enumerate(zip(folds, limits, strict=True)):
        for column in np.argsort(-sizes):
            fit = _near_size(training, sizes[column], fit, nonnegative)
            bits[row, column] = held_out.bounded_loss(fit.weights) / (held_out.total * BITS)
    return bits
