"""What a number says about the class when densities are compared, and no value may count too much.

With log densities l_k(x), Gaussians or curves, one per class, the evidence for class k is

    against a mixture of the classes   w_k (f_k - sum over l of share_l f_l),  f_k = max(l_k, max over l of l_l - clip)
    against all others, density o_k    w_k max(-clip, min(l_k - o_k, clip))

Two classes compared with the first (shares 1 and 0) have the evidence 0 and w max(-clip, min(l_1 - l_0, clip)): they
share a single logit.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from seminaive.evidence.storage import storable
from seminaive.evidence.terms import CurveTerm, GaussianTerm
from seminaive.statistics.adjustment import density_adjustments, density_log_odds
from seminaive.table.block import Block
from seminaive.table.schema import Floats, Schema

Density = GaussianTerm | CurveTerm


@storable
@dataclass(frozen=True, eq=False)
class ContrastTerm:
    """Bounded and weighted differences of log densities.

    Parameters
    ----------
    density : GaussianTerm or CurveTerm
        Log density of each class, and what a missing value says.
    against : array (classes,), or GaussianTerm or CurveTerm
        Shares, summing to 1, of the mixture of classes that each is compared with; or for each class the log density of
        all others together.
    clip : float
        The largest difference that counts, in nats.
    weight : array (classes,)
        How often the difference counts.
    weight_variance : array (classes,)
        How uncertain that is.
    """

    density: Density
    against: Floats | Density
    clip: float
    weight: Floats
    weight_variance: Floats

    @property
    def column(self) -> int:
        """Position of the column the term reads."""
        return self.density.column

    @property
    def reads(self) -> tuple[int, ...]:
        """The columns it looks at."""
        return (self.column,)

    def evidence(self, block: Block, schema: Schema) -> Floats:
        """What the term adds to each class's score: (classes, rows)."""
        return self._difference(block, schema) * self.weight[:, None]

    def variance(self, block: Block, schema: Schema) -> Floats:
        """The density's and the weight's uncertainty; a bounded difference is wrong by no more than the bound."""
        spread = self.density.variance(block, schema)
        if not isinstance(self.against, np.ndarray):
            spread = spread + self.against.variance(block, schema)
        else:
            # The contrast of two classes has the sum of their variances. A class that all are compared with has no
            # evidence of its own, so its uncertainty is the others'.
            alone = self.against == 1.0
            spread = np.where(alone[:, None], 0.0, spread + spread[alone].sum(axis=0))
        within = np.minimum(spread, self.clip**2) * self.weight[:, None] ** 2
        return np.asarray(within + self._difference(block, schema) ** 2 * self.weight_variance[:, None])

    def check(self, schema: Schema) -> None:
        """Refuse a term that does not fit the schema."""
        self.density.check(schema)
        parts = [self.weight, self.weight_variance]
        if isinstance(self.against, np.ndarray):
            parts.append(self.against)
        else:
            self.against.check(schema)
        fit = all(part.dtype == np.float64 and part.shape == (schema.n_classes,) for part in parts)
        if not fit or not all(np.isfinite(part).all() for part in parts) or np.any(self.weight_variance < 0):
            name = schema.columns[self.column].name
            raise ValueError(f"the contrast of column {name!r} must have one finite weight per class")
        if not 0 < self.clip < np.inf:
            raise ValueError(f"clip must be a positive number, not {self.clip!r}")

    def _difference(self, block: Block, schema: Schema) -> Floats:
        log_density = self.density.evidence(block, schema)
        if isinstance(self.against, np.ndarray):
            return density_adjustments(log_density, self.against, self.clip)
        return density_log_odds(np.stack([self.against.evidence(block, schema), log_density]), self.clip)


__all__ = ["ContrastTerm", "Density"]
