"""A class graded by a job array of a real Slurm, with killed and requeued jobs."""

import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from grading.course.config import Course
from grading.course.result import Task
from tests.grading.slurm_node import SlurmNode, missing
from tests.grading.toy_course import LESSON, make_course, submit

pytestmark = [
    pytest.mark.proof,
    pytest.mark.skipif(bool(missing()), reason=f"Slurm is not installed: {missing()}"),
    pytest.mark.skipif(os.geteuid() != 0, reason="only root may start munge and Slurm"),
]
SLOW = "import time\ntime.sleep(1)\ndef total_of(numbers):\n    return sum(numbers)"


@pytest.fixture(scope="module")
def node() -> Iterator[SlurmNode]:
    with SlurmNode() as node:
        yield node


def _wait_for_running_job(node: SlurmNode) -> str:
    for _ in range(600):
        running = node.run("squeue", "--noheader", "--array", "--states=RUNNING", "--format=%F_%K").split()
        if running:
            return running[0]
        time.sleep(0.1)
    raise AssertionError("no job ever ran")


@contextmanager
def _grading(node: SlurmNode, course: Course, stderr: int | None = None) -> Iterator[subprocess.Popen[bytes]]:
    """Grade a course with two jobs; what still runs in the end is killed."""
    command = [sys.executable, "-m", "grading", "grade", "--course", str(course.root)]
    environment = {**os.environ, **node.environment, "PATH": os.environ["PATH"] + ":/usr/sbin"}
    with subprocess.Popen(
        [*command, "--slurm", "--jobs", "2"], env=environment, stdout=subprocess.DEVNULL, stderr=stderr
    ) as grading:
        try:
            yield grading
        finally:
            grading.kill()


def test_no_other_pytest_closes_the_folder_of_munge(node, tmp_path_factory):
    assert not node.folder.is_relative_to(tmp_path_factory.getbasetemp().parent)


def test_array_grades_a_class_despite_killed_and_requeued_jobs(node, tmp_path):
    course = make_course(tmp_path / "course")
    for number in range(6):
        submit(course, f"student{number}", total=SLOW)
    submit(course, "wrong", total="def total_of(numbers):\n    return 1")
    with _grading(node, course) as grading:
        # As when a node fails: Slurm requeues one job, and another one dies.
        node.run("scontrol", "requeue", _wait_for_running_job(node))
        time.sleep(2)
        node.run("scancel", "--signal=KILL", "--batch", _wait_for_running_job(node))
        assert grading.wait() == 0
    found = {
        path.stem: course.results.read(Task(LESSON, path.stem))
        for path in course.results.folder.rglob("*.json")
    }
    assert {name: result["points"] for name, result in found.items()} == {
        **{f"student{number}": 6 for number in range(6)},
        "wrong": 4,
    }
    assert {result["status"] for result in found.values()} == {"right", "wrong"}


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_interrupted_grading_cancels_its_array(node, tmp_path, number):
    course = make_course(tmp_path / "course")
    for student in range(4):
        submit(course, f"student{student}", total=SLOW.replace("sleep(1)", "sleep(30)"))
    with _grading(node, course, stderr=subprocess.PIPE) as grading:
        _wait_for_running_job(node)
        grading.send_signal(number)
        _, messages = grading.communicate()
    assert b"the same command continues" in messages
    for _ in range(100):
        left = node.run("squeue", "--noheader", "--states=PENDING,RUNNING,COMPLETING")
        if not left:
            return
        time.sleep(0.1)
    raise AssertionError(left)


def test_refused_array_is_an_error_without_marks(node, tmp_path):
    course = make_course(tmp_path / "course")
    submit(course, "ann")
    command = [sys.executable, "-m", "grading", "grade", "--course", str(course.root), "--slurm"]
    environment = {**os.environ, **node.environment}
    done = subprocess.run(
        [*command, "--sbatch=--partition=none"], env=environment, capture_output=True, text=True
    )
    assert done.returncode != 0
    assert "sbatch refused" in done.stderr
    assert course.results.read(Task(LESSON, "ann")) is None
