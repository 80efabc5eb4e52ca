"""Corral: a class that pairs of columns decide, among columns that say nothing."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["make_corral"]

FREE = ("a0", "a1", "b0", "b1", "irrelevant")
"""Columns whose combinations all occur equally often."""
AGREES = 0.75
"""Share of the rows in which ``correlated`` is the class."""


def make_corral(n_rows: int = 128, n_noise: int = 0, seed: int = 0) -> tuple[pd.DataFrame, npt.NDArray[Any]]:
    """Generate rows whose class is (a0 and a1) or (b0 and b1).

    ``correlated`` is the class in three rows of four, ``irrelevant`` says nothing. Each noise column is one of these
    six, chosen at random, in another order of the rows. The six are those of John, Kohavi and Pfleger (1994), the noise
    that of Krakovna, Du and Liu (2015), "Selective Bayesian Forest Classifier".

    Parameters
    ----------
    n_rows : int
        With a multiple of 32 all combinations of the first five columns occur equally often, as in the original.
    n_noise : int
        Columns beside the six, named noise_0001, noise_0002, ...
    seed : int
        Draws the order of the rows, where ``correlated`` differs from the class, and the noise.

    Returns
    -------
    frame : pandas.DataFrame
        Columns of booleans.
    label : array of 0 and 1

    Examples
    --------
    >>> X, y = make_corral(n_noise=2)
    >>> list(X)
    ['a0', 'a1', 'b0', 'b1', 'irrelevant', 'correlated', 'noise_0001', 'noise_0002']
    >>> bool((y == (X.a0 & X.a1 | X.b0 & X.b1)).all()), float((X.correlated == y).mean())
    (True, 0.75)
    """
    import pandas as pd

    if n_rows < 1 or n_noise < 0:
        raise ValueError(f"n_rows must be at least 1 and n_noise at least 0, got {n_rows!r} and {n_noise!r}")
    rng = np.random.default_rng(seed)
    combinations = 2 ** len(FREE)
    whole = np.repeat(np.arange(combinations), n_rows // combinations)
    number = rng.permutation(np.concatenate([whole, rng.permutation(combinations)[: n_rows % combinations]]))
    free = (number[:, None] >> np.arange(len(FREE))) & 1 == 1
    label = free[:, 0] & free[:, 1] | free[:, 2] & free[:, 3]
    differs = np.zeros(n_rows, dtype=bool)
    differs[rng.permutation(n_rows)[: round((1 - AGREES) * n_rows)]] = True
    six = np.column_stack([free, label ^ differs])
    source = rng.integers(0, six.shape[1], n_noise)
    noise = rng.permuted(six[:, source], axis=0)
    names = [*FREE, "correlated", *[f"noise_{i:04d}" for i in range(1, n_noise + 1)]]
    return pd.DataFrame(np.hstack([six, noise]), columns=names), label.astype(np.int64)
