"""MDL cuts against frozen values and against the definition written out."""

import json
import os
from math import log2
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.datasets import load_iris

from seminaive.statistics.mdl import mdl_cuts

FROZEN = json.loads((Path(__file__).parent / "mdl_cuts.json").read_text())


def entropy(classes):
    share = np.unique(classes, return_counts=True)[1] / len(classes)
    return float(-(share * np.log2(share)).sum())


def best_cut(values, classes, min_bin):
    """(bits saved, number of values below) of the accepted cut of a sorted interval, or None."""
    n = len(values)
    places = [i for i in range(1, n) if values[i] != values[i - 1] and i >= (min_bin or 0) and n - i >= (min_bin or 0)]
    if not places:
        return None
    after = [(i * entropy(classes[:i]) + (n - i) * entropy(classes[i:])) / n for i in places]
    place = next(i for i, e in zip(places, after, strict=True) if e <= min(after) + 1e-12)
    before, below, above = (entropy(part) for part in (classes, classes[:place], classes[place:]))
    c, c1, c2 = (len(set(part)) for part in (classes.tolist(), classes[:place].tolist(), classes[place:].tolist()))
    gain = before - (place * below + (n - place) * above) / n
    price = log2(n - 1) / n + (log2(3**c - 2) - (c * before - c1 * below - c2 * above)) / n
    return (n * gain, place) if gain > price else None


def cuts_by_definition(values, classes, max_bins=None, min_bin=None):
    """Split the interval where most is saved, again and again."""
    order = np.argsort(values, kind="stable")
    values, classes = values[order], classes[order]
    intervals, cuts = [(0, len(values))], []
    while max_bins is None or len(cuts) < max_bins - 1:
        options = []
        for start, stop in intervals:
            found = best_cut(values[start:stop], classes[start:stop], min_bin)
            if found:
                options.append((-round(found[0], 6), start, stop, start + found[1]))
        if not options:
            break
        _, start, stop, place = min(options)
        intervals.remove((start, stop))
        intervals += [(start, place), (place, stop)]
        cuts.append((values[place - 1] + values[place]) / 2)
    return np.sort(cuts)


@st.composite
def steps_with_noise(draw, max_rows=60):
    """Few distinct values whose class changes in steps, with some labels drawn anew."""
    n = draw(st.integers(0, max_rows))
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    distinct = draw(st.integers(1, 40))
    values = rng.integers(0, distinct, n) / 4
    class_of_value = np.repeat(rng.integers(0, 3, 12), 4)
    classes = class_of_value[(values * 4).astype(int)]
    noise = rng.random(n) < draw(st.sampled_from([0, 0.05, 0.2]))
    classes[noise] = rng.integers(0, 3, noise.sum())
    return values, classes


@pytest.mark.parametrize("name", FROZEN)
def test_small_tables_have_the_frozen_cuts(name):
    classes = np.array(FROZEN[name]["classes"])
    for column, cuts in zip(FROZEN[name]["columns"], FROZEN[name]["cuts"], strict=True):
        np.testing.assert_allclose(mdl_cuts(np.array(column), classes, 3), cuts, rtol=0, atol=1e-12)


@pytest.mark.parametrize(
    ("column", "cuts", "cuts_of_even_rows"),
    [
        (0, [5.55, 6.15], [5.75]),
        (1, [2.95, 3.35], [3.35]),
        (2, [2.45, 4.75], [2.45, 4.95]),
        (3, [0.8, 1.75], [0.7, 1.65]),
    ],
)
def test_iris_has_the_frozen_cuts(column, cuts, cuts_of_even_rows):
    X, y = load_iris(return_X_y=True)
    np.testing.assert_allclose(mdl_cuts(X[:, column], y, 3), cuts, rtol=0, atol=1e-12)
    np.testing.assert_allclose(mdl_cuts(X[::2, column], y[::2], 3), cuts_of_even_rows, rtol=0, atol=1e-12)


@pytest.mark.skipif("SEMINAIVE_DATA" not in os.environ, reason="needs the folder of data sets")
@pytest.mark.parametrize(
    ("column", "cuts", "cuts_of_even_rows"),
    [
        ("age", [54.5], []),
        ("resting_bp", [], []),
        ("cholesterol", [], []),
        ("max_heart_rate", [147.5], [141.5]),
        ("oldpeak", [1.7], [1.7]),
        ("major_vessels", [0.5], [0.5]),
    ],
)
def test_heart_has_the_frozen_cuts(column, cuts, cuts_of_even_rows):
    import pandas as pd

    heart = pd.read_parquet(Path(os.environ["SEMINAIVE_DATA"]) / "heart.parquet")
    values = heart[column].to_numpy(dtype=float)
    classes = (heart["class"].astype(str) == "present").to_numpy().astype(int)
    np.testing.assert_allclose(mdl_cuts(values, classes, 2), cuts, rtol=0, atol=1e-12)
    np.testing.assert_allclose(mdl_cuts(values[::2], classes[::2], 2), cuts_of_even_rows, rtol=0, atol=1e-12)


@given(steps_with_noise())
@settings(max_examples=150, deadline=None)
def test_cuts_are_those_of_the_definition(column):
    values, classes = column
    np.testing.assert_array_equal(mdl_cuts(values, classes, 3), cuts_by_definition(values, classes))


@given(steps_with_noise(), st.integers(1, 5), st.sampled_from([None, 1, 2, 5, 12]))
@settings(max_examples=100, deadline=None)
def test_limits_keep_the_definition(column, max_bins, min_bin):
    values, classes = column
    found = mdl_cuts(values, classes, 3, max_bins=max_bins, min_bin=min_bin)
    np.testing.assert_array_equal(found, cuts_by_definition(values, classes, max_bins, min_bin))


@pytest.mark.parametrize("min_bin", [None, 30])
@pytest.mark.parametrize("noise", [0.02, 0.3, 1.0])
@pytest.mark.parametrize("n", [128, 129, 700])
def test_cuts_of_long_columns_are_those_of_the_definition(n, noise, min_bin):
    rng = np.random.default_rng(n)
    values = rng.permutation(n) / 8  # all distinct, so that most candidates are passed over unseen
    classes = (values * 8 // 90).astype(int) % 3
    anew = rng.random(n) < noise
    classes[anew] = rng.integers(0, 3, anew.sum())
    found = mdl_cuts(values, classes, 3, min_bin=min_bin)
    np.testing.assert_array_equal(found, cuts_by_definition(values, classes, min_bin=min_bin))
    np.testing.assert_array_equal(mdl_cuts(values, classes, 3, weights=np.ones(n), min_bin=min_bin), found)
    assert (len(found) > 0) == (noise < 1)


def test_the_definition_finds_cuts_in_the_drawn_columns():
    values = np.repeat(np.arange(8), 8) / 4
    classes = np.repeat([0, 1, 2, 0], 16)
    np.testing.assert_array_equal(cuts_by_definition(values, classes), [0.375, 0.875, 1.375])
    np.testing.assert_array_equal(mdl_cuts(values, classes, 3), [0.375, 0.875, 1.375])


@given(steps_with_noise(), st.randoms(use_true_random=False))
@settings(max_examples=60, deadline=None)
def test_whole_weights_are_repeated_rows(column, random):
    values, classes = column
    weights = np.array([random.randint(0, 3) for _ in values], dtype=float)
    copies = weights.astype(int)
    np.testing.assert_array_equal(
        mdl_cuts(values, classes, 3, weights=weights),
        mdl_cuts(np.repeat(values, copies), np.repeat(classes, copies), 3),
    )


@given(steps_with_noise(), st.randoms(use_true_random=False))
@settings(max_examples=40, deadline=None)
def test_order_of_rows_and_missing_values_change_nothing(column, random):
    values, classes = column
    longer = np.concatenate([values, [np.nan, np.nan]])
    labels = np.concatenate([classes, [0, 2]])
    order = np.array(random.sample(range(len(longer)), len(longer)))
    np.testing.assert_array_equal(mdl_cuts(longer[order], labels[order], 3), mdl_cuts(values, classes, 3))


@given(st.lists(st.floats(allow_nan=False), min_size=2, max_size=2, unique=True))
@settings(deadline=None)
def test_every_training_value_falls_on_its_own_side_of_a_cut(pair):
    low, high = sorted(pair)
    cuts = mdl_cuts(np.repeat([low, high], 10), np.repeat([0, 1], 10), 2)
    assert np.searchsorted(cuts, [low, high], side="right").tolist() == [0, 1]


def test_between_neighbouring_floats_the_cut_is_the_upper_one():
    low = 1.0
    high = np.nextafter(low, 2)
    assert mdl_cuts(np.repeat([low, high], 10), np.repeat([0, 1], 10), 2).tolist() == [high]


def test_weights_that_vanish_beside_others_make_no_cut_of_their_own():
    values, classes = np.array([0.0, -2.0, -1.0, 0.0, -2.0]), np.array([0, 1, 1, 1, 2])
    assert mdl_cuts(values, classes, 3, np.array([1.0, 1.0, 1e-30, 1e20, 1e20])).tolist() in ([-0.5], [-1.5])


def test_two_rows_of_two_classes_are_cut():
    assert mdl_cuts(np.array([0.0, 1.0]), np.array([1, 0]), 2).tolist() == [0.5]


@pytest.mark.parametrize(
    ("values", "classes"),
    [
        ([], []),
        ([3.0], [0]),
        ([np.nan, np.nan, np.nan], [0, 1, 1]),
        ([5.0, 5.0, 5.0, 5.0], [0, 1, 0, 1]),
        ([1.0, 2.0, 3.0, 4.0], [1, 1, 1, 1]),
    ],
    ids=["no rows", "one row", "all missing", "constant", "one class"],
)
def test_nothing_to_tell_apart_gives_no_cut(values, classes):
    cuts = mdl_cuts(np.array(values), np.array(classes, dtype=int), 2)
    assert cuts.dtype == np.float64
    assert cuts.tolist() == []


def test_two_bins_keep_the_cut_that_saves_most():
    X, y = load_iris(return_X_y=True)
    np.testing.assert_allclose(mdl_cuts(X[:, 2], y, 3, max_bins=2), [2.45])


@pytest.mark.parametrize(("rows_at_the_end", "first_cut"), [(400, 399.5), (401, 799.5), (399, 399.5)])
def test_of_equally_good_cuts_the_first_is_taken_and_only_of_equals(rows_at_the_end, first_cut):
    classes = np.repeat([0, 1, 0], [400, 400, rows_at_the_end])
    values = np.arange(float(len(classes)))
    assert cuts_by_definition(values, classes, max_bins=2).tolist() == [first_cut]
    assert mdl_cuts(values, classes, 2, max_bins=2).tolist() == [first_cut]
    assert mdl_cuts(values, classes, 2).tolist() == [399.5, 799.5]


def test_a_cut_that_would_leave_a_light_bin_moves():
    values = np.arange(20.0)
    classes = (values >= 3).astype(int)
    assert mdl_cuts(values, classes, 2).tolist() == [2.5]
    assert mdl_cuts(values, classes, 2, min_bin=4).tolist() == [3.5]


def test_many_classes_do_not_overflow_the_price():
    values = np.repeat(np.arange(800.0), 12)
    assert len(mdl_cuts(values, values.astype(int), 800)) > 0
