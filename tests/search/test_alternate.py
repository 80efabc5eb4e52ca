import numpy as np
import pytest
from search_references import CASES, CRITERIA, nested, random_problem, tiny

from seminaive.search.alternate import alternate, ranking_search
from seminaive.search.greedy import greedy_path
from seminaive.search.odds import Odds
from seminaive.search.path import Path, choose

FLOATING = [
    (key, search)
    for key in ("fit", "holdout")
    for search in CASES["nested"]["searches"][key]
    if len(search.split("_")) == 3
]
FLOATING = [(key, search) for key, search in FLOATING if search.startswith(("forward_backward", "backward_forward"))]


@pytest.mark.parametrize(("searched_on", "name"), FLOATING)
def test_alternating_phases_are_the_frozen_ones(searched_on, name):
    expected = CASES["nested"]["searches"][searched_on][name]
    first, second, criterion = name.split("_")
    select = nested("select")
    problem = nested("fit") if searched_on == "fit" else select
    search = alternate(problem, f"{first}-{second}", CRITERIA[criterion], selection=select)
    assert list(search.features) == expected["final_subset"]
    assert search.choice.error == pytest.approx(expected["final_selection_error"], abs=1e-9)
    assert len(search.phases) == len(expected["phases"])
    for phase, frozen in zip(search.phases, expected["phases"], strict=True):
        assert phase.path.direction == frozen["direction"]
        assert list(phase.choice.features) == frozen["subset"]
        assert phase.choice.error == pytest.approx(frozen["selection_error"], abs=1e-9)
        assert phase.accepted == frozen["accepted"]
    along = expected["phases"][0]["selection_errors_along_path"]
    np.testing.assert_allclose(search.phases[0].selection_errors, along, atol=1e-9)
    single = alternate(problem, first, CRITERIA[criterion], selection=select)
    assert list(single.features) == expected["single_pass_subset"]


@pytest.mark.parametrize("seed", range(10))
def test_the_result_is_the_smallest_set_with_the_lowest_error(seed):
    problem = random_problem(seed)
    search = alternate(problem, "backward", "probability")
    phase = search.phases[0]
    every = [(error, len(phase.path.features_after(i))) for i, error in enumerate(phase.selection_errors)]
    lowest = min(error for error, _ in every)
    assert len(search.features) == min(size for error, size in every if error <= lowest + 1e-12)
    assert Odds(problem, search.features).error() == pytest.approx(lowest, abs=1e-12)


def test_the_empty_set_is_an_answer():
    path = Path("forward", "error", (1,), 0.4, 0.4, np.array([0]), np.array([0.3]), np.array([0.3]))
    assert choose(path, [0.4, 0.3], 10, empty_error=0.3).features == ()
    assert choose(path, [0.4, 0.3], 10, empty_error=0.31).features == (0, 1)


def test_one_standard_error_keeps_fewer_features():
    path = Path("backward", "error", (0, 1, 2), 0.1, 0.1, np.array([2, 0]), np.zeros(2), np.zeros(2))
    errors = [0.10, 0.11, 0.2]
    assert choose(path, errors, 100).features == (0, 1, 2)
    assert choose(path, errors, 100, "one-se").features == (0, 1)  # .1 + sqrt(.1 * .9 / 100) = .13
    assert choose(path, errors, 10_000, "one-se").features == (0, 1, 2)


def test_a_size_may_be_asked_for():
    path = Path("backward", "error", (0, 1, 2), 0.1, 0.1, np.array([2, 0]), np.zeros(2), np.zeros(2))
    assert choose(path, [0.1, 0.2, 0.3], 10, size=2).features == (0, 1)
    assert choose(path, [0.1, 0.2, 0.3], 10, size=9).features == (0, 1, 2)


def test_sizes_are_chosen_on_the_selection_rows():
    fit, select = nested("fit"), nested("select")
    search = alternate(fit, "forward", "probability", selection=select)
    path = greedy_path(fit, "forward", "probability")
    assert search.phases[0].path.features.tolist() == path.features.tolist()
    errors = [Odds(select, path.features_after(step)).error() for step in range(18)]
    np.testing.assert_allclose(search.phases[0].selection_errors, errors, atol=1e-12)
    assert search.features == path.features_after(int(np.argmin(errors)))


def test_phases_end_where_they_are_told():
    assert len(alternate(nested("fit"), "backward-forward", selection=nested("select"), max_phases=1).phases) == 1


def test_an_interrupted_alternation_keeps_what_it_has():
    steps = []

    def stop(step, total, value):
        steps.append(step)
        if len(steps) == 20:
            raise KeyboardInterrupt

    search = alternate(nested("fit"), "forward-backward", selection=nested("select"), progress=stop)
    assert search.interrupted
    assert len(search.phases[0].path.features) == 17
    assert len(search.phases[1].path.features) == 3


def test_the_frame_of_a_search_numbers_its_phases():
    search = alternate(tiny(), "forward-backward", "error")
    frame = search.to_frame()
    assert frame["phase"].unique().tolist() == list(range(1, len(search.phases) + 1))
    assert (
        frame.loc[frame["phase"] == 1, "selection_error"].tolist() == frame.loc[frame["phase"] == 1, "error"].tolist()
    )


def test_a_ranking_is_cut_where_its_error_is_lowest():
    case = CASES["nested"]
    choice, along = ranking_search(case["filters"]["mi_ranking"], nested("select"))
    errors = [criteria.error for criteria in along]
    assert choice.features == tuple(sorted(case["filters"]["mi_ranking"][: int(np.argmin(errors))]))


def test_an_unknown_direction_is_named():
    with pytest.raises(ValueError, match="direction must be one of"):
        alternate(tiny(), "both")


@pytest.mark.parametrize("direction", ["forward", "backward", "forward-backward", "backward-forward"])
@pytest.mark.parametrize("seed", range(5))
def test_steps_count_on_over_phases_and_the_chosen_one_leads_to_the_chosen_set(direction, seed):
    search = alternate(random_problem(seed), direction, "error")
    frame = search.to_frame()
    assert frame["step"].tolist() == list(range(1, len(frame) + 1))
    assert search.criterion == "error"
    moves = frame[frame["step"] <= search.chosen]
    phase = 0 if moves.empty else moves["phase"].iloc[-1] - 1
    path = search.phases[phase].path
    within = search.chosen - int((frame["phase"] <= phase).sum())
    assert path.features_after(within) == search.features or not search.features
