"""What opening a file and reading samples cost, as the kernel counts it."""

import os
import subprocess
from functools import partial
from pathlib import Path

import pytest

from course_utils.storage import page_cache, sample_costs, strace
from tests.storage.sparse_readers import SAMPLE_BYTES, ByMap, ByPread

needs_strace = pytest.mark.skipif(bool(strace.why_not_traceable()), reason=strace.why_not_traceable())


@pytest.fixture
def packed(tmp_path: Path, monkeypatch) -> Path:
    monkeypatch.setenv("PYTHONPATH", str(Path(__file__).parents[2]))  # for the readers
    path = tmp_path / "packed"
    path.write_bytes(os.urandom(64 * SAMPLE_BYTES))
    return path


@needs_strace
def test_calls_are_counted_by_phase(packed):
    costs = sample_costs(partial(ByPread, packed), [3, 1, 60], packed, traced=True)
    assert costs.opening.calls["openat"] == 1
    assert "pread64" not in costs.opening.calls
    assert costs.reading.calls == {"pread64": 3}
    assert costs.reading.read_bytes == costs.useful_bytes == 3 * SAMPLE_BYTES


@needs_strace
def test_calls_are_counted_through_a_link(packed):
    link = packed.with_name("link")
    link.symlink_to(packed)
    costs = sample_costs(partial(ByPread, link), [3, 1], link, traced=True)
    assert costs.reading.calls == {"pread64": 2}


@needs_strace
def test_memory_map_reads_without_a_call(packed):
    costs = sample_costs(partial(ByMap, packed), [3, 1, 60], packed, traced=True)
    assert costs.opening.calls["mmap"] == 1
    assert not costs.reading.calls
    assert costs.reading.faults > 0


def test_bytes_from_the_disk_are_counted_only_when_the_cache_is_cold(packed):
    if reason := page_cache.why_not_measurable(packed):
        pytest.skip(reason)
    read = partial(sample_costs, partial(ByPread, packed), list(range(64)), packed)
    read(cold=True)
    assert read().reading.disk_bytes == 0
    assert read(cold=True).reading.disk_bytes >= 64 * SAMPLE_BYTES


def test_without_tracing_no_calls_are_claimed(packed):
    costs = sample_costs(partial(ByPread, packed), [0], packed)
    assert (costs.reading.calls, costs.reading.read_bytes, costs.useful_bytes) == (None, None, SAMPLE_BYTES)


def test_error_of_the_reader_is_in_the_exception(packed):
    with pytest.raises(subprocess.CalledProcessError) as caught:
        sample_costs(partial(ByPread, packed.with_name("missing")), [0], packed)
    assert "No such file" in caught.value.stderr
