"""The mailing is what its description says."""

import numpy as np

from seminaive.datasets import make_mailing


def test_vouchers_look_good_over_all_and_bad_among_customers_who_spent_the_same():
    X, y = make_mailing(20_000)
    answered, has = y == "answer", (X["voucher"] == "yes").to_numpy()
    assert answered[has].mean() > answered[~has].mean() + 0.05
    for low, high in ((50, 100), (100, 200)):
        same = X["spent"].between(low, high).to_numpy()
        assert answered[has & same].mean() < answered[~has & same].mean() - 0.05


def test_orders_spending_and_visits_repeat_each_other_and_the_seed_repeats_all():
    X, y = make_mailing(2000, random_state=3)
    alike = np.log1p(X[["orders", "spent", "visits"]]).corr().to_numpy()
    assert alike.min() > 0.5
    again, labels = make_mailing(2000, random_state=3)
    assert X.equals(again)
    assert (y == labels).all()
    assert 0.05 < X["age"].isna().mean() < 0.15
