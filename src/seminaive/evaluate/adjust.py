"""Adjusted p values for all pairs of classifiers.

Pairs depend on each other: if A equals B and B equals C, then A equals C. So the pairs that can be equal at
the same time, an *exhaustive* set of hypotheses, are the pairs inside the groups of some partition of the
classifiers. Knowing this, fewer p values have to be paid for:

    Holm               p_i' = max over j <= i of  (m - j + 1) p_j
    Shaffer (static)   p_i' = max over j <= i of  t_j p_j
    Bergmann, Hommel   p_i' = max over exhaustive sets I containing i of  |I| min_{j in I} p_j

with m the number of pairs, t_j the size of the largest exhaustive set of at most m - j + 1 pairs, and
p_1 <= p_2 <= ... in the first two; all are cut at 1. Bergmann and Hommel's is never larger than Shaffer's,
which is never larger than Holm's. Bergmann and Hommel's need not grow with p: a pair may need fewer equal
companions than one with a smaller p. Some published tables take the running maximum, which only costs power.

S. García and F. Herrera (2008), An extension on "Statistical comparisons of classifiers over multiple data
sets" for all pairwise comparisons, JMLR 9, 2677-2694.
"""

from math import comb, isqrt

import numpy as np
import numpy.typing as npt

from seminaive.evaluate.ranks import pairs

__all__ = ["MAX_EXACT", "adjust", "bergmann_hommel", "holm", "partitions", "shaffer"]

Floats = npt.NDArray[np.float64]

# 678,570 partitions; each further classifier costs about six times as much time and memory.
MAX_EXACT = 11


def adjust(p_values: npt.ArrayLike, method: str = "auto") -> Floats:
    """Adjust the p values of all pairs of classifiers for having looked at all of them.

    Parameters
    ----------
    p_values : array of k * (k - 1) / 2 values
        One per pair of k classifiers, in the order of `pairs`.
    method : {"auto", "bergmann-hommel", "shaffer", "holm"}, default="auto"
        "auto" is Bergmann and Hommel's procedure up to eleven classifiers and Shaffer's above.

    Returns
    -------
    array of adjusted p values in the same order

    Examples
    --------
    >>> adjust([0.01, 0.02, 0.9])
    array([0.03, 0.03, 0.9 ])
    """
    methods = {"bergmann-hommel": bergmann_hommel, "shaffer": shaffer, "holm": holm}
    if method == "auto":
        method = "bergmann-hommel" if _n_models(_checked(p_values)) <= MAX_EXACT else "shaffer"
    if method not in methods:
        raise ValueError(f"method is {method!r}; it must be one of 'auto', {', '.join(map(repr, methods))}.")
    return methods[method](p_values)


def holm(p_values: npt.ArrayLike) -> Floats:
    """Adjust by Holm's procedure, which holds for any hypotheses.

    Parameters
    ----------
    p_values : array of shape (m,)

    Returns
    -------
    array of shape (m,)

    Examples
    --------
    >>> holm([0.01, 0.02, 0.9])
    array([0.03, 0.04, 0.9 ])
    """
    p = _checked(p_values)
    return _step_down(p, np.arange(len(p), 0, -1))


def shaffer(p_values: npt.ArrayLike) -> Floats:
    """Adjust by Shaffer's static procedure for all pairs.

    Parameters
    ----------
    p_values : array of k * (k - 1) / 2 values, in any order

    Returns
    -------
    array of adjusted p values

    Examples
    --------
    >>> shaffer([0.01, 0.02, 0.9])
    array([0.03, 0.03, 0.9 ])
    """
    p = _checked(p_values)
    sizes = np.array(sorted(_exhaustive_sizes(_n_models(p))))
    still_open = np.arange(len(p), 0, -1)
    return _step_down(p, sizes[np.searchsorted(sizes, still_open, side="right") - 1])


def bergmann_hommel(p_values: npt.ArrayLike) -> Floats:
    """Adjust by Bergmann and Hommel's dynamic procedure for all pairs: exact, up to eleven classifiers.

    Parameters
    ----------
    p_values : array of k * (k - 1) / 2 values
        One per pair of k classifiers, in the order of `pairs`.

    Returns
    -------
    array of adjusted p values in the same order

    Examples
    --------
    >>> bergmann_hommel([0.01, 0.02, 0.9])
    array([0.03, 0.03, 0.9 ])
    """
    p = _checked(p_values)
    k = _n_models(p)
    if k > MAX_EXACT:
        raise ValueError(
            f"p_values compares {k} classifiers; Bergmann and Hommel's procedure is computed for at most "
            f"{MAX_EXACT}. Use method='shaffer'."
        )
    groups = partitions(k)
    first, second = pairs(k)
    size = np.zeros(groups.shape[1])
    smallest = np.full(groups.shape[1], np.inf)
    # One pair at a time over all partitions keeps memory at a few rows, not partitions x pairs.
    for i, j, p_ij in zip(first, second, p, strict=True):
        inside = groups[i] == groups[j]
        size += inside
        np.minimum(smallest, p_ij, out=smallest, where=inside)
    cost = size * np.where(size > 0, smallest, 0.0)
    adjusted = [cost[groups[i] == groups[j]].max() for i, j in zip(first, second, strict=True)]
    return np.array(adjusted).clip(max=1.0)


def partitions(n_models: int) -> npt.NDArray[np.uint8]:
    """Every way to split classifiers into groups.

    Parameters
    ----------
    n_models : int
        Number of classifiers.

    Returns
    -------
    array of shape (n_models, number of partitions)
        The group of each classifier, one column per partition.

    Examples
    --------
    >>> partitions(3).T.tolist()
    [[0, 0, 0], [0, 0, 1], [0, 1, 0], [0, 1, 1], [0, 1, 2]]
    """
    groups = np.zeros((1, 1), dtype=np.uint8)
    for _ in range(n_models - 1):
        # The next classifier joins one of the groups there are, or opens a new one.
        choices = groups.max(axis=0).astype(np.intp) + 2
        starts = np.repeat(np.cumsum(choices) - choices, choices)
        joined = (np.arange(choices.sum()) - starts).astype(np.uint8)
        groups = np.vstack([np.repeat(groups, choices, axis=1), joined])
    return groups


def _exhaustive_sizes(n_models: int) -> set[int]:
    """Numbers of pairs that can be equal at the same time: S(k) = union over j of C(j, 2) + S(k - j)."""
    sizes: list[set[int]] = [{0}]
    for k in range(1, n_models + 1):
        sizes.append({comb(j, 2) + rest for j in range(1, k + 1) for rest in sizes[k - j]})
    return sizes[n_models]


def _step_down(p: Floats, factors: npt.NDArray[np.intp]) -> Floats:
    """Multiply the sorted p values by their factors and never let one fall below those before it."""
    order = np.argsort(p, kind="stable")
    adjusted = np.empty_like(p)
    adjusted[order] = np.minimum(1.0, np.maximum.accumulate(factors * p[order]))
    return adjusted


def _n_models(p: Floats) -> int:
    k = (1 + isqrt(1 + 8 * len(p))) // 2
    if comb(k, 2) != len(p):
        raise ValueError(f"p_values has {len(p)} values; all pairs of k classifiers are k (k - 1) / 2 values.")
    return k


def _checked(p_values: npt.ArrayLike) -> Floats:
    p = np.asarray(p_values, dtype=np.float64)
    if p.ndim != 1 or len(p) == 0:
        raise ValueError(f"p_values has shape {p.shape}; it must be one row of at least one p value.")
    wrong = ~((p >= 0) & (p <= 1))
    if wrong.any():
        at = int(np.argmax(wrong))
        raise ValueError(f"p_values[{at}] is {p[at]}; a p value lies between 0 and 1.")
    return p
