import matplotlib as mpl
import numpy as np
import pytest

mpl.use("Agg")

from seminaive.models.selective import SelectiveNB
from seminaive.selection.filter_selectors import MutualInformationFilter
from seminaive.selection.selector import NBSelector

show_path = pytest.importorskip("seminaive.show.path")


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
    ax = show_path.plot_path(searcher)[-1]
    points = {line.get_label(): line.get_ydata() for line in ax.get_lines()}
    assert any(np.array_equal(values, frame["error"]) for values in points.values())
    assert any(np.array_equal(values, frame["criterion"]) for values in points.values())
