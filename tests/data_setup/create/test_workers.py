import threading
from dataclasses import dataclass
from pathlib import Path

import pytest
from PIL import Image

from data_setup.create import workers
from data_setup.create.render import CHUNK, ChunkRenderer, Job, Rendered, pixels_of
from data_setup.create.workers import render_all, start_method
from data_setup.format.layout import SIDE, image_name


@dataclass(frozen=True)
class GreyRenderer:
    """Renders images of one grey level each, which JPEG keeps exactly."""

    def render(self, item: int) -> Rendered:
        return Rendered(Image.new("RGB", (SIDE, SIDE), (item % 256,) * 3), item)


@pytest.mark.parametrize(("method", "count"), [("fork", 1), ("fork", 2), ("spawn", 2)])
def test_results_come_in_order_with_their_pixels(tmp_path, monkeypatch, method, count):
    monkeypatch.setattr(workers, "start_method", lambda: method)
    monkeypatch.setattr(workers, "JOBS_PER_WORKER", 1)  # so that shared memory is soon reused
    jobs = [
        Job(0, range(start, start + CHUNK), range(start, start + CHUNK)) for start in range(0, 160, CHUNK)
    ]
    renderer = ChunkRenderer(GreyRenderer(), tmp_path, with_pixels=True)
    made = 0
    for job, results, memory in render_all(renderer, iter(jobs), count):
        assert job == jobs[made]
        made += 1
        for slot, result, pixels in zip(job.slots, results, pixels_of(memory), strict=True):
            assert (result.name, result.label) == (image_name(slot), slot)
            assert bytes(pixels) == bytes([slot]) * len(pixels)
    assert made == len(jobs)


@pytest.mark.skipif(not Path("/proc/self/task").is_dir(), reason="only Linux lists the threads of libraries")
def test_thread_that_has_just_ended_does_not_prevent_fork(monkeypatch):
    counts = iter([2, 2, 1])
    monkeypatch.setattr(Path, "iterdir", lambda path: iter([path] * next(counts)))
    monkeypatch.setattr(threading, "active_count", lambda: 1)
    assert start_method() == "fork"


@pytest.mark.parametrize("python_knows", [True, False], ids=["of Python", "of a library"])
def test_running_thread_prevents_fork(monkeypatch, python_knows):
    monkeypatch.setattr(Path, "iterdir", lambda path: iter([path] * 2))
    monkeypatch.setattr(threading, "active_count", lambda: 1 + python_knows)
    assert start_method() == "spawn"
