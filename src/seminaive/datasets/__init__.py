"""Generated data: the loans of the tours, and the papers' generators."""

from seminaive.datasets.loans import make_loans

__all__ = ["make_loans"]
