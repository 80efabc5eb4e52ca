"""Tree-augmented, k-dependence and averaged one-dependence naive Bayes: other programs' numbers, and the definition."""

import json
import os
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from dependence_definition import averaged_probabilities, family_probabilities, k_parents, tree_parents

from seminaive import AveragedOneDependence, KDependenceNB, NaiveBayes, TreeAugmentedNB, encode
from seminaive.models import one_dependence
from seminaive.statistics.mdl import mdl_cuts

TESTS = Path(__file__).parent.parent
REFERENCE = json.loads((TESTS / "reference" / "dependence.json").read_text())
ROWS = json.loads((TESTS / "data" / "forest.json").read_text())
FOLDER = os.environ.get("SEMINAIVE_DATA", "")
MODELS = [TreeAugmentedNB, KDependenceNB, AveragedOneDependence]
needs_data = pytest.mark.skipif(not FOLDER, reason="SEMINAIVE_DATA names no folder of data")
every_set = pytest.mark.parametrize("name", ["corral", "heart_mdl"])
every_model = pytest.mark.parametrize("kind", MODELS)


def rows_of(name):
    """Levels as nominal columns, and labels, of one of the reference data sets."""
    codes = np.array([list(row) for row in ROWS[name]["codes"]])
    return pd.DataFrame(codes.T).astype("category"), np.array(list(ROWS[name]["classes"]))


def listed(parents):
    return [sorted(row[row >= 0].tolist()) for row in parents]


def undirected(pairs):
    return sorted(sorted(pair) for pair in pairs.tolist())


# --- frozen values and other programs ---------------------------------------------------------------------------------


@every_set
def test_trees_and_their_probabilities_are_the_frozen_ones(name):
    X, y = rows_of(name)
    frozen = REFERENCE["frozen"][name]
    model = TreeAugmentedNB().fit(X, y)
    assert model.parents_.tolist() == frozen["tan_parents"]
    assert undirected(model.pairs_) == sorted(frozen["tan_edges"])
    np.testing.assert_allclose(model.predict_proba(X[:5]), frozen["tan_proba_first5_shrink1"], rtol=0, atol=1e-12)


@every_set
def test_parents_in_the_order_of_the_class_information_are_the_frozen_ones(name):
    X, y = rows_of(name)
    frozen = REFERENCE["frozen"][name]
    one, two = KDependenceNB(k=1).fit(X, y), KDependenceNB(k=2).fit(X, y)
    assert two.order_.tolist() == frozen["kdb_order"]
    assert listed(one.parents_) == frozen["kdb1_parents"]
    assert listed(two.parents_) == frozen["kdb2_parents"]
    none = KDependenceNB(k=0).fit(X, y).predict_proba(X[:5])
    np.testing.assert_allclose(none, frozen["naive_bayes_proba_first5_shrink1"], rtol=0, atol=1e-12)


@every_set
def test_averages_over_all_columns_are_the_frozen_ones(name):
    X, y = rows_of(name)
    found = AveragedOneDependence(leaders="all").fit(X, y).predict_proba(X[:5])
    np.testing.assert_allclose(found, REFERENCE["frozen"][name]["aode_proba_first5_shrink1"], rtol=0, atol=1e-12)


@every_set
@pytest.mark.parametrize(
    ("kind", "key"),
    [(TreeAugmentedNB, "tan"), (KDependenceNB, "k_dependence_2"), (AveragedOneDependence, "averaged_one_dependence")],
)
def test_with_a_dirichlet_prior_the_probabilities_are_those_of_pyagrum(name, kind, key):
    """pyAgrum 3.3.1: parameters learned for the same parents with useBDeuPrior(5), joint probabilities by its own."""
    X, y = rows_of(name)
    model = kind(smoothing=5, smoothing_kind="bd").fit(X, y)
    np.testing.assert_allclose(model.predict_proba(X[:5]), REFERENCE["pyagrum"][name][key], rtol=0, atol=1e-12)


@every_set
def test_trees_are_those_of_pyagrum(name):
    """pyAgrum 3.3.1 leaves out edges below half the mean information of all pairs; here all are above it."""
    X, y = rows_of(name)
    assert undirected(TreeAugmentedNB().fit(X, y).pairs_) == REFERENCE["pyagrum"][name]["tan_edges"]


def test_the_tree_of_heart_is_that_of_weka():
    """Weka 3.9.7, which also joins constant columns."""
    X, y = rows_of("heart_mdl")
    constant = np.flatnonzero(X.nunique() == 1)
    theirs = [pair for pair in REFERENCE["weka"]["trees"]["heart_mdl"] if not set(pair) & set(constant)]
    assert undirected(TreeAugmentedNB().fit(X, y).pairs_) == theirs


@needs_data
@pytest.mark.parametrize("name", ["lymphography", "vote"])
def test_trees_of_many_levels_are_those_of_weka(name):
    """Weka 3.9.7; a gap is a level."""
    data = pd.read_parquet(Path(FOLDER) / f"{name}.parquet")
    X = data.drop(columns="class").astype(object).apply(lambda c: c.where(c.notna(), "missing")).astype(str)
    assert undirected(TreeAugmentedNB().fit(X, data["class"]).pairs_) == REFERENCE["weka"]["trees"][name]


@needs_data
@pytest.mark.parametrize("name", ["iris", "heart", "glass", "vehicle"])
def test_cuts_are_those_of_weka(name):
    """Weka 3.9.7's supervised Discretize filter, 44 columns."""
    data = pd.read_parquet(Path(FOLDER) / f"{name}.parquet")
    classes = pd.Categorical(data["class"].astype(str)).codes.astype(np.int64)
    for column, cuts in REFERENCE["weka"]["cuts"][name].items():
        values = data[column].to_numpy(dtype=float)
        np.testing.assert_allclose(mdl_cuts(values, classes, classes.max() + 1), cuts, rtol=1e-14)


# --- the definition ---------------------------------------------------------------------------------------------------


def dependent_rows(seed, n=60, d=5, n_classes=3):
    """Columns of two to four levels, most depending on the class and one another; and rows with unseen values."""
    rng = np.random.default_rng(seed)
    y = rng.integers(0, n_classes, n)
    X = rng.integers(0, 4, (n, d))
    for j in range(1, d):
        X[:, j] = np.where(rng.random(n) < 0.5, X[:, j - 1] + y, X[:, j]) % rng.integers(2, 5)
    queries = np.where(rng.random((20, d)) < 0.15, 9, X[:20])
    return X, y, queries


def as_frame(X):
    return pd.DataFrame(X).astype(str)


@pytest.mark.parametrize("seed", range(6))
def test_every_model_is_its_definition(seed):
    X, y, queries = dependent_rows(seed, n_classes=2 + seed % 3)
    frame, asked = as_frame(X), as_frame(queries)
    tree = TreeAugmentedNB().fit(frame, y)
    parents = tree_parents(X, y)
    assert tree.parents_.tolist() == parents.tolist()
    families = [() if p < 0 else (p,) for p in parents]
    np.testing.assert_allclose(tree.predict_proba(asked), family_probabilities(X, y, families, queries), atol=1e-12)
    for k in (1, 3):
        model = KDependenceNB(k=k).fit(frame, y)
        assert [row[row >= 0].tolist() for row in model.parents_] == k_parents(X, y, k)
        expected = family_probabilities(X, y, k_parents(X, y, k), queries)
        np.testing.assert_allclose(model.predict_proba(asked), expected, atol=1e-12)
    for min_count in (1, 12):
        average = AveragedOneDependence(min_count=min_count).fit(frame, y)
        expected = averaged_probabilities(X, y, queries, min_count)
        np.testing.assert_allclose(average.predict_proba(asked), expected, atol=1e-12)


@every_model
def test_a_gap_is_a_level_or_says_nothing(kind):
    X, y, _ = dependent_rows(0)
    frame = as_frame(X)
    frame.iloc[::4, 1] = None
    frame.iloc[::7, 3] = None
    named = frame.fillna("a gap")
    as_level = kind().fit(frame, y).predict_proba(frame)
    np.testing.assert_allclose(as_level, kind().fit(named, y).predict_proba(named), atol=1e-12)
    silent = kind(missing="skip").fit(frame, y)
    parts = silent.contributions(frame)
    assert not parts.values[frame[1].isna(), 1].any()
    assert not np.allclose(silent.predict_proba(frame), as_level)


def test_where_gaps_say_nothing_a_pair_is_judged_by_the_rows_that_know_both():
    X, y, _ = dependent_rows(1, n=80)
    frame = as_frame(X[:, :2])
    frame.iloc[::4, 1] = None
    knows = frame[1].notna().to_numpy()
    model = TreeAugmentedNB(missing="skip").fit(frame, y)
    of_known = TreeAugmentedNB().fit(frame[knows], y[knows])
    assert model.pair_information_[0] == pytest.approx(of_known.pair_information_[0] * knows.mean(), rel=1e-11)
    term, known_term = (m.evidence_.terms[1] for m in (model, of_known))
    np.testing.assert_allclose(term.table, known_term.table, atol=1e-12)


def test_a_column_left_alone_by_its_unseen_parent_says_nothing():
    X, y, _ = dependent_rows(2)
    model = TreeAugmentedNB().fit(as_frame(X), y)
    child, parent = model.pairs_[0]
    row = as_frame(X[:1])
    row[parent] = "new"
    assert not model.contributions(row).values[0, [child, parent]].any()


@pytest.mark.parametrize(
    "model",
    [
        TreeAugmentedNB(edge_score="bd", smoothing_kind="bd"),
        KDependenceNB(smoothing_kind="bd"),
        AveragedOneDependence(smoothing_kind="bd"),
    ],
    ids=lambda model: type(model).__name__,
)
def test_a_class_whose_rows_weigh_nothing_takes_nothing_from_the_others(model):
    X, y, queries = dependent_rows(7)
    frame, asked = as_frame(X), as_frame(queries)
    without = model.fit(frame[y < 2], y[y < 2]).predict_proba(asked)
    weightless = model.fit(frame, y, sample_weight=(y < 2).astype(float))
    assert weightless.classes_.tolist() == [0, 1, 2]
    np.testing.assert_allclose(weightless.predict_proba(asked)[:, :2], without, atol=1e-12)


# --- choices ----------------------------------------------------------------------------------------------------------


def test_the_root_can_be_chosen_and_leaves_the_tree_as_it_is():
    X, y, _ = dependent_rows(3)
    frame = as_frame(X).rename(columns=lambda j: f"x{j}")
    first, other = TreeAugmentedNB().fit(frame, y), TreeAugmentedNB(root="x3").fit(frame, y)
    assert first.parents_[0] == other.parents_[3] == -1
    assert undirected(first.pairs_) == undirected(other.pairs_)
    with pytest.raises(ValueError, match="root must be a column name or None; 'x9' is not a column"):
        TreeAugmentedNB(root="x9").fit(frame, y)


@every_set
def test_edges_by_the_dirichlet_score_are_those_the_forest_finds_worth_their_price(name):
    X, y = rows_of(name)
    model = TreeAugmentedNB(edge_score="bd").fit(X, y)
    penalty = ROWS[name]["edge_penalty"][1]
    worth = {(j, k): value - penalty for j, k, value in ROWS[name]["edge_bf_signal"]}
    found = {tuple(sorted(pair)) for pair in model.pairs_.tolist()}
    assert found
    assert {pair: worth[pair] for pair in found} == pytest.approx(
        dict(zip(map(tuple, map(sorted, model.pairs_.tolist())), model.pair_information_, strict=True)), abs=1e-9
    )
    tree = {j: j for j in range(X.shape[1])}
    for j, k in sorted(worth, key=lambda pair: (-round(worth[pair], 12), pair)):
        if worth[j, k] > 0 and tree[j] != tree[k]:
            gone = tree[k]
            tree = {node: tree[j] if root == gone else root for node, root in tree.items()}
            found.remove((j, k))
    assert not found


def test_few_leaders_are_the_most_telling_columns():
    X, y, _ = dependent_rows(4)
    frame = as_frame(X)
    telling = np.argsort(-KDependenceNB().fit(frame, y).class_information_)[:2]
    model = AveragedOneDependence(leaders=2).fit(frame, y)
    assert model.parents_.tolist() == sorted(telling.tolist())
    everyone = AveragedOneDependence(leaders=99).fit(frame, y)
    assert everyone.parents_.tolist() == list(range(5))
    assert not np.allclose(model.predict_proba(frame), everyone.predict_proba(frame))


def test_leaders_beyond_the_room_there_is_are_one_sentence(monkeypatch):
    X, y, _ = dependent_rows(5)
    monkeypatch.setattr(one_dependence, "MOST_CELLS", 800)
    with pytest.raises(ValueError, match=r"5 leading columns need tables of [\d,]+ cells.*leaders=1 or fewer"):
        AveragedOneDependence().fit(as_frame(X), y)
    assert len(AveragedOneDependence(leaders=1).fit(as_frame(X), y).parents_) == 1


@every_model
@pytest.mark.parametrize(
    ("wish", "sentence"),
    [
        ({"numeric": "gaussian"}, "numeric must be one of 'mdl', 'bins'"),
        ({"missing": "drop"}, "missing must be one of 'value', 'skip'"),
        ({"smoothing_kind": "level"}, "smoothing_kind must be one of 'shrink', 'bd'"),
        ({"smoothing": -1}, "smoothing must be a number >= 0"),
    ],
)
def test_a_wrong_wish_is_one_sentence(kind, wish, sentence):
    with pytest.raises(ValueError, match=sentence):
        kind(**wish).fit([[0], [1]], [0, 1])


@pytest.mark.parametrize(
    ("model", "sentence"),
    [
        (KDependenceNB(k=-1), "k must be a whole number >= 0"),
        (TreeAugmentedNB(edge_score="mdl"), "edge_score must be one of 'information', 'bd'"),
        (AveragedOneDependence(leaders=0), "leaders must be a whole number >= 1"),
        (AveragedOneDependence(leaders="some"), "leaders must be one of 'varying', 'all'"),
        (AveragedOneDependence(min_count=-1), "min_count must be a number >= 0"),
    ],
)
def test_a_wrong_wish_of_one_model_is_one_sentence(model, sentence):
    with pytest.raises(ValueError, match=sentence):
        model.fit([[0], [1]], [0, 1])


# --- words and sizes --------------------------------------------------------------------------------------------------


def test_an_explanation_names_the_column_and_its_parent():
    X, y = rows_of("corral")
    X = X.rename(columns=lambda j: f"x{j}")
    model = TreeAugmentedNB().fit(X, y)
    assert "x1 | x0  0 | 0 " in str(model.explain(X[:1]))
    assert "5.23  x1 | x0" in str(model.explain())
    assert "strongest dependences (column | parent, shared information given the class in nats): x1 | x0 0.117" in (
        model.summary()
    )
    assert "x2 | x0, x1  0 | 0, 0 " in str(KDependenceNB().fit(X, y).explain(X[:1]))
    assert "5 of 6 columns lead in turn" in AveragedOneDependence(leaders=5).fit(X, y).summary()


def test_a_number_is_shown_with_its_bin_and_a_parent_by_its_bin_alone():
    levels = np.arange(400) % 4
    y = np.arange(400) % 5 < levels
    model = TreeAugmentedNB().fit(pd.DataFrame({"a": levels * 1.0, "b": levels * 2.0}), y)
    assert model.parents_.tolist() == [-1, 0]
    text = str(model.explain(pd.DataFrame({"a": [0.0], "b": [0.0]})))
    bins = [column.level_name(2) for column in model.evidence_.schema.columns]
    assert f"b | a    0 ({bins[1]}) | {bins[0]}  " in text


@every_model
def test_independent_columns_are_naive_bayes(kind):
    X = pd.DataFrame([(a, b) for a in "uv" for b in "pq"] * 4)
    y = np.repeat([0, 1], 8)
    model = kind().fit(X, y)
    assert "this is naive Bayes" in model.summary()
    assert len(model.pairs_) == 0
    plain = NaiveBayes(smoothing_kind="pooled", missing="value").fit(X, y)
    np.testing.assert_allclose(model.predict_proba(X), plain.predict_proba(X), atol=0.02)


@every_model
@pytest.mark.parametrize("n_classes", [1, 2, 26])
@pytest.mark.parametrize("d", [1, 2, 12])
def test_one_column_or_many_and_one_class_or_26_have_an_answer(kind, n_classes, d):
    rng = np.random.default_rng(0)
    y = np.arange(200) % n_classes
    X = (y[:, None] + rng.integers(0, 3, (200, d))) % 5
    X[:, d // 2 :] = X[:, d // 2 :] if d < 3 else np.where(X[:, d // 2 :] > 2, 1, 0)
    found = kind().fit(pd.DataFrame(X).astype(str), y).predict_proba(pd.DataFrame(X).astype(str))
    assert found.shape == (200, n_classes)
    np.testing.assert_allclose(found.sum(axis=1), 1, atol=1e-12)


def test_many_strips_of_columns_give_the_same_tree_and_parents(monkeypatch):
    from seminaive.table import pair_scores

    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, 300)
    X = pd.DataFrame((rng.integers(0, 3, (300, 40)) + y[:, None] * (np.arange(40) % 2)) % 3).astype(str)
    table = encode(X, y)
    whole = [model.fit(table) for model in (TreeAugmentedNB(), KDependenceNB(), AveragedOneDependence(leaders=5))]
    strips = pair_scores.pair_strips
    monkeypatch.setattr(pair_scores, "pair_strips", lambda rows, n_jobs, _: strips(rows, n_jobs, 10_000))
    assert sum(1 for _ in pair_scores.scored_strips(table)) > 5
    for model in whole:
        again = type(model)(**model.get_params()).fit(table)
        np.testing.assert_array_equal(again.parents_, model.parents_)
        np.testing.assert_array_equal(again.pairs_, model.pairs_)
        np.testing.assert_array_equal(again.predict_joint_log_proba(X), model.predict_joint_log_proba(X))


@pytest.mark.slow
@pytest.mark.parametrize("kind", [TreeAugmentedNB, KDependenceNB])
def test_four_thousand_columns_need_no_table_of_all_pairs(kind):
    import tracemalloc

    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, 200)
    table = encode(pd.DataFrame(rng.integers(0, 2, (200, 4000)).astype(bool)), y)
    tracemalloc.start()
    model = kind().fit(table)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert (model.parents_ >= 0).any()
    assert peak < 400e6
