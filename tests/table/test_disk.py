"""Encoded rows on disk: right after a kill, gone when nobody needs them, one clear error when there is no room."""

from __future__ import annotations

import errno
import gc
import json
import os
import resource
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from seminaive import NaiveBayes, encode, scan_parquet
from seminaive.table import disk, parts
from seminaive.table.disk import CacheFolder, content_key
from seminaive.table.parts import read_part, rows_of_part, write_part


@pytest.fixture
def rows(tmp_path):
    """A function that scans a file of ten row groups, its cache in the same folder."""
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(
        {"x": rng.normal(size=5_000), "c": rng.choice(["a", "b"], 5_000), "y": rng.integers(0, 2, 5_000)}
    )
    frame.to_parquet(tmp_path / "rows.parquet", row_group_size=500)

    def scan(**options):
        return scan_parquet(tmp_path / "rows.parquet", "y", cache=tmp_path / "cache", **options)

    return scan


@pytest.fixture
def cache(tmp_path):
    return tmp_path / "cache"


def contents(folder):
    gc.collect()
    return sorted(path.relative_to(folder).as_posix() for path in folder.rglob("*")) if folder.exists() else []


# --- killed -----------------------------------------------------------------------------------------------------------


def run_and_kill(folder, times, seed):
    script = Path(__file__).with_name("killed.py")
    run = subprocess.run([sys.executable, script, folder, str(times), str(seed)], capture_output=True, text=True)
    assert run.returncode == 0, run.stderr
    return json.loads(run.stdout)


@pytest.mark.skipif(not hasattr(os, "fork"), reason="processes are copied by fork")
def test_a_killed_process_leaves_nothing_wrong(tmp_path):
    assert run_and_kill(tmp_path, 8, seed=1)["wrong"] == []


@pytest.mark.slow
@pytest.mark.skipif(not hasattr(os, "fork"), reason="processes are copied by fork")
def test_killed_fifty_times(tmp_path):
    found = run_and_kill(tmp_path, 50, seed=2)
    assert found["wrong"] == []
    assert found["in_the_middle"] >= 20


def test_a_restart_makes_only_the_parts_that_are_not_there(rows, cache, monkeypatch):
    whole = encode(rows())
    left = whole.blocks.folder.path
    kept = cache / "copy"
    shutil.copytree(left, kept)
    expected = whole.counts()
    del whole
    gc.collect()
    kept.rename(left)  # as if the process had died after seven parts
    for i in (2, 5, 9):
        (left / f"{i:08d}.part").unlink()
    (left / "00000005.part.1.writing").write_bytes(b"half")
    written = []
    monkeypatch.setattr(disk, "write_part", lambda path, blocks: (written.append(path.name), write_part(path, blocks)))
    again = encode(rows())
    assert sorted(written) == ["00000002.part", "00000005.part", "00000009.part"]
    np.testing.assert_array_equal(again.counts(), expected)
    del again
    assert contents(cache) == []


def test_a_part_that_is_not_whole_is_made_again(rows, cache):
    whole = encode(rows())
    expected, left = whole.counts(), whole.blocks.folder.path
    kept = cache / "copy"
    shutil.copytree(left, kept)
    del whole
    gc.collect()
    kept.rename(left)
    part = left / "00000003.part"
    part.write_bytes(part.read_bytes()[:-100])
    np.testing.assert_array_equal(encode(rows()).counts(), expected)


# --- cleaning up ------------------------------------------------------------------------------------------------------


def test_the_folder_goes_with_the_table(rows, cache):
    table = encode(rows())
    assert len([name for name in contents(cache) if name.endswith(".part")]) == 10
    del table
    assert contents(cache) == []


def test_two_tables_of_one_input_do_not_share_a_folder(rows, cache):
    first, second = encode(rows()), encode(rows())
    del first
    gc.collect()
    assert second.class_weights().sum() == 5_000
    del second
    assert contents(cache) == []


def test_a_copy_of_the_process_does_not_remove_the_folder(rows):
    table = encode(rows())
    disk._remove(table.blocks.folder.path, None, owner=os.getpid() + 1)
    assert table.class_weights().sum() == 5_000


def test_what_a_dead_process_left_of_another_input_goes_after_a_week(rows, cache):
    cache.mkdir()
    for days in (2, 9):
        folder = cache / f"{days:016x}-{0:032x}"
        folder.mkdir()
        lock = folder.with_name(folder.name + ".lock")
        lock.touch()
        os.utime(lock, times=(lock.stat().st_mtime - days * 86_400,) * 2)
    (cache / "notes.lock").touch()  # not ours
    encode(rows())
    assert contents(cache) == [f"{2:016x}-{0:032x}", f"{2:016x}-{0:032x}.lock", "notes.lock"]


def test_folders_of_living_tables_are_never_swept(rows, cache):
    table = encode(rows())
    other = encode(rows(block_rows=100))
    assert table.class_weights().tolist() == other.class_weights().tolist()


@pytest.mark.parametrize("other", [{"block_rows": 100}, {"columns": ["c"]}, {"levels": {"c": ["a", "b", "z"]}}])
def test_other_options_are_another_content(rows, other):
    first, second = encode(rows()), encode(rows(**other))
    assert first.blocks.folder.content != second.blocks.folder.content
    assert first.blocks.folder.files == second.blocks.folder.files


# --- no room ----------------------------------------------------------------------------------------------------------


def test_too_little_room_is_noticed_after_the_first_part(rows, cache, monkeypatch):
    usage = shutil.disk_usage(cache.parent)
    monkeypatch.setattr(disk.shutil, "disk_usage", lambda path: usage._replace(free=10_000))
    model = NaiveBayes(numeric="bins")
    with pytest.raises(OSError, match=r"about [\d,]+ bytes are needed and 10,000 are free; name another") as error:
        model.fit(rows())
    assert error.value.errno == errno.ENOSPC
    del error
    assert contents(cache) == []
    assert not hasattr(model, "evidence_")


def test_a_disk_that_fills_up_is_one_clear_error(rows, cache, monkeypatch):
    table = encode(rows())
    real, left = parts._write_all, [20_000]

    def until_full(f, data):
        left[0] -= len(memoryview(data))
        if left[0] < 0:
            raise OSError(errno.ENOSPC, "No space left on device")
        return real(f, data)

    before = contents(cache)
    monkeypatch.setattr(parts, "_write_all", until_full)
    with pytest.raises(OSError, match=r"cannot write the encoded rows to .*: the disk is full; name another") as error:
        NaiveBayes(numeric="bins").fit(rows())
    del error
    assert contents(cache) == before
    assert table.class_weights().sum() == 5_000


def test_a_limit_on_the_size_of_files_is_a_full_disk(rows, cache):
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (2_000, hard))
    try:
        with pytest.raises(OSError, match="the disk is full") as error:
            encode(rows())
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
    del error
    assert contents(cache) == []


def test_a_cache_that_is_a_file_is_refused(rows, cache):
    cache.write_text("")
    with pytest.raises(OSError, match=r"the folder for encoded rows, .*cache, cannot be made: .*; name another"):
        encode(rows())


# --- one part ---------------------------------------------------------------------------------------------------------


def test_a_part_gives_back_its_blocks(rows, tmp_path):
    blocks = list(rows(block_rows=100).table().map(lambda block: block))
    write_part(tmp_path / "a.part", iter(blocks))
    assert rows_of_part(tmp_path / "a.part") == 5_000
    for found, block in zip(read_part(tmp_path / "a.part"), blocks, strict=True):
        assert found.first_row == block.first_row
        for name in parts.FIELDS:
            np.testing.assert_array_equal(getattr(found, name), getattr(block, name))
            assert getattr(block, name) is None or getattr(found, name).dtype == getattr(block, name).dtype


@pytest.mark.parametrize("cut", [0, 5, 40, 3_000, -1])
def test_a_part_cut_short_is_not_read_as_whole(rows, tmp_path, cut):
    path = tmp_path / "a.part"
    write_part(path, rows().table().map(lambda block: block))
    path.write_bytes(path.read_bytes()[:cut])
    assert rows_of_part(path) is None
    if cut >= 0:
        with pytest.raises(ValueError, match=r"a.part is damaged; remove its folder and start again"):
            list(read_part(path))


def test_the_key_depends_on_everything(rows):
    schema = rows().learn()
    keys = [
        content_key("a", "b"),
        content_key("ab"),
        content_key(("a", "b")),
        content_key(1),
        content_key(1.0),
        content_key("1"),
        content_key(None),
        content_key(np.array([1, 2])),
        content_key(np.array([1.0, 2.0])),
        content_key(np.array([[1, 2]])),
        content_key(schema),
        content_key(rows(columns=["c"]).learn()),
        content_key(write_part),
    ]
    assert len(set(keys)) == len(keys)
    assert content_key(rows().learn()) == content_key(schema)


def test_folders_are_named_by_input_and_content(cache):
    folder = CacheFolder(str(cache), b"\1" * 32, b"\2" * 32)
    assert contents(cache) == [f"{'01' * 8}-{'02' * 16}", f"{'01' * 8}-{'02' * 16}.lock"]
    folder.remove()
    assert contents(cache) == []
