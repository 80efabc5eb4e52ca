"""Means, standard errors and t tests over the folds of repeated cross-validation.

The J scores of one data set share most of their training rows, so they vary together and their plain standard
error is far too small. C. Nadeau and Y. Bengio (2003), Inference for the generalization error, Machine
Learning 52, 239-281, put

    SE^2 = (1 / J + n_test / n_train) * s^2

in its place, with s^2 the variance over the J folds, and t = mean / SE with J - 1 degrees of freedom.
"""

import numpy as np
import numpy.typing as npt
from scipy import special

__all__ = ["corrected_standard_error", "corrected_t_test"]


def corrected_standard_error(values: npt.ArrayLike, test_over_train: float) -> float:
    """Standard error of the mean of cross-validated values, corrected for shared training rows.

    Parameters
    ----------
    values : array of shape (J,)
        One value per fold and repeat; at least two.
    test_over_train : float
        Rows tested on over rows trained on in each fold: 1 / 9 for ten folds.

    Returns
    -------
    float, NaN with fewer than two values

    Examples
    --------
    >>> round(corrected_standard_error([0.1, 0.2, 0.3, 0.2], test_over_train=1 / 3), 4)
    0.0624
    """
    v = np.asarray(values, dtype=np.float64)
    if len(v) < 2:
        return float("nan")
    return float(np.sqrt((1 / len(v) + test_over_train) * v.var(ddof=1)))


def corrected_t_test(differences: npt.ArrayLike, test_over_train: float) -> tuple[float, float]:
    """Test whether the mean of fold-wise differences of two models is zero.

    Parameters
    ----------
    differences : array of shape (J,)
        Score of the first model less score of the second, one per fold and repeat; at least two.
    test_over_train : float
        Rows tested on over rows trained on in each fold: 1 / 9 for ten folds.

    Returns
    -------
    t, p : floats; p is two-sided. Differences that are all equal give p = 1 if they are zero, else 0.

    Examples
    --------
    >>> t, p = corrected_t_test([0.1, 0.2, 0.3, 0.2], test_over_train=1 / 3)
    >>> round(t, 3), round(p, 3)
    (3.207, 0.049)
    """
    d = np.asarray(differences, dtype=np.float64)
    if len(d) < 2:
        return float("nan"), float("nan")
    mean = float(d.mean())
    error = corrected_standard_error(d, test_over_train)
    # Rounding leaves a spread of about 1e-17 among equal differences, which is no evidence.
    if error <= 1e-12 * max(1.0, abs(mean)):
        same = abs(mean) <= 1e-12
        return (0.0, 1.0) if same else (float(np.copysign(np.inf, mean)), 0.0)
    t = mean / error
    return t, float(2 * special.stdtr(len(d) - 1, -abs(t)))
