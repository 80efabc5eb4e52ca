"""Small problems for the solvers, and their evidence matrices in plain NumPy."""

import numpy as np

from seminaive.search.design import Rows, table_design
from seminaive.search.weighted_evidence import WeightedEvidence, in_memory


def random_rows(seed, rows=60, columns=4, classes=2, levels=4, weighted=False):
    rng = np.random.default_rng(seed)
    label = rng.integers(0, classes, rows)
    shift = (rng.random((columns, rows)) < 0.4) * label
    codes = ((rng.integers(0, levels, (columns, rows)) + shift) % levels).astype(np.uint8)
    return Rows(codes, label.astype(np.intp), rng.integers(0, 4, rows) * 0.5 if weighted else None)


def random_design(seed, columns=4, classes=2, levels=4, shared=False):
    rng = np.random.default_rng(seed + 1000)
    scores = 1 if classes == 2 else classes
    tables = rng.normal(size=(scores, columns * levels))
    return table_design(rng.normal(size=scores), tables, np.arange(columns + 1) * levels, shared=shared)


def random_problem(seed, classes=2, shared=False, weighted=False, **shape):
    rows = random_rows(seed, classes=classes, weighted=weighted, **shape)
    shape.pop("rows", None)
    design = random_design(seed, classes=classes, shared=shared, **shape)
    return WeightedEvidence(design, in_memory([rows]), rows.total), rows


def jacobian(rows, design):
    """Derivative of every row's scores by the weights: rows x scores x weights."""
    evidence = design.tables[:, design.lookup.start[:, None] + rows.codes[design.lookup.source]]
    if rows.dense is not None:
        whole = np.empty((len(evidence), design.predictors, len(rows)))
        whole[:, design.lookup.place], whole[:, design.dense_place] = evidence, rows.dense
        evidence = whole
    evidence = evidence.transpose(2, 0, 1)
    if design.shared:
        return evidence
    n, classes, predictors = evidence.shape
    out = np.zeros((n, classes, classes, predictors))
    out[:, np.arange(classes), np.arange(classes)] = evidence
    return out.reshape(n, classes, -1)


def probabilities(rows, design, weights):
    score = design.offset + jacobian(rows, design) @ weights
    if score.shape[1] == 1:
        return 1 / (1 + np.exp(-score))
    score = np.exp(score - score.max(axis=1, keepdims=True))
    return score / score.sum(axis=1, keepdims=True)


def sums_by_definition(rows, design, weights):
    """Loss, gradient and Hessian, row by row."""
    j, p = jacobian(rows, design), probabilities(rows, design, weights)
    w = np.ones(len(rows)) if rows.weight is None else rows.weight
    classes = p.shape[1]
    truth = (rows.label == design.positive)[:, None] if classes == 1 else np.eye(classes)[rows.label]
    own = np.where(truth, p, 1 - p)[:, 0] if classes == 1 else (truth * p).sum(axis=1)
    curve = np.einsum("rk,kl->rkl", p, np.eye(classes)) - np.einsum("rk,rl->rkl", p, p)
    return (
        -(w * np.log(own)).sum(),
        np.einsum("r,rk,rkd->d", w, p - truth, j),
        np.einsum("r,rkd,rkl,rle->de", w, j, curve, j),
    )
