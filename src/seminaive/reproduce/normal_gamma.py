"""Prior and posterior of the Normal-Gamma model of six normal samples of 1,000 rows each.

The thesis prints neither the samples nor their moments. So each sample's mean and sum of squares are taken from the
printed mu_n and beta_n, by the conjugate formulas the other way round; mu_n and beta_n then agree whatever the sample was.
What can fail is the rest: k_n, alpha_n, the estimates, and whether the samples are ones that N(mean, 1), from which they
were drawn, would give. (Without the last summand of beta_n, V2 negative would have a variance of 1.17, which is not.)
"""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

import numpy as np

from seminaive.reproduce.paper_table import Line, PaperTable
from seminaive.statistics.moments import moments_of
from seminaive.statistics.normal_gamma import NormalGamma, mode, posterior

N = 1000


class Printed(NamedTuple):
    """What the thesis prints of one variable in one class; ``digits`` of mean and variance of its solution."""

    name: str
    drawn_mean: float
    prior: NormalGamma
    mu: float
    k: int
    alpha: int
    beta: float
    mean: float
    variance: float
    digits: int = 2


PRINTED = (
    Printed("V1 positive", 2.0, NormalGamma(1.003, 7, 6, 0.1), 1.937, 1007, 506, 511.543, 1.93, 1.01),
    Printed("V2 positive", 3.0, NormalGamma(0.223, 2, 4, 0.2), 2.963, 1002, 504, 512.756, 2.96, 1.01),
    Printed("V3 positive", 4.0, NormalGamma(0.654, 5, 3, 0.044), 4.02, 1005, 503, 552.540, 4.02, 1.09),
    Printed("V1 negative", 1.5, NormalGamma(0.213, 8, 9, 0.994), 1.495, 1008, 509, 521.799, 1.49, 1.026, 3),
    Printed("V2 negative", 5.4, NormalGamma(1.1, 5, 3, 0.6), 5.355, 1005, 503, 586.808, 5.35, 1.16),
    Printed("V3 negative", 2.0, NormalGamma(0.34, 4, 5, 0.1), 2.025, 1004, 505, 486.041, 2.02, 0.96),
)


def sample_behind(printed: Printed) -> tuple[float, float]:
    """Mean and sum of squares of the sample that turns the prior into the printed posterior."""
    prior = printed.prior
    mean = ((prior.k0 + N) * printed.mu - prior.k0 * prior.mu0) / N
    pulled = prior.k0 * N * (mean - prior.mu0) ** 2 / (2 * (prior.k0 + N))
    return float(mean), float(2 * (printed.beta - prior.beta0 - pulled))


def lines(_: Path) -> list[Line]:
    """The four tables and the solution, variable by variable."""
    out = []
    for printed in PRINTED:
        mean, squares = sample_behind(printed)
        half = np.sqrt(squares / N)
        sample = np.repeat([[mean - half], [mean + half]], N // 2, axis=0)
        after = posterior(moments_of(sample, np.zeros(N, dtype=np.int64), 1), printed.prior)
        at_mean, at_variance = mode(after)
        out += [
            Line(f"{printed.name}: mu_n (Table 2.2)", printed.mu, float(after.mu[0, 0]), 3, by_construction=True),
            Line(f"{printed.name}: k_n (Table 2.3)", printed.k, float(after.k[0, 0]), 0),
            Line(f"{printed.name}: alpha_n (Table 2.4)", printed.alpha, float(after.alpha[0, 0]), 0),
            Line(f"{printed.name}: beta_n (Table 2.5)", printed.beta, float(after.beta[0, 0]), 3, by_construction=True),
            Line(f"{printed.name}: estimated mean", printed.mean, float(at_mean[0, 0]), 2, truncated=True),
            Line(
                f"{printed.name}: estimated variance",
                printed.variance,
                float(at_variance[0, 0]),
                printed.digits,
                truncated=True,
            ),
            Line(f"{printed.name}: mean of the sample", printed.drawn_mean, mean, 1, within=3 / np.sqrt(N)),
            Line(f"{printed.name}: its variance", 1.0, squares / (N - 1), 1, within=3 * np.sqrt(2 / (N - 1))),
        ]
    return out


TABLE = PaperTable(
    title="Normal-Gamma posteriors of six simulated samples",
    source="Sillero Denamiel (2016), A new multivariate data analysis model: constrained Naive Bayes, Tables 2.2-2.5",
    lines=lines,
    notes=(
        "The samples are not published: their means and variances are derived from mu_n and beta_n, and compared with the",
        "distribution from which they were drawn, within three standard errors.",
        "The estimates are cut off after their last digit in the thesis, not rounded.",
    ),
)
