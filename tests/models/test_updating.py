"""Learning in parts, merging and forgetting give the model of all the rows that count."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from seminaive import NaiveBayes, load

N = 60


def rows(seed=0, offset=0.0):
    rng = np.random.default_rng(seed)
    y = np.array(["a", "b", "c"], dtype=object)[rng.integers(0, 3, N)]
    X = pd.DataFrame(
        {
            "word": rng.choice(np.array(["x", "y", "z", "rare", None], dtype=object), N, p=[0.4, 0.3, 0.1, 0.1, 0.1]),
            "size": np.where(rng.random(N) < 0.1, np.nan, rng.normal(size=N) + offset),
            "flag": rng.random(N) < 0.5,
        }
    )
    return X, y


def check_same(model, whole, X):
    """Counts to the bit, moments to nine digits, and the same columns and classes."""
    assert model.classes_.tolist() == whole.classes_.tolist()
    assert [c.levels for c in model.evidence_.schema.columns] == [c.levels for c in whole.evidence_.schema.columns]
    assert model.class_count_.tolist() == whole.class_count_.tolist()
    for name, counts in whole.counts_.items():
        assert model.counts_[name].tolist() == counts.tolist()
    mine, theirs = model.sums_.moments, whole.sums_.moments
    np.testing.assert_array_equal(mine.count, theirs.count)
    np.testing.assert_allclose(mine.mean, theirs.mean, rtol=1e-9, atol=1e-9)
    np.testing.assert_allclose(mine.m2, theirs.m2, rtol=1e-9)
    np.testing.assert_allclose(model.predict_joint_log_proba(X), whole.predict_joint_log_proba(X), rtol=1e-8, atol=1e-8)


splits = st.lists(st.integers(0, 3), min_size=N, max_size=N).map(np.array)
offsets = st.sampled_from([0.0, 1e6])


@settings(deadline=None, max_examples=25)
@given(parts=splits, seed=st.integers(0, 9), offset=offsets)
def test_any_split_in_any_order_equals_one_fit(parts, seed, offset):
    X, y = rows(seed, offset)
    model = NaiveBayes()
    for part in np.random.default_rng(seed).permutation(np.unique(parts)):
        model.partial_fit(X[parts == part], y[parts == part], classes=["a", "b", "c"])
    check_same(model, NaiveBayes().fit(X, y), X)


@settings(deadline=None, max_examples=25)
@given(parts=splits, seed=st.integers(0, 9), offset=offsets)
def test_merged_models_equal_one_fit_on_all_rows(parts, seed, offset):
    X, y = rows(seed, offset)
    here = parts > 0
    assume(0 < here.sum() < N)
    model = NaiveBayes().fit(X[here], y[here]).merge(NaiveBayes().fit(X[~here], y[~here]))
    check_same(model, NaiveBayes().fit(X, y), X)


@settings(deadline=None, max_examples=25)
@given(parts=splits, seed=st.integers(0, 9), offset=offsets)
def test_forgotten_rows_are_as_if_never_seen(parts, seed, offset):
    X, y = rows(seed, offset)
    kept = parts > 0
    assume(0 < kept.sum() < N)
    assume(len(set(y[kept])) == 3)  # a class keeps its place when all its rows are forgotten
    model = NaiveBayes().fit(X, y).forget(X[~kept], y[~kept])
    check_same(model, NaiveBayes().fit(X[kept], y[kept]), X)


def test_weighted_rows_are_learned_and_forgotten_in_parts_too():
    X, y = rows()
    weights = np.random.default_rng(5).integers(0, 4, N) / 2.0
    half = np.arange(N) < 30
    model = NaiveBayes().partial_fit(X[half], y[half], ["a", "b", "c"], weights[half])
    model.partial_fit(X[~half], y[~half], sample_weight=weights[~half])
    check_same(model, NaiveBayes().fit(X, y, weights), X)
    model.forget(X[half], y[half], weights[half])
    check_same(model, NaiveBayes().fit(X[~half], y[~half], weights[~half]), X)


def test_a_class_keeps_its_place_when_all_its_rows_are_forgotten():
    X, y = rows()
    model = NaiveBayes().fit(X, y).forget(X[y == "b"], y[y == "b"])
    assert model.classes_.tolist() == ["a", "b", "c"]
    assert model.predict_proba(X)[:, 1].max() < 1e-100


def test_maximum_likelihood_waits_for_the_rows_of_an_announced_class():
    X, y = [[0.0], [1.0], [4.0], [6.0]], ["a", "a", "b", "b"]
    model = NaiveBayes(variance_prior=None).partial_fit(X, y, classes=["a", "b", "c"])
    assert model.predict_proba(X)[:, 2].max() < 1e-100
    model.partial_fit([[8.0], [9.0]], ["c", "c"])
    assert model.predict([[8.4]]).tolist() == ["c"]


def test_a_new_level_is_added_in_its_sorted_place():
    model = NaiveBayes().fit(pd.DataFrame({"w": ["b", "d"]}), [0, 1])
    model.partial_fit(pd.DataFrame({"w": ["c", "a"]}), [0, 1])
    assert model.evidence_.schema.columns[0].levels == ("a", "b", "c", "d")
    assert model.counts_["w"].tolist() == [[0, 1, 1, 0], [1, 0, 0, 1]]


def test_a_class_that_comes_later_must_be_announced():
    X = [[0.0], [1.0]]
    model = NaiveBayes().partial_fit(X, ["a", "b"])
    with pytest.raises(ValueError, match="y holds 'c', which is not among the classes"):
        model.partial_fit(X, ["a", "c"])
    assert model.class_count_.tolist() == [1, 1]
    announced = NaiveBayes().partial_fit(X, ["a", "b"], classes=["c", "b", "a"])
    assert announced.classes_.tolist() == ["a", "b", "c"]
    assert announced.predict_proba(X)[:, 2].max() < 1e-100
    assert announced.partial_fit([[5.0]], ["c"]).predict([[5.0]]).tolist() == ["c"]
    with pytest.raises(ValueError, match="not the same as on last call to partial_fit"):
        announced.partial_fit(X, ["a", "b"], classes=["a", "b"])


def test_merge_takes_the_union_of_classes_and_levels():
    a = NaiveBayes().fit(pd.DataFrame({"w": ["x", "y"]}), ["p", "q"])
    b = NaiveBayes().fit(pd.DataFrame({"w": ["z", "x"]}), ["r", "q"])
    a.merge(b)
    assert a.classes_.tolist() == ["p", "q", "r"]
    assert a.counts_["w"].tolist() == [[1, 0, 0], [1, 1, 0], [0, 0, 1]]
    assert b.classes_.tolist() == ["q", "r"]


@pytest.mark.parametrize("numeric", ["bins", "mdl"])
def test_cuts_freeze_at_the_first_part(numeric):
    X, y = rows()
    X["size"] += np.searchsorted(["a", "b", "c"], y)
    first = np.arange(N) < 40
    model = NaiveBayes(numeric=numeric, n_bins=3).partial_fit(X[first], y[first], classes=["a", "b", "c"])
    cuts = model.evidence_.schema.columns[1].cuts
    assert len(cuts) > 0
    assert (
        cuts.tolist()
        == NaiveBayes(numeric=numeric, n_bins=3).fit(X[first], y[first]).evidence_.schema.columns[1].cuts.tolist()
    )
    model.partial_fit(X[~first], y[~first])
    assert model.evidence_.schema.columns[1].cuts.tolist() == cuts.tolist()
    expected = np.bincount(np.searchsorted(cuts, X["size"].dropna(), side="right"))
    assert model.counts_["size"].sum(axis=0).tolist() == expected.tolist()


@pytest.mark.parametrize("numeric", ["bins", "mdl"])
def test_models_with_equal_cuts_merge_and_forget(numeric):
    X, y = rows()
    X["size"] += np.searchsorted(["a", "b", "c"], y)
    half = np.arange(N) < 30
    first = NaiveBayes(numeric=numeric).fit(X, y)
    both = NaiveBayes(numeric=numeric).fit(X, y).merge(first)
    assert both.counts_["size"].tolist() == (2 * first.counts_["size"]).tolist()
    both.forget(X, y).forget(X[half], y[half]).partial_fit(X[half], y[half])
    check_same(both, first, X)


def test_a_loaded_model_goes_on_learning(tmp_path):
    X, y = rows()
    half = np.arange(N) < 30
    NaiveBayes().partial_fit(X[half], y[half], classes=["a", "b", "c"]).save(tmp_path / "model.snb")
    model = load(tmp_path / "model.snb").partial_fit(X[~half], y[~half])
    check_same(model, NaiveBayes().fit(X, y), X)


def check_refused(model, action, message, error=ValueError):
    """The action fails with the message, and the model is what it was."""
    X, _ = rows()
    before, answer = dict(vars(model)), model.predict_joint_log_proba(X)
    with pytest.raises(error, match=message):
        action()
    assert vars(model).keys() == before.keys()
    assert all(vars(model)[name] is value for name, value in before.items())
    np.testing.assert_array_equal(model.predict_joint_log_proba(X), answer)


def test_rows_that_were_not_learned_cannot_be_forgotten():
    X, y = rows()
    model = NaiveBayes().fit(X[:30], y[:30])
    twice = pd.concat([X[:30]] * 2), np.concatenate([y[:30]] * 2)
    check_refused(model, lambda: model.forget(*twice), "cannot forget more rows than were learned")
    check_refused(model, lambda: model.forget(X[:1].assign(word="new"), y[:1]), "column 'word' never held 'new'")
    check_refused(model, lambda: model.forget(X[:1], ["z"]), "'z', which is not among the classes")
    far = X[:1].assign(size=1e9)
    check_refused(model, lambda: model.forget(far, y[:1]), "class '.' in column 'size' that were never learned")


def test_forgetting_says_when_too_few_digits_are_left():
    X = np.concatenate([[0.0, 1e-12, 2e-12], 1e12 * np.arange(1.0, 9.0)])[:, None]
    model = NaiveBayes(variance_prior=None).fit(X, [0] * 11)
    before = dict(vars(model))
    with pytest.raises(ValueError, match=r"no longer known to nine digits \(3 rows are left\); fit again"):
        model.forget(X[3:], [0] * 8)
    assert all(vars(model)[name] is value for name, value in before.items())


def test_bad_parts_leave_the_model_as_it_was():
    X, y = rows()
    model = NaiveBayes().fit(X, y)
    bad = X.assign(size=np.inf)
    check_refused(model, lambda: model.partial_fit(bad, y), "column 'size', row 0")
    check_refused(model, lambda: model.forget(bad, y), "column 'size', row 0")
    check_refused(model, lambda: model.partial_fit(X[["word"]], y), "feature names should match")
    check_refused(model, lambda: model.partial_fit(X.assign(size="a"), y), "column 'size', row 0 holds 'a'")


def test_models_that_do_not_fit_together_do_not_merge():
    X, y = rows()
    model = NaiveBayes().fit(X, y)
    check_refused(model, lambda: model.merge(object()), "merge needs another NaiveBayes", TypeError)
    others = {
        "the same parameters": NaiveBayes(smoothing=2.0).fit(X, y),
        "the columns differ": NaiveBayes().fit(X[["word"]], y),
        "class labels differ in type": NaiveBayes().fit(X, np.arange(N) % 3),
        "column 'word' is nominal in one model and numeric": NaiveBayes().fit(X.assign(word=1.0), y),
        "not fitted": NaiveBayes(),
    }
    for message, other in others.items():
        check_refused(model, lambda other=other: model.merge(other), message)
    X["size"] += np.searchsorted(["a", "b", "c"], y)
    for numeric in ("bins", "mdl"):
        a, b = (NaiveBayes(numeric=numeric).fit(part, y) for part in (X, X.assign(size=X["size"] * 2)))
        check_refused(a, lambda a=a, b=b: a.merge(b), "column 'size' has other cuts")


def test_kernel_densities_cannot_be_updated():
    X, y = rows()
    model = NaiveBayes(numeric="kde").fit(X, y)
    for method in ("partial_fit", "merge", "forget"):
        with pytest.raises(AttributeError):
            getattr(model, method)
