"""Generated data of the stagewise paper: few good predictors, some that repeat each other, many that only add noise.

`make_stagewise` draws its experiments (section 7.1): three classes, twenty predictors, of which are

    3 good       each with its own parameters per class
    7 tied       one set of parameters for all; each inner one is a copy of its left or right neighbour
    10 noisy     the same for all classes ("irrelevant"), or nine times in ten a copy of a good one ("redundant")

What the paper leaves open (the Dirichlet shapes, how neighbours are copied, one good predictor behind all redundant
ones, the noise of copies) was chosen such that naive Bayes errs about as often as in the paper.

`make_stagewise_example` draws the small data sets of its section 4: three good predictors with fixed parameters (eq.
12), of which X1 tells the first class from the others, X2 and X3 the second from the third.

Reference: Vidaurre, Bielza and Larrañaga, "Forward stagewise naïve Bayes", Progress in Artificial Intelligence 1, 2012.
"""

from __future__ import annotations

from typing import Literal, NamedTuple, get_args

import numpy as np
import numpy.typing as npt

__all__ = ["Kind", "StagewiseData", "make_stagewise", "make_stagewise_example"]

Floats = npt.NDArray[np.float64]
Integers = npt.NDArray[np.int64]
Kind = Literal["DI", "CI", "DR", "CR"]

CLASSES = LEVELS = 3
GOOD, TIED, NOISY = 3, 7, 10
COPIED = 0.9
"""Probability that a redundant predictor copies the good one."""


class StagewiseData(NamedTuple):
    """Training and test rows, and which columns are noisy."""

    X: Floats
    y: Integers
    X_test: Floats
    y_test: Integers
    noisy: npt.NDArray[np.bool_]


def make_stagewise(
    kind: Kind,
    seed: int,
    n_train: int = 300,
    n_test: int = 3000,
    *,
    deviation: float = 0.75**0.5,
    concentration: float = 4.5,
    noise: float = 0.1,
) -> StagewiseData:
    """Generate one data set of a scenario.

    Parameters
    ----------
    kind : "DI", "CI", "DR" or "CR"
        Discrete or continuous predictors; irrelevant or redundant noise.
    seed : int
        Draws the parameters, the rows and the order of the columns.
    n_train, n_test : int
    deviation : float
        Standard deviation of continuous predictors within a class.
    concentration : float
        Dirichlet shape of the level that is typical of a class; the other levels have shape 1.
    noise : float
        Standard deviation of what is added to a copy of a continuous predictor.

    Returns
    -------
    StagewiseData
        Levels of discrete predictors are the numbers 0, 1 and 2: pass ``nominal=range(20)`` to an estimator.

    Examples
    --------
    >>> data = make_stagewise("DR", seed=0, n_train=4)
    >>> data.X.shape, data.X_test.shape, data.y.tolist(), int(data.noisy.sum())
    ((4, 20), (3000, 20), [2, 2, 0, 0], 10)
    """
    if kind not in get_args(Kind):
        raise ValueError(f"kind must be one of {', '.join(map(repr, get_args(Kind)))}; got {kind!r}")
    rng = np.random.default_rng(seed)
    discrete, redundant = kind[0] == "D", kind[1] == "R"
    good, tied, noisy = _discrete(rng, concentration) if discrete else _continuous(rng)
    parent = int(rng.integers(0, GOOD, NOISY)[0])

    def draw(parameters: Floats, y: Integers) -> Floats:
        if discrete:
            u = rng.random(len(y))
            return np.minimum((u > parameters.cumsum(axis=0)[:, y]).sum(axis=0), LEVELS - 1).astype(np.float64)
        return rng.normal(parameters[y], deviation)

    def rows(n: int) -> tuple[Floats, Integers]:
        y = rng.integers(0, CLASSES, n)
        columns = [draw(parameters, y) for parameters in good]
        alike = [draw(tied, y) for _ in range(TIED)]
        for i in range(1, TIED - 1):  # the left neighbour may already be a copy
            alike[i] = np.where(rng.random(n) < 0.5, alike[i - 1], alike[i + 1])
        others = []
        for parameters in noisy:
            own = draw(parameters, y)
            if redundant:
                copies = rng.random(n) < COPIED
                source = columns[parent] if discrete else columns[parent] + rng.normal(0, noise, n)
                own = np.where(copies, source, own)
            others.append(own)
        return np.column_stack(columns + alike + others), y

    X, y = rows(n_train)
    X_test, y_test = rows(n_test)
    order = rng.permutation(GOOD + TIED + NOISY)
    return StagewiseData(X[:, order], y, X_test[:, order], y_test, order >= GOOD + TIED)


def _discrete(rng: np.random.Generator, concentration: float) -> tuple[list[Floats], Floats, list[Floats]]:
    """Tables (levels, classes) of the good, the tied and the noisy predictors."""

    def table() -> Floats:
        shapes = 1 + (concentration - 1) * np.eye(CLASSES, LEVELS)
        return np.column_stack([rng.dirichlet(shape) for shape in shapes])

    good = [table() for _ in range(GOOD)]
    tied = table()
    noisy = [np.repeat(rng.dirichlet(np.ones(LEVELS))[:, None], CLASSES, axis=1) for _ in range(NOISY)]
    return good, tied, noisy


def _continuous(rng: np.random.Generator) -> tuple[list[Floats], Floats, list[Floats]]:
    """Means (classes,) of the good, the tied and the noisy predictors."""
    good = list(rng.uniform(-2, 2, (GOOD, CLASSES)))
    tied = rng.uniform(-2, 2, CLASSES)
    return good, tied, [np.full(CLASSES, mean) for mean in rng.uniform(-2, 2, NOISY)]


THIRD = (1 / 3, 1 / 3, 1 / 3)
TABLES = np.array(
    [
        [(0.8, 0.1, 0.1), THIRD, THIRD],
        [THIRD, (0.3, 0.1, 0.6), (0.3, 0.6, 0.1)],
        [THIRD, (0.3, 0.1, 0.6), (0.3, 0.6, 0.1)],
    ]
)
"""P(level | class) of X1, X2 and X3, (predictors, classes, levels): eq. 12, its .33 as thirds."""
MEANS = np.array([[1.5, 0.0, 0.0], [0.0, -0.75, 0.75], [0.0, -0.75, 0.75]])
"""Means of continuous predictors in the same roles; the paper does not name its own."""


def make_stagewise_example(
    seed: int,
    n_train: int = 1000,
    n_test: int = 3000,
    *,
    n_noisy: int = 0,
    redundant: bool = False,
    equal: float = 0.0,
    continuous: bool = False,
) -> StagewiseData:
    """Generate the small data sets on which the paper shows what noisy predictors do to naive Bayes.

    Parameters
    ----------
    seed : int
    n_train, n_test : int
    n_noisy : int
        Further predictors, after the three good ones.
    redundant : bool
        Whether these are copies of X1; else they have the same distribution in all classes.
    equal : float
        Share of the rows in which X3 is set to X2.
    continuous : bool
        Normal predictors of standard deviation sqrt(.75) instead of three levels.

    Examples
    --------
    >>> data = make_stagewise_example(0, n_train=5, n_noisy=2, redundant=True)
    >>> data.X.T
    array([[2., 2., 0., 2., 0.],
           [2., 0., 1., 1., 0.],
           [2., 0., 0., 1., 2.],
           [2., 2., 0., 2., 0.],
           [2., 2., 0., 2., 0.]])
    """
    rng = np.random.default_rng(seed)
    irrelevant = rng.uniform(-2, 2, n_noisy) if continuous else rng.dirichlet(np.ones(LEVELS), n_noisy)

    def draw(of_rows: Floats) -> Floats:
        """One value per row, from its mean or from its probabilities of the levels."""
        if continuous:
            return rng.normal(of_rows, 0.75**0.5)
        u = rng.random(len(of_rows))
        return np.minimum((u[:, None] > of_rows.cumsum(axis=1)).sum(axis=1), LEVELS - 1).astype(np.float64)

    def rows(n: int) -> tuple[Floats, Integers]:
        y = rng.integers(0, CLASSES, n)
        columns = [draw(parameters[y]) for parameters in (MEANS if continuous else TABLES)]
        columns[2] = np.where(rng.random(n) < equal, columns[1], columns[2])
        noisy = [columns[0]] * n_noisy if redundant else [draw(np.repeat(p[None], n, axis=0)) for p in irrelevant]
        return np.column_stack([*columns, *noisy]), y

    X, y = rows(n_train)
    X_test, y_test = rows(n_test)
    return StagewiseData(X, y, X_test, y_test, np.arange(3 + n_noisy) >= 3)
