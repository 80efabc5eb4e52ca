import dataclasses
import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from search_definition import criteria_of, definition_path, evidence_of, scores_of
from search_problems import binary_codes, problem_from
from search_references import CASES, mixed, nested, random_problem, reference_paths, tiny

from seminaive.search.greedy import greedy_path
from seminaive.search.odds import Odds, trace
from seminaive.search.problem import SearchProblem, arrange_rows

BOTH = ["forward", "backward"]
ALL = ["error", "probability", "log_loss"]
CASES_OF_PATHS = reference_paths()


@pytest.mark.parametrize(
    ("make", "direction", "criterion", "ties", "expected"),
    [case[1:] for case in CASES_OF_PATHS],
    ids=[case[0] for case in CASES_OF_PATHS],
)
def test_reference_paths_are_followed_step_by_step(make, direction, criterion, ties, expected):
    path = greedy_path(make(), direction, criterion, ties=ties)
    assert path.features.tolist() == expected["order"]
    np.testing.assert_allclose(path.values, expected["values"], atol=1e-9)
    assert path.start_value == pytest.approx(expected["start_value"], abs=1e-9)


@pytest.mark.parametrize("make", [tiny, lambda: nested("fit"), lambda: nested("select"), mixed])
@pytest.mark.parametrize("direction", BOTH)
@pytest.mark.parametrize("criterion", ALL)
def test_reference_cases_follow_the_definition_under_every_criterion(make, direction, criterion):
    problem = make()
    order, values = definition_path(problem, direction, criterion)
    path = greedy_path(problem, direction, criterion)
    assert path.features.tolist() == order
    np.testing.assert_allclose(path.values, values, atol=1e-11)


@pytest.mark.parametrize("seed", range(50))
def test_random_problems_follow_the_definition(seed):
    problem = random_problem(seed)
    for direction in BOTH:
        for criterion in ALL:
            for ties in ("probability", "index") if criterion == "error" else ("probability",):
                order, values = definition_path(problem, direction, criterion, ties)
                path = greedy_path(problem, direction, criterion, ties=ties)
                assert path.features.tolist() == order
                np.testing.assert_allclose(path.values, values, atol=1e-11)


@pytest.mark.parametrize("n_classes", [2, 3, 4, 5, 7, 26])
@pytest.mark.parametrize("weighted", [False, True])
def test_any_number_of_classes_is_right(n_classes, weighted):
    problem = random_problem(1000 + n_classes, n_classes, weighted, n_rows=120)
    for criterion in ALL:
        order, values = definition_path(problem, "forward", criterion)
        path = greedy_path(problem, "forward", criterion)
        assert path.features.tolist() == order
        np.testing.assert_allclose(path.values, values, atol=1e-11)


def test_the_frozen_contributions_are_those_of_the_mixed_case():
    problem = mixed()
    np.testing.assert_allclose(evidence_of(problem)[:, :, 0], CASES["mixed"]["contributions_row_0"], atol=1e-9)


def test_the_criteria_of_six_subsets_are_the_frozen_ones():
    problem = tiny()
    for case in CASES["tiny"]["criteria"]:
        found = Odds(problem, case["subset"]).criteria()
        frozen = (case["error"], case["prob"], case["mean_neg_cll"])
        np.testing.assert_allclose(found, frozen, atol=1e-9)


@given(seed=st.integers(0, 10_000))
@settings(max_examples=30, deadline=None)
def test_criteria_along_a_path_equal_those_of_fresh_sums(seed):
    problem = random_problem(seed)
    rng = np.random.default_rng(seed)
    moves = rng.permutation(problem.n_features).tolist() * 2
    members = set()
    evidence = evidence_of(problem)
    for feature, found in zip([None, *moves], trace(problem, (), moves), strict=True):
        members ^= set() if feature is None else {feature}
        expected = criteria_of(problem, scores_of(problem, evidence, members))
        np.testing.assert_allclose(found, list(expected.values()), atol=1e-11)


@pytest.mark.parametrize("criterion", ALL)
@pytest.mark.parametrize("direction", BOTH)
def test_integer_weights_are_repeated_rows_and_zero_is_no_row(criterion, direction):
    rng = np.random.default_rng(3)
    codes = rng.integers(2, 5, size=(5, 40)).astype(np.uint8)
    y = np.concatenate([np.arange(3), rng.integers(0, 3, 37)])
    weights = np.concatenate([[1, 1, 1], rng.integers(0, 4, 37)]).astype(float)
    often = np.repeat(np.arange(40), weights.astype(int))
    weighted = greedy_path(problem_from(codes, y, [3] * 5, weights=weights), direction, criterion)
    repeated = greedy_path(problem_from(codes[:, often], y[often], [3] * 5), direction, criterion)
    assert weighted.features.tolist() == repeated.features.tolist()
    np.testing.assert_allclose(weighted.values, repeated.values, atol=1e-9)


@given(seed=st.integers(0, 10_000), criterion=st.sampled_from(ALL), direction=st.sampled_from(BOTH))
@settings(max_examples=20, deadline=None)
def test_the_order_of_rows_does_not_matter(seed, criterion, direction):
    rng = np.random.default_rng(seed)
    codes = rng.integers(2, 4, size=(6, 30)).astype(np.uint8)
    y = np.concatenate([[0, 1], rng.integers(0, 2, 28)])
    shuffle = rng.permutation(30)
    one = greedy_path(problem_from(codes, y, [2] * 6), direction, criterion)
    other = greedy_path(problem_from(codes[:, shuffle], y[shuffle], [2] * 6), direction, criterion)
    assert one.features.tolist() == other.features.tolist()
    np.testing.assert_allclose(one.values, other.values, atol=1e-12)


def test_features_that_rule_classes_out_are_scored_exactly():
    """Without smoothing a level may say log -700 about a class, and two of them take a row beyond every
    float."""
    rng = np.random.default_rng(0)
    y = np.repeat([0, 1, 2], 8)
    codes = rng.integers(2, 5, size=(6, 24)).astype(np.uint8)
    codes[:3] = np.where(rng.random((3, 24)) < 0.8, y + 2, codes[:3])
    problem = problem_from(codes, y, [3] * 6)
    tables = np.maximum(np.where(problem.tables < np.log(0.15), -700.0, problem.tables), -700.0)
    problem = dataclasses.replace(problem, tables=tables)
    for direction in BOTH:
        for criterion in ALL:
            order, values = definition_path(problem, direction, criterion)
            path = greedy_path(problem, direction, criterion)
            assert path.features.tolist() == order
            np.testing.assert_allclose(path.values, values, atol=1e-9)


def test_a_class_tie_goes_to_the_lowest_label():
    balanced = problem_from(binary_codes(["1111"]), [0, 0, 1, 1], [2])
    path = greedy_path(balanced, "forward", "error")
    assert (path.start_error, path.values[0]) == (0.5, 0.5)
    upside_down = problem_from(binary_codes(["1111"]), [1, 0, 1, 0], [2])
    assert greedy_path(upside_down, "forward", "error").values[0] == 0.5


def test_copies_move_one_by_one_and_the_first_goes_first():
    problem = problem_from(binary_codes(["0011", "0111", "0011", "0011"]), [0, 0, 1, 1])
    assert greedy_path(problem, "forward", "probability").features.tolist()[:3] == [0, 2, 3]
    assert sorted(greedy_path(problem, "backward", "error").features.tolist()) == [0, 1, 2, 3]


def test_all_constant_columns_still_make_a_whole_path():
    problem = problem_from(binary_codes(["0000", "1111", "0000"]), [0, 0, 0, 1], [2, 2, 2])
    order, _ = definition_path(problem, "forward", "error")
    assert greedy_path(problem, "forward", "error").features.tolist() == order


def test_missing_and_unseen_codes_say_nothing():
    problem = problem_from([[1, 0, 1, 1], [2, 2, 3, 3]], [0, 0, 1, 1], [2, 2])
    path = greedy_path(problem, "forward", "probability")
    assert path.features.tolist() == [1, 0]
    assert path.values[1] == path.values[0]


def test_one_feature_and_more_features_than_rows_work():
    one = problem_from(binary_codes(["001"]), [0, 0, 1])
    assert greedy_path(one).features.tolist() == [0]
    rng = np.random.default_rng(1)
    wide = problem_from(rng.integers(2, 4, size=(50, 6)), [0, 0, 0, 1, 1, 1], [2] * 50)
    for criterion in ALL:
        assert (
            greedy_path(wide, "backward", criterion).features.tolist()
            == definition_path(wide, "backward", criterion)[0]
        )


@pytest.mark.parametrize(
    ("go_on", "allowed"), [("better", lambda new, old: new < old), ("not worse", lambda new, old: new <= old)]
)
def test_a_search_may_stop_when_errors_stop_falling(go_on, allowed):
    problem = nested("fit")
    full = greedy_path(problem, "forward", "error", ties="index")
    path = greedy_path(problem, "forward", "error", ties="index", go_on=go_on)
    steps = len(path.features)
    assert path.features.tolist() == full.features[:steps].tolist()
    values = [full.start_value, *full.values]
    assert all(allowed(new, old) for old, new in itertools.pairwise(values[: steps + 1]))
    assert not allowed(values[steps + 1], values[steps])
    assert path.evaluations == sum(range(17 - steps, 18))


def test_patience_ends_a_path_after_steps_without_a_new_best():
    problem = nested("fit")
    full = greedy_path(problem, "forward", "error").values
    path = greedy_path(problem, "forward", "error", patience=2)
    assert len(path.values) < len(full)
    np.testing.assert_array_equal(path.values, full[: len(path.values)])
    assert path.values[-2:].min() >= path.values[:-2].min()


def test_a_phase_may_start_anywhere_and_move_only_some_features():
    problem = nested("fit")
    path = greedy_path(problem, "forward", "probability", start=[2, 13], candidates=[2, 5, 7], max_steps=1)
    assert path.start == (2, 13)
    assert path.features.tolist()[0] in (5, 7)
    assert path.sizes.tolist() == [3]
    order, _ = definition_path(problem, "backward", "probability", start=[1, 5, 13])
    assert greedy_path(problem, "backward", "probability", start=[1, 5, 13]).features.tolist() == order


def test_an_interrupted_search_keeps_the_steps_made_so_far():
    def stop(step, total, value):
        assert total == 17
        if step == 3:
            raise KeyboardInterrupt

    problem = nested("fit")
    path = greedy_path(problem, "forward", "probability", progress=stop)
    assert path.interrupted
    assert path.features.tolist() == greedy_path(problem, "forward", "probability").features.tolist()[:3]


def test_the_frame_of_a_path_has_one_row_per_step():
    frame = greedy_path(tiny(), "backward", "error").to_frame()
    assert frame.columns.tolist() == ["step", "feature", "action", "criterion", "error", "size"]
    assert frame["action"].unique().tolist() == ["remove"]
    assert frame["size"].tolist() == [4, 3, 2, 1, 0]
    assert frame["step"].tolist() == [1, 2, 3, 4, 5]


def test_errors_along_a_path_belong_to_the_sets_reached():
    problem = nested("fit")
    path = greedy_path(problem, "forward", "probability")
    for step in (1, 6, 17):
        assert path.errors[step - 1] == Odds(problem, path.features_after(step)).error()


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"criterion": "accuracy"}, "criterion must be one of"),
        ({"direction": "sideways"}, "direction must be"),
        ({"ties": "last"}, "ties must be one of"),
        ({"go_on": "maybe"}, "go_on must be one of"),
    ],
)
def test_a_wrong_word_is_named(change, message):
    with pytest.raises(ValueError, match=message):
        greedy_path(tiny(), **change)


def test_problems_without_rows_features_or_classes_are_refused():
    _, segments = arrange_rows([0, 1])
    codes, tables = np.zeros((1, 2), dtype=np.uint8), np.zeros((1, 2, 4))
    prior, offsets = np.zeros((1, 2)), np.array([0, 4])
    with pytest.raises(ValueError, match="rows and features"):
        SearchProblem(segments, prior, codes[:0], tables, offsets)
    with pytest.raises(ValueError, match="two classes"):
        SearchProblem(segments, prior[:, :1], codes, tables[:, :1], offsets)
    with pytest.raises(ValueError, match="uint8"):
        SearchProblem(segments, prior, codes.astype(np.int64), tables, offsets)
    with pytest.raises(ValueError, match="finite"):
        SearchProblem(segments, prior, codes, tables - np.inf, offsets)
    with pytest.raises(ValueError, match="Weights"):
        SearchProblem(segments, prior, codes, tables, offsets, weights=np.array([-1.0, 2.0]))
    infinite = SearchProblem(segments, prior, codes, tables, offsets, np.full((1, 2, 2), -np.inf), 1)
    with pytest.raises(ValueError, match="Evidence of feature 1 must be finite"):
        greedy_path(infinite)
