"""What a batch needs is announced to the kernel, nothing else; packs that fit into memory are read whole."""

import os
import time

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from course_utils.data import PackedImages
from course_utils.loading import FastLoader, batch_decoder, decoder_threads
from course_utils.loading import read_ahead as read_ahead_module
from course_utils.loading.decoder_threads import DecoderThreads
from course_utils.loading.read_ahead import read_ahead, read_through
from course_utils.storage.page_cache import evict, resident
from tests.image_set import numbered_jpeg, numbered_pack

needs_advice = pytest.mark.skipif(not hasattr(os, "posix_fadvise"), reason="this system lacks posix_fadvise")


def announced(ranges):
    """Return the ranges that the kernel is told of."""
    told = []
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(os, "posix_fadvise", lambda fd, start, size, advice: told.append((start, size)))
        read_ahead(3, *np.array(ranges).T)
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
def test_neighbours_are_announced_as_one():
    assert announced([(30, 10), (10, 10), (20, 10), (50, 5)]) == [(10, 30), (50, 5)]


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


@pytest.fixture
def images(tmp_path) -> PackedImages:
    """Packs of more than a window each, on a disk whose cache can be seen and evicted."""
    members = [numbered_jpeg(i) + bytes(500_000) for i in range(24)]
    paths = [
        numbered_pack(tmp_path / f"{first}.zip", members[first : first + 12], first) for first in (0, 12)
    ]
    packed = PackedImages(paths)
    if (state := evict(paths)).resident_bytes != 0:
        pytest.skip(f"these files cannot be evicted from the page cache: {state}")
    return packed


def test_whole_packs_are_read_once(images, monkeypatch):
    read_through(images, ())
    assert resident(images.paths).fraction == 1
    monkeypatch.setattr(read_ahead_module, "_populate", lambda *window: pytest.fail(f"{window} was cached"))
    read_through(images, ())


def test_what_was_evicted_is_read_again(images):
    read_through(images, ())
    evict(images.paths[1])
    read_through(images, ())
    assert resident(images.paths).fraction == 1


def test_kernels_that_cannot_populate_a_map_are_advised(images, monkeypatch):
    told = []
    monkeypatch.setattr(read_ahead_module, "_POPULATE_READ", 10_000)  # no advice that any kernel knows
    monkeypatch.setattr(os, "posix_fadvise", lambda fd, start, size, advice: told.append((fd, start, size)))
    read_through(images, ())
    for file, path in zip(images.files(), images.paths, strict=True):
        assert sum(size for fd, _, size in told if fd == file) == path.stat().st_size
        assert min(start for fd, start, _ in told if fd == file) == 0


def test_reading_ends_when_it_is_stopped(images, monkeypatch):
    stopped: list[object] = []
    monkeypatch.setattr(read_ahead_module, "_populate", lambda *window: stopped.append(window))
    read_through(images, stopped)
    assert len(stopped) == 1


def test_packs_that_became_shorter_are_left_to_the_decoder(images):
    sizes = [path.stat().st_size for path in images.paths]
    real = os.fstat

    def fstat(file):  # as it was when the reading began
        return os.stat_result((*real(file)[:6], sizes[images.files().index(file)], *real(file)[7:]))

    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(os, "fstat", fstat)
        for path in images.paths:
            os.truncate(path, 1000)
        read_through(images, ())


@pytest.mark.parametrize(
    ("available", "order", "expected"),
    [
        (10**9, {}, 1),
        (0, {}, 0),
        # Other ranks read the rest, perhaps on other machines.
        (10**9, {"rank": 1, "world_size": 2}, 0),
    ],
)
def test_packs_are_read_through_where_they_fit_and_nobody_shares_them(
    tmp_path, monkeypatch, available, order, expected
):
    pack = numbered_pack(tmp_path / "part0.zip", [numbered_jpeg(i) for i in range(6)], 0)
    read = []
    monkeypatch.setattr(read_ahead_module, "available_memory", lambda: available)
    monkeypatch.setattr(DecoderThreads, "submit_beside", lambda self, task: read.append(task.args[0].paths))
    loader = FastLoader(pack, 2, threads=1, **order)
    assert sum(len(images) for images, _ in loader) == 6 // order.get("world_size", 1)
    assert read == [[pack]] * expected


def test_reading_ends_with_the_epoch_and_with_the_interpreter(tmp_path, monkeypatch):
    pack = numbered_pack(tmp_path / "part0.zip", [numbered_jpeg(i) for i in range(6)], 0)

    def endless(images, stopped):
        while not stopped:
            time.sleep(0.001)

    monkeypatch.setattr(batch_decoder, "read_through", endless)
    monkeypatch.setattr(read_ahead_module, "available_memory", lambda: 10**9)
    loader = FastLoader(pack, 2, threads=1)
    assert len(list(loader)) == 3
    assert not decoder_threads.running
    iterator = iter(loader)
    next(iterator)
    decoder_threads._stop_all()
    assert not decoder_threads.running
