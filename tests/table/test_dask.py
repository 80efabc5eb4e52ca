"""Rows on a cluster of processes: the same bits, a worker lost or not."""

from __future__ import annotations

import os
import pickle
import signal
import threading
import time

import numpy as np
import pandas as pd
import pytest
from greedy_search import forward_selection, search_some_fit_all

from clusters import worker_processes
from seminaive import NaiveBayes, encode, scan_parquet
from seminaive.table import scratch
from seminaive.table.cluster import share_out

ROWS, COLUMNS, FILES = 12_000, 12, 4


distributed = pytest.importorskip("distributed")


@pytest.fixture(scope="module")
def frame():
    """Coded columns that help each other, most of them a little."""
    rng = np.random.default_rng(0)
    y = rng.integers(0, 3, ROWS)
    columns = {
        f"c{j}": np.where(rng.random(ROWS) < 0.15 + 0.03 * (j % 5), (y + j) % 3, rng.integers(0, 4, ROWS))
        for j in range(COLUMNS)
    }
    return pd.DataFrame(columns).astype(str).assign(y=y)


@pytest.fixture(scope="module")
def files(frame, tmp_path_factory):
    folder = tmp_path_factory.mktemp("files")
    for i, part in enumerate(np.array_split(np.arange(ROWS), FILES)):
        frame.iloc[part].to_parquet(folder / f"{i}.parquet", row_group_size=900)
    return folder


@pytest.fixture(scope="module")
def in_memory(frame):
    return encode(frame.drop(columns="y"), frame["y"])


def on_disk(files, block_rows):
    return encode(scan_parquet(files / "*.parquet", "y", cache=files / "cache", block_rows=block_rows))


def on_cluster(files, client, block_rows=65_536):
    return encode(scan_parquet(files / "*.parquet", "y", client=client, block_rows=block_rows))


# --- a search of many passes ------------------------------------------------------------------------------------------


def test_the_search_takes_the_same_path_everywhere(files, in_memory, cluster):
    expected = forward_selection(in_memory)
    assert len(expected.columns) >= 4
    assert expected.passes in (len(expected.columns), len(expected.columns) + 1)
    for table in (
        on_disk(files, 65_536),
        on_disk(files, 333),
        on_cluster(files, cluster),
        on_cluster(files, cluster, 77),
    ):
        assert forward_selection(table) == expected


def test_a_search_on_some_rows_and_a_fit_on_all_is_the_same_everywhere(files, in_memory, cluster):
    path, counts = search_some_fit_all(in_memory, 3_000, seed=1)
    assert path.errors[-1] < path.errors[0] < 3_000
    for table in (on_disk(files, 500), on_cluster(files, cluster)):
        found, all_counts = search_some_fit_all(table, 3_000, seed=1)
        assert found == path
        assert all((all_counts[name] == counts[name]).all() for name in counts)


def test_scratch_that_never_lasts_changes_nothing(files, in_memory, monkeypatch):
    expected = forward_selection(in_memory)
    monkeypatch.setattr(scratch, "LIMIT", 0)
    assert forward_selection(in_memory) == expected
    assert forward_selection(on_disk(files, 1_000)) == expected


def kill_a_worker(client):
    """End one worker process as if its machine had failed."""
    victim = sorted(client.run(os.getpid).values())[0]
    os.kill(victim, signal.SIGKILL)


@pytest.mark.slow
def test_a_killed_worker_changes_nothing(files, in_memory):
    expected = forward_selection(in_memory)
    with worker_processes(2) as client:
        table = on_cluster(files, client)
        table.counts()
        killed = []

        def strike(number):
            if number == 3:
                killed.append(number)
                kill_a_worker(client)

        assert forward_selection(table, strike) == expected
        assert killed == [3]
        assert table.counts().tolist() == in_memory.counts().tolist()
        client.wait_for_workers(2, timeout=60)
        assert table.counts().tolist() == in_memory.counts().tolist()
        first, second = table.blocks._groups().values()  # the one that came in its place works as much as the other
        assert abs(len(first) - len(second)) <= 1


@pytest.mark.parametrize(
    ("holders", "expected"),
    [
        ([["a"], ["b"], ["a"], ["a"], ["b"]], {"a": [0, 2, 3], "b": [1, 4]}),  # nearly even: nothing moves
        ([["a"], ["a"], ["a"], ["a"], ["a"]], {"a": [0, 1, 2], "b": [3, 4]}),
        ([["a", "b"]] * 4, {"a": [0, 2], "b": [1, 3]}),
        ([[], ["gone"], [], ["a"]], {"a": [0, 2, 3], "b": [1]}),
        ([["a"]], {"a": [0], "b": []}),
    ],
)
def test_a_worker_that_holds_little_gets_its_share(holders, expected):
    assert share_out(holders, ["a", "b"]) == expected


# --- blocks and passes ------------------------------------------------------------------------------------------------


def test_blocks_are_made_once_and_stay(files, cluster):
    table = on_cluster(files, cluster)
    table.counts()
    held = {
        part.key: set(workers)
        for part, workers in zip(table.blocks.parts, cluster.who_has(table.blocks.parts).values(), strict=True)
    }
    for _ in range(3):
        table.counts()
    after = {
        part.key: set(workers)
        for part, workers in zip(table.blocks.parts, cluster.who_has(table.blocks.parts).values(), strict=True)
    }
    assert all(after.values())
    assert all(held[key] <= after[key] for key in held)


def test_a_pass_is_at_most_a_task_per_worker(files, cluster):
    table = on_cluster(files, cluster)
    assert len(table.blocks._groups()) <= len(cluster.nthreads())


def data_held(client):
    """Keys of all data on the workers."""
    return set(
        client.run_on_scheduler(lambda dask_scheduler: [k for k, t in dask_scheduler.tasks.items() if t.who_has])
    )


def test_rows_passed_over_once_leave_nothing_on_the_workers(files, cluster):
    before = data_held(cluster)
    rows = scan_parquet(files / "*.parquet", "y", client=cluster)
    model = NaiveBayes().fit(rows)
    assert len(model.predict(rows)) == ROWS
    end = time.monotonic() + 10
    while not data_held(cluster) <= before and time.monotonic() < end:
        time.sleep(0.02)  # the scheduler learns a moment later that nobody needs a result any more
    assert data_held(cluster) <= before


def first_row_of(block):
    return f"{block.first_row} "


def thread_of(block):
    time.sleep(0.01)
    return [threading.get_ident()]


@pytest.mark.slow
def test_a_pass_uses_all_threads_of_a_worker(files):
    with worker_processes(1, threads=3) as client:
        threads = on_cluster(files, client, 500).fold(thread_of)
        assert len(threads) == 28
        assert len(set(threads)) == 3


def test_workers_that_always_die_are_one_clear_error(files, cluster, monkeypatch):
    table = on_cluster(files, cluster)
    table.counts()

    def gather(futures):
        raise distributed.KilledWorker("_fold_held", None, 4)

    monkeypatch.setattr(cluster, "gather", gather)
    with pytest.raises(RuntimeError, match="workers of the Dask cluster died again and again over the same task"):
        table.counts()


def test_results_are_added_up_in_order_however_many_there_are(files, cluster):
    rows = scan_parquet([*sorted(files.glob("*.parquet"))] * 10, "y", client=cluster).table()
    expected = "".join(rows.map(first_row_of))
    assert len(rows.blocks.pieces) > 100
    assert rows.fold(first_row_of) == expected


def test_a_task_carries_its_own_file_only(files):
    rows = scan_parquet([*files.glob("*.parquet")] * 50, "y")
    alone = scan_parquet(files / "0.parquet", "y")
    size = len(pickle.dumps(rows.only(rows.pieces[-1])))
    assert size <= len(pickle.dumps(alone.only(alone.pieces[-1]))) + 100


def test_bins_are_made_where_the_blocks_are(files, cluster):
    rows = scan_parquet(files / "*.parquet", "y", client=cluster)
    assert NaiveBayes(numeric="bins").fit(rows).class_count_.sum() == ROWS


def test_partitions_must_agree(frame, cluster):
    import dask.dataframe as dd

    X, y = dd.from_pandas(frame.drop(columns="y"), npartitions=3), dd.from_pandas(frame["y"], npartitions=2)
    with pytest.raises(ValueError, match="y has 2 partitions and X has 3; give them the same partitions"):
        NaiveBayes().fit(X, y)


def test_what_is_wrong_in_a_partition_names_it(frame, cluster):
    import dask.dataframe as dd

    X = dd.from_pandas(frame[["c0"]], npartitions=3)
    weights = dd.from_pandas(pd.Series(np.where(np.arange(ROWS) == 9_000, -1.0, 1.0)), npartitions=3)
    with pytest.raises(ValueError, match=r"partition 2: sample_weight, row 1000: -1.0 is not a weight"):
        NaiveBayes().fit(X, dd.from_pandas(frame["y"], npartitions=3), weights)


def test_dask_rows_without_labels_are_refused(frame, cluster):
    import dask.dataframe as dd

    with pytest.raises(ValueError, match="fit requires y"):
        NaiveBayes().fit(dd.from_pandas(frame[["c0"]], npartitions=2))


def test_partitions_without_rows_are_passed_over(frame, cluster):
    import dask.dataframe as dd

    whole = dd.from_pandas(frame, npartitions=4)
    some = whole[whole["c0"] == "1"]
    first = whole.partitions[[0]].query("c0 == 'nothing'")
    both = dd.concat([first, some], interleave_partitions=True)
    X, y = both.drop(columns="y"), both["y"]
    expected = frame[frame["c0"] == "1"]
    model = NaiveBayes().fit(X, y)
    assert model.class_count_.tolist() == np.bincount(expected["y"]).tolist()
    assert (
        model.predict(X)
        == NaiveBayes().fit(expected.drop(columns="y"), expected["y"]).predict(expected.drop(columns="y"))
    ).all()
