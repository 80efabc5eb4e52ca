"""What is learned of columns: kinds, levels, cuts, and where their codes live."""

import numpy as np
import pandas as pd
import polars as pl
import pytest

from seminaive import encode, scan_csv
from seminaive.table.discretize import binned, column_values
from seminaive.table.encode import bin_codes, stream_blocks
from seminaive.table.exact_quantiles import quantile_bins
from seminaive.table.facts import ColumnFacts
from seminaive.table.schema import FIRST_LEVEL, MAX_LEVELS, MISSING, RARE, UNSEEN, Column, Schema

WIDE = [f"w{i % 300:03d}" for i in range(600)]


def columns_of(X, y=None, **wishes):
    labels = np.arange(len(X)) % 2 if y is None else y
    return encode(X, labels, **wishes).schema.columns


def codes_of(X, rows=None, **wishes):
    """Codes of the first column, in row order, for the training rows or for others."""
    schema = encode(X, np.arange(len(X)) % 2, **wishes).schema
    blocks = list(stream_blocks(schema, X if rows is None else rows))
    home = "codes8" if schema.columns[0].n_codes <= 256 else "codes16"
    return np.concatenate([getattr(block, home)[0] for block in blocks]).tolist()


def test_codes_are_0_for_never_seen_1_for_missing_and_levels_from_2():
    X = pd.DataFrame({"a": ["b", None, "a"]})
    assert (UNSEEN, MISSING, FIRST_LEVEL) == (0, 1, 2)
    assert codes_of(X) == [3, 1, 2]
    assert codes_of(X, pd.DataFrame({"a": ["z", "a", None, ""]})) == [0, 2, 1, 0]


def test_only_levels_that_occur_are_levels():
    X = pd.DataFrame({"a": pd.Categorical(["c", "a"], categories=["a", "b", "c", "d"])})
    assert columns_of(X)[0].levels == ("a", "c")
    frame = pl.DataFrame({"a": pl.Series(["c", "a"], dtype=pl.Enum(["d", "c", "b", "a"]))})
    assert columns_of(frame)[0].levels == ("a", "c")
    assert columns_of(X, sample_weight=[0, 1])[0].levels == ("a",)


def test_declared_levels_are_kept_in_their_order_though_they_do_not_occur():
    X = pd.DataFrame({"a": ["c", "a"], "n": [3, 1]})
    wide, number = columns_of(X, levels={"a": ["c", "b", "a"], "n": [1, 2, 3]})
    assert wide.levels == ("c", "b", "a")
    assert (number.kind, number.levels) == ("nominal", (1, 2, 3))
    with pytest.raises(ValueError, match="column 'a' holds 'c', which is not among its declared levels"):
        columns_of(X, levels={"a": ["a", "b"]})


def test_numbers_can_be_declared_nominal_by_name_position_and_mask():
    X = pd.DataFrame({"a": [2.0, np.nan, 1.0], "b": [0.5, 1.5, 0.5]})
    for nominal in (["a"], "a", [0], [True, False], np.array([True, False])):
        first, second = columns_of(X, nominal=nominal)
        assert (first.kind, first.levels, second.kind) == ("nominal", (1, 2), "numeric")
        assert type(first.levels[0]) is int
    assert columns_of(X, nominal=["b"])[1].levels == (0.5, 1.5)


def test_rare_levels_are_folded_into_one_and_new_ones_are_not():
    X = pd.DataFrame({"a": ["x"] * 4 + ["y"] * 3 + ["p", "q"]})
    (column,) = columns_of(X, max_levels=3)
    assert column.levels == ("x", "y", RARE)
    assert column.folded == ("p", "q")
    assert codes_of(X, pd.DataFrame({"a": ["q", "p", "x", "new", None]}), max_levels=3) == [4, 4, 2, 0, 1]
    assert columns_of(X, max_levels=4)[0].folded == ()


def test_rare_categories_fold_though_some_are_missing():
    X = pd.DataFrame({"a": pd.Categorical(["x", "x", None, "y", "z"], categories=["z", "unused", "y", "x"])})
    assert columns_of(X, max_levels=2)[0].levels == ("x", RARE)


def test_equally_frequent_levels_fold_in_sorted_order():
    forwards, backwards = (pd.DataFrame({"a": list(text)}) for text in ("abcd", "dcba"))
    assert (
        columns_of(forwards, max_levels=3)[0].levels
        == columns_of(backwards, max_levels=3)[0].levels
        == ("a", "b", RARE)
    )


def test_a_weighted_row_counts_as_its_copies_when_rare_levels_fold():
    X = pd.DataFrame({"a": ["b", "b", "c", "a"]})
    copies = pd.DataFrame({"a": ["b", "b", "c", "a", "a", "a"]})
    (weighted,), (copied,) = columns_of(X, sample_weight=[1, 1, 1, 3], max_levels=2), columns_of(copies, max_levels=2)
    assert copied.levels == ("a", RARE)
    assert weighted.levels == copied.levels


def test_more_than_65534_levels_name_the_column():
    rows = pd.DataFrame({"id": [f"n{i}" for i in range(MAX_LEVELS + 1)]})
    with pytest.raises(ValueError, match=r"column 'id' has 65535 levels; at most 65534 are possible: .* max_levels"):
        columns_of(rows)
    assert columns_of(rows, max_levels=MAX_LEVELS)[0].n_codes == 65_536


def test_the_largest_possible_column_is_coded_without_loss():
    names = np.array([f"n{i:05d}" for i in range(MAX_LEVELS)] * 2, dtype=object)
    assert codes_of(pd.DataFrame({"id": names})) == [*range(2, 65_536)] * 2


def test_columns_of_more_than_254_levels_have_16_bit_codes():
    assert Column("a", "nominal", levels=tuple(range(254))).n_codes == 256
    X = pd.DataFrame({"wide": WIDE, "narrow": ["a", "b"] * 300, "value": np.linspace(0, 1, 600)})
    table = encode(X, np.arange(600) % 2)
    (block,) = table.blocks.blocks
    assert (block.codes8.shape, block.codes16.shape, block.values.shape) == ((1, 600), (1, 600), (1, 600))
    layout = table.schema.layout
    assert (layout.narrow.tolist(), layout.wide.tolist(), layout.valued.tolist()) == ([1], [0], [2])
    assert layout.starts.tolist() == [0, 302, -1]
    assert layout.width == 302 + 4
    assert codes_of(X) == [2 + i % 300 for i in range(600)]


def test_bins_are_left_closed_at_the_cut_and_nan_is_missing():
    values = np.array([0.9, 1.0, 1.5, 2.0, 3.0, np.nan])
    cuts = np.array([1.0, 2.0])
    assert bin_codes(values, cuts).tolist() == [2, 3, 3, 4, 4, 1]
    column = Column("x", "numeric", cuts=cuts)
    assert column.is_coded
    assert (column.n_levels, column.n_codes) == (3, 5)


def test_many_cuts_need_wide_codes():
    values = np.arange(600.0)
    assert bin_codes(values, np.arange(1.0, 600.0)).tolist() == [2 + i for i in range(600)]


def test_binning_a_table_keeps_every_other_column():
    rng = np.random.default_rng(0)
    X = pd.DataFrame({"x": rng.normal(size=600), "wide": WIDE, "n": ["a", "b"] * 300, "z": rng.normal(size=600)})
    X.loc[::7, "x"] = np.nan
    y = np.arange(600) % 3
    table = encode(X, y)
    coded = binned(table, {0: np.array([-1.0, 0.0, 1.0])})
    schema, (block,) = coded.schema, coded.blocks.blocks
    assert [column.is_coded for column in schema.columns] == [True, True, True, False]
    expected = bin_codes(X["x"].to_numpy(), np.array([-1.0, 0.0, 1.0]))
    assert block.in_row_order(block.codes8)[schema.layout.slot[0]].tolist() == expected.tolist()
    np.testing.assert_array_equal(block.in_row_order(block.values)[0], X["z"])
    assert block.codes16.tolist() == table.blocks.blocks[0].codes16.tolist()
    assert binned(table, {}) is table


def test_quantile_bins_never_look_at_the_class():
    x = np.random.default_rng(0).normal(size=(200, 1))
    cuts = [quantile_bins(encode(x, y), 4)[0].tolist() for y in (np.arange(200) % 2, x[:, 0] > 0, [0] * 200)]
    expected = np.quantile(x[:, 0], [0.25, 0.5, 0.75], method="averaged_inverted_cdf")
    np.testing.assert_allclose(cuts, [expected] * 3, rtol=1e-15)


def test_column_values_are_those_of_the_rows():
    table = encode(np.array([[3.0], [1.0], [np.nan]]), [1, 0, 1], sample_weight=[1, 2, 1])
    values, weights = column_values(table, 0)
    np.testing.assert_array_equal(values, [1.0, 3.0, np.nan])
    assert weights.tolist() == [2.0, 1.0, 1.0]


@pytest.mark.parametrize(
    ("column", "code", "name"),
    [
        (Column("a", "nominal", levels=("x", 1, True)), 0, "never seen"),
        (Column("a", "nominal", levels=("x", "y")), 1, "missing"),
        (Column("a", "nominal", levels=("x", "y")), 3, "y"),
        (Column("a", "nominal", levels=("",)), 2, "''"),
        (Column("a", "numeric", cuts=np.array([1.0, 2.5])), 2, "< 1"),
        (Column("a", "numeric", cuts=np.array([1.0, 2.5])), 3, "1 to 2.5"),
        (Column("a", "numeric", cuts=np.array([1.0, 2.5])), 4, ">= 2.5"),
    ],
)
def test_codes_read_as_people_would_say_them(column, code, name):
    assert column.level_name(code) == name


def test_a_column_that_makes_no_sense_is_refused():
    with pytest.raises(ValueError, match="kind must be 'nominal' or 'numeric'"):
        Column("a", "ordinal")
    with pytest.raises(ValueError, match="cuts must increase strictly"):
        Column("a", "numeric", cuts=np.array([1.0, 1.0]))
    with pytest.raises(ValueError, match="column 'a' has 65535 levels"):
        Column("a", "nominal", levels=tuple(range(65_535)))


def test_schemas_are_the_same_if_they_code_every_cell_alike():
    column, other = Column("a", "nominal", levels=("x",)), Column("a", "nominal", levels=("y",))
    cut, uncut = Column("b", "numeric", cuts=np.array([1.0])), Column("b", "numeric")
    classes = np.array([0, 1])
    schema = Schema((column, cut), classes)
    assert schema.same_as(Schema((column, Column("b", "numeric", cuts=np.array([1.0]))), np.array([5])))
    assert not schema.same_as(Schema((other, cut), classes))
    assert not schema.same_as(Schema((column, uncut), classes))
    assert not schema.same_as(Schema((column,), classes))


def test_identifiers_draw_a_warning_and_short_or_repeated_columns_do_not():
    text = pd.DataFrame({"id": [f"n{i}" for i in range(20)]})
    with pytest.warns(UserWarning, match=r"column 'id' may be an identifier \(every value occurs once\)"):
        columns_of(text)
    with pytest.warns(UserWarning, match=r"column 0 may be an identifier \(all its whole numbers differ\)"):
        columns_of(np.arange(20)[:, None])
    columns_of(text[:19])
    columns_of(np.append(np.arange(20), 3)[:, None])
    columns_of(np.linspace(0, 1, 20)[:, None])


def test_text_with_a_label_for_most_rows_draws_a_warning():
    with pytest.warns(UserWarning, match=r"column 'id' may be an identifier \(most rows have their own value\)"):
        columns_of(pd.DataFrame({"id": [f"n{min(i, 11)}" for i in range(20)]}))
    columns_of(np.append(np.arange(12), np.arange(8))[:, None], nominal=[0])
    columns_of(pd.DataFrame({"town": [f"n{i % 10}" for i in range(20)]}))


def test_numbers_written_as_text_draw_a_warning_that_says_what_makes_them_text():
    paid = pd.DataFrame({"paid": [f"${i:,}" for i in range(995, 1014)] + ["unknown"]})
    with pytest.warns(
        UserWarning, match=r"'paid' holds numbers written as text with '\$' and ',', .*convert it to numb"
    ):
        columns_of(paid)


def test_row_numbers_are_recognised_in_pieces_and_values_that_return_are_not(tmp_path):
    rows = pd.DataFrame({"id": np.arange(900), "amount": np.tile(np.arange(30), 30), "y": np.arange(900) % 2})
    rows.to_csv(tmp_path / "rows.csv", index=False)
    with pytest.warns(UserWarning, match="identifier") as warned:
        encode(scan_csv(tmp_path / "rows.csv", "y", block_rows=30, cache=tmp_path / "cache"))
    assert [str(w.message)[:11] for w in warned] == ["column 'id'"]


def test_a_column_that_is_text_for_the_sake_of_one_value_says_so():
    labels = dict.fromkeys([*(str(i) for i in range(70_000)), "unknown"], 0)
    with pytest.raises(ValueError, match=r"at most 65534 .* \(it would be numeric but for 'unknown': make a gap of"):
        ColumnFacts("x", "codes", 80_000, labels=labels).column(None, None)
