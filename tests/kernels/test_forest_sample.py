"""The sampler's kernels equal their definition: the random numbers, the links, and the law of every move."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest

from forest_data import random_tables
from seminaive.kernels.forest_sample import ForestState, _switch_trees, _uniform, best_partners, run_chain
from seminaive.search.forest_start import init, sampler_tables
from seminaive.statistics.family import log_posterior

JOINT, PAPER = 100, 0


def advance(tables, parent, group, seed, iterations, n_switch=0, most_nodes=JOINT, share=None):
    """Run a chain from a forest and return its state."""
    state = init(tables, np.array(parent), np.array(group), np.random.SeedSequence(seed))
    state.share[:] = 1.0 if share is None else share
    d = len(parent)
    nothing = np.empty((0, d), dtype=np.int32), np.empty((0, d), dtype=np.uint8)
    trace = np.empty((1, 2))
    no_sweep = np.empty(0, dtype=np.int32)
    keep_none = iterations, iterations
    run_chain(tables, state, 0, iterations, n_switch, most_nodes, *keep_none, no_sweep, trace, *nothing)
    return state


def xoshiro(words):
    """xoshiro256++ in whole numbers, as published."""
    mask = (1 << 64) - 1
    turn = lambda x, k: ((x << k) | (x >> (64 - k))) & mask  # noqa: E731
    s = list(words)
    while True:
        yield (turn((s[0] + s[3]) & mask, 23) + s[0]) & mask
        t = (s[1] << 17) & mask
        s[2] ^= s[0]
        s[3] ^= s[1]
        s[1] ^= s[2]
        s[0] ^= s[3]
        s[2] ^= t
        s[3] = turn(s[3], 45)


def test_random_numbers_are_those_of_xoshiro():
    words = np.random.SeedSequence(1).generate_state(4, dtype=np.uint64)
    published = xoshiro(words.tolist())
    for _ in range(1000):
        assert _uniform(words) == (next(published) >> 11) / 2**53


@pytest.mark.parametrize("length", [1, 3, 7])
def test_best_partners_are_the_sorted_row_without_the_diagonal(length):
    edge = np.random.default_rng(0).integers(0, 5, (2, 8, 8)).astype(float)
    partner, weight = np.zeros((2, 8, length), dtype=np.int32), np.zeros((2, 8, length))
    best_partners(edge, partner, weight)
    for g in range(2):
        for j in range(8):
            others = [k for k in np.argsort(-edge[g, j], kind="stable") if k != j][:length]
            assert partner[g, j].tolist() == others
            np.testing.assert_array_equal(weight[g, j], edge[g, j, others])


def tree_of(node, edges):
    """All nodes joined to a node by edges."""
    found = {node}
    while True:
        more = {b for a, b in edges if a in found} | {a for a, b in edges if b in found}
        if more <= found:
            return found
        found |= more


def law_of_reassign(forest, parent, group, joint, share):
    """Probability of every forest after one Reassign: summed over nodes, pivots, roots and parents."""
    d = len(parent)
    edges = {frozenset((j, p)) for j, p in enumerate(parent) if p >= 0}
    law = Counter()
    for node in range(d):
        tree = tree_of(node, edges)
        for pivot in tree:
            if pivot == node:
                subtree, cut = tree, None
            else:
                cut = next(e for e in edges if node in e and pivot in tree_of(*(e - {node}), edges - {e}))
                subtree = tree_of(node, edges - {cut})
            inner = {e for e in edges if e <= subtree}
            outer = {e for e in edges if not e & subtree}
            options = []
            for g in (0, 1):
                moved = [g if j in subtree else group[j] for j in range(d)]
                base = sum(forest.root[g, j] for j in subtree) + sum(forest.weights(g)[tuple(e)] for e in inner)
                for top in subtree if joint else [node]:
                    options.append((base, share[top], inner | outer, moved))
                    for k in set(range(d)) - subtree:
                        if group[k] == g:
                            new = inner | outer | {frozenset((top, k))}
                            options.append((base + forest.weights(g)[top, k], share[top], new, moved))
            weights = np.array([np.exp(score) * mark for score, mark, _, _ in options])
            for weight, (_, _, new, moved) in zip(weights / weights.sum(), options, strict=True):
                law[frozenset(new), tuple(moved)] += weight * share[node] / sum(share) / len(tree)
    return law


@pytest.mark.parametrize("most_nodes", [JOINT, PAPER])
@pytest.mark.parametrize(("n_near", "share"), [(3, (1, 1, 1, 1)), (1, (1, 1, 1, 1)), (3, (0.5, 1, 2, 0.5))])
def test_one_reassign_draws_from_the_full_conditional(most_nodes, n_near, share):
    forest = random_tables(3, 4, scale=1.0)
    tables = sampler_tables(forest, n_near)
    parent, group = [-1, 0, 1, -1], [1, 1, 1, 0]
    law = law_of_reassign(forest, parent, group, most_nodes == JOINT, share)
    assert sum(law.values()) == pytest.approx(1)
    n, seen = 20_000, Counter()
    for seed in range(n):
        state = advance(tables, parent, group, seed, 1, most_nodes=most_nodes, share=share)
        edges = frozenset(frozenset((j, p)) for j, p in enumerate(state.parent.tolist()) if p >= 0)
        seen[edges, tuple(state.group.tolist())] += 1
    assert set(seen) <= set(law)
    off = [(seen[f] - n * p) / np.sqrt(n * p * (1 - p) + 1) for f, p in law.items()]
    assert np.abs(off).max() < 4.5


def test_switch_flips_whole_trees_with_the_metropolis_probability():
    forest = random_tables(5, 4)
    tables = sampler_tables(forest)
    parent, group = [-1, 0, -1, -1], [1, 1, 1, 0]
    before = log_posterior(forest, np.array(parent), np.array(group))
    flips = {(0, 0, 1, 0): 0, (1, 1, 0, 0): 0, (1, 1, 1, 1): 0}
    n = 5000
    for seed in range(n):
        state = init(tables, np.array(parent), np.array(group), np.random.SeedSequence(seed))
        _switch_trees(state, 1, np.empty(4, dtype=np.int32))
        flipped = tuple(state.group.tolist())
        if flipped in flips:
            flips[flipped] += 1
        else:
            assert flipped == tuple(group)
    for to, count in flips.items():
        accept = min(1, np.exp(log_posterior(forest, np.array(parent), np.array(to)) - before))
        assert count / n == pytest.approx(accept / 3, abs=0.03)


@pytest.mark.parametrize("most_nodes", [JOINT, PAPER])
def test_after_many_moves_every_link_and_sum_still_belongs_to_the_forest(most_nodes):
    d = 60
    forest = random_tables(6, d, scale=3.0)
    tables = sampler_tables(forest, n_near=5)
    state = advance(tables, [-1] * d, [0] * d, 0, 3000, n_switch=10, most_nodes=most_nodes)
    consistent(tables, forest, state)


def consistent(tables, forest, state: ForestState):
    """A state equals the one made from nothing but its parents and groups."""
    fresh = init(tables, state.parent, state.group, np.random.SeedSequence(0))
    assert (state.parent >= 0).any()
    assert state.log_posterior[0] == pytest.approx(log_posterior(forest, state.parent, state.group), abs=1e-6)
    trees = int(state.counts[0])
    assert sorted(state.roots[:trees]) == sorted(fresh.roots[: int(fresh.counts[0])])
    for slot, root in enumerate(state.roots[:trees]):
        assert state.slot[root] == slot
        assert state.lean[root] == pytest.approx(fresh.lean[root], abs=1e-6)
    below = state.parent >= 0
    np.testing.assert_array_equal(state.up[:, below], fresh.up[:, below])
    np.testing.assert_array_equal(state.group[below], state.group[state.parent[below]])
    for node in range(len(state.parent)):
        children, before, child = [], -1, state.child[node]
        while child >= 0:
            assert state.before[child] == before
            children.append(int(child))
            before, child = child, state.after[child]
        assert sorted(children) == np.flatnonzero(state.parent == node).tolist()
