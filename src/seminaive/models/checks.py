"""Parameters are checked once, when ``fit`` begins; the error says what would be right."""

from __future__ import annotations

import numbers
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from seminaive.statistics.normal_gamma import NormalGamma


def check_choice(name: str, value: Any, choices: Sequence[Any]) -> None:
    """One of a few words (or None)."""
    if not any(value is choice or (isinstance(value, str) and value == choice) for choice in choices):
        raise ValueError(f"{name} must be one of {', '.join(map(repr, choices))}; got {value!r}")


def check_nonnegative(name: str, value: Any) -> None:
    """A finite number that is not negative."""
    if type(value) is bool or not isinstance(value, numbers.Real) or not 0 <= float(value) < np.inf:
        raise ValueError(f"{name} must be a number >= 0; got {value!r}")


def check_smoothing(value: Any, kind: str = "level") -> None:
    """A number that is not negative, or a dict of columns, whose entries are checked against the columns."""
    if not isinstance(value, Mapping):
        check_nonnegative("smoothing", value)
    elif kind != "level":
        raise ValueError(f"smoothing by column needs smoothing_kind='level'; got {kind!r}")


def check_n_jobs(value: Any) -> None:
    """None, or a number of threads; negative numbers count down from all."""
    if value is not None and (type(value) is bool or not isinstance(value, numbers.Integral) or value == 0):
        raise ValueError(f"n_jobs must be None or a whole number other than 0; got {value!r}")


def check_whole(name: str, value: Any, at_least: int) -> None:
    """A whole number from ``at_least`` on."""
    if type(value) is bool or not isinstance(value, numbers.Integral) or value < at_least:
        raise ValueError(f"{name} must be a whole number >= {at_least}; got {value!r}")


def check_variance_prior(value: Any) -> None:
    """ "normal-gamma", None, or a `NormalGamma` of one's own."""
    if not isinstance(value, NormalGamma):
        check_choice("variance_prior", value, ("normal-gamma", None))


def check_pooled_parameters(model: Any) -> None:
    """The parameters shared by the models that start from smoothed tables and Gaussians, one term per column."""
    check_choice("numeric", model.numeric, ("gaussian", "bins", "mdl"))
    check_choice("missing", model.missing, ("skip", "value"))
    check_choice("smoothing_kind", model.smoothing_kind, ("pooled", "level", "none"))
    check_choice("variance_prior", model.variance_prior, ("normal-gamma", None))
    check_nonnegative("smoothing", model.smoothing)
    check_whole("n_bins", model.n_bins, at_least=1)
    check_whole("random_state", model.random_state, at_least=0)
    if isinstance(model.prior, str):
        check_choice("prior", model.prior, ("empirical", "uniform"))
