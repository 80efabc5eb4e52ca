"""The definition of greedy search in plain NumPy: scores of every set summed afresh, nothing updated."""

import numpy as np

from seminaive.search.problem import SearchProblem


def evidence_of(problem: SearchProblem) -> np.ndarray:
    """(P, K, n) log evidence, features in the order of their numbers."""
    tables_of_row = problem.segments.per_row(problem.segments.tables)
    rows = np.arange(problem.segments.n_rows)
    out = np.empty((problem.n_features, problem.n_classes, len(rows)))
    for slot, feature in enumerate(problem.positions):
        if slot < problem.n_coded:
            at = problem.offsets[slot] + problem.codes[slot].astype(int)
            out[feature] = problem.tables[tables_of_row, :, at].T
        else:
            out[feature] = problem.dense_evidence(slot - problem.n_coded)
    return out


def scores_of(problem, evidence, features):
    tables_of_row = problem.segments.per_row(problem.segments.tables)
    return problem.log_prior[tables_of_row].T + evidence[sorted(features)].sum(axis=0)


def criteria_of(problem, scores):
    """Error, error probability, log loss of (K, n) scores."""
    labels = problem.segments.per_row(problem.segments.labels)
    weights = np.ones(len(labels)) if problem.weights is None else problem.weights
    best = scores.max(axis=0)
    predicted = np.argmax(scores >= best - 1e-12 * np.maximum(1, np.abs(best)), axis=0)
    wrong = weights @ (predicted != labels) / weights.sum()
    own = scores[labels, np.arange(len(labels))]
    top = best + np.log(np.exp(scores - best).sum(axis=0))
    others = np.ma.array(scores - top, mask=np.arange(len(scores))[:, None] == labels)
    probability = weights @ np.exp(others).sum(axis=0).filled(0) / weights.sum()
    return {"error": wrong, "probability": probability, "log_loss": weights @ (top - own) / weights.sum()}


def definition_path(problem, direction, criterion, ties="probability", start=None):
    """Order and criterion values of a full phase, straight from the definition."""
    evidence = evidence_of(problem)
    everything = set(range(problem.n_features))
    forward = direction == "forward"
    current = set(start) if start is not None else (set() if forward else set(everything))
    order, values = [], []
    while True:
        free = sorted(everything - current if forward else current)
        if not free:
            return order, values
        found = [criteria_of(problem, scores_of(problem, evidence, current ^ {p})) for p in free]
        keys = [criterion] + (["probability"] if criterion == "error" and ties == "probability" else [])
        left = list(range(len(free)))
        for key in keys:
            lowest = min(found[j][key] for j in left)
            left = [j for j in left if found[j][key] <= lowest + 1e-12]
        current ^= {free[left[0]]}
        order.append(free[left[0]])
        values.append(found[left[0]][criterion])
