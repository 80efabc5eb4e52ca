"""Work that was finished is not done again, and work that was not is."""

import numpy as np
import pandas as pd
import polars as pl
import pytest
from sklearn.datasets import load_iris
from sklearn.dummy import DummyClassifier
from sklearn.naive_bayes import GaussianNB

from seminaive.evaluate.compare import compare
from seminaive.evaluate.finished import key_of, open_finished, write_finished

IRIS = load_iris(return_X_y=True)


class Counted(GaussianNB):
    """Gaussian naive Bayes that counts its fits, and gives up before the n-th."""

    fits = 0
    last = 10**6

    def fit(self, X, y):
        if Counted.fits >= Counted.last:
            raise KeyboardInterrupt
        Counted.fits += 1
        return super().fit(X, y)


class Refuses(GaussianNB):
    def fit(self, X, y):
        Counted.fits += 1
        raise ValueError("no")


@pytest.fixture(autouse=True)
def _from_zero():
    Counted.fits, Counted.last = 0, 10**6


def test_an_interrupted_comparison_goes_on_with_the_repeat_that_was_cut_off(tmp_path):
    whole = compare(Counted(), IRIS, cv=4, repeats=3)
    Counted.fits, Counted.last = 0, 6
    with pytest.raises(KeyboardInterrupt):
        compare(Counted(), IRIS, cv=4, repeats=3, resume=tmp_path / "work")
    Counted.fits, Counted.last = 0, 10**6
    again = compare(Counted(), IRIS, cv=4, repeats=3, resume=tmp_path / "work")
    assert Counted.fits == 8
    np.testing.assert_array_equal(again.scores, whole.scores)


def test_only_what_is_new_is_done(tmp_path):
    work = tmp_path / "work"
    compare(Counted(), IRIS, cv=3, repeats=1, resume=work)
    assert Counted.fits == 3
    compare([Counted(), DummyClassifier()], {"a name of its own": IRIS}, cv=3, repeats=2, resume=work)
    assert Counted.fits == 6
    for changed in (
        {"models": Counted(var_smoothing=1e-3)},
        {"datasets": (IRIS[0] + 1, IRIS[1])},
        {"cv": 2},
        {"random_state": 5},
        {"metrics": "error"},
    ):
        before = Counted.fits
        compare(**{"models": Counted(), "datasets": IRIS, "cv": 3, "repeats": 1, "resume": work, **changed})
        assert Counted.fits > before


def test_what_failed_is_tried_again(tmp_path):
    for _ in range(2):
        assert len(compare(Refuses(), IRIS, cv=3, repeats=1, resume=tmp_path / "work").failures) == 3
    assert Counted.fits == 6


def test_what_cannot_be_known_again_is_refused(tmp_path):
    class Local(GaussianNB):
        pass

    with pytest.raises(ValueError, match="resume needs models and data that can be pickled"):
        compare(Local(), IRIS, cv=3, repeats=1, resume=tmp_path / "work")


def test_a_line_cut_short_costs_that_line_only(tmp_path):
    work = tmp_path / "work"
    open_finished(work)
    for key in "ab":
        write_finished(work, key, [([0.5], 0.1, "")])
    work.write_bytes(work.read_bytes()[:-9])
    assert set(open_finished(work)) == {"a"}
    write_finished(work, "c", [([float("nan")], 0.1, "")])
    assert set(open_finished(work)) == {"a", "c"}


def test_a_file_of_something_else_is_left_alone(tmp_path):
    other = tmp_path / "other.csv"
    other.write_text("a,b\n1,2\n")
    with pytest.raises(ValueError, match="holds something else"):
        compare(Counted(), IRIS, resume=other)
    assert other.read_text() == "a,b\n1,2\n"
    with pytest.raises(ValueError, match="is a folder"):
        open_finished(tmp_path)


@pytest.mark.parametrize("kind", [pd.DataFrame, pl.DataFrame, lambda d: pd.DataFrame(d).astype("category")])
def test_equal_data_have_equal_keys(kind):
    columns = {"a": [1, 2, 3], "b": ["x", "y", "x"]}
    assert key_of(kind(columns), GaussianNB()) == key_of(kind(columns), GaussianNB())
    assert key_of(kind(columns)) != key_of(kind({**columns, "a": [1, 2, 4]}))
