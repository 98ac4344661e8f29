import multiprocessing
import threading
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pytest
from PIL import Image

from data_setup.create import worker_pool
from data_setup.create.render import CHUNK, Job, Rendered
from data_setup.create.worker_pool import Pool, start_method
from data_setup.format.errors import SetupError
from data_setup.format.layout import RAW_BYTES, SIDE, image_name


@dataclass(frozen=True)
class Plain:
    """Images of one grey each, which a JPEG keeps as it is."""

    def render(self, item: int) -> Rendered:
        return Rendered(Image.new("RGB", (SIDE, SIDE), (item % 256,) * 3), item)


@pytest.fixture(params=[("fork", 1), ("fork", 2), ("spawn", 2)], ids=lambda how: f"{how[1]} {how[0]}")
def plain_pool(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch):
    method, workers = request.param
    monkeypatch.setattr(worker_pool, "start_method", lambda: method)
    monkeypatch.setattr(worker_pool, "AHEAD", 1)  # places are taken again soon
    with Pool(Plain(), workers) as made:
        yield made


def greys(of: Pool, job: Job) -> list[int]:
    """The grey of each image of a job, of which all bytes must be equal."""
    rooms = [bytes(room) for room in job.pixels(of.memory)]
    assert all(room == room[:1] * RAW_BYTES for room in rooms)
    return [room[0] for room in rooms]


def test_jobs_come_back_in_order_with_their_pixels(plain_pool: Pool, tmp_path: Path):
    spans = [range(start, start + 3) for start in range(0, 60, 3)]
    for span, (job, results) in zip(
        spans, plain_pool.stream(Job(span, span, tmp_path) for span in spans), strict=True
    ):
        assert [one.name for one in results] == [image_name(slot) for slot in span]
        assert greys(plain_pool, job) == list(span)
        again = Job([100], [100], tmp_path, place=job.place + 1)
        assert plain_pool.run(again)[0].label == 100
        assert greys(plain_pool, job) == [span[0], 100, span[2]]


def test_a_job_of_full_size_has_room(plain_pool: Pool, tmp_path: Path):
    span = range(CHUNK)
    ((job, _),) = plain_pool.stream([Job(span, span, tmp_path)])
    assert greys(plain_pool, job) == list(span)


@pytest.mark.parametrize("method", ["fork", "spawn"])
@pytest.mark.parametrize("ask", [Pool.run, lambda made, job: list(made.stream([job]))], ids=["run", "stream"])
def test_a_job_for_killed_workers_is_refused_with_advice(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, ask: Callable[[Pool, Job], object], method: str
):
    monkeypatch.setattr(worker_pool, "start_method", lambda: method)
    with Pool(Plain(), 2) as made:
        for child in multiprocessing.active_children():
            child.kill()
            child.join()
        for _ in range(2):  # the first may be on its way when the death is noticed, the second is not
            with pytest.raises(SetupError, match="a worker process was killed"):
                ask(made, Job([0], [0], tmp_path))


@pytest.mark.skipif(not Path("/proc/self/task").is_dir(), reason="only Linux lists the threads of libraries")
def test_a_thread_that_has_just_ended_forbids_no_fork(monkeypatch: pytest.MonkeyPatch):
    looks = iter([2, 2, 1])
    monkeypatch.setattr(Path, "iterdir", lambda path: iter([path] * next(looks)))
    monkeypatch.setattr(threading, "active_count", lambda: 1)
    assert start_method() == "fork"


@pytest.mark.parametrize("python_knows", [True, False], ids=["of Python", "of a library"])
def test_a_thread_that_lives_forbids_to_fork(monkeypatch: pytest.MonkeyPatch, python_knows: bool):
    monkeypatch.setattr(Path, "iterdir", lambda path: iter([path] * 2))
    monkeypatch.setattr(threading, "active_count", lambda: 1 + python_knows)
    assert start_method() == "spawn"
