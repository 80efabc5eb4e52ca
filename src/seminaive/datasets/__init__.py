"""Data for tours, the papers' generators, and a reader of public files that cannot be shipped."""

from seminaive.datasets.corral import make_corral
from seminaive.datasets.engine_signals import EngineSignals, make_engine_signals
from seminaive.datasets.loans import make_loans
from seminaive.datasets.mailing import make_mailing
from seminaive.datasets.stagewise import StagewiseData, make_stagewise, make_stagewise_example
from seminaive.datasets.starplus import StarPlus, load_starplus, starplus_files

__all__ = [
    "EngineSignals",
    "StagewiseData",
    "StarPlus",
    "load_starplus",
    "make_corral",
    "make_engine_signals",
    "make_loans",
    "make_mailing",
    "make_stagewise",
    "make_stagewise_example",
    "starplus_files",
]
