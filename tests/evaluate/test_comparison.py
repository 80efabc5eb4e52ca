import numpy as np
import pytest
from matplotlib.figure import Figure
from scipy import stats

from seminaive.evaluate.adjust import bergmann_hommel
from seminaive.evaluate.comparison import Comparison, Failure
from seminaive.evaluate.ranks import average_ranks, friedman, rank_tests


def comparison(scores, metrics=("error",), failures=(), cv=5):
    scores = np.asarray(scores, dtype=float)
    n_sets, n_models, _, folds = scores.shape
    return Comparison(
        models=tuple("ABCDEFGH"[:n_models]),
        datasets=tuple(f"set {d}" for d in range(n_sets)),
        metrics=metrics,
        scores=scores,
        fit_seconds=np.ones((n_sets, n_models)),
        failures=failures,
        cv=cv,
        repeats=folds // cv,
        random_state=0,
    )


@pytest.fixture
def several():
    rng = np.random.default_rng(8)
    centre = rng.random((6, 1, 1, 1)) + np.arange(3).reshape(1, 3, 1, 1) * 0.2
    return comparison(centre + 0.05 * rng.normal(size=(6, 3, 1, 10)))


@pytest.fixture
def single():
    rng = np.random.default_rng(9)
    return comparison(rng.normal(0.3, 0.02, size=(1, 3, 1, 10)) + np.array([0.0, 0.01, 0.2]).reshape(1, 3, 1, 1))


def test_pairs_on_a_single_data_set_are_corrected_t_tests(single):
    table = single.pairwise()
    folds = single.scores[0, :, 0]
    assert list(zip(table["first"], table["second"], strict=True)) == [("A", "B"), ("A", "C"), ("B", "C")]
    for row, (i, j) in zip(table.itertuples(), [(0, 1), (0, 2), (1, 2)], strict=True):
        d = folds[i] - folds[j]
        t = d.mean() / np.sqrt((1 / 10 + 1 / 4) * d.var(ddof=1))
        assert row.difference == pytest.approx(d.mean())
        assert row.statistic == pytest.approx(t)
        assert row.p_value == pytest.approx(2 * stats.t.sf(abs(t), 9))
    np.testing.assert_allclose(table["adjusted_p_value"], bergmann_hommel(table["p_value"]))


def test_differences_to_one_model_have_intervals_and_holms_p_values(single):
    table = single.differences(to="B")
    assert table["model"].tolist() == ["A", "C"]
    pairs = single.pairwise()
    assert table["p_value"].tolist() == [pairs["p_value"][0], pairs["p_value"][2]]
    folds = single.scores[0, :, 0]
    for row, i in zip(table.itertuples(), (0, 2), strict=True):
        d = folds[i] - folds[1]
        away = stats.t.ppf(0.975, 9) * np.sqrt((1 / 10 + 1 / 4) * d.var(ddof=1))
        assert (row.low, row.difference, row.high) == pytest.approx((d.mean() - away, d.mean(), d.mean() + away))
    assert table["adjusted_p_value"].tolist() == pytest.approx([table["p_value"][0], 2 * table["p_value"][1]])
    narrow = single.differences(to="B", level=0.5)
    assert (narrow["high"] < table["high"]).all()
    with pytest.raises(ValueError, match="to is 'Z'"):
        single.differences("Z")
    with pytest.raises(ValueError, match="level is 1"):
        single.differences(level=1)


def test_a_model_that_never_worked_has_no_difference(single):
    scores = single.scores.copy()
    scores[0, 1] = np.nan
    table = comparison(scores).differences()
    assert table.loc[0].drop("model").isna().all()
    assert table.loc[1].notna().all()


def test_pairs_over_data_sets_are_tests_of_ranks(several):
    ranks = average_ranks(several.means())
    table = several.pairwise()
    z, p = rank_tests(ranks, n_sets=6)
    np.testing.assert_allclose(table["statistic"], z)
    np.testing.assert_allclose(table["adjusted_p_value"], bergmann_hommel(p))
    assert several.friedman() == friedman(ranks, 6)
    assert list(several.average_ranks().values()) == ranks.tolist()


def test_one_of_several_data_sets_can_be_looked_at_alone(several):
    alone = comparison(several.scores[[2]])
    np.testing.assert_array_equal(several.pairwise(dataset="set 2")["p_value"], alone.pairwise()["p_value"])


def test_scores_where_more_is_better_are_ranked_the_other_way(several):
    accuracy = comparison(1 - several.scores, metrics=("accuracy",))
    assert accuracy.average_ranks() == several.average_ranks()


def test_equal_scores_summed_in_another_order_are_a_tie():
    folds = [0.1, 0.2, 0.3, 0.7, 0.1]
    tied = comparison([[[folds], [folds[::-1]]], [[folds], [sorted(folds)]]])
    assert tied.average_ranks() == {"A": 1.5, "B": 1.5}


def test_the_model_or_data_set_that_costs_fewest_scores_is_left_out(several):
    once = comparison(several.scores, failures=(Failure("set 1", "B", 0, 0, "no"),))
    # One of three models is missing on the set, one of six sets for the model: the set goes.
    assert once.ranked() == (("A", "B", "C"), ("set 0", "set 2", "set 3", "set 4", "set 5"))
    often = comparison(several.scores, failures=tuple(Failure(f"set {d}", "B", 0, 0, "no") for d in range(3)))
    assert often.ranked() == (("A", "C"), several.datasets)


def test_folds_that_failed_for_one_model_are_left_out_of_its_pairs(single):
    scores = single.scores.copy()
    scores[0, 1, 0, :3] = np.nan
    table = comparison(scores).pairwise()
    d = scores[0, 0, 0, 3:] - scores[0, 1, 0, 3:]
    assert table["difference"][0] == pytest.approx(d.mean())
    assert table["p_value"][1] == single.pairwise()["p_value"][1]


def test_models_without_a_common_fold_are_not_tested_and_do_not_disturb(single):
    scores = single.scores.copy()
    scores[0, 0, 0, :5] = np.nan
    scores[0, 1, 0, 5:] = np.nan
    table = comparison(scores).pairwise()
    assert table["adjusted_p_value"].isna().tolist() == [True, False, False]


def test_the_frame_has_one_row_per_data_set_and_model(several):
    frame = several.to_frame()
    assert list(frame.columns) == ["dataset", "model", "error", "error_se", "fit_seconds", "failures"]
    assert len(frame) == 18
    picked = frame[(frame["dataset"] == "set 4") & (frame["model"] == "B")]
    assert picked["error"].item() == pytest.approx(several.scores[4, 1, 0].mean())
    assert picked["error_se"].item() == pytest.approx(np.sqrt((0.1 + 0.25) * several.scores[4, 1, 0].var(ddof=1)))


def test_the_text_shows_scores_ranks_and_tests(several, single):
    text = str(several)
    assert text.startswith("3 models on 6 data sets: 2 x 5-fold cross-validation from seed 0")
    assert "average rank 1.00 2.00 3.00" in " ".join(text.split())
    assert "Friedman chi2 = 12.00" in text
    assert "A - C" in text
    assert repr(single) == str(single)
    assert "corrected resampled t test" in str(single)


def test_the_text_of_models_that_all_failed_still_reads():
    lost = comparison(np.full((2, 2, 1, 5), np.nan), failures=(Failure("set 0", "A", 0, 0, "ValueError: no"),))
    assert "A failed on set 0 in 1 of 5 folds: ValueError: no" in str(lost)
    with pytest.raises(ValueError, match="need at least two"):
        lost.friedman()


def test_a_pair_that_is_the_only_one_reads_too():
    alone = comparison(np.full((1, 1, 1, 5), 0.25))
    assert "A  0.250 (.000)" in str(alone)
    with pytest.raises(ValueError, match="nothing to plot"):
        alone.plot()


def test_the_plot_shows_ranks_over_data_sets_and_scores_on_one(several, single):
    over, alone = Figure().add_subplot(), Figure().add_subplot()
    assert several.plot(ax=over) is over
    assert over.get_xlabel() == "average rank"
    single.plot(ax=alone)
    assert alone.get_xlabel() == "error on set 0"
    assert len(alone.texts) == 3


def test_an_unknown_metric_or_data_set_is_named(several):
    with pytest.raises(ValueError, match="metric is 'auc'; this comparison has 'error'"):
        several.means("auc")
    with pytest.raises(ValueError, match="dataset is 'iris'"):
        several.pairwise(dataset="iris")
