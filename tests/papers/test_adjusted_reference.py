"""The array-level reference values of the adjusted probability models, computed independently in long double."""

import numpy as np
import pytest
from adjusted_sets import coded_set, generated, reference

from seminaive.search.design import Rows, table_design
from seminaive.search.penalty import left_out
from seminaive.search.ridge import FINAL, Restraint, begin, newton, scale
from seminaive.search.size import fit_size
from seminaive.search.unrestricted import fit_unrestricted
from seminaive.search.weighted_evidence import scores
from seminaive.statistics.adjustment import class_adjustments, density_log_odds, left_out_log_odds
from seminaive.statistics.kernel_density import density_support, kernel_density
from seminaive.statistics.quantiles import weighted_quantiles

SMALL = reference("small")
KINDS = {
    "none_L0": (0, "none"),
    "laplace_half_L1": (1, "half"),
    "laplace_half_L0.08333": ("1/n", "half"),
    "laplace_likelihood_L1": (1, "likelihood"),
    "prior_L1": (1, "class"),
}
CLOSE = {"rtol": 1e-8, "atol": 1e-10}


def best(problem, penalty, restraint=None):
    restraint = Restraint() if restraint is None else restraint
    return newton(problem, penalty, begin(problem, restraint.centre), restraint, FINAL)


def bits(fit, rows):
    return fit.sums.value / rows / np.log(2)


def check_tables(sets, table, expected):
    for column, values in enumerate(expected):
        for value, q in values.items():
            np.testing.assert_allclose(table[..., sets.entry(column, value)], q, atol=1e-10, rtol=1e-11)


@pytest.mark.parametrize("name", list(KINDS))
def test_twelve_rows_under_every_smoothing(name):
    tiny, expected = SMALL["tiny"], SMALL["tiny"]["smoothing"][name]
    sets = coded_set(tiny["columns"], tiny["y"])
    problem = sets.against_rest(1, *KINDS[name])
    design = problem.design
    check_tables(sets, design.tables[0], expected["q_tables"])
    np.testing.assert_allclose(scale(problem), expected["grid_scale_s"], **CLOSE)
    test = sets.code(tiny["test_columns"])
    naive = scores(test, design, np.ones(3))[0]
    np.testing.assert_allclose(1 / (1 + np.exp(-naive)), expected["nb_prob_test_alpha1"], **CLOSE)

    free, separable = fit_unrestricted(problem, scale(problem))
    assert not separable
    np.testing.assert_allclose(free.weights, expected["apm"]["alpha"], **CLOSE)
    np.testing.assert_allclose(bits(free, 12), expected["apm"]["loss_train_bits"], **CLOSE)
    adjusted = scores(test, design, free.weights)[0]
    np.testing.assert_allclose(1 / (1 + np.exp(-adjusted)), expected["apm"]["prob_test"], **CLOSE)
    for case in expected["apm_m"]:
        fit = fit_size(problem, case["m"], free)
        np.testing.assert_allclose(fit.weights, case["alpha"], **CLOSE)
        np.testing.assert_allclose(fit.penalty, case["lambda"], **CLOSE)

    ridge = expected["ridge"]
    fit = best(problem, ridge["lam"])
    np.testing.assert_allclose(fit.weights, ridge["alpha"], **CLOSE)
    np.testing.assert_allclose(best(problem, ridge["lam"], Restraint(1.0)).weights, ridge["alpha_centre1"], **CLOSE)
    bounded = best(problem, ridge["lam"], Restraint(nonnegative=True))
    np.testing.assert_allclose(bounded.weights, ridge["alpha_nonneg"], **CLOSE)
    np.testing.assert_allclose(left_out(problem)(fit), ridge["alo_loss_bits"], **CLOSE)


def test_simpson_reverses_the_sign_of_the_treatment():
    expected = SMALL["simpson"]
    sex, treatment, recovered, count = zip(*expected["rows"], strict=True)
    columns = [np.repeat(sex, count).tolist(), np.repeat(treatment, count).tolist()]
    sets = coded_set(columns, np.repeat(recovered, count))
    problem = sets.against_rest(1, 0, "none")
    check_tables(sets, problem.design.tables[0], expected["q_tables"].values())
    fit, _ = fit_unrestricted(problem, scale(problem))
    np.testing.assert_allclose(fit.weights, expected["alpha"], **CLOSE)
    np.testing.assert_allclose(bits(fit, 80), expected["loss_bits"], **CLOSE)
    naive = problem.sums(np.ones(2), 0).value / 80 / np.log(2)
    np.testing.assert_allclose(naive, expected["loss_bits_nb_alpha1"], **CLOSE)


def test_generated_set_with_a_duplicate_and_a_constant_column():
    expected = SMALL["generated_binary"]
    sets = generated(expected["SEED"], expected["N"], 2)
    assert np.bincount(sets.labels).tolist() == expected["check"]["class_counts"]
    problem = sets.against_rest(1)
    check_tables(sets, problem.design.tables[0], expected["q_tables"])
    np.testing.assert_allclose(scale(problem), expected["grid_scale_s"], **CLOSE)
    free, separable = fit_unrestricted(problem, scale(problem))
    assert not separable
    np.testing.assert_allclose(free.weights, expected["apm_min_norm"]["alpha"], **CLOSE)
    fit = begin(problem)
    for step in expected["path"]:
        fit = newton(problem, step["lam"], fit, tolerance=FINAL)
        np.testing.assert_allclose(fit.weights, step["alpha"], **CLOSE)
        np.testing.assert_allclose(bits(fit, 300), step["loss_train_bits"], **CLOSE)
        np.testing.assert_allclose(left_out(problem)(fit), step["alo_loss_bits"], **CLOSE)
    sized = fit_size(problem, 1.0, free)
    np.testing.assert_allclose(sized.weights, expected["apm_m_1"]["alpha"], **CLOSE)
    np.testing.assert_allclose(sized.penalty, expected["apm_m_1"]["lambda"], **CLOSE)
    for name, restraint in (("nonneg", Restraint(nonnegative=True)), ("centre1", Restraint(1.0))):
        fit = best(problem, expected[name]["lam"], restraint)
        np.testing.assert_allclose(fit.weights, expected[name]["alpha"], **CLOSE)


def test_generated_set_with_a_residual_for_every_value():
    expected = SMALL["generated_binary"]["per_value_residual"]
    sets = generated(SMALL["generated_binary"]["SEED"], 300, 2)
    plain = sets.against_rest(1).design
    seen = sets.counts.sum(axis=0) > 0
    design = table_design(plain.offset, plain.tables, sets.starts, residual=expected["kappa"], seen=seen)
    fit = best(sets.problem(design), expected["lam"])
    np.testing.assert_allclose(fit.weights[:8], expected["alpha"], **CLOSE)
    delta = [value for column in expected["delta"].values() for value in column.values()]
    np.testing.assert_allclose(fit.weights[8:], delta, **CLOSE)
    np.testing.assert_allclose(bits(fit, 300), expected["loss_train_bits"], **CLOSE)


def test_generated_set_with_each_row_left_out_of_its_own_table():
    expected = SMALL["generated_binary"]["loo_q_first3_rows"]
    sets = generated(SMALL["generated_binary"]["SEED"], 300, 2)
    table = left_out_log_odds(sets.counts, sets.starts, np.bincount(sets.labels).astype(float))
    place = sets.starts[:-1, None] + sets.codes[:, :3]
    np.testing.assert_allclose(table[sets.labels[:3], place].T, expected, atol=1e-10)


def test_separable_classes_along_the_path():
    expected = SMALL["separable"]
    sets = coded_set(expected["columns"], expected["y"])
    problem = sets.against_rest(1)
    fit = begin(problem)
    for step in expected["path"]:
        fit = newton(problem, step["lam"], fit, tolerance=FINAL)
        np.testing.assert_allclose(fit.weights, step["alpha"], rtol=1e-7, atol=1e-10)
        np.testing.assert_allclose(bits(fit, 8), step["loss_bits"], rtol=1e-6)
    held, separable = fit_unrestricted(problem, scale(problem))
    assert separable
    np.testing.assert_allclose(held.weights, expected["path"][-1]["alpha"], rtol=1e-7, atol=1e-10)
    bare = sets.against_rest(1, 0, "none").design.tables[0]
    check_tables(sets, bare, expected["no_smoothing"]["q_tables"])


@pytest.mark.parametrize(("shared", "name"), [(True, "softmax_shared"), (False, "softmax_per_class")])
def test_three_classes_with_softmax(shared, name):
    expected = SMALL["generated_three_class"]
    sets = generated(expected["SEED"], expected["N"], 3)
    assert np.bincount(sets.labels).tolist() == expected["check"]["class_counts"]
    tables = class_adjustments(sets.counts, sets.starts, sets.prior)
    for column, values in enumerate(expected["g_tables"]):
        for value, g in values.items():
            np.testing.assert_allclose(tables[:, sets.entry(column, value)], g, atol=1e-11)
    problem, case = sets.softmax(shared), expected[name]
    fit = best(problem, case["lam"])
    np.testing.assert_allclose(fit.weights, np.ravel(case["weights"]), **CLOSE)
    np.testing.assert_allclose(bits(fit, 150), case["loss_train_bits"], **CLOSE)
    np.testing.assert_allclose(left_out(problem)(fit), case["alo_loss_bits"], rtol=1e-8)
    score = scores(Rows(sets.codes[:, :3], sets.labels[:3]), problem.design, fit.weights)
    probability = np.exp(score) / np.exp(score).sum(axis=0)
    np.testing.assert_allclose(probability.T, case["prob_first3_rows"], **CLOSE)


def test_three_classes_one_against_the_rest():
    expected = SMALL["generated_three_class"]
    sets = generated(expected["SEED"], expected["N"], 3)
    logit = []
    for k, alpha in enumerate(expected["ovr"]["alpha"]):
        problem = sets.against_rest(k)
        fit = best(problem, expected["ovr"]["lam"])
        np.testing.assert_allclose(fit.weights, alpha, **CLOSE)
        logit.append(scores(Rows(sets.codes, sets.labels), problem.design, fit.weights)[0])
    p = 1 / (1 + np.exp(-np.array(logit)))
    np.testing.assert_allclose(p.T[:3], expected["ovr"]["p_first3_rows_unnormalised"], **CLOSE)
    own = sets.labels, np.arange(150)
    normalised, odds = p / p.sum(axis=0), p / (1 - p) / (p / (1 - p)).sum(axis=0)
    np.testing.assert_allclose(-np.log2(normalised[own]).mean(), expected["ovr"]["loss_train_bits_normalised"], **CLOSE)
    np.testing.assert_allclose(-np.log2(odds[own]).mean(), expected["ovr"]["loss_train_bits_odds_normalised"], **CLOSE)


def test_density_log_odds_of_a_numeric_column():
    expected = SMALL["numeric"]
    x, y, test = (np.array(expected[key]) for key in ("x", "y", "x_test"))
    groups = [x[y == k] for k in (0, 1)]
    variance = [group.var() + 1e-9 * x.var() for group in groups]
    normal = [-0.5 * (np.log(v) + (test - g.mean()) ** 2 / v) for g, v in zip(groups, variance, strict=True)]
    np.testing.assert_allclose(density_log_odds(np.array(normal)), expected["gaussian_q_test"], rtol=1e-10)
    support = density_support(x)
    counts = np.array([[(group == point).sum() for point in support] for group in groups])
    smooth = kernel_density(support, counts).log_density(test)
    np.testing.assert_allclose(density_log_odds(smooth), expected["kde_q_test"], rtol=1e-9, atol=1e-10)
    edges = np.quantile(x, [0.2, 0.4, 0.6, 0.8])
    np.testing.assert_allclose(edges, expected["quantile_edges"])
    assert np.searchsorted(edges, x, side="right").tolist() == expected["quantile_codes"]
    assert len(weighted_quantiles(x, np.array([0.2, 0.4, 0.6, 0.8]))) == 4
