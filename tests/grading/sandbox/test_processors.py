"""A submission stays on the processors of its job, and a machine that is too busy is not its fault."""

import multiprocessing
import os
import time
from collections.abc import Iterator
from types import SimpleNamespace

import pytest

from course_utils.system import in_child
from grading.sandbox.client import Sandbox
from grading.sandbox.isolation import backends
from grading.sandbox.isolation.limits import Limits
from grading.sandbox.running_submission import RunningSubmission
from grading.sandbox.steps import Step
from grading.scoring import local

KINDS = [kind for kind in backends.KINDS if backends.works(kind)]
pytestmark = [
    pytest.mark.skipif(not KINDS, reason="no sandbox works here"),
    pytest.mark.skipif(len(os.sched_getaffinity(0)) < 2, reason="this machine has one core"),
]
# Twelve busy processes, each in a session of its own, made a computation on the same core 2.7 times as long.
# On other cores they do not compete with it, so no process of a submission may leave those of its job.
BUSY = 12
SPREAD = f"""
import ctypes, os
for n in range({BUSY}):
    if os.fork() == 0:
        os.setsid()
        os.sched_setaffinity(0, range(os.cpu_count()))
        mask = ctypes.create_string_buffer(b"\\xff" * 8)
        ctypes.CDLL(None).syscall({{"x86_64": 203, "aarch64": 122}}[os.uname().machine], 0, 8, mask)
        os.write(1, f"{{sorted(os.sched_getaffinity(0))}}\\n".encode())
        os._exit(0)
for n in range({BUSY}):
    os.wait()
"""


@pytest.fixture(scope="module")
def sandbox() -> Iterator[Sandbox]:
    """A sandbox in a job that has one core."""
    before = os.sched_getaffinity(0)
    os.sched_setaffinity(0, {max(before)})
    try:
        with Sandbox(KINDS[0], (), Limits(cell_seconds=3)) as sandbox:
            sandbox.run([Step(0, "1")], {})
            os.sched_setaffinity(0, before)
            yield sandbox
    finally:
        os.sched_setaffinity(0, before)


def test_a_submission_cannot_leave_the_cores_of_its_job(sandbox):
    reply = sandbox.run([Step(0, SPREAD)], {})[0]
    assert reply.text == f"[{max(os.sched_getaffinity(0))}]\n" * BUSY


def test_jobs_of_a_grading_have_different_cores():
    numbers = multiprocessing.get_context("spawn").SimpleQueue()
    for number in range(2):
        numbers.put(number)

    def cores() -> list[int]:
        local._start_worker(numbers, 2)
        return sorted(os.sched_getaffinity(0))

    first, second = in_child(cores), in_child(cores)
    assert first
    assert second
    assert not set(first) & set(second)


def test_cells_that_compute_or_wait_too_long_are_not_doubted(sandbox, monkeypatch):
    doubts = []
    real = RunningSubmission._starved
    monkeypatch.setattr(RunningSubmission, "_starved", lambda self: doubts.append(real(self)) or doubts[-1])
    monkeypatch.setattr(sandbox, "limits", Limits(cell_seconds=0.4))
    sandbox.run([Step(0, "import time\ntime.sleep(9)"), Step(1, "while True: pass")], {})
    assert len(doubts) >= 2
    assert doubts[0] is False


def test_time_out_of_a_starved_submission_is_tried_again(sandbox, monkeypatch):
    """It was ready to run for most of its time, and had no processor."""
    real, asked = RunningSubmission._starved, []

    def starved(self):
        asked.append(real(self))
        return len(asked) == 1

    monkeypatch.setattr(RunningSubmission, "_starved", starved)
    monkeypatch.setattr(sandbox, "limits", Limits(cell_seconds=0.4))
    source = "import time\ntime.sleep(9)"
    assert sandbox.run([Step(0, source)], {})[0].outcome == "timed out"
    assert len(asked) == 2


@pytest.mark.parametrize(
    ("used", "waited", "starved"), [(1, 7, True), (1, 2, False), (7, 7, False), (0, 0, False)]
)
def test_starved_is_what_waited_for_a_processor_most_of_its_time(used, waited, starved):
    submission = object.__new__(RunningSubmission)
    submission._server = SimpleNamespace(ask=lambda message: (used, waited))
    submission._start = time.monotonic() - 10
    assert submission._starved() == starved
