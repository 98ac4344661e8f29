"""What a batch needs is announced to the kernel, all of it and nothing else."""

import mmap
import os
import time

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from course_utils.loading import batch_decoder
from course_utils.loading.batch_decoder import AT_ONCE, read_ahead
from course_utils.loading.fast_loader import FastLoader
from course_utils.storage import page_cache
from tests.image_set import numbered_jpeg, numbered_pack

LARGE = 20_000_000  # larger than the window of any disk
needs_advice = pytest.mark.skipif(not hasattr(os, "posix_fadvise"), reason="this system lacks posix_fadvise")


def announced(ranges):
    """Return the ranges that the kernel is told of."""
    told = []
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(os, "posix_fadvise", lambda fd, start, size, advice: told.append((start, size)))
        read_ahead(3, *np.asarray(ranges, int).T)
    return told


def covered(ranges):
    return {byte for start, size in ranges for byte in range(start, start + size)}


@needs_advice
@given(
    st.lists(
        st.tuples(st.integers(0, 50), st.integers(1, 9)), min_size=1, max_size=20, unique_by=lambda r: r[0]
    )
)
def test_all_bytes_are_announced_and_no_others(ranges):
    ranges = [(9 * start, size) for start, size in ranges]  # members do not overlap
    told = announced(ranges)
    assert covered(told) == covered(ranges)
    assert len(told) <= len(ranges)


@needs_advice
@given(st.lists(st.tuples(st.integers(0, 50), st.integers(1, 40)), max_size=20))
def test_overlapping_ranges_are_announced_once(ranges):
    told = announced(np.array(ranges, int).reshape(-1, 2))
    assert covered(told) == covered(ranges)
    assert sum(size for _, size in told) == len(covered(told))


@needs_advice
def test_neighbours_are_announced_as_one():
    assert announced([(30, 10), (10, 10), (20, 10), (50, 5)]) == [(10, 30), (50, 5)]


@needs_advice
def test_no_announcement_is_larger_than_the_usual_window():
    """Linux forgets what lies beyond it."""
    told = announced([(4096 + 100, 1_000_000)])
    assert [start for start, _ in told] == list(range(4196, 1_004_196, AT_ONCE))
    assert sum(size for _, size in told) == 1_000_000
    assert max(size for _, size in told) + mmap.PAGESIZE <= 128 * 1024 or mmap.PAGESIZE > 4096


@needs_advice
def test_all_of_a_large_range_arrives(tmp_path):
    path = tmp_path / "large"
    path.write_bytes(bytes(LARGE))
    if (state := page_cache.evict(path)).fraction is None:
        pytest.skip(state.reason)
    assert state.fraction == 0
    with path.open("rb") as file:
        read_ahead(file.fileno(), np.array([100]), np.array([LARGE - 100]))
        tries = 0
        while page_cache.resident(path).fraction < 1 and tries < 500:
            time.sleep(0.02)  # the kernel reads meanwhile
            tries += 1
    assert page_cache.resident(path).fraction == 1


def test_nothing_happens_where_the_system_lacks_the_call(monkeypatch):
    monkeypatch.delattr(os, "posix_fadvise", raising=False)
    read_ahead(-1, np.array([0]), np.array([1]))


def test_every_batch_is_announced_before_it_is_decoded(tmp_path, monkeypatch):
    """Over all shards: each member once in an epoch."""
    shards = [
        numbered_pack(tmp_path / f"{first}.zip", [numbered_jpeg(i) for i in range(first, first + 5)], first)
        for first in (0, 5)
    ]
    told = []
    monkeypatch.setattr(
        batch_decoder,
        "read_ahead",
        lambda fd, offsets, sizes: told.extend((fd, at) for at in offsets.tolist()),
    )
    loader = FastLoader(shards, 4, shuffle=True, threads=1, in_flight=2)
    seen = 0
    for images, _ in loader:
        seen += len(images)
        assert len(told) >= seen
    assert len(set(told)) == len(told) == 10
    assert len({fd for fd, _ in told}) == 2
