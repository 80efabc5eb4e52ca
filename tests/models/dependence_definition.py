"""Dependence models by definition: counts by masks, probabilities one row and one factor at a time."""

import numpy as np


def theta(X, y, j, parents, row, k, s=1.0):
    """P(x_j | parents, class) of a row of levels, shrunk towards the column's overall distribution."""
    rows = y == k
    for p in parents:
        rows = rows & (X[:, p] == row[p])
    overall = np.mean(X[:, j] == row[j])
    return (np.sum(rows & (X[:, j] == row[j])) + s * overall) / (np.sum(rows) + s)


def family_probabilities(X, y, parents, queries):
    """Class probabilities of a model in which column j has the given parents; unseen values say nothing."""
    joint = np.array([[joint_probability(X, y, parents, row, k) for k in np.unique(y)] for row in queries])
    return joint / joint.sum(axis=1, keepdims=True)


def joint_probability(X, y, parents, row, k):
    product = np.mean(y == k)
    for j, of_column in enumerate(parents):
        if all(np.any(X[:, i] == row[i]) for i in (j, *of_column)):
            product *= theta(X, y, j, of_column, row, k)
    return product


def averaged_probabilities(X, y, queries, min_count=1):
    """Averaged one-dependence over the columns whose value is known well enough; else naive Bayes."""
    d = X.shape[1]
    joint = np.zeros((len(queries), len(np.unique(y))))
    for r, row in enumerate(queries):
        leaders = [i for i in range(d) if len(np.unique(X[:, i])) > 1 and np.sum(X[:, i] == row[i]) >= min_count]
        structures = [[() if j == i else (i,) for j in range(d)] for i in leaders] or [[()] * d]
        for parents in structures:
            joint[r] += [joint_probability(X, y, parents, row, k) for k in np.unique(y)]
    return joint / joint.sum(axis=1, keepdims=True)


def information(a, b, y):
    """I(A; B | Y) in nats, level by level; I(A; B) if y is constant."""
    total = 0.0
    for k in np.unique(y):
        of_class = np.mean(y == k)
        for u in np.unique(a):
            for v in np.unique(b):
                joint = np.mean((a == u) & (b == v) & (y == k))
                if joint > 0:
                    apart = np.mean((a == u) & (y == k)) * np.mean((b == v) & (y == k)) / of_class
                    total += joint * np.log(joint / apart)
    return total


def tree_parents(X, y):
    """Maximum spanning tree by Kruskal's rule, rooted at the lowest column of every tree."""
    d = X.shape[1]
    pairs = [(j, k) for j in range(d) for k in range(j + 1, d)]
    told = {pair: round(information(X[:, pair[0]], X[:, pair[1]], y), 12) for pair in pairs}
    tree = np.arange(d)
    neighbours = [[] for _ in range(d)]
    for j, k in sorted(pairs, key=lambda pair: (-told[pair], pair)):
        if told[j, k] > 1e-12 and tree[j] != tree[k]:
            tree[tree == tree[k]] = tree[j]
            neighbours[j].append(k)
            neighbours[k].append(j)
    parents, waiting = np.full(d, -1), set(range(d))
    while waiting:
        front = [min(waiting)]
        waiting.discard(front[0])
        for j in front:
            for k in neighbours[j]:
                if k in waiting:
                    parents[k] = j
                    waiting.discard(k)
                    front.append(k)
    return parents


def k_parents(X, y, k):
    """For every column the k columns before it, by information with the class, that share most with it."""
    d = X.shape[1]
    alone = [round(information(X[:, j], y, np.zeros(len(y))), 12) for j in range(d)]
    order = sorted(range(d), key=lambda j: (-alone[j], j))
    parents = [[] for _ in range(d)]
    for place, j in enumerate(order):
        told = {i: round(information(X[:, i], X[:, j], y), 12) for i in order[:place]}
        parents[j] = [i for i in sorted(told, key=lambda i: (-told[i], i)) if told[i] > 1e-12][:k]
    return parents
