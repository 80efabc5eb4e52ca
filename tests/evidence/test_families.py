"""A family term reads a column together with its parents; many of them are added in one pass."""

from dataclasses import replace

import numpy as np
import pytest
from family_problems import READS, codes_of_all, random_block, random_term, schema_of
from hypothesis import given, settings
from hypothesis import strategies as st

from seminaive.evidence.contributions import contributions
from seminaive.evidence.evidence import Evidence
from seminaive.evidence.families import Families
from seminaive.evidence.terms import weighted
from seminaive.show.explain import explain_model


@settings(deadline=None, max_examples=30)
@given(seed=st.integers(0, 2**32 - 1), n=st.sampled_from([1, 255, 256, 700]), k=st.integers(1, 4))
def test_families_say_what_their_cells_hold(seed, n, k):
    rng = np.random.default_rng(seed)
    schema, block = schema_of(k), random_block(rng, n)
    terms = tuple(random_term(rng, schema, reads) for reads in READS)
    codes = codes_of_all(block)
    expected = np.zeros((k, n))
    for term in terms:
        own = np.array([[term.table[(y, *codes[list(term.reads), i])] for i in range(n)] for y in range(k)])
        np.testing.assert_array_equal(term.evidence(block, schema), own)
        expected += own
    evidence = Evidence(schema, np.zeros(k), terms)
    np.testing.assert_allclose(evidence.scores(block), expected, atol=1e-12)
    parts = contributions(evidence, [block], n)
    np.testing.assert_allclose(parts.scores.T, expected, atol=1e-12)
    assert parts.terms == [str(schema.columns[reads[0]].name) for reads in READS]


def test_a_value_never_seen_says_nothing_in_the_column_and_in_a_parent():
    rng = np.random.default_rng(0)
    schema, block = schema_of(2), random_block(rng, 300)
    term = random_term(rng, schema, (1, 0))
    silent = (block.codes8[0] == 0) | (block.codes8[1] == 0)
    assert silent.any()
    np.testing.assert_array_equal((term.evidence(block, schema) == 0).all(axis=0), silent)
    assert not term.variance(block, schema)[:, silent].any()


def test_a_weighted_family_says_the_same_that_many_times():
    rng = np.random.default_rng(0)
    schema, block = schema_of(2), random_block(rng, 50)
    term = random_term(rng, schema, (1, 0))
    for weight in (0.5, np.array([2.0, 0.0])):
        times = np.broadcast_to(weight, 2)[:, None]
        often = weighted(term, weight)
        np.testing.assert_allclose(often.evidence(block, schema), times * term.evidence(block, schema))
        np.testing.assert_allclose(often.variance(block, schema), times**2 * term.variance(block, schema))


def test_a_chosen_few_families_are_the_same_families():
    rng = np.random.default_rng(0)
    schema = schema_of(2)
    families = Families.of([random_term(rng, schema, reads) for reads in READS], 2)
    chosen = np.array([6, 1, 3])
    few = families.some(chosen)
    few.check(schema)
    for i, f in enumerate(chosen):
        assert few.reads_of(i) == READS[f]
        np.testing.assert_array_equal(few.term(i, schema).table, families.term(int(f), schema).table)
    assert len(families.some(np.array([], dtype=np.int64))) == 0


def test_a_pair_reads_as_a_value_given_a_value():
    rng = np.random.default_rng(0)
    schema = schema_of(2)
    shown = explain_model(Evidence(schema, np.zeros(2), (random_term(rng, schema, (1, 0)),)), None)
    assert shown.terms == ["b | a"]
    assert shown.texts[0][:4] == ["u given a = p", "u given a = q", "u given a = missing", "v given a = p"]
    assert shown.texts[0][-1] == "missing given a = missing"
    assert shown.values[0].shape == (12, 2)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"table": np.zeros((2, 5))}, "evidence table of 'b' given 'a' must have shape"),
        ({"table": np.ones((2, 5, 4))}, "'b' given 'a' must be 0 where a value was never seen"),
        ({"table_variance": np.zeros((2, 4, 5))}, "must have shape"),
        ({"parents": (1,)}, "reads a column twice"),
        ({"parents": (9,)}, "reads column 9"),
    ],
)
def test_a_family_that_does_not_fit_is_refused(change, message):
    schema = schema_of(2)
    term = random_term(np.random.default_rng(0), schema, (1, 0))
    with pytest.raises(ValueError, match=message):
        Evidence(schema, np.zeros(2), (replace(term, **change),))


@pytest.mark.parametrize(
    "change",
    [
        {"reads": np.array([0, 1, 2, 1, 0, 0, 1, 2, 1, 3, 0, 2, 0, 99])},
        {"reads": np.array([0, 1, 2, 1, 1, 0, 1, 2, 1, 3, 0, 2, 0, 1])},
        {"reads": np.zeros(14)},
        {"read_starts": np.array([0, 1])},
        {"read_starts": np.zeros(0, dtype=np.int64)},
        {"starts": np.arange(9)},
        {"tables": np.zeros((2, 5))},
        {"tables": None},
        {"variances": np.zeros((1, 5))},
    ],
)
def test_families_that_do_not_fit_are_refused(change):
    rng, schema = np.random.default_rng(0), schema_of(2)
    families = Families.of([random_term(rng, schema, reads) for reads in READS], 2)
    families.check(schema)
    with pytest.raises(ValueError, match=r"famil|column"):
        replace(families, **change).check(schema)
