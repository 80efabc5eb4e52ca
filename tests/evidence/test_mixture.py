"""A mixture averages over many sums of families; what it shows adds up to what it decides."""

from dataclasses import replace

import numpy as np
import pytest
from family_problems import random_block, random_mixture, say_of, sums_of
from hypothesis import given, settings
from hypothesis import strategies as st

from seminaive.evidence.contributions import contributions
from seminaive.evidence.mixture import leading_codes
from seminaive.show.explain import explain_model

cases = {
    "seed": st.integers(0, 2**32 - 1),
    "n": st.sampled_from([1, 256, 300]),
    "k": st.integers(1, 3),
    "m": st.integers(1, 6),
    "normalise": st.booleans(),
    "needs": st.booleans(),
}


@settings(deadline=None, max_examples=60)
@given(**cases)
def test_scores_are_the_log_of_the_average(seed, n, k, m, normalise, needs):
    rng = np.random.default_rng(seed)
    mixture, members = random_mixture(rng, k, m, normalise, needs)
    block = random_block(rng, n)
    sums, say = sums_of(mixture, members, block), say_of(mixture, block)
    if normalise:
        sums = sums - np.log(np.exp(sums).sum(axis=1, keepdims=True))
    expected = np.log((say[:, None] * np.exp(sums)).sum(axis=0))
    np.testing.assert_allclose(mixture.scores(block), expected, atol=1e-12)
    if normalise:
        np.testing.assert_allclose(mixture.probabilities(mixture.scores(block)).sum(axis=0), 1)


@settings(deadline=None, max_examples=30)
@given(**cases)
def test_terms_are_means_over_the_members_and_averaging_is_the_rest(seed, n, k, m, normalise, needs):
    rng = np.random.default_rng(seed)
    mixture, members = random_mixture(rng, k, m, normalise, needs)
    block = random_block(rng, n)
    say, schema = say_of(mixture, block), mixture.schema
    parts = contributions(mixture, [block], n)
    np.testing.assert_allclose(parts.scores.T, mixture.scores(block), atol=1e-12)
    assert parts.terms[-1] == "averaging"
    for t, j in enumerate(mixture.columns):
        mean, square = np.zeros((2, k, n))
        for g, member in enumerate(members):
            own = [f for f in member if mixture.families.column[f] == j]
            said, spread = np.zeros((2, k, n))
            for f in own:
                term = mixture.families.term(int(f), schema)
                said, spread = said + term.evidence(block, schema), spread + term.variance(block, schema)
            mean += say[g] * said
            if len(own) <= 1:  # a forest has at most one family per column
                shown = said - said.mean(axis=0)
                square += say[g] * (spread + (k / (k - 1) if k > 1 else 0) * shown**2)
        np.testing.assert_allclose(parts.values[:, t].T, mean, atol=1e-12)
        centred = mean - mean.mean(axis=0)
        if all(sum(mixture.families.column[f] == j for f in member) <= 1 for member in members):
            expected = square - (k / (k - 1) if k > 1 else 0) * centred**2
            np.testing.assert_allclose(parts.variances[:, t].T, np.maximum(expected, 0), atol=1e-11)
    assert not parts.variances[:, -1].any()


def test_the_members_come_back_as_they_were_given():
    mixture, members = random_mixture(np.random.default_rng(1), 2, 9, True)
    for found, member in zip(mixture.members(), members, strict=True):
        assert found.tolist() == member.tolist()


def test_impossible_evidence_stays_finite():
    rng = np.random.default_rng(0)
    mixture, _ = random_mixture(rng, 2, 3, True)
    huge = replace(mixture, families=replace(mixture.families, tables=mixture.families.tables * 1e4))
    scores = huge.scores(random_block(rng, 200))
    assert np.isfinite(scores).all()
    assert scores.min() < -1000


@pytest.mark.parametrize("needs", [False, True])
def test_endless_uncertainty_of_what_does_not_count_is_no_uncertainty(needs):
    rng = np.random.default_rng(0)
    mixture, _ = random_mixture(rng, 2, 5, True, needs)
    variances = np.full_like(mixture.families.variances, np.inf)
    _, spread = replace(mixture, families=replace(mixture.families, variances=variances)).said(random_block(rng, 50))
    assert not np.isnan(spread).any()
    assert np.isinf(spread).any()


def test_a_mixture_of_one_sum_is_that_sum():
    rng = np.random.default_rng(0)
    mixture, members = random_mixture(rng, 3, 1, False)
    block = random_block(rng, 20)
    np.testing.assert_allclose(mixture.scores(block), sums_of(mixture, members, block)[0], atol=1e-12)
    said, _ = mixture.said(block)
    np.testing.assert_allclose(said[-1], 0, atol=1e-12)


def test_the_model_is_shown_by_its_most_frequent_families():
    mixture, members = random_mixture(np.random.default_rng(0), 2, 5, True)
    shown = explain_model(mixture, None)
    assert shown.terms == [*(str(mixture.schema.columns[j].name) for j in mixture.columns), "averaging"]
    assert shown.texts[-1] == []
    share = [sum(w for w, m in zip(mixture.weight, members, strict=True) if f in m) for f in range(8)]
    np.testing.assert_allclose(mixture.share, np.array(share) / mixture.weight.sum())
    assert any(text.startswith("p given b = ") for text in shown.texts[0])
    assert isinstance(str(shown), str)


def test_codes_lead_where_they_occur_often_enough_but_never_unseen():
    schema = random_mixture(np.random.default_rng(0), 2, 1, True)[0].schema
    weight = np.arange(schema.layout.width, dtype=float)
    may_lead = leading_codes(schema, weight, 3.0)
    assert may_lead[:8].tolist() == [False, False, False, True, False, True, True, True]


@pytest.mark.parametrize(
    "change",
    [
        {"prior": np.zeros(3)},
        {"prior": np.array([0.0, -np.inf])},
        {"steps": np.array([99])},
        {"steps": np.array([-1])},
        {"steps": None},
        {"step_starts": np.array([0, 1, 2])},
        {"step_starts": np.zeros(0, dtype=np.int64)},
        {"fresh": np.zeros(4, dtype=bool)},
        {"fresh": np.zeros(0, dtype=bool)},
        {"fresh": np.ones(4)},
        {"weight": np.zeros(4)},
        {"weight": np.array([1.0, -1.0, 1.0, 1.0])},
        {"weight": np.array([1.0, np.nan, 1.0, 1.0])},
        {"weight": np.ones(3)},
        {"needs": np.full(4, 4)},
        {"needs": np.full(4, -2)},
        {"needs": np.full(3, -1)},
        {"may_lead": np.ones(3, dtype=bool)},
        {"may_lead": None},
        {"normalise": 1},
    ],
)
def test_parts_that_do_not_fit_together_are_refused(change):
    mixture, _ = random_mixture(np.random.default_rng(0), 2, 4, True)
    with pytest.raises((ValueError, TypeError)):
        replace(mixture, **change)
