import multiprocessing
import pickle
import threading
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pytest
from PIL import Image

from data_setup.create import worker_pool
from data_setup.create.render import CHUNK, Job, Rendered
from data_setup.create.worker_pool import WorkerPool, start_method
from data_setup.format.errors import SetupError
from data_setup.format.layout import RAW_BYTES, SIDE, image_name

PIPE_BYTES = 65_536  # the capacity of a pipe on Linux


@dataclass(frozen=True)
class GreyRenderer:
    """Renders images of one grey level each, which JPEG keeps exactly."""

    def render(self, item: int) -> Rendered:
        notes = ("PNG named as JPEG", "grayscale", "rotated by EXIF")
        return Rendered(Image.new("RGB", (SIDE, SIDE), (item % 256,) * 3), item, notes)


@pytest.fixture(params=[("fork", 1), ("fork", 2), ("spawn", 2)], ids=lambda how: f"{how[1]} {how[0]}")
def pool(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch):
    method, workers = request.param
    monkeypatch.setattr(worker_pool, "start_method", lambda: method)
    monkeypatch.setattr(worker_pool, "JOBS_PER_WORKER", 1)  # so that shared memory is soon reused
    with WorkerPool(GreyRenderer(), workers) as started:
        yield started


def greys(pool: WorkerPool[int], job: Job[int]) -> list[int]:
    """The grey level of each image of a job, after checking that all its bytes are equal."""
    buffers = [bytes(buffer) for buffer in job.pixel_buffers(pool.memory)]
    assert all(buffer == buffer[:1] * RAW_BYTES for buffer in buffers)
    return [buffer[0] for buffer in buffers]


def test_results_come_in_order_with_their_pixels(pool: WorkerPool[int], tmp_path: Path):
    spans = [range(start, start + 3) for start in range(0, 60, 3)]
    for span, (job, results) in zip(
        spans, pool.stream(Job(span, span, tmp_path) for span in spans), strict=True
    ):
        assert [one.name for one in results] == [image_name(slot) for slot in span]
        assert greys(pool, job) == list(span)
        again = Job([100], [100], tmp_path, offset=job.offset + 1)
        assert pool.run(again)[0].label == 100
        assert greys(pool, job) == [span[0], 100, span[2]]


def test_full_chunk_fits_into_memory_and_its_report_into_a_pipe(pool: WorkerPool[int], tmp_path: Path):
    span = range(CHUNK)
    ((job, results),) = pool.stream([Job(span, span, tmp_path)])
    assert greys(pool, job) == list(span)
    assert len(pickle.dumps(results)) < PIPE_BYTES / 10


@pytest.mark.parametrize("method", ["fork", "spawn"])
@pytest.mark.parametrize(
    "submit", [WorkerPool.run, lambda pool, job: list(pool.stream([job]))], ids=["run", "stream"]
)
def test_killed_workers_are_reported_with_advice(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    submit: Callable[[WorkerPool[int], Job], object],
    method: str,
):
    monkeypatch.setattr(worker_pool, "start_method", lambda: method)
    with WorkerPool(GreyRenderer(), 2) as pool:
        workers = multiprocessing.active_children()
        assert len(workers) == 2
        for worker in workers:
            worker.kill()
            worker.join()
        for _ in range(2):  # the first may be in flight when the death is noticed, the second is not
            with pytest.raises(SetupError, match="a worker process was killed"):
                submit(pool, Job([0], [0], tmp_path))


@pytest.mark.skipif(not Path("/proc/self/task").is_dir(), reason="only Linux lists the threads of libraries")
def test_thread_that_has_just_ended_does_not_prevent_fork(monkeypatch: pytest.MonkeyPatch):
    counts = iter([2, 2, 1])
    monkeypatch.setattr(Path, "iterdir", lambda path: iter([path] * next(counts)))
    monkeypatch.setattr(threading, "active_count", lambda: 1)
    assert start_method() == "fork"


@pytest.mark.parametrize("python_knows", [True, False], ids=["of Python", "of a library"])
def test_running_thread_prevents_fork(monkeypatch: pytest.MonkeyPatch, python_knows: bool):
    monkeypatch.setattr(Path, "iterdir", lambda path: iter([path] * 2))
    monkeypatch.setattr(threading, "active_count", lambda: 1 + python_knows)
    assert start_method() == "spawn"
