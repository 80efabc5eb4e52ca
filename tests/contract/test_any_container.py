"""The same rows give the same model, whatever holds them."""

from __future__ import annotations

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from estimators import every_estimator, fitted
from scipy import sparse
from tables import messy, numbers

CONTAINERS = {
    "polars": pl.from_pandas,
    "arrow": lambda X: pa.Table.from_pandas(X, preserve_index=False),
    "arrow in pandas": lambda X: X.convert_dtypes(dtype_backend="pyarrow"),
    "nullable": lambda X: X.convert_dtypes(),
    "objects": lambda X: X.astype(object),
    "array of objects": lambda X: X.to_numpy(dtype=object),
    "lists": lambda X: X.to_numpy(dtype=object).tolist(),
    "other index": lambda X: X.set_axis(np.arange(len(X))[::-1] * 7),
    "chunks": lambda X: pa.concat_tables(
        [pa.Table.from_pandas(part, preserve_index=False) for part in (X[:33], X[33:])]
    ),
}


@every_estimator
@pytest.mark.parametrize("container", CONTAINERS)
def test_every_container_gives_the_same_model(make, container):
    X, y = messy()
    held = CONTAINERS[container](X)
    expected = fitted(make).predict_joint_log_proba(X)
    np.testing.assert_allclose(make().fit(held, y).predict_joint_log_proba(held), expected, rtol=1e-12)


@every_estimator
@pytest.mark.parametrize("hold", [pd.Series, pl.Series, pa.array, list, tuple, pd.Categorical])
def test_every_container_of_labels_gives_the_same_model(make, hold):
    X, y = messy()
    model = make().fit(X, hold(y.tolist()))
    assert model.classes_.tolist() == ["no", "perhaps", "yes"]
    np.testing.assert_array_equal(model.predict_proba(X), fitted(make).predict_proba(X))


@every_estimator
@pytest.mark.parametrize("kind", [np.float32, np.float16, np.int64, np.int8, np.uint8])
def test_every_type_of_number_gives_the_same_model(make, kind):
    X, y = numbers()
    whole = np.round(np.abs(X))
    expected = make().fit(whole, y).predict_joint_log_proba(whole)
    np.testing.assert_array_equal(make().fit(whole.astype(kind), y).predict_joint_log_proba(whole), expected)


@every_estimator
@pytest.mark.parametrize(
    "lay_out", [np.asfortranarray, lambda X: np.repeat(X, 2, axis=0)[::2], lambda X: X[:, ::-1][:, ::-1]]
)
def test_the_layout_of_an_array_does_not_matter(make, lay_out):
    X, y = numbers()
    expected = make().fit(X, y).predict_joint_log_proba(X)
    np.testing.assert_array_equal(make().fit(lay_out(X), y).predict_joint_log_proba(lay_out(X)), expected)


@every_estimator
@pytest.mark.parametrize(
    "hold", [sparse.csr_array, sparse.csc_array, sparse.coo_array, sparse.csr_matrix, sparse.lil_matrix]
)
def test_sparse_equals_dense(make, hold):
    X, y = numbers()
    weights = np.arange(len(y)) % 3
    model, other = make().fit(X, y, weights), make().fit(hold(X), y, weights)
    np.testing.assert_allclose(
        other.predict_joint_log_proba(hold(X)), model.predict_joint_log_proba(X), rtol=1e-12, atol=1e-12
    )
    np.testing.assert_array_equal(other.predict(X), model.predict(X))
