"""Pictures of Bayesian forests can be read: nothing overlaps, nothing is cut off, and the numbers are the model's."""

from __future__ import annotations

import itertools

import matplotlib as mpl
import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import pytest

mpl.use("Agg")

import seminaive as snb
from seminaive.datasets import make_corral
from seminaive.show.forest_boxes import in_box
from seminaive.show.forest_layout import crossings, hidden_lines, lay_out

PICTURES = [snb.plot.forest, snb.plot.trace, snb.plot.inclusion, snb.plot.edges]
every_picture = pytest.mark.parametrize("draw", PICTURES, ids=lambda draw: draw.__name__)


@pytest.fixture(autouse=True)
def closed_again():
    yield
    plt.close("all")


def overlaps(place, sizes):
    """How many pairs of boxes overlap."""
    apart = np.abs(place[:, None] - place[None]) >= (sizes[:, None] + sizes[None]) / 2
    return int((~apart.any(axis=2)).sum() - len(place)) // 2


def linked(d, seed=0, n=600, long=False):
    """Columns most of which follow an earlier one, more closely in one of the classes."""
    rng = np.random.default_rng(seed)
    y = rng.integers(0, 2, n)
    X = np.empty((n, d), dtype=bool)
    for j in range(d):
        X[:, j] = rng.random(n) < 0.35 + 0.3 * y
        if j and rng.random() < 0.85:
            X[:, j] = X[:, rng.integers(0, j)] ^ (rng.random(n) < np.where(y == 1, 0.15, 0.35))
    name = "mean temperature of the inlet valve, number {} of all" if long else "x{}"
    return pd.DataFrame(X, columns=[name.format(j) for j in range(d)]), y


@pytest.fixture(scope="module")
def models():
    corral, label = make_corral()
    noisy, noisy_label = make_corral(n_noise=60, seed=3)
    return {
        "exact": snb.BayesianForest().fit(corral, label),
        "one column": snb.BayesianForest().fit(*linked(1)),
        "chains": snb.BayesianForest().fit(noisy, noisy_label),
        "long names": snb.BayesianForest(n_iter=2000).fit(*linked(16, long=True)),
        "sixty": snb.BayesianForest().fit(*linked(60, n=1000)),
    }


KINDS = ["exact", "one column", "chains", "long names", "sixty"]


def written(ax):
    """Where every visible text of a picture is, in pixels."""
    ax.figure.canvas.draw()
    renderer = ax.figure.canvas.get_renderer()
    texts = [text for text in ax.texts if text.get_text()] + [ax.title]
    return {text: text.get_window_extent(renderer) for text in texts if text.get_text()}


def inside(boxes, ax):
    width, height = ax.figure.canvas.get_width_height()
    return all(b.x0 >= -1 and b.y0 >= -1 and b.x1 <= width + 1 and b.y1 <= height + 1 for b in boxes)


@pytest.mark.parametrize(
    ("kind", "graph"), [*[(kind, "average") for kind in KINDS], ("chains", "map"), ("sixty", "map"), ("exact", 3)]
)
def test_no_text_of_the_graph_overlaps_another_or_leaves_the_picture(models, kind, graph):
    ax = snb.plot.forest(models[kind], graph)
    boxes = written(ax)
    assert inside(boxes.values(), ax)
    for one, other in itertools.combinations(boxes, 2):
        assert not boxes[one].padded(-1).overlaps(boxes[other].padded(-1)), (one.get_text(), other.get_text())


@pytest.mark.parametrize("kind", ["exact", "long names", "sixty"])
def test_letters_shrink_into_small_axes(models, kind):
    _, (left, right) = plt.subplots(1, 2, figsize=(6, 3))
    assert snb.plot.forest(models[kind], ax=right) is right
    boxes = {text: box for text, box in written(right).items() if text is not right.title}
    low, high = right.get_window_extent().x0, right.get_window_extent().x1
    assert all(low - 1 <= box.x0 and box.x1 <= high + 1 for box in boxes.values())
    for one, other in itertools.combinations(boxes.values(), 2):
        assert not one.padded(-0.5).overlaps(other.padded(-0.5))
    assert not left.texts


@pytest.mark.parametrize("kind", ["one column", "chains", "long names"])
@every_picture
def test_every_model_has_every_picture_with_all_its_labels_in_sight(models, kind, draw):
    ax = draw(models[kind])
    ax.figure.canvas.draw()
    renderer = ax.figure.canvas.get_renderer()
    labels = [ax.title]
    for other in ax.figure.axes:
        if other.axison:
            labels += [other.xaxis.label, other.yaxis.label]
            for axis in (other.xaxis, other.yaxis):
                low, high = sorted(axis.get_view_interval())
                labels += [tick.label1 for tick in axis.get_major_ticks() if low <= tick.get_loc() <= high]
    seen = [text.get_window_extent(renderer) for text in labels if text.get_text()]
    assert inside(seen, ax)


@every_picture
def test_a_picture_is_drawn_into_the_axes_that_are_given(models, draw):
    _, (left, right) = plt.subplots(1, 2)
    assert draw(models["chains"], ax=left) is left
    assert not right.has_data()


def test_a_forest_has_no_crossing_and_no_line_under_a_box():
    rng = np.random.default_rng(1)
    for n in (2, 5, 20, 60):
        ends = np.array([[rng.integers(0, j), j] for j in range(1, n)])
        sizes = np.column_stack([rng.uniform(20, 120, n), np.full(n, 20.0)])
        place = lay_out(sizes, ends, np.ones(len(ends)))
        assert overlaps(place, sizes) == 0
        assert ((place - sizes / 2).min(axis=0) > -1e-9).all()
        allowed = 0 if n < 60 else 2
        assert crossings(place, ends) <= allowed
        assert hidden_lines(place, sizes, ends) <= allowed


def test_the_layout_is_the_same_every_time():
    ends = np.array([[0, 1], [1, 2], [2, 0], [3, 4]])
    sizes = np.full((6, 2), [40.0, 20.0])
    first, again = (lay_out(sizes, ends, np.array([1, 0.5, 0.3, 1])) for _ in range(2))
    np.testing.assert_array_equal(first, again)


def test_no_boxes_overlap_even_where_all_columns_are_joined():
    ends = np.array(list(itertools.combinations(range(12), 2)))
    sizes = np.full((12, 2), [90.0, 20.0])
    assert overlaps(lay_out(sizes, ends, np.full(len(ends), 0.3)), sizes) == 0


def test_the_darkest_columns_are_those_that_matter_and_the_widest_lines_the_surest_edges(models):
    model = models["exact"]
    ax = snb.plot.forest(model)
    names = {text.get_text() for text in ax.texts}
    assert {"a0", "a1", "b0", "b1", "correlated"} <= names
    assert "irrelevant" not in names  # included with probability .07
    probability = model.edges()["probability"]
    widths = [line.get_linewidth() for line in ax.lines][: len(probability)]
    np.testing.assert_allclose(sorted(widths), sorted(5 * probability), rtol=1e-12)


def test_columns_left_out_for_want_of_room_are_counted(models):
    ax = snb.plot.forest(models["sixty"], max_columns=20)
    shown = len(models["sixty"].graph().nodes)
    assert f"and {shown - 20} less probable columns" in {text.get_text() for text in ax.texts}


def test_a_graph_without_columns_says_so():
    rng = np.random.default_rng(0)
    model = snb.BayesianForest(nominal=range(20)).fit(rng.integers(0, 2, (40, 20)), rng.integers(0, 2, 40))
    for draw in (snb.plot.forest, snb.plot.edges):
        ax = draw(model, min_probability=0.99)
        assert "no column is probable enough" in {text.get_text() for text in ax.texts}


def test_chains_that_have_not_met_are_named_in_red():
    X, y = linked(30, n=2000)
    with pytest.warns(Warning, match="the chains have not met"):
        model = snb.BayesianForest(moves="paper", n_iter=400, thin=10).fit(X, y)
    for ax in (snb.plot.forest(model), snb.plot.trace(model)):
        assert "THE CHAINS HAVE NOT MET" in ax.get_title()
        assert ax.title.get_color() == "#b2182b"
    spread = model.graph().nodes_to_frame()
    apart = spread[spread["high"] - spread["low"] > 0.1]
    texts = {text.get_text() for text in snb.plot.forest(model).texts}
    assert {f"{low:.2f} to {high:.2f}" for low, high in apart[["low", "high"]].itertuples(index=False)} <= texts


def test_an_exact_model_has_draws_but_no_chains_to_judge(models):
    for what in ("log posterior", "signal size", "edges", "autocorrelation", "tree sizes"):
        ax = snb.plot.trace(models["exact"], what)
        assert "exact" in ax.get_title()
        assert "R-hat" not in ax.get_title()
    assert "exact" in snb.plot.inclusion(models["exact"]).get_title()
    assert not snb.plot.inclusion(models["exact"]).collections  # no lines between chains


def test_traces_are_the_numbers_of_the_chains(models):
    model = models["chains"]
    posterior, trace = model.posterior_, model.trace("log posterior")
    frame = trace.to_frame()
    kept = frame[~frame["burn_in"]]
    np.testing.assert_array_equal(kept["log posterior"], model.samples_.log_posterior)
    assert frame["iteration"].max() == posterior.n_iter - posterior.thin
    assert trace.rhat[""] == model.diagnostics_.loc["log posterior", "R-hat"]
    sizes = model.trace("signal size").to_frame()
    np.testing.assert_array_equal(sizes[~sizes["burn_in"]]["signal size"], model.samples_.group.sum(axis=1))


def test_edges_per_column_and_sizes_of_trees_are_those_of_the_forests(models):
    model = models["chains"]
    parent, group = model.samples_.parent, model.samples_.group
    joined = (parent >= 0) & (group == 1)
    frame = model.trace("edges").to_frame()
    np.testing.assert_allclose(frame["edges, signal"], joined.sum(axis=1) / np.maximum(group.sum(axis=1), 1))
    sizes = model.trace("tree sizes").to_frame()
    in_all = sizes["columns in a tree"] * (sizes["tree sizes, signal"] + sizes["tree sizes, noise"])
    np.testing.assert_allclose(in_all.groupby(sizes["chain"]).sum(), parent.shape[1])
    trees = sizes["tree sizes, signal"].groupby(sizes["chain"]).sum().mean()
    assert trees == pytest.approx(((parent < 0) & (group == 1)).sum(axis=1).mean())


def test_autocorrelation_begins_at_one_and_dies_away(models):
    values = models["chains"].trace("autocorrelation").lines[""]
    np.testing.assert_allclose(values[:, 0], 1)
    assert np.abs(values[:, 10:]).max() < 0.5


def test_bars_are_inclusions_and_their_lines_what_chains_disagree_about(models):
    model = models["chains"]
    ax = snb.plot.inclusion(model, max_columns=10)
    frame = model.graph(0).nodes_to_frame().head(10)
    np.testing.assert_allclose([bar.get_width() for bar in ax.patches], frame["inclusion"])
    (lines,) = ax.collections
    np.testing.assert_allclose([line[:, 0] for line in lines.get_segments()], frame[["low", "high"]])
    assert "56 more columns" in ax.get_title()


def test_the_map_of_edges_has_signal_above_and_noise_below_the_diagonal():
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, 400)
    a, c = rng.integers(0, 2, (2, 400))
    X = pd.DataFrame({"a": a, "with_a": a ^ y, "c": c, "like_c": c ^ (rng.random(400) < 0.1)}).astype(bool)
    ax = snb.plot.edges(snb.BayesianForest().fit(X, y))
    names = [label.get_text() for label in ax.get_xticklabels()]
    shares = np.asarray(ax.images[0].get_array().filled(0))
    assert set(names[:2]) == {"a", "with_a"}
    assert shares[0, 1] > 0.9
    assert shares[3, 2] > 0.9
    assert shares[1, 0] < 0.1
    assert shares[2, 3] < 0.1


def test_columns_that_are_the_same_in_all_rows_are_in_no_picture():
    X, y = make_corral()
    model = snb.BayesianForest().fit(X.assign(same=True), y)
    for draw in (snb.plot.forest, snb.plot.inclusion, snb.plot.edges):
        ax = draw(model)
        texts = [text.get_text() for text in [*ax.texts, *ax.get_yticklabels()]]
        assert "same" not in texts


@pytest.mark.parametrize(
    ("name", "shown"),
    [
        ("age", "age"),
        ("price $", r"price \$"),
        ("mean temperature of the inlet valve", "mean temperature\nof the inlet valve"),
        ("x" * 80 + "1", "x" * 12 + ".." + "x" * 12 + "\n" + "x" * 12 + ".." + "x" * 11 + "1"),
    ],
)
def test_long_names_are_broken_in_two_and_keep_their_ends(name, shown):
    assert in_box(name) == shown


@pytest.mark.parametrize("graph", ["mean", "best"])
def test_an_unknown_graph_is_named(models, graph):
    with pytest.raises(ValueError, match="graph must be 'average', 'map' or the number of a draw"):
        snb.plot.forest(models["exact"], graph)


def test_an_unknown_trace_is_named(models):
    with pytest.raises(ValueError, match="what"):
        snb.plot.trace(models["exact"], "temperature")


@pytest.mark.parametrize("draw", [snb.plot.forest, snb.plot.inclusion, snb.plot.edges, snb.plot.trace])
def test_what_is_no_forest_is_refused_by_name(draw):
    with pytest.raises(ValueError, match="NaiveBayes has no forest to draw; give a fitted BayesianForest"):
        draw(snb.NaiveBayes())
