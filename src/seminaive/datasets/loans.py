"""Loans: a small mixed table with the troubles of real ones, for tours and examples."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

if TYPE_CHECKING:
    import pandas as pd


def make_loans(n_rows: int = 1000, random_state: int = 0) -> tuple[pd.DataFrame, npt.NDArray[Any]]:
    """Generate loans and whether they were paid back in time: text and numbers, one value in twenty missing.

    Given the outcome the columns are independent, so naive Bayes with the right densities cannot be beaten here.

    Parameters
    ----------
    n_rows : int
    random_state : int

    Returns
    -------
    frame : pandas.DataFrame
        purpose (text), income (log-normal), age (normal), owns_home (text).
    outcome : array of "late" and "paid"

    Examples
    --------
    >>> X, y = make_loans(3)
    >>> list(X), len(y)
    (['purpose', 'income', 'age', 'owns_home'], 3)
    """
    import pandas as pd

    rng = np.random.default_rng(random_state)
    late = rng.random(n_rows) < 0.3
    purposes = np.array(["car", "house", "studies", "holiday", "other"], dtype=object)
    of_late, of_paid = [0.25, 0.1, 0.1, 0.4, 0.15], [0.3, 0.3, 0.2, 0.1, 0.1]
    purpose = np.where(late, rng.choice(purposes, n_rows, p=of_late), rng.choice(purposes, n_rows, p=of_paid))
    income = np.round(np.where(late, 2100, 3000) * np.exp(rng.normal(0, 0.4, n_rows)))
    age = np.round(rng.normal(np.where(late, 33, 41), 9)).astype(int)
    owns_home = np.where(rng.random(n_rows) < np.where(late, 0.2, 0.5), "yes", "no").astype(object)
    income[rng.random(n_rows) < 0.1] = np.nan
    owns_home[rng.random(n_rows) < 0.1] = None
    frame = pd.DataFrame({"purpose": purpose, "income": income, "age": age, "owns_home": owns_home})
    return frame, np.where(late, "late", "paid")
