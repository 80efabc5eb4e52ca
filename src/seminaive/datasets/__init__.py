"""Generated data: the loans and the mailing of the tours, and the papers' generators."""

from seminaive.datasets.corral import make_corral
from seminaive.datasets.engine_signals import EngineSignals, make_engine_signals
from seminaive.datasets.loans import make_loans
from seminaive.datasets.mailing import make_mailing
from seminaive.datasets.stagewise import StagewiseData, make_stagewise, make_stagewise_example

__all__ = [
    "EngineSignals",
    "StagewiseData",
    "make_corral",
    "make_engine_signals",
    "make_loans",
    "make_mailing",
    "make_stagewise",
    "make_stagewise_example",
]
