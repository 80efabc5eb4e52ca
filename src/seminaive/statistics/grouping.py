"""Groups of columns that all resemble each other."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt


def complete_linkage(similarity: npt.NDArray[np.float64], threshold: float) -> list[list[int]]:
    """Merge the most similar groups until no two have all their members at ``threshold`` or above.

    The similarity of two groups is that of their least similar members (complete linkage), so within a group
    every pair reaches the threshold; nothing chains. Of equally similar pairs the first in order merges
    first.

    Parameters
    ----------
    similarity : array of shape (d, d)
        Symmetric; larger is more alike. The diagonal is not used.
    threshold : float
        Least similarity of two members of a group.

    Returns
    -------
    list of lists of int
        Positions, ascending within a group; groups in the order of their first member.

    Examples
    --------
    >>> import numpy as np
    >>> similarity = np.array([[1, .9, .2, .6], [.9, 1, .8, .7], [.2, .8, 1, .1], [.6, .7, .1, 1]])
    >>> complete_linkage(similarity, .5)
    [[0, 1, 3], [2]]
    """
    groups = [[i] for i in range(len(similarity))]
    between = np.array(similarity, dtype=np.float64)
    np.fill_diagonal(between, -np.inf)
    while len(groups) > 1:
        i, j = sorted(divmod(int(between.argmax()), len(between)))
        if not between[i, j] >= threshold:
            break
        # group j joins group i; its own row and column never win again
        joined = np.minimum(between[i], between[j])
        between[i], between[:, i] = joined, joined
        between[j], between[:, j] = -np.inf, -np.inf
        groups[i] = sorted(groups[i] + groups[j])
        groups[j] = []
    return sorted(group for group in groups if group)
