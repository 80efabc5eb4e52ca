"""A mailing: customers whose loyalty shows in several columns at once, for tours and examples."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

if TYPE_CHECKING:
    import pandas as pd


def make_mailing(n_rows: int = 4000, random_state: int = 0) -> tuple[pd.DataFrame, npt.NDArray[Any]]:
    """Generate customers of a mail-order house, and whether they answered a mailing.

    How loyal customers are shows in their orders, in what they spent and in their visits: naive Bayes counts it three
    times. Vouchers went to the loyal: who has one answers more often than others, and less often than customers as
    loyal without one.

    Parameters
    ----------
    n_rows : int
    random_state : int

    Returns
    -------
    frame : pandas.DataFrame
        orders, spent, visits (numbers), voucher, region (text), age (one in ten missing).
    outcome : array of "answer" and "none"

    Examples
    --------
    >>> X, y = make_mailing(5)
    >>> list(X), len(y)
    (['orders', 'spent', 'visits', 'voucher', 'region', 'age'], 5)
    """
    import pandas as pd

    rng = np.random.default_rng(random_state)
    loyal = rng.normal(size=n_rows)
    voucher = loyal + 0.6 * rng.normal(size=n_rows) > 0.4
    region = rng.integers(0, 4, n_rows)
    age = np.round(rng.normal(48, 14, n_rows)).clip(18, 95)
    log_odds = -1.7 + 1.4 * loyal - 1.1 * voucher + 0.02 * (age - 48) + 0.5 * (region == 3)
    answered = rng.random(n_rows) < 1 / (1 + np.exp(-log_odds))
    frame = pd.DataFrame(
        {
            "orders": rng.poisson(np.exp(0.8 + 0.7 * loyal)),
            "spent": np.round(np.exp(4 + 0.9 * loyal + 0.3 * rng.normal(size=n_rows))),
            "visits": rng.poisson(np.exp(1.5 + 0.7 * loyal)),
            "voucher": np.where(voucher, "yes", "no").astype(object),
            "region": np.array(["north", "east", "south", "west"], dtype=object)[region],
            "age": np.where(rng.random(n_rows) < 0.1, np.nan, age),
        }
    )
    return frame, np.where(answered, "answer", "none")
