"""One piece of work on the rows of `scale_rows` in a process of its own: its times, its peak of memory, its answer.

python -m benchmarks.scale_work NAME FOLDER FILES [MEGABYTES]     prints one line of JSON

The work is done once before on a few rows, so that nothing is compiled or imported while it is measured. All workers
use one thread. The peer models get what they need to know beforehand (classes, levels); ours find it out.
"""

from __future__ import annotations

import json
import resource
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
from pyarrow import parquet

from benchmarks.scale_rows import LEVELS, NUMERIC, TARGET, TEXT

BATCH = 65_536
Paths = Sequence[Path]


def naive_bayes(paths: Paths, **options: Any) -> Any:
    from seminaive import NaiveBayes, scan_parquet

    with tempfile.TemporaryDirectory(dir=paths[0].parent) as cache:
        return NaiveBayes(n_jobs=1, **options).fit(scan_parquet(paths, TARGET, cache=cache))


def ours(paths: Paths) -> Any:
    """Levels and classes, then moments and counts: two readings of the files."""
    model = naive_bayes(paths)
    return model.class_count_, model.sums_.moments.mean, [model.counts_[name] for name in TEXT]


def ours_in_bins(paths: Paths) -> Any:
    """Exact quantiles of every numeric column, rows encoded on disk, counts."""
    return naive_bayes(paths, numeric="bins").class_count_, None, None


def passes(paths: Paths) -> dict[str, float]:
    """CPU seconds of each pass of a fit with bins, one after the other, and bytes of the encoded rows."""
    from seminaive import scan_parquet
    from seminaive.table.discretize import binned
    from seminaive.table.exact_quantiles import quantile_bins

    found: dict[str, float] = {}

    def timed(name: str, work: Callable[[], Any]) -> Any:
        begin = time.process_time()
        result = work()
        found[name] = time.process_time() - begin
        return result

    with tempfile.TemporaryDirectory(dir=paths[0].parent) as cache:
        scan = scan_parquet(paths, TARGET, cache=cache)
        table = timed("learn", lambda: scan.table(1))
        timed("gaussian", lambda: (table.counts(1), table.moments(1)))
        cuts = timed("quantiles", lambda: quantile_bins(table, 10, 1))
        coded = timed("encode", lambda: binned(table, cuts, 1))
        times = []
        for _ in range(3):
            timed("count", lambda: coded.counts(1))
            times.append(found["count"])
        found["count"] = float(np.median(times))
        found["bytes"] = sum(f.stat().st_size for f in Path(cache).rglob("*.part"))
        found["rows"] = coded.n_rows
    return found


def predict(paths: Paths) -> Any:
    """A class and two probabilities for every row, written to a Parquet file."""
    from seminaive import scan_parquet

    model = naive_bayes(paths[:1])
    with tempfile.TemporaryDirectory(dir=paths[0].parent) as out:
        begin = time.process_time()
        rows = model.predict_parquet(scan_parquet(paths, columns=[*NUMERIC, *TEXT]), Path(out) / "out.parquet")
        return {"rows": rows, "predict": time.process_time() - begin}


def scikit_learn(paths: Paths) -> Any:
    """GaussianNB and CategoricalNB, batch by batch, text translated by its known levels."""
    from sklearn.naive_bayes import CategoricalNB, GaussianNB

    gaussian, categorical = GaussianNB(), CategoricalNB(min_categories=len(LEVELS))
    levels = pa.array(LEVELS)
    for path in paths:
        with parquet.ParquetFile(path, read_dictionary=TEXT, pre_buffer=False) as file:
            for batch in file.iter_batches(BATCH, use_threads=False):
                y = batch.column(TARGET).to_numpy()
                numbers = np.column_stack([batch.column(name).to_numpy() for name in NUMERIC])
                codes = np.column_stack([_codes(batch.column(name), levels) for name in TEXT])
                gaussian.partial_fit(numbers, y, classes=[0, 1])
                categorical.partial_fit(codes, y, classes=[0, 1])
    return gaussian.class_count_, gaussian.theta_, categorical.category_count_


def _codes(column: Any, levels: Any) -> Any:
    import pyarrow.compute as pc

    place = pc.index_in(column.dictionary, levels).to_numpy()
    return place[column.indices.to_numpy()]


def dask_ml(paths: Paths) -> Any:
    """GaussianNB of Dask-ML over the numeric columns only: it has nothing for text."""
    import dask
    import dask.dataframe as dd
    from dask_ml.naive_bayes import GaussianNB

    with dask.config.set(scheduler="synchronous"):
        frame = dd.read_parquet([str(path) for path in paths], columns=[*NUMERIC, TARGET], split_row_groups=True)
        numbers = frame.astype("float64").optimize().to_dask_array(lengths=True)
        model = GaussianNB(classes=np.array([0, 1])).fit(numbers[:, :-1], numbers[:, -1])
        count, mean, _ = dask.compute(model.class_count_, model.theta_, model.sigma_)
        return np.asarray(count), np.asarray(mean), None


def polars(paths: Paths) -> Any:
    """Group-bys of Polars: moments by class, and counts of each text column by class and level, streamed."""
    import polars as pl

    rows = pl.scan_parquet(list(paths))
    moments = [pl.len().alias("n")] + [f(pl.col(c)).alias(f"{c} {f.__name__}") for c in NUMERIC for f in (_mean, _var)]
    wishes = [rows.group_by(TARGET).agg(moments), *(rows.group_by(TARGET, c).agg(pl.len()) for c in TEXT)]
    first, *counts = pl.collect_all(wishes, engine="streaming")
    first = first.sort(TARGET)
    means = np.column_stack([first[f"{c} _mean"].to_numpy() for c in NUMERIC])
    return first["n"].to_numpy(), means, [_square(c.sort(TARGET, c.columns[1])["len"].to_numpy()) for c in counts]


def _mean(column: Any) -> Any:
    return column.mean()


def _var(column: Any) -> Any:
    return column.var()


def _square(counts: Any) -> Any:
    return counts.reshape(2, len(LEVELS))


def duckdb(paths: Paths) -> Any:
    """Group-bys of DuckDB: the same in SQL."""
    import duckdb

    with duckdb.connect(config={"threads": 1}) as connection:
        rows = f"read_parquet({[str(path) for path in paths]})"
        wanted = ", ".join(f"avg({c}), var_samp({c})" for c in NUMERIC)
        found = connection.execute(
            f"select count(*), {wanted} from {rows} group by {TARGET} order by {TARGET}"
        ).fetchnumpy()
        columns = list(found.values())
        counts = [
            connection.execute(
                f"select count(*) as n from {rows} group by {TARGET}, {c} order by {TARGET}, {c}"
            ).fetchnumpy()["n"]
            for c in TEXT
        ]
    return columns[0], np.column_stack(columns[1::2]), [_square(n) for n in counts]


def peak_megabytes() -> float:
    """The most memory that this process has had so far; what its parent had does not count."""
    status = Path("/proc/self/status")
    if status.exists():
        line = next(line for line in status.read_text().splitlines() if line.startswith("VmHWM"))
        return int(line.split()[1]) / 1024
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


WORK: dict[str, Callable[[Paths], Any]] = {
    work.__name__: work for work in (ours, ours_in_bins, passes, predict, scikit_learn, dask_ml, polars, duckdb)
}


def main(name: str, folder: Path, n_files: int, megabytes: int | None) -> None:
    paths = sorted(folder.glob("*.parquet"))[:n_files]
    work = WORK[name]
    if megabytes is not None:
        limit = megabytes * 2**20
        resource.setrlimit(resource.RLIMIT_DATA, (limit, limit))
    try:
        with tempfile.TemporaryDirectory(dir=folder) as small:
            few = Path(small) / "few.parquet"
            parquet.write_table(parquet.ParquetFile(paths[0]).read_row_group(0)[:BATCH], few, store_schema=False)
            work([few])
    except ImportError as problem:
        print(json.dumps({"missing": str(problem)}))
        return
    start = peak_megabytes()
    cpu, wall = time.process_time(), time.perf_counter()
    answer = work(paths)
    cpu, wall = time.process_time() - cpu, time.perf_counter() - wall
    found = {"cpu": cpu, "wall": wall, "start": start, "peak": peak_megabytes()}
    found["answer"] = (
        answer if isinstance(answer, dict) else [None if a is None else np.asarray(a).tolist() for a in answer]
    )
    print(json.dumps(found))


if __name__ == "__main__":
    main(sys.argv[1], Path(sys.argv[2]), int(sys.argv[3]), int(sys.argv[4]) if len(sys.argv) > 4 else None)
