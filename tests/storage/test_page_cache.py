"""Measure and evict the page cache of real files on real file systems."""

import os
import sys
import tempfile
from pathlib import Path

import pytest

from course_utils.storage import page_cache
from course_utils.storage.page_cache import CacheState

SIZE = 40 * 4096 + 1


@pytest.fixture
def local_file(tmp_path):
    file = tmp_path / "packed.zip"
    file.write_bytes(os.urandom(SIZE))
    if reason := page_cache.why_not_measurable(file):
        pytest.skip(f"the page cache is not measurable here: {reason}")
    return file


def test_evicted_file_is_absent_and_read_file_is_resident(local_file):
    assert page_cache.evict(local_file).fraction == 0.0
    local_file.read_bytes()
    assert page_cache.resident(local_file) == CacheState(SIZE, SIZE)


def test_measuring_does_not_read_the_file(local_file):
    page_cache.evict(local_file)
    page_cache.resident(local_file)
    assert page_cache.resident(local_file).resident_bytes == 0


def test_partly_read_file_is_partly_resident(local_file):
    page_cache.evict(local_file)
    with local_file.open("rb", buffering=0) as handle:
        os.posix_fadvise(handle.fileno(), 0, 0, os.POSIX_FADV_RANDOM)  # no readahead
        handle.read(20 * 4096)
    assert page_cache.resident(local_file).resident_bytes == 20 * 4096


def test_dirty_pages_are_evicted(local_file):
    local_file.write_bytes(os.urandom(SIZE))
    assert page_cache.evict(local_file).fraction == 0.0


def test_folder_and_list_include_every_file(local_file):
    folder = local_file.parent
    (folder / "deeper").mkdir()
    (folder / "deeper/more").write_bytes(b"x" * 4096)
    (folder / "empty").touch()
    assert page_cache.resident(folder).total_bytes == SIZE + 4096
    assert page_cache.resident([local_file, folder / "deeper"]).total_bytes == SIZE + 4096


def test_empty_file_has_zero_resident_bytes(local_file):
    local_file.write_bytes(b"")
    assert page_cache.resident(local_file) == CacheState(0, 0)


def test_missing_path_raises_with_its_name(tmp_path):
    with pytest.raises(FileNotFoundError, match="nowhere"):
        page_cache.resident(tmp_path / "nowhere")


@pytest.mark.skipif(not Path("/dev/shm").is_dir(), reason="no tmpfs at /dev/shm")
def test_tmpfs_is_not_measurable():
    file = Path(f"/dev/shm/page_cache_test_{os.getpid()}")
    try:
        file.write_bytes(b"x" * 4096)
        assert page_cache.resident(file) == CacheState(4096, None, page_cache.NOT_MEASURABLE[0x01021994])
        assert repr(page_cache.evict(file)).startswith("not measurable here: tmpfs")
    finally:
        file.unlink()


@pytest.mark.parametrize("magic", [0x0BD00BD0, 0x47504653, 0x6969, 0x794C7630, 0x12345678])
def test_other_file_systems_give_a_reason(monkeypatch, local_file, magic):
    monkeypatch.setattr(page_cache, "_file_system_type", lambda _: magic)
    state = page_cache.evict(local_file)
    assert state.fraction is None
    assert state.reason
    assert state.short() == "?"


def test_other_operating_systems_give_a_reason(monkeypatch, local_file):
    monkeypatch.setattr(sys, "platform", "darwin")
    assert "only Linux" in repr(page_cache.resident(local_file))


@pytest.mark.skipif(
    not hasattr(os, "geteuid") or os.geteuid() != 0, reason="needs root to become another user"
)
def test_file_of_another_user_is_not_measurable(local_file):
    local_file.chmod(0o644)
    shared = Path(tempfile.gettempdir())
    for folder in local_file.parents:
        if folder.is_relative_to(shared) and folder != shared:
            folder.chmod(0o755)
    os.seteuid(65534)
    try:
        reason = page_cache.why_not_measurable(local_file)
    finally:
        os.seteuid(0)
    assert "belongs to another user" in reason


def test_repr_shows_size_and_cached_part():
    assert repr(CacheState(2_000_000, 500_000)) == "25 % of 2.0 MB in the page cache"
