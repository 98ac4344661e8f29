"""A class with all lessons whose grading is killed three times gets the same marks as without kills."""

import os
import shutil
import signal
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from nbgrader.api import Gradebook

from grading.nbgrader_plugins.release import generate_release
from tests.grading.attacks.tamper import ATTACKS
from tests.lessons.lesson import COURSE, LESSONS
from tests.lessons.submissions import hand_in, rows

pytestmark = pytest.mark.proof
CLASS = int(os.environ.get("LOAD_CLASS", "8"))  # LOAD_CLASS=300 takes an hour
FIRST = 4
# Kill when this fraction of the class has results, then when it has gradebook entries.
KILLS = [("*.json", 0.2), ("*.json", 0.6), ("*.written", 0.5)]
DAMAGES = ["json_cut_off", "cells_reversed", "cells_of_nothing", "metadata_lost", "notebook_renamed"]


def _course(root: Path) -> Path:
    shutil.copy(COURSE / "nbgrader_config.py", root)
    shutil.copytree(COURSE / "solutions", root / "solutions")
    generate_release(root)
    return root


def _hand_in(course: Path, number: int) -> None:
    """Alternate lessons and answers, right and wrong; of five submissions one crashes and one is damaged."""
    turn, lesson = divmod(number, len(LESSONS))
    bank = rows(LESSONS[lesson])
    sources = {answer.check: answer.source for answer in bank[turn % len(bank)]}
    if number % 5 == 1:
        sources[next(iter(sources))] = "import os\nos._exit(1)"
    notebook = hand_in(course, LESSONS[lesson], f"student{number:03}", sources)
    if number % 5 == 2:
        ATTACKS[DAMAGES[number // 5 % len(DAMAGES)]].folder(notebook.parent)


def _grade(root: Path, jobs: int) -> subprocess.Popen:
    command = [sys.executable, "-m", "grading", "grade", "--course", str(root)]
    command += ["--jobs", str(jobs)]
    with (root / "stderr.txt").open("w") as stderr:
        return subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=stderr, start_new_session=True)


def _finish(process: subprocess.Popen, root: Path) -> int:
    """Wait for the end; return the peak memory of the grader itself, in KiB."""
    peak = 0
    while process.poll() is None:
        status = Path(f"/proc/{process.pid}/status").read_text()
        peak = max([peak, *(int(line.split()[1]) for line in status.splitlines() if "VmHWM" in line)])
        time.sleep(0.1)
    assert process.returncode == 0, (root / "stderr.txt").read_text()
    return peak


def _marks(root: Path) -> dict[tuple[str, str], dict[str, float]]:
    with Gradebook(f"sqlite:///{root}/gradebook.db") as gradebook:
        return {
            (lesson.name, book.student.id): {grade.name: grade.auto_score for grade in book.grades}
            for lesson in LESSONS
            for book in gradebook.notebook_submissions(lesson.name, lesson.name)
        }


def _kill_at(root: Path, pattern: str, share: float) -> None:
    process = _grade(root, 2)
    while sum(1 for _ in (root / "marks").rglob(pattern)) < share * CLASS:
        assert process.poll() is None, "it ended before it was killed"
        time.sleep(0.05)
    assert process.poll() is None, "it ended before it was killed"
    os.kill(process.pid, signal.SIGKILL)
    process.wait()


@pytest.fixture(scope="module")
def disturbed_and_serial(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path, list[int]]:
    serial = _course(tmp_path_factory.mktemp("serial"))
    for number in range(FIRST):
        _hand_in(serial, number)
    memory = [_finish(_grade(serial, 1), serial)]
    for number in range(FIRST, CLASS):
        _hand_in(serial, number)
    disturbed = tmp_path_factory.mktemp("disturbed") / "course"
    skip = shutil.ignore_patterns("marks", "autograded", "gradebook.db*")
    shutil.copytree(serial, disturbed, ignore=skip)
    with ThreadPoolExecutor(1) as executor:
        peak = executor.submit(_finish, _grade(serial, 1), serial)
        for pattern, share in KILLS:
            _kill_at(disturbed, pattern, share)
        _finish(_grade(disturbed, 2), disturbed)
    return disturbed, serial, [*memory, peak.result()]


def test_kills_change_no_mark(disturbed_and_serial):
    disturbed, serial, _ = disturbed_and_serial
    assert len(_marks(serial)) == CLASS
    assert _marks(disturbed) == _marks(serial)


def test_memory_does_not_grow_with_the_class(disturbed_and_serial):
    few, many = disturbed_and_serial[2]
    assert many < 1.25 * few


def test_second_grading_changes_no_result(disturbed_and_serial):
    _, serial, _ = disturbed_and_serial
    before = {path: path.stat().st_mtime_ns for path in (serial / "marks").rglob("*.json")}
    _finish(_grade(serial, 1), serial)
    assert {path: path.stat().st_mtime_ns for path in (serial / "marks").rglob("*.json")} == before
