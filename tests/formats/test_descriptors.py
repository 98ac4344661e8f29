"""Each format closes what it opened, once: by `close`, however often, or when nobody refers to the reader."""

import gc
import os
import pickle
import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from course_utils.formats import RandomAccess, Tar, find_formats
from course_utils.formats.open_file import OpenFile
from tests.format_trials.trial_samples import drawn
from tests.formats.format_kinds import KINDS

SAMPLES = drawn(60, 400)
DESCRIPTORS = Path("/dev/fd")


def open_descriptors() -> set[str]:
    gc.collect()
    return {str(link.readlink()) for link in DESCRIPTORS.iterdir() if link.is_symlink()}


@pytest.fixture
def packed(kind, tmp_path) -> Path:
    kind.write(tmp_path / "packed", SAMPLES[:5] if kind.__name__ == "Squashfs" else SAMPLES)
    return tmp_path / "packed"


@pytest.mark.parametrize("kind", KINDS)
def test_second_close_leaves_the_files_of_others_open(kind, packed):
    reader = kind(packed)
    list(reader.stream())
    reader.close()
    others = [os.open(os.devnull, os.O_RDONLY) for _ in range(20)]  # they get the numbers that were closed
    reader.close()
    del reader
    gc.collect()
    for descriptor in others:
        os.close(descriptor)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.skipif(not Path("/proc/self/fd").exists(), reason="only Linux names open files")
@pytest.mark.parametrize("end", ["close", "forget"])
def test_nothing_stays_open(kind, packed, end):
    reader = kind(packed)
    list(reader.stream())
    if end == "close":
        reader.close()
    else:
        del reader
    assert not any(str(packed) in name for name in open_descriptors())


@pytest.mark.parametrize("kind", KINDS)
def test_closed_reader_says_so(kind, packed):
    reader = kind(packed)
    reader.close()
    others = [os.open(os.devnull, os.O_RDONLY) for _ in range(20)]
    with pytest.raises(ValueError, match=r"packed is closed"):
        list(reader.stream())
    if isinstance(reader, RandomAccess):
        with pytest.raises(ValueError, match=r"packed is closed"):
            reader.read(0)
    for descriptor in others:
        os.close(descriptor)


@pytest.mark.parametrize("kind", KINDS)
def test_reader_that_cannot_be_opened_leaves_nothing_open(kind, packed):
    files = [file for file in packed.parent.rglob("*") if file.is_file()]
    os.truncate(max(files, key=lambda file: file.stat().st_size), 0)
    with pytest.raises((OSError, ValueError)):
        list(kind(packed).stream())
    assert not any(str(packed) in name for name in open_descriptors())


@pytest.mark.parametrize("kind", KINDS)
def test_open_reader_pickles_and_both_read(kind, packed):
    reader = kind(packed)
    data = pickle.dumps(reader)
    if kind.__name__ == "Lmdb":  # it refuses to open a file twice in one process
        reader.close()
    other = pickle.loads(data)
    reader.close()
    assert len(list(other.stream())) in (5, 60)
    other.close()


def test_open_file_itself_is_not_pickled(tmp_path):
    (tmp_path / "file").write_bytes(b"bytes")
    with pytest.raises(TypeError, match="cannot pickle the open file"):
        pickle.dumps(OpenFile(tmp_path / "file"))


def test_two_streams_of_a_tar_do_not_share_a_position(tmp_path):
    Tar.write(tmp_path / "packed", SAMPLES)
    reader = Tar(tmp_path / "packed")
    assert list(zip(reader.stream(), reader.stream(), strict=True)) == list(
        zip(SAMPLES, SAMPLES, strict=True)
    )
    reader.close()


def test_each_thread_opens_a_parquet_file_and_only_the_same(tmp_path):
    kind = find_formats().installed.get("Parquet") or pytest.skip("pyarrow is not installed")
    kind.write(tmp_path / "packed", SAMPLES)
    kind.write(tmp_path / "other", SAMPLES[::-1])
    reader, barrier = kind(tmp_path / "packed"), threading.Barrier(4)

    def read(index: int) -> tuple[object, int]:
        barrier.wait()
        return reader.read(index), id(reader._file)

    with ThreadPoolExecutor(4) as pool:
        found = list(pool.map(read, range(4)))
    assert [sample for sample, _ in found] == list(SAMPLES[:4])
    assert len({file for _, file in found}) == 4
    (tmp_path / "other").replace(tmp_path / "packed")
    assert reader.read(1) == SAMPLES[1]
    with ThreadPoolExecutor(1) as pool, pytest.raises(ValueError, match="was replaced"):
        pool.submit(reader.read, 1).result()
    reader.close()
