import numpy as np
import pytest
from scipy import stats

from seminaive.evaluate.resampled import corrected_standard_error, corrected_t_test


def test_without_shared_rows_it_is_the_plain_paired_t_test():
    d = np.random.default_rng(1).normal(0.1, 1, size=20)
    t, p = corrected_t_test(d, test_over_train=0.0)
    plain = stats.ttest_1samp(d, 0.0)
    assert t == pytest.approx(plain.statistic)
    assert p == pytest.approx(plain.pvalue)


def test_shared_rows_widen_the_standard_error_by_nadeau_and_bengio():
    d = np.random.default_rng(2).normal(size=100)
    plain = d.std(ddof=1) / 10
    assert corrected_standard_error(d, 1 / 9) == pytest.approx(plain * np.sqrt(1 + 100 / 9))


def test_equal_models_do_not_differ():
    assert corrected_t_test(np.zeros(10), 1 / 9) == (0.0, 1.0)


def test_the_same_difference_in_every_fold_is_certain_whatever_rounding_says():
    t, p = corrected_t_test(np.array([0.1 + 0.2, 0.3] * 5) * -1, 1 / 9)
    assert (t, p) == (-np.inf, 0.0)


def test_one_fold_says_nothing():
    assert np.isnan(corrected_t_test([0.3], 1 / 9)).all()
    assert np.isnan(corrected_standard_error([0.3], 1 / 9))
