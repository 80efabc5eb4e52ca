"""Pictures are drawn without a screen, and closed after each test."""

import matplotlib as mpl
import pytest

mpl.use("Agg")


@pytest.fixture(autouse=True)
def _close_pictures():
    yield
    from matplotlib import pyplot

    pyplot.close("all")
