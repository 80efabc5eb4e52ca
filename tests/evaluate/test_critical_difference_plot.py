import matplotlib as mpl
import numpy as np
import pytest
from matplotlib.figure import Figure

from seminaive.evaluate.plots import indistinguishable_groups, plot_critical_differences


@pytest.fixture(autouse=True)
def _no_window():
    import matplotlib.pyplot as plt

    before = mpl.get_backend()
    plt.switch_backend("Agg")
    yield
    plt.close("all")
    plt.switch_backend(before)


def square(k, significant):
    p = np.ones((k, k))
    for i, j in significant:
        p[i, j] = p[j, i] = 0.001
    return p


def test_models_that_all_differ_are_not_joined():
    assert indistinguishable_groups([1, 2, 3], square(3, [(0, 1), (0, 2), (1, 2)])) == []


def test_models_that_do_not_differ_are_joined_once():
    assert indistinguishable_groups([2, 1, 3], square(3, [])) == [[1, 0, 2]]


def test_runs_overlap_but_none_lies_inside_another():
    groups = indistinguishable_groups([1, 2, 3, 4], square(4, [(0, 3)]))
    assert groups == [[0, 1, 2], [1, 2, 3]]


def test_a_pair_that_could_not_be_tested_does_not_differ():
    assert indistinguishable_groups([1, 2], [[1, np.nan], [np.nan, 1]]) == [[0, 1]]


def test_every_model_is_named_with_its_rank_in_the_axes_given():
    ax = Figure().add_subplot()
    drawn = plot_critical_differences([1.25, 2.0, 2.75], square(3, [(0, 2)]), ["A", "B", "C"], ax=ax)
    assert drawn is ax
    assert sorted(text.get_text() for text in ax.texts) == ["A  (1.25)", "B  (2)", "C  (2.75)"]
    bars = [line for line in ax.lines if line.get_linewidth() > 3]
    assert len(bars) == 2


def test_the_best_model_stands_at_the_left():
    low = plot_critical_differences([1, 2], square(2, []), ["A", "B"]).get_xlim()
    high = plot_critical_differences(
        [0.7, 0.9], square(2, []), ["A", "B"], higher_is_better=True, label="auc"
    ).get_xlim()
    assert low[0] < low[1]
    assert high[0] > high[1]


def test_long_names_fit_on_the_page():
    names = [f"a classifier with a long name, number {i}" for i in range(6)]
    figure = plot_critical_differences(np.linspace(1.2, 5.5, 6), square(6, [(0, 5)]), names).figure
    figure.canvas.draw()
    page = figure.bbox
    for text in figure.axes[0].texts:
        box = text.get_window_extent()
        assert page.x0 <= box.x0
        assert box.x1 <= page.x1
