"""Where the boxes of a graph go, so that names can be read: no two boxes touch, and few lines cross.

Every part of the graph that hangs together is laid out by itself, and the parts are packed like words on a page. A part
starts as a tree drawn in circles around its middle and is then relaxed until distances on paper are like distances in
the graph (stress majorization). Boxes are wider than high, so it matters which way the part is turned: several ways are
tried, and the one with the fewest crossings is kept. Nothing is random; the same graph has the same picture.

Gansner, Koren and North (2004), Graph drawing by stress majorization.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
from scipy.sparse import csr_array
from scipy.sparse.csgraph import breadth_first_order, connected_components, minimum_spanning_tree, shortest_path

from seminaive.table.schema import Floats, Integers

__all__ = ["crossings", "hidden_lines", "lay_out", "pack"]

APART = np.array([34.0, 30.0])
"""Points between neighbouring boxes, across and down."""
MARGIN = np.array([12.0, 10.0])
"""Points that any two boxes keep apart."""
GUTTER = np.array([26.0, 22.0])
"""Points between parts that do not hang together."""
TURNS = 8
"""Ways to turn a part that are tried; up to MANY columns, beyond one must do."""
MANY = 150
SWEEPS = 60
"""Steps of relaxation."""
SHAPE = 1.6
"""A page is so many times wider than high."""


def lay_out(sizes: Floats, ends: Integers, weight: Floats) -> Floats:
    """Centres of boxes in a frame of their own: the left lower corner of the whole is at the origin.

    Parameters
    ----------
    sizes : (boxes, 2) array
        Width and height of each.
    ends : (lines, 2) int array
        The boxes that each line joins.
    weight : (lines,) array
        The heavier, the straighter the line has to be.

    Examples
    --------
    >>> lay_out(np.array([[20.0, 20], [60, 20]]), np.empty((0, 2), dtype=int), np.empty(0))
    array([[10., 10.],
           [30., 52.]])
    """
    n = len(sizes)
    if n == 0:
        return np.empty((0, 2))
    # two columns may be joined in both groups
    ends, again = np.unique(np.sort(ends, axis=1), axis=0, return_inverse=True)
    heaviest = np.zeros(len(ends))
    np.maximum.at(heaviest, again.ravel(), weight)
    joined = _matrix(np.ones(len(ends)), ends, n)
    n_parts, part = connected_components(joined, directed=False)
    centres = np.zeros((n, 2))
    extents = np.zeros((n_parts, 2))
    for p in range(n_parts):
        inside = np.flatnonzero(part == p)
        own = np.isin(ends[:, 0], inside)
        place = _one_part(sizes[inside], np.searchsorted(inside, ends[own]), heaviest[own])
        low = (place - sizes[inside] / 2).min(axis=0)
        centres[inside] = place - low
        extents[p] = (place + sizes[inside] / 2).max(axis=0) - low
    return np.asarray(centres + pack(extents)[part])


def pack(extents: Floats, width: float | None = None) -> Floats:
    """Left lower corners of rectangles in rows, the highest first; the whole is wider than high."""
    if width is None:
        padded = extents + GUTTER
        width = max(float(extents[:, 0].max()), float(np.sqrt(SHAPE * padded.prod(axis=1).sum())))
    corners = np.zeros_like(extents)
    x = y = row = 0.0
    for p in np.lexsort((-extents[:, 0], -extents[:, 1])).tolist():
        if x > 0 and x + extents[p, 0] > width:
            x, y, row = 0.0, y + row + GUTTER[1], 0.0
        row = max(row, float(extents[p, 1]))
        corners[p] = x, -y - extents[p, 1]  # rows go down
        x += float(extents[p, 0] + GUTTER[0])
    return np.asarray(corners - [0, corners[:, 1].min()])


def _one_part(sizes: Floats, ends: Integers, weight: Floats) -> Floats:
    n = len(sizes)
    if n == 1:
        return np.zeros((1, 2))
    unit = sizes.mean(axis=0) + APART
    if n == 2:
        return np.array([[-0.5, 0.0], [0.5, 0.0]]) * unit
    circles = _in_circles(n, ends, weight)
    relaxed = _relaxed(circles, ends, weight)
    best, least = circles, np.inf
    for shape in (relaxed, circles):
        for turn in range(TURNS if n <= MANY else 1):
            angle = np.pi * turn / TURNS
            turned = shape @ np.array([[np.cos(angle), np.sin(angle)], [-np.sin(angle), np.cos(angle)]])
            place = _pushed_apart(turned * unit, sizes)
            width, height = np.ptp(place, axis=0) + sizes.mean(axis=0)
            area = width * height / float((sizes + APART).prod(axis=1).sum())
            badness = 3.0 * crossings(place, ends) + 5.0 * hidden_lines(place, sizes, ends) + area
            badness += 0.5 * abs(np.log(width / height / SHAPE))
            if badness < least - 1e-9:
                best, least = place, badness
        if n > MANY:
            break
    return best


def _matrix(values: Floats, ends: Integers, n: int) -> csr_array:
    """One value per line; the graph routines of older SciPy want short indices."""
    short = ends.astype(np.int32)
    return csr_array((values, (short[:, 0], short[:, 1])), shape=(n, n))


def _in_circles(n: int, ends: Integers, weight: Floats) -> Floats:
    """The heaviest tree, its middle at the origin; every branch has a sector as wide as its leaves need."""
    tree = minimum_spanning_tree(_matrix(-weight - 1.0, ends, n))
    tree = csr_array(abs(tree + tree.T))
    hops = shortest_path(tree, directed=False, unweighted=True)
    middle = int(np.lexsort((np.arange(n), hops.sum(axis=1), hops.max(axis=1)))[0])
    order, above = breadth_first_order(tree, middle, directed=False)
    leaves = np.zeros(n)
    for j in order[::-1].tolist():
        leaves[j] = max(leaves[j], 1.0)
        if j != middle:
            leaves[above[j]] += leaves[j]
    start, used = np.zeros(n), np.zeros(n)
    angle = np.zeros(n)
    for j in order.tolist():
        if j != middle:
            p = above[j]
            start[j] = start[p] + used[p]
            used[p] += 2 * np.pi * leaves[j] / leaves[middle]
            angle[j] = start[j] + np.pi * leaves[j] / leaves[middle]
    radius = hops[middle]
    return np.stack([radius * np.cos(angle), radius * np.sin(angle)], axis=1)


def _relaxed(place: Floats, ends: Integers, weight: Floats) -> Floats:
    """Distances on paper like those in the graph, where a light line is a longer way than a heavy one."""
    n = len(place)
    length = 1.0 / np.clip(weight, 0.5, 1.0)
    ways = _matrix(length, ends, n)
    wanted = shortest_path(ways, directed=False)
    np.fill_diagonal(wanted, 1.0)
    pull = wanted**-2.0
    np.fill_diagonal(pull, 0.0)
    laplacian = np.diag(pull.sum(axis=1)) - pull
    inverse = np.linalg.pinv(laplacian)
    for _ in range(SWEEPS):
        gap = np.linalg.norm(place[:, None] - place[None], axis=2)
        ratio = np.divide(pull * wanted, gap, out=np.zeros_like(gap), where=gap > 1e-9)
        place = inverse @ (np.diag(ratio.sum(axis=1)) - ratio) @ place
    return place


def _pushed_apart(place: Floats, sizes: Floats) -> Floats:
    """No two boxes nearer than the margin: each pair that is gets pushed along the shorter way out."""
    place = place.copy()
    need = (sizes[:, None] + sizes[None]) / 2 + MARGIN
    before = np.sign(np.arange(len(place))[:, None] - np.arange(len(place)))
    while True:
        for _ in range(100):
            gap = place[:, None] - place[None]
            short = need - np.abs(gap)
            hit = (short > 1e-6).all(axis=2)
            np.fill_diagonal(hit, False)
            if not hit.any():
                return place
            across = hit & (short[..., 0] < short[..., 1] * 1.5)
            for axis, pushed in ((0, across), (1, hit & ~across)):
                way = np.where(gap[..., axis] == 0, before, np.sign(gap[..., axis]))
                place[:, axis] += 0.3 * np.where(pushed, way * (short[..., axis] + 0.5), 0.0).sum(axis=1)
        place *= 1.05  # a crowd that pushes in circles needs more room


def crossings(place: Floats, ends: Integers) -> int:
    """How many pairs of lines cross.

    Examples
    --------
    >>> square = np.array([[0.0, 0], [1, 0], [1, 1], [0, 1]])
    >>> crossings(square, np.array([[0, 2], [1, 3]])), crossings(square, np.array([[0, 1], [2, 3]]))
    (1, 0)
    """
    a, b = place[ends[:, 0]], place[ends[:, 1]]
    one = _side(a[:, None], b[:, None], a[None]) * _side(a[:, None], b[:, None], b[None]) < 0
    shared = (ends[:, None, :, None] == ends[None, :, None, :]).any(axis=(2, 3))
    return int((one & one.T & ~shared).sum()) // 2


def hidden_lines(place: Floats, sizes: Floats, ends: Integers) -> int:
    """How often a line passes under a box that is not its own."""
    under = segments_hit_boxes(place[ends[:, 0]], place[ends[:, 1]], place, sizes + 4.0)
    under[np.arange(len(ends)), ends[:, 0]] = under[np.arange(len(ends)), ends[:, 1]] = False
    return int(under.sum())


def segments_hit_boxes(a: Floats, b: Floats, place: Floats, sizes: Floats) -> npt.NDArray[np.bool_]:
    """Which segments (lines,) pass through which boxes (boxes,)."""
    step = (b - a)[:, None]
    step = np.where(np.abs(step) < 1e-12, 1e-12, step)
    first = (place[None] - sizes[None] / 2 - a[:, None]) / step
    last = (place[None] + sizes[None] / 2 - a[:, None]) / step
    enter = np.minimum(first, last).max(axis=2)
    leave = np.maximum(first, last).min(axis=2)
    return np.asarray((enter < leave) & (leave > 0) & (enter < 1))


def _side(a: Floats, b: Floats, c: Floats) -> Floats:
    """On which side of the line from a to b the point c is."""
    return np.asarray(
        (b[..., 0] - a[..., 0]) * (c[..., 1] - a[..., 1]) - (b[..., 1] - a[..., 1]) * (c[..., 0] - a[..., 0])
    )
