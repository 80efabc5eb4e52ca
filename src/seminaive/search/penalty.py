"""How strongly to hold weights: along a path of penalties, at a given size, or not at all.

`choose_penalty` walks lambda = s 10^t from strong to weak and keeps the one with the lowest criterion
(approximate leave-one-out or cross-validation), `fit_size` finds the penalty at which the squared weights sum to m, `fit_unrestricted`
goes to the limit lambda -> 0, and `choose_size` is the two-stage search over m of Hong, Hosking and Natarajan (2002).
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt
from scipy.linalg import LinAlgError

from seminaive.search.ridge import FINAL, PATH, Fit, Problem, begin, newton, penalised_inverse

__all__ = [
    "Chosen",
    "PathStep",
    "SizeSearch",
    "choose_penalty",
    "choose_size",
    "cross_validated",
    "fit_size",
    "fit_unrestricted",
    "left_out",
]

Float = npt.NDArray[np.float64]
Folds = Sequence[tuple[Problem, Problem]]  # (training rows, held-out rows)

WEAKEST = 1e-10  # in units of s: where a path ends, and what holds the weights of separable classes
BITS = float(np.log(2.0))


@dataclass(frozen=True)
class PathStep:
    """One penalty of a path: lambda, lambda / s, m = |alpha|^2, the criterion in bits, and the weights."""

    penalty: float
    relative: float
    m: float
    criterion: float
    weights: Float


@dataclass(frozen=True)
class Chosen:
    """The fit at the best penalty, the path that led to it, and whether the best was the weakest penalty allowed."""

    fit: Fit
    path: tuple[PathStep, ...]
    at_the_end: bool


Criterion = Callable[[Fit], float]


def left_out(problem: Problem) -> Criterion:
    """Approximate leave-one-out loss in bits per row: one more pass over the rows, no folds."""

    def criterion(fit: Fit) -> float:
        return problem.left_out_loss(fit.weights, penalised_inverse(fit)) / (problem.total * BITS)

    return criterion


def cross_validated(
    problem: Problem, folds: Folds, solve: Callable[..., Fit] = newton, **options: float | bool
) -> Criterion:
    """Loss in bits per held-out row; in every fold the penalty is scaled by the fold's share of the rows."""
    latest = [begin(training, float(options.get("centre", 0.0))) for training, _ in folds]
    rows = sum(held_out.total for _, held_out in folds)

    def criterion(fit: Fit) -> float:
        loss = 0.0
        for number, (training, held_out) in enumerate(folds):
            share = training.total / problem.total
            latest[number] = solve(training, fit.penalty * share, latest[number], **options)
            loss += held_out.bounded_loss(latest[number].weights)
        return loss / (rows * BITS)

    return criterion


def choose_penalty(
    problem: Problem,
    criterion: Criterion,
    scale: float,
    *,
    centre: float = 0.0,
    nonnegative: bool = False,
    solve: Callable[..., Fit] = newton,
) -> Chosen:
    """Walk from lambda = 100 s down in steps of 10^(1/3), each fit starting from the last.

    Stops after four penalties without improvement, at 1e-6 s, or, while the weakest is the best, at 1e-10 s.
    """
    fit = begin(problem, centre)
    path: list[PathStep] = []
    fits: list[Fit] = []
    best = 0
    for third in range(6, -31, -1):
        relative = 10 ** (third / 3)
        # Without any evidence the scale is 0 and every penalty leaves the weights at the centre.
        fit = solve(problem, relative * (scale or 1.0), fit, centre=centre, nonnegative=nonnegative)
        path.append(PathStep(fit.penalty, relative, fit.size, criterion(fit), fit.weights))
        fits.append(fit)
        if path[-1].criterion < path[best].criterion:
            fits[best] = fits[-1]  # only the best fit is kept whole
            best = len(path) - 1
        if len(path) - 1 - best >= 4 or (third <= -18 and best != len(path) - 1):
            break
    chosen = solve(
        problem, path[best].penalty, fits[best], centre=centre, nonnegative=nonnegative, tolerance=FINAL
    )
    path[best] = replace(path[best], m=chosen.size, weights=chosen.weights)
    return Chosen(chosen, tuple(path), best == 36)


def fit_unrestricted(
    problem: Problem, scale: float, *, centre: float = 0.0, nonnegative: bool = False
) -> tuple[Fit, bool]:
    """The weights without penalty, of smallest distance from the centre if many are equally good; and whether none exist.

    Separable classes have their optimum at infinity. That shows in a last bit of penalty (1e-10 s) still
    moving the weights by more than a percent; the weights held by it are then returned, and True.
    """
    unit = scale or 1.0
    fit = begin(problem, centre)
    for relative in (1e-1, 1e-3, 1e-5, 1e-7, WEAKEST):
        fit = newton(problem, relative * unit, fit, centre=centre, nonnegative=nonnegative)
    basis = _row_space(problem)
    if nonnegative:
        # Bounds may hold even a singular problem: the limit is read off two weak penalties.
        last = newton(problem, fit.penalty, fit, centre=centre, nonnegative=True, tolerance=FINAL)
        return last, _still_moving(last, basis, centre)
    held = newton(problem, fit.penalty, fit, centre=centre, tolerance=FINAL)
    if _still_moving(held, basis, centre):
        return held, True
    inside = _Rotated(problem, basis, centre)
    start = Fit(basis.T @ (held.weights - centre), 0.0, inside.turn(held.sums), np.ones(basis.shape[1], bool))
    bare = newton(inside, 0.0, start, tolerance=FINAL)
    weights = centre + basis @ bare.weights
    return Fit(weights, 0.0, problem.sums(weights), held.free, bare.steps, bare.converged), False


def fit_size(
    problem: Problem, m: float, start: Fit, *, scale: float, nonnegative: bool = False, accuracy: float = 1e-7
) -> Fit:
    """The weights with sum of squares m: the ridge fit at the one penalty where |alpha|^2 = m.

    Newton on 1/|alpha|, which is almost linear in lambda, inside a bracket; then on gradient and size together. The start is
    any fit with a larger sum of squares (APM, or the fit of a larger m).
    """
    low, high, penalty = 0.0, np.inf, start.penalty
    fit = start
    for _ in range(100):
        error = fit.size / m - 1.0
        if abs(error) < accuracy:
            break
        low, high = (max(low, penalty), high) if error > 0 else (low, min(high, penalty))
        inverse = penalised_inverse(fit)
        slope = float(fit.weights @ inverse @ fit.weights)
        stretch = np.sqrt(fit.size / m) - 1.0
        penalty = penalty + stretch * fit.size / (2 * slope) if slope > 0 else -1.0
        if not low < penalty < high:
            floor = max(low, WEAKEST * (scale or 1.0))
            penalty = np.sqrt(floor * high) if np.isfinite(high) else 10 * floor
        fit = newton(problem, penalty, fit, nonnegative=nonnegative, tolerance=PATH * 1e-3)
    for _ in range(3 if accuracy < 1e-5 else 0):
        fit = _polish(problem, fit, m, nonnegative)
    return fit


@dataclass(frozen=True)
class SizeSearch:
    """The search over m: sizes tried, mean and median held-out bits, the best, and each fold's own m_u."""

    sizes: Float
    mean_bits: Float
    median_bits: Float
    m: float
    fold_limits: Float
    first_stage: int = 10


def choose_size(folds: Folds, m_unrestricted: float, *, nonnegative: bool = False) -> SizeSearch:
    """The paper's search: ten sizes up to m_u, then ten between the neighbours of the best.

    A fold whose own unrestricted weights are smaller than m keeps them. Equal means go to the smaller m.
    """
    searches = [_FoldSizes(training, held_out, nonnegative) for training, held_out in folds]
    coarse = m_unrestricted * np.arange(1, 11) / 10
    first = np.array([search.bits(coarse) for search in searches])
    best = int(np.argmin(first.mean(axis=0)))
    low = coarse[best - 1] if best > 0 else 0.0
    high = coarse[min(best + 1, 9)]
    fine = low + np.arange(1, 11) * (high - low) / 10
    second = np.array([search.bits(fine) for search in searches])
    sizes, bits = np.concatenate([coarse, fine]), np.concatenate([first, second], axis=1)
    mean = bits.mean(axis=0)
    order = np.lexsort((sizes, mean))
    limits = np.array([search.unrestricted.size for search in searches])
    return SizeSearch(sizes, mean, np.median(bits, axis=0), float(sizes[order[0]]), limits)


class _FoldSizes:
    """Fits of one fold at many sizes, each started from the next larger one."""

    def __init__(self, training: Problem, held_out: Problem, nonnegative: bool) -> None:
        from seminaive.search.ridge import scale

        self.training, self.held_out, self.nonnegative = training, held_out, nonnegative
        self.scale = scale(training)
        self.unrestricted, _ = fit_unrestricted(training, self.scale, nonnegative=nonnegative)
        self.fits = [self.unrestricted]

    def bits(self, sizes: Float) -> Float:
        out = np.empty(len(sizes))
        for position in np.argsort(-sizes):
            m = sizes[position]
            fit = min((known for known in self.fits if known.size >= m * (1 - 1e-6)), key=_size, default=None)
            if fit is None:
                fit = self.unrestricted
            elif abs(fit.size / m - 1) > 1e-6:
                fit = fit_size(
                    self.training, m, fit, scale=self.scale, nonnegative=self.nonnegative, accuracy=1e-4
                )
                self.fits.append(fit)
            out[position] = self.held_out.bounded_loss(fit.weights) / (self.held_out.total * BITS)
        return out


def _size(fit: Fit) -> float:
    return fit.size


def _polish(problem: Problem, fit: Fit, m: float, nonnegative: bool) -> Fit:
    """One Newton step on the pair (gradient = 0, |alpha|^2 = m), kept if it brings both nearer to 0."""
    inverse = penalised_inverse(fit)
    residual = np.where(fit.free, fit.sums.gradient + 2 * fit.penalty * fit.weights, 0.0)
    pull, drift = inverse @ fit.weights, inverse @ residual
    change = ((fit.size - m) / 2 - fit.weights @ drift) / (2 * fit.weights @ pull)
    weights = fit.weights - drift - 2 * change * pull
    if (nonnegative and weights.min() < 0) or fit.penalty + change < 0:
        return fit
    return replace(fit, weights=weights, penalty=fit.penalty + change, sums=problem.sums(weights))


def _row_space(problem: Problem) -> Float:
    """Orthonormal basis of the weight directions that change any score: duplicated and constant evidence fall out."""
    gram = problem.sums(np.zeros(problem.size)).hessian  # the same null space at any weights; best scaled at 0
    length = np.sqrt(np.diag(gram))
    seen = length > 1e-12 * length.max(initial=0.0)
    value, vector = np.linalg.eigh(gram[np.ix_(seen, seen)] / np.outer(length[seen], length[seen]))
    idle = vector[:, value < 1e-12 * max(1, seen.sum())] / length[seen][:, None]
    complete, _ = np.linalg.qr(idle, mode="complete")
    basis = np.zeros((problem.size, int(seen.sum()) - idle.shape[1]))
    basis[seen] = complete[:, idle.shape[1] :]
    return basis


def _still_moving(fit: Fit, basis: Float, centre: float) -> bool:
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
    centre: float

    @property
    def size(self) -> int:
        return self.basis.shape[1]

    @property
    def total(self) -> float:
        return self.problem.total

    def turn(self, sums):  # type: ignore[no-untyped-def]
        return type(sums)(sums.value, self.basis.T @ sums.gradient, self.basis.T @ sums.hessian @ self.basis)

    def sums(self, weights: Float, order: int = 2):  # type: ignore[no-untyped-def]
        sums = self.problem.sums(self.centre + self.basis @ weights, 2 if order else 0)
        return self.turn(sums) if order else sums

    def bounded_loss(self, weights: Float) -> float:
        return self.problem.bounded_loss(self.centre + self.basis @ weights)

    def left_out_loss(self, weights: Float, inverse: Float) -> float:
        return self.problem.left_out_loss(
            self.centre + self.basis @ weights, self.basis @ inverse @ self.basis.T
        )
