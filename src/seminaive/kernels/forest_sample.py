"""One chain of the forest sampler: Switch Trees, Pivot, and Reassign with root and parent drawn jointly."""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np
from numba import njit, types

Array = Any  # numba kernels are typed by their arguments, not by annotations

NEGLIGIBLE = 1e-7
"""Candidates whose weights add up to less than this share of the best one are not looked at."""


class SamplerTables(NamedTuple):
    """What the moves look up; never written."""

    root: Array  # (2, d) score of a column as a root, signal penalty included
    edge: Array  # (2, d, d) edge log Bayes factors, no penalty
    penalty: Array  # (2,) of an edge
    near_column: Array  # (2, d, L) the L best partners of every column in either group, best first
    near_edge: Array  # (2, d, L) their edge log Bayes factors
    nearest: Array  # (2, d) the first of them, side by side


class ForestState(NamedTuple):
    """A rooted forest with groups, linked so that every step costs what it touches and no more."""

    parent: Array  # (d,) int32, -1 for a root
    group: Array  # (d,) uint8, 1 = signal
    child: Array  # (d,) first child, -1 for none
    after: Array  # (d,) next sibling
    before: Array  # (d,) sibling before, -1 for a first child
    up: Array  # (2, d) penalised weight of the edge to the parent in either group
    roots: Array  # (d,) the roots are the first counts[0] of these
    slot: Array  # (d,) where a root stands in roots
    lean: Array  # (d,) of a root: log posterior of its tree as signal minus as noise
    share: Array  # (d,) how often a node is chosen, relative to 1 on average
    unrest: Array  # (d,) chance that a visit changes the forest, added up over visits, to set the shares by
    counts: Array  # (2,) int64: trees, draws kept
    log_posterior: Array  # (1,)
    rng: Array  # (4,) uint64, xoshiro256++


@njit(cache=True, nogil=True)
def _uniform(rng: Array) -> float:
    """Next number in [0, 1) of xoshiro256++ (Blackman and Vigna 2021)."""
    s0, s1, s2, s3 = rng[0], rng[1], rng[2], rng[3]
    total = s0 + s3
    result = ((total << types.uint64(23)) | (total >> types.uint64(41))) + s0
    t = s1 << types.uint64(17)
    s2 ^= s0
    s3 ^= s1
    rng[1] = s1 ^ s2
    rng[0] = s0 ^ s3
    rng[2] = s2 ^ t
    rng[3] = (s3 << types.uint64(45)) | (s3 >> types.uint64(19))
    return float(result >> types.uint64(11)) * (1.0 / 9007199254740992.0)


@njit(cache=True, nogil=True)
def _unlink(state: Any, node: int) -> None:
    """Take a node out of its parent's children."""
    before, after = state.before[node], state.after[node]
    if before >= 0:
        state.after[before] = after
    else:
        state.child[state.parent[node]] = after
    if after >= 0:
        state.before[after] = before
    state.parent[node] = -1


@njit(cache=True, nogil=True)
def _link(state: Any, node: int, parent: int) -> None:
    """Make a root the first child of another node."""
    first = state.child[parent]
    state.parent[node] = parent
    state.before[node] = -1
    state.after[node] = first
    if first >= 0:
        state.before[first] = node
    state.child[parent] = node


@njit(cache=True, nogil=True)
def _climb(parent: Array, node: int) -> int:
    """Root of a node's tree."""
    while parent[node] >= 0:
        node = parent[node]
    return node


@njit(cache=True, nogil=True)
def _collect(state: Any, top: int, nodes: Array) -> int:
    """Write a node and all below it to ``nodes`` and say how many there are."""
    nodes[0] = top
    count = 1
    i = 0
    while i < count:
        node = state.child[nodes[i]]
        while node >= 0:
            nodes[count] = node
            count += 1
            node = state.after[node]
        i += 1
    return count


@njit(cache=True, nogil=True)
def _make_root(state: Any, node: int) -> None:
    """Turn round the edges between a node and the top of its tree."""
    above = state.parent[node]
    if above < 0:
        return
    noise, signal = state.up[0, node], state.up[1, node]
    _unlink(state, node)
    while above >= 0:
        further = state.parent[above]
        next_noise, next_signal = state.up[0, above], state.up[1, above]
        if further >= 0:
            _unlink(state, above)
        _link(state, above, node)
        state.up[0, above], state.up[1, above] = noise, signal
        noise, signal = next_noise, next_signal
        node, above = above, further


@njit(cache=True, nogil=True)
def _switch_trees(state: Any, n_switch: int, nodes: Array) -> None:
    """Offer some trees, chosen without replacement, to change their group."""
    trees = state.counts[0]
    for i in range(min(n_switch, trees)):
        other = i + int(_uniform(state.rng) * (trees - i))
        root, moved = state.roots[other], state.roots[i]
        state.roots[i], state.roots[other] = root, moved
        state.slot[root], state.slot[moved] = i, other
        gain = state.lean[root] if state.group[root] == 0 else -state.lean[root]
        if gain >= 0.0 or _uniform(state.rng) < math.exp(gain):
            to = 1 - state.group[root]
            for a in range(_collect(state, root, nodes)):
                state.group[nodes[a]] = to
            state.log_posterior[0] += gain


@njit(cache=True, nogil=True)
def _offer(log_weight: float, best: Array, rng: Array) -> bool:
    """Draw from weights met one by one, each by its share of the total; best = (maximum, total)."""
    if log_weight > best[0]:
        best[1] = best[1] * math.exp(best[0] - log_weight) + 1.0
        best[0] = log_weight
        return bool(_uniform(rng) * best[1] < 1.0)
    weight = math.exp(log_weight - best[0])
    best[1] += weight
    return bool(_uniform(rng) * best[1] < weight)


@njit(cache=True, nogil=True)
def _reassign_subtree(
    tables: Any, state: Any, node: int, most_nodes: int, nodes: Array, inside: Array, best: Array
) -> None:
    """Cut a subtree off under a random pivot; draw root, parent and group from their full conditional.

    Above ``most_nodes`` nodes only the parent and the group are drawn and the root stays. Whether it is
    above does not change with what is drawn, so either way the posterior is kept.
    """
    d = state.parent.size
    rng = state.rng
    old_root = _climb(state.parent, node)
    size = _collect(state, old_root, nodes)
    pivot = nodes[int(_uniform(rng) * size)]
    if pivot != old_root:
        _make_root(state, pivot)
        state.roots[state.slot[old_root]] = pivot
        state.slot[pivot] = state.slot[old_root]
        state.lean[pivot] = state.lean[old_root]

    size = _collect(state, node, nodes)
    noise = signal = 0.0
    for i in range(size):
        member = nodes[i]
        inside[member] = 1
        noise += tables.root[0, member]
        signal += tables.root[1, member]
        if i > 0:
            noise += state.up[0, member]
            signal += state.up[1, member]
    group = state.group[node]
    before = signal if group == 1 else noise
    if node == pivot:
        last = state.roots[state.counts[0] - 1]
        state.roots[state.slot[node]] = last
        state.slot[last] = state.slot[node]
        state.counts[0] -= 1
    else:
        before += state.up[group, node]
        state.lean[pivot] -= signal - noise + state.up[1, node] - state.up[0, node]
        _unlink(state, node)

    n_candidates = size if size <= most_nodes else 1
    top = node
    parent = -1
    share = 0.0  # the mark moves with the new root, so a root counts as often as it would be chosen
    for i in range(n_candidates):
        share += state.share[nodes[i]]
    log_share = math.log(share)
    best[0], best[1] = noise + log_share, 1.0
    chosen_group = 1 if _offer(signal + log_share, best, rng) else 0
    stay = before + (log_share if node == pivot else math.log(state.share[node]))
    depth = math.log(2.0 * n_candidates * d / NEGLIGIBLE)
    least = max(stay, best[0]) - depth  # where it was cut from is a candidate: the best is at least that
    n_near = tables.near_column.shape[2]
    for g in range(2):
        for i in range(n_candidates):
            a = nodes[i]
            base = (signal if g == 1 else noise) - tables.penalty[g] + math.log(state.share[a])
            least = max(least, best[0] - depth)
            if n_near == 0 or base + tables.nearest[g, a] < least:
                continue
            if n_near == d - 1 or base + tables.near_edge[g, a, n_near - 1] < least:
                columns, edges = tables.near_column[g, a], tables.near_edge[g, a]
                for i_near in range(n_near):
                    log_weight = base + edges[i_near]
                    if log_weight < least:
                        break
                    k = columns[i_near]
                    if state.group[k] == g and inside[k] == 0 and _offer(log_weight, best, rng):
                        top, parent, chosen_group = a, k, g
            else:
                row = tables.edge[g, a]
                for k in range(d):
                    log_weight = base + row[k]
                    if log_weight >= least and state.group[k] == g and inside[k] == 0 and _offer(log_weight, best, rng):
                        top, parent, chosen_group = a, k, g
    if parent < 0 and n_candidates > 1:
        left = _uniform(rng) * share
        for i in range(n_candidates):
            left -= state.share[nodes[i]]
            if left < 0.0:
                top = nodes[i]
                break
    state.unrest[node] += 1.0 - math.exp(stay - best[0]) / best[1]

    after = signal if chosen_group == 1 else noise
    _make_root(state, top)
    if parent < 0:
        state.roots[state.counts[0]] = top
        state.slot[top] = state.counts[0]
        state.counts[0] += 1
        state.lean[top] = signal - noise
    else:
        _link(state, top, parent)
        for g in range(2):
            state.up[g, top] = tables.edge[g, top, parent] - tables.penalty[g]
        after += state.up[chosen_group, top]
        state.lean[_climb(state.parent, parent)] += signal - noise + state.up[1, top] - state.up[0, top]
    state.log_posterior[0] += after - before
    for i in range(size):
        inside[nodes[i]] = 0
        state.group[nodes[i]] = chosen_group


@njit(cache=True, nogil=True)
def run_chain(
    tables: Any,
    state: Any,
    first: int,
    last: int,
    n_switch: int,
    most_nodes: int,
    thin: int,
    burn_in: int,
    sweep: Array,
    trace: Array,
    draw_parent: Array,
    draw_group: Array,
) -> None:
    """Run iterations first .. last - 1 of a chain, changing ``state``.

    Every ``thin``-th iteration writes its log posterior and signal size to ``trace``; from ``burn_in`` on
    the forest itself is kept as a draw. Columns are visited in the order of ``sweep`` before burn-in, if it
    is not empty, and afterwards at random, each by its share.
    """
    d = state.parent.size
    nodes = np.empty(d, dtype=np.int32)
    inside = np.zeros(d, dtype=np.uint8)
    best = np.empty(2)
    cumulative = np.empty(d)
    total = 0.0
    for j in range(d):
        total += state.share[j]
        cumulative[j] = total
    for iteration in range(first, last):
        _switch_trees(state, n_switch, nodes)
        if iteration < burn_in and sweep.size > 0:
            node = sweep[iteration % d]
        else:
            mark = _uniform(state.rng) * cumulative[d - 1]
            node, above = 0, d - 1
            while node < above:  # the first column whose cumulative share is over the mark
                middle = (node + above) // 2
                if cumulative[middle] > mark:
                    above = middle
                else:
                    node = middle + 1
        _reassign_subtree(tables, state, node, most_nodes, nodes, inside, best)
        if iteration % thin == 0:
            signal_size = 0
            for j in range(d):
                signal_size += state.group[j]
            trace[iteration // thin, 0] = state.log_posterior[0]
            trace[iteration // thin, 1] = signal_size
            if iteration >= burn_in:
                kept = state.counts[1]
                kept_parent, kept_group = draw_parent[kept], draw_group[kept]
                for j in range(d):
                    kept_parent[j] = state.parent[j]
                    kept_group[j] = state.group[j]
                state.counts[1] += 1


@njit(cache=True, nogil=True)
def best_partners(edge: Array, partner: Array, weight: Array) -> None:
    """The L largest entries of every row of ``edge[g]`` but the diagonal, largest first, ties by column."""
    d = edge.shape[1]
    length = partner.shape[2]
    for g in range(2):
        for j in range(d):
            row = edge[g, j]
            columns = partner[g, j]
            weights = weight[g, j]
            filled = 0
            for k in range(d):
                if k == j or (filled == length and row[k] <= weights[length - 1]):
                    continue
                at = filled if filled < length else length - 1
                while at > 0 and weights[at - 1] < row[k]:
                    weights[at] = weights[at - 1]
                    columns[at] = columns[at - 1]
                    at -= 1
                weights[at] = row[k]
                columns[at] = k
                filled = min(filled + 1, length)
