"""Selectors keep columns of whatever table they are given, and hand back a table of the same kind."""

from __future__ import annotations

from typing import Any

import narwhals as nw
import numpy as np
import numpy.typing as npt
from sklearn.feature_selection import SelectorMixin
from sklearn.utils.validation import check_is_fitted, validate_data

from seminaive.table.dask import is_dask
from seminaive.table.frames import open_frame
from seminaive.table.scan import Scan
from seminaive.table.table import Table


class ColumnSelector(SelectorMixin):  # type: ignore[misc, unused-ignore]
    """A selector whose ``support_`` says which columns to keep.

    Offers ``transform``, ``fit_transform``, ``get_support``, ``get_feature_names_out`` and ``inverse_transform``.
    """

    support_: npt.NDArray[np.bool_]

    def _get_support_mask(self) -> npt.NDArray[np.bool_]:
        check_is_fitted(self, "support_")
        return self.support_

    def transform(self, X: Any) -> Any:
        """The chosen columns of X, in a table of the same kind.

        Parameters
        ----------
        X : pandas, Polars, Arrow or Dask table, NumPy array, SciPy sparse matrix
            With the columns seen in ``fit``.
        """
        check_is_fitted(self, "support_")
        if isinstance(X, (Table, Scan)):
            raise ValueError(
                f"transform needs rows to take columns from, not a {type(X).__name__}; "
                "use predict, or pass the names from get_feature_names_out() where the rows are read"
            )
        chosen = np.flatnonzero(self.support_)
        if is_dask(X):
            names = list(getattr(self, "feature_names_in_", range(len(self.support_))))
            if list(X.columns) != names:
                raise ValueError(f"the columns {list(X.columns)} are not those seen in fit, {names}")
            return X[[X.columns[j] for j in chosen]]
        open_frame(X)
        validate_data(self, X, reset=False, skip_check_array=True)
        return take_columns(X, chosen)


def take_columns(X: Any, chosen: npt.NDArray[np.int64]) -> Any:
    """Some columns of any table in memory."""
    native = nw.from_native(X, eager_only=True, pass_through=True)
    if isinstance(native, nw.DataFrame):
        if hasattr(X, "iloc"):
            return X.iloc[:, chosen]
        return native[:, chosen.tolist()].to_native()
    if hasattr(X, "tocsc") and hasattr(X, "nnz"):
        return X.tocsc()[:, chosen].asformat(X.format)
    return (X if isinstance(X, np.ndarray) else np.asarray(X))[:, chosen]
