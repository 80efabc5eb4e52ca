import numpy as np

from seminaive.kernels.filters import pair_information


def test_pairs_with_all_levels_given_by_subtraction_are_right():
    """Two columns of 10 rows: levels 4 + 6 and 5 + 5, together 3 times in their first levels."""
    out = np.empty((2, 2))
    product = np.array([[4.0, 3.0], [3.0, 5.0]])
    pair_information(product, np.array([4.0, 5.0]), np.array([0, 1, 2]), np.array([6.0, 5.0]), 10.0, out)
    table = np.array([[3, 1], [2, 4]]) / 10
    expected = np.sum(table * np.log(table / np.outer(table.sum(axis=1), table.sum(axis=0))))
    np.testing.assert_allclose([out[0, 1], out[1, 0]], expected)
    np.testing.assert_allclose(out[0, 0], -(0.4 * np.log(0.4) + 0.6 * np.log(0.6)))
