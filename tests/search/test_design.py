"""Designs: how codes become evidence."""

import numpy as np
import pytest
from evidence_problems import random_rows

from seminaive.search.design import Rows, table_design
from seminaive.search.weighted_evidence import scores


def test_residual_moves_one_table_entry_at_a_time():
    starts, tables = np.array([0, 3, 5]), np.array([[0.0, 1.0, 2.0, 0.0, 3.0]])
    seen = np.array([False, True, True, False, True])
    design = table_design(np.zeros(1), tables, starts, residual=0.5, seen=seen)
    assert design.size == 2 + 3
    rows = Rows(np.array([[0, 1, 2], [0, 1, 0]], dtype=np.uint8), np.zeros(3, np.intp))
    weights = np.array([1.0, 1.0, 10.0, 100.0, 1000.0])
    np.testing.assert_allclose(scores(rows, design, weights), [[0.0, 1 + 5 + 3 + 500, 2 + 50]])


def test_predictors_may_be_8_bit_codes_16_bit_codes_and_numbers():
    starts, tables = np.array([0, 3, 6]), np.array([[0.0, 1.0, 2.0, 0.0, 10.0, 20.0]])
    design = table_design(
        np.zeros(1), tables, starts, source=np.array([1, 0]), wide=np.array([False, True]), dense=1, residual=1.0
    )
    assert design.size == 2 + 1 + 6
    codes = np.array([[9, 9], [1, 2]], dtype=np.uint8)
    wide = np.array([[2, 1]], dtype=np.uint16)
    rows = Rows(codes, np.zeros(2, np.intp), None, wide, np.array([[[0.5, -0.5]]]))
    weights = np.array([1.0, 1.0, 100.0, 0, 1e4, 2e4, 0, 3e6, 4e6])
    expected = [1 + 20 + 50 + 1e4 + 4e6, 2 + 10 - 50 + 2e4 + 3e6]
    np.testing.assert_allclose(scores(rows, design, weights), [expected])


def test_residual_needs_weights_per_class():
    with pytest.raises(ValueError, match="shared=False"):
        table_design(np.zeros(3), np.zeros((3, 4)), np.array([0, 4]), shared=True, residual=1.0)


def test_a_class_that_never_occurs_keeps_a_finite_place():
    design = table_design(np.array([0.0, -np.inf]), np.zeros((2, 3)), np.array([0, 3]))
    assert np.isfinite(design.offset).all()


def test_taking_rows_takes_every_part():
    rows = random_rows(0, weighted=True)
    part = rows.take(rows.label == 1)
    assert part.total == rows.weight[rows.label == 1].sum()
    np.testing.assert_array_equal(part.codes, rows.codes[:, rows.label == 1])
    assert part.codes.flags.c_contiguous
