"""The stagewise search as it is defined: every candidate scored from scratch."""

import numpy as np
from scipy.special import logsumexp

from seminaive.models.mixed import Mixed
from seminaive.models.naive import Estimation, gather_sums, naive_evidence
from seminaive.models.search_rows import columns_that_vary, rows_to_search
from seminaive.search.dose_problem import DoseProblem


def dose_problem(table, steps=40, mix="parameters", missing="skip", smoothing=1.0, variance_prior="normal-gamma"):
    """The problem that `StagewiseNB` poses of a table."""
    how = Estimation(smoothing=smoothing, smoothing_kind="pooled", missing=missing, variance_prior=variance_prior)
    sums = gather_sums(table)
    plain = naive_evidence(sums, how)
    rows, vary = rows_to_search(table, 0), columns_that_vary(sums, missing)
    return DoseProblem(table.schema, rows, plain.prior, Mixed(plain, sums, how, mix), vary, steps)


def weights_of(problem):
    return problem.weights if problem.weights.size else np.ones(problem.block.n_rows)


def errors_by_definition(problem, doses):
    """Weight of the rows that are not given to their class; the lower class wins ties."""
    scores = problem.scores(doses)
    ties = scores >= scores.max(axis=0) - 1e-12 * np.maximum(np.abs(scores.max(axis=0)), 1)
    return weights_of(problem) @ (ties.argmax(axis=0) != problem.truth)


def loss_by_definition(problem, doses):
    """Sum of -log P(y | x)."""
    scores = problem.scores(doses)
    own = scores[problem.truth, np.arange(scores.shape[1])]
    return weights_of(problem) @ (logsumexp(scores, axis=0) - own)


def path_by_definition(problem, criterion, lookahead=1, patience=1, ties="first"):
    """The steps (column, dose), found by trying every candidate at every model."""
    same = 1e-12 * problem.total_weight
    doses = np.zeros(len(problem.schema.columns), dtype=np.int64)
    first = loss_by_definition if criterion == "log_loss" else errors_by_definition
    best = np.inf if criterion == "log_loss" else first(problem, doses)
    steps, without = [], 0
    while without < patience and (doses[problem.columns] < problem.steps).any():
        tried = []
        for j in problem.columns.tolist():
            for dose in range(doses[j] + 1, min(doses[j] + lookahead, problem.steps) + 1):
                after = doses.copy()
                after[j] = dose
                tried.append((j, dose, first(problem, after)))
        least = min(value for *_, value in tried)
        equal = [(j, dose) for j, dose, value in tried if value <= least + same]
        if criterion == "error_log_loss" and len(equal) > 1:
            losses = []
            for j, dose in equal:
                after = doses.copy()
                after[j] = dose
                losses.append(loss_by_definition(problem, after))
            equal = [step for step, loss in zip(equal, losses, strict=True) if loss <= min(losses) + same]
        j, dose = equal[0 if ties == "first" else -1]
        doses[j] = dose
        steps.append((j, dose))
        value = first(problem, doses)
        without = 0 if value < best - same else without + 1
        best = min(best, value)
    return steps
