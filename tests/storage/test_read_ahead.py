"""How far the kernel reads ahead, and that it can be asked not to."""

import mmap
import os
from functools import partial
from pathlib import Path

import pytest

from course_utils.storage import page_cache, read_ahead, sample_costs
from tests.storage.sparse_readers import SAMPLE_BYTES, ByMap, ByPread

MEGABYTE = 2**20


@pytest.fixture
def packed(tmp_path: Path, monkeypatch) -> Path:
    monkeypatch.setenv("PYTHONPATH", str(Path(__file__).parents[2]))  # for the readers
    path = tmp_path / "packed"
    path.write_bytes(os.urandom(16 * MEGABYTE))
    return path


@pytest.mark.parametrize("kind", [ByPread, ByMap])
def test_only_what_was_asked_for_is_read_from_the_disk(kind, packed):
    if reason := page_cache.why_not_measurable(packed):
        pytest.skip(reason)
    chosen = [9, 2, 13, 6]
    cost = partial(sample_costs, partial(kind, packed, MEGABYTE), chosen, packed, cold=True)
    assert cost(expect_random=True).reading.disk_bytes == SAMPLE_BYTES * len(chosen)
    if kind is ByMap and (read_ahead.window(packed) or 0) > 16384:
        assert cost().reading.disk_bytes > SAMPLE_BYTES * len(chosen)


def test_files_of_others_are_left_alone(packed):
    with packed.open("rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ):
        assert read_ahead.expect_random_reads(packed.with_name("other")) == 0
        assert read_ahead.expect_random_reads(packed) == 3 * (
            os.name == "posix" and Path("/proc/self/fd").exists()
        )


def test_window_is_whole_kibibytes_or_unknown(packed):
    window = read_ahead.window(packed)
    assert window is None or (window >= 0 and window % 1024 == 0)
