"""The places where rows can be: the same rows in files of several shapes, on a cluster, in a Dask DataFrame."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
from pyarrow import parquet

from seminaive import encode, scan_parquet

FILES = 3


def write_files(folder, X, y, weights=None, row_group_size=17):
    """The rows in several Parquet files of several row groups each."""
    folder.mkdir(parents=True, exist_ok=True)
    frame = X.assign(**{"the class": y})
    if weights is not None:
        frame["the weight"] = np.asarray(weights, dtype=np.float64)
    for i, rows in enumerate(np.array_split(np.arange(len(frame)), FILES)):
        part = pa.Table.from_pandas(frame.iloc[rows], preserve_index=False)
        parquet.write_table(part, folder / f"part {i}.parquet", row_group_size=row_group_size)
    return folder


def scan(folder, weights, **options):
    """The files as a scan; its cache folder is beside them."""
    weight = None if weights is None else "the weight"
    return scan_parquet(folder / "*.parquet", "the class", weight=weight, cache=folder / "cache", **options)


def on_disk(folder, X, y, weights, block_rows):
    """Files that are read anew in every pass."""
    return scan(write_files(folder, X, y, weights), weights, block_rows=block_rows)


def encoded_on_disk(folder, X, y, weights):
    """Files encoded once, with every block in several row groups."""
    return encode(scan(write_files(folder, X, y, weights, row_group_size=29), weights, block_rows=13))


def files_on_a_cluster(folder, X, y, weights, client):
    """Files that the workers read."""
    return scan(write_files(folder, X, y, weights), weights, client=client, block_rows=1000)


def frame_on_a_cluster(X, y, weights):
    """Arguments of ``fit``: a Dask DataFrame, labels and weights of the same partitions."""
    import dask.dataframe as dd
    import pandas as pd

    X = X.assign(flag=X["flag"].astype("boolean"))  # Dask would turn a column of objects into text
    labels = dd.from_pandas(pd.Series(y, dtype="str", name="y"), npartitions=FILES)
    shares = None if weights is None else dd.from_pandas(pd.Series(weights, name="w"), npartitions=FILES)
    return dd.from_pandas(X, npartitions=FILES), labels, shares
