import matplotlib as mpl
import matplotlib.pyplot as plt
import numpy as np
import pytest

mpl.use("Agg")

import seminaive as snb
from seminaive import AdjustedNB, MutualInformationFilter, NBSelector, PenalizedNB, SelectiveNB


@pytest.fixture(autouse=True)
def closed_again():
    yield
    plt.close("all")


def rows():
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, 200)
    return rng.normal(size=(200, 5)) + 0.7 * y[:, None] * (np.arange(5) < 3), y


@pytest.mark.parametrize(
    "searcher",
    [SelectiveNB(strict=False), NBSelector(direction="backward-forward"), MutualInformationFilter()],
    ids=lambda searcher: type(searcher).__name__,
)
def test_every_search_has_a_picture_with_one_point_per_step(searcher):
    frame = searcher.fit(*rows()).path_.to_frame()
    ax = snb.plot.path(searcher)
    points = {line.get_label(): line.get_ydata() for line in ax.get_lines()}
    assert any(np.array_equal(values, frame["error"]) for values in points.values())
    assert any(np.array_equal(values, frame["criterion"]) for values in points.values())


def lines_of(axes):
    return {line.get_label(): line for line in axes.get_lines()}


def test_the_chosen_step_is_marked():
    for searcher in (SelectiveNB(), NBSelector(direction="backward"), PenalizedNB(), AdjustedNB()):
        ax = snb.plot.path(searcher.fit(*rows()))
        (x, _) = lines_of(ax)["chosen"].get_xdata()
        path = searcher.path_
        if isinstance(searcher, AdjustedNB):
            assert x == path.steps["penalty"][path.chosen][0]
        else:
            assert x == (len(path.features) if isinstance(searcher, SelectiveNB) else path.chosen)


def test_doses_have_a_panel_of_their_own_in_the_room_that_was_given():
    model = PenalizedNB(select="cv").fit(*rows())
    figure, (left, right) = plt.subplots(1, 2)
    assert snb.plot.path(model, ax=left) is left
    panels = [axes for axes in figure.axes if axes not in (left, right)]
    by_unit = {axes.get_ylabel(): lines_of(axes) for axes in panels}
    assert set(by_unit) == {"nats per row", "dose"}
    path, names = model.path_, [str(column.name) for column in model.evidence_.schema.columns]
    np.testing.assert_array_equal(by_unit["nats per row"]["log loss"].get_ydata(), path.log_losses)
    np.testing.assert_array_equal(by_unit["nats per row"]["AIC / 2"].get_ydata(), path.aic / 2)
    np.testing.assert_array_equal(by_unit["nats per row"]["log loss on rows held out"].get_ydata(), path.held_out)
    for column in range(3):
        np.testing.assert_array_equal(by_unit["dose"][names[column]].get_ydata(), path.doses[:, column])
    figure.canvas.draw()
    assert not right.get_lines()
    boxes = [axes.get_window_extent() for axes in (left, *panels)]
    assert all(box.x1 < right.get_window_extent().x0 for box in boxes)
    upper, twin = left.get_window_extent(), next(a for a in panels if a.get_ylabel() != "dose").get_window_extent()
    assert upper.bounds == pytest.approx(twin.bounds)


def test_without_a_path_there_is_one_sentence():
    with pytest.raises(ValueError, match="NaiveBayes has no path_"):
        snb.plot.path(snb.NaiveBayes().fit(*rows()))


def test_steps_are_counted_in_whole_numbers():
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, 200)
    axes = snb.plot.path(SelectiveNB().fit(y[:, None] + rng.normal(size=(200, 3)), y))
    assert axes.get_xlabel() == "step"
    assert all(at == int(at) for at in axes.get_xticks())
    plt.close("all")
