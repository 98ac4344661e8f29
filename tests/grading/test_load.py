"""A big class: graded by processes that are killed five times, and marked as if nothing had happened."""

import os
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from nbgrader.api import Gradebook

from course_utils.grading.settings import Course
from tests.grading.attacks import tamper
from tests.grading.course import LESSON, make_course, submit

CLASS = int(os.environ.get("LOAD_CLASS", "60"))
FIRST = 30
# Kill when so many results, then so many gradebook entries, are there: as parts of the class.
KILLS = [("*.json", 0.05), ("*.json", 0.4), ("*.json", 0.8), ("*.written", 0.3), ("*.written", 0.7)]
DAMAGES = [
    "json_cut_off",
    "metadata_lost",
    "test_deleted",
    "cells_reversed",
    "notebook_renamed",
    "points_raised",
]


def _hand_in(course: Course, number: int) -> None:
    """Of ten submissions six are right, two are wrong, one crashes and one is damaged."""
    name, kind = f"student{number:03}", number % 10
    if kind == 9:
        attack = tamper.ATTACKS[DAMAGES[number // 10 % len(DAMAGES)]]
        folder = submit(course, name, attack.change)
        if attack.folder is not None:
            attack.folder(folder)
    elif kind == 8:
        submit(course, name, largest="import os\nos._exit(1)")
    elif kind >= 6:
        submit(course, name, total=f"def total_of(numbers):\n    return {number}")
    else:
        submit(course, name)


def _grade(root: Path, jobs: int) -> subprocess.Popen:
    command = [
        sys.executable,
        "-m",
        "course_utils.grading",
        "grade",
        "--course",
        str(root),
        "--jobs",
        str(jobs),
    ]
    return subprocess.Popen(
        command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, start_new_session=True
    )


def _finish(process: subprocess.Popen) -> int:
    """Waits for the end; returns the most memory that it or one of its workers had, in KiB."""
    said = process.stderr.read()
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    process.stderr.close()
    assert process.returncode == 0, said
    return usage.ru_maxrss


def _marks(root: Path) -> dict[str, dict[str, float]]:
    with Gradebook(f"sqlite:///{root}/gradebook.db") as gradebook:
        notebooks = gradebook.notebook_submissions(LESSON, LESSON)
        return {
            book.student.id: {grade.name: grade.auto_score for grade in book.grades} for book in notebooks
        }


def _kill_at(root: Path, pattern: str, share: float) -> None:
    process = _grade(root, 2)
    while process.poll() is None:
        done = sum(1 for _ in (root / "marks").rglob(pattern))
        if done >= share * CLASS:
            break
        time.sleep(0.05)
    os.kill(process.pid, signal.SIGKILL)
    process.stderr.close()
    process.wait()


@pytest.fixture(scope="module")
def disturbed_and_serial(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path, list[int]]:
    serial = make_course(tmp_path_factory.mktemp("serial"))
    for number in range(FIRST):
        _hand_in(serial, number)
    memory = [_finish(_grade(serial.root, 1))]
    for number in range(FIRST, CLASS):
        _hand_in(serial, number)
    disturbed = tmp_path_factory.mktemp("disturbed") / "course"
    skip = shutil.ignore_patterns("marks", "autograded", "gradebook.db*")
    shutil.copytree(serial.root, disturbed, ignore=skip)
    memory.append(_finish(_grade(serial.root, 1)))
    for pattern, share in KILLS:
        _kill_at(disturbed, pattern, share)
    _finish(_grade(disturbed, 2))
    return disturbed, serial.root, memory


def test_five_kills_change_no_mark(disturbed_and_serial):
    disturbed, serial, _ = disturbed_and_serial
    assert len(_marks(serial)) == CLASS
    assert _marks(disturbed) == _marks(serial)


def test_memory_does_not_grow_with_the_class(disturbed_and_serial):
    few, many = disturbed_and_serial[2]
    assert many < 1.25 * few


def test_a_second_grading_has_nothing_to_do(disturbed_and_serial):
    _, serial, _ = disturbed_and_serial
    before = {path: path.stat().st_mtime_ns for path in (serial / "marks").rglob("*.json")}
    _finish(_grade(serial, 1))
    assert {path: path.stat().st_mtime_ns for path in (serial / "marks").rglob("*.json")} == before
