"""Generated data: the loans of the tours, and the papers' generators."""

from seminaive.datasets.engine_signals import EngineSignals, make_engine_signals
from seminaive.datasets.loans import make_loans

__all__ = ["EngineSignals", "make_engine_signals", "make_loans"]
