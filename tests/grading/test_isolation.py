"""No submission ends the grading of the others: hostile folders beside honest work."""

import json
import os
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from nbgrader.api import Gradebook

from course_utils.grading import cli
from course_utils.grading.course import Course, ResultStore, Task
from course_utils.grading.sandbox import protocol
from course_utils.grading.sandbox.isolation.backends import NoSandboxError, choose
from course_utils.grading.scoring import local
from tests.grading.toy_course import LESSON, make_course, submit

try:
    choose()
except NoSandboxError as refusal:
    pytest.skip(str(refusal), allow_module_level=True)

MANY_NINES = b"9" * 50_000_000


def stamp(data: bytes) -> Callable[[Path], object]:
    return lambda folder: (folder / "timestamp.txt").write_bytes(data)


def deep_folders(folder: Path) -> None:
    """2,000 nested folders, whose path is longer than the system accepts."""
    here = os.open(folder, os.O_RDONLY)
    for _ in range(2000):
        os.mkdir("deep", dir_fd=here)
        below = os.open("deep", os.O_RDONLY, dir_fd=here)
        os.close(here)
        here = below
    os.close(here)


def bytes_name(folder: Path) -> None:
    Path(os.fsdecode(os.fsencode(folder) + b"/caf\xe9.txt")).write_text("Latin-1 in the name")


def bytes_target(folder: Path) -> None:
    (folder / "link").symlink_to(os.fsdecode(b"/caf\xe9"))


HOSTILE: dict[str, Callable[[Path], object]] = {
    "stamp_is_a_folder": lambda folder: (folder / "timestamp.txt").mkdir(),
    "stamp_of_nines": stamp(MANY_NINES),
    "stamp_with_invalid_decimal": stamp(b"1e1000000000 UTC"),
    "stamp_not_text": stamp(b"\xff\xfe\x00"),
    "notebook_is_a_folder": lambda folder: (folder / "mine.ipynb").mkdir(),
    "name_not_utf8": bytes_name,
    "link_target_not_utf8": bytes_target,
    "pipe_with_a_long_name": lambda folder: os.mkfifo(folder / ("p" * 250)),
    "link_with_a_long_name": lambda folder: (folder / ("l" * 250)).symlink_to("/etc/passwd"),
    "deep_folders": deep_folders,
}


@pytest.fixture(scope="module")
def graded(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Course, int]]:
    """A class of one honest student and all hostile folders, and the exit status of its grading."""
    course = make_course(tmp_path_factory.mktemp("course"))
    submit(course, "honest")
    for name, change in HOSTILE.items():
        change(submit(course, name))
    yield course, cli.main(["grade", "--course", str(course.root), "--jobs", "1"])
    # Python's own removal, which pytest would use, recurses into each folder and fails.
    subprocess.run(["rm", "-rf", course.root], check=True)


def score(course: Course, student: str) -> float:
    with Gradebook(f"sqlite:///{course.root}/gradebook.db") as gradebook:
        return gradebook.find_submission(LESSON, student).score


@pytest.mark.parametrize("student", ["honest", *HOSTILE])
def test_right_answers_get_their_points_whatever_lies_beside_them(graded, student):
    course, status = graded
    assert (score(course, student), status) == (6, 0)


@pytest.mark.parametrize(
    "reply",
    [{"pictures": 7}, {"pictures": [None]}, {"text": ["\ud800"]}, {"evidence": 3, "error": {}}, [], 7, None],
    ids=str,
)
def test_any_reply_of_a_sandbox_leaves_a_result_that_can_be_stored(tmp_path, monkeypatch, reply):
    course = make_course(tmp_path)
    submit(course, "ann")
    real = protocol.Channel.receive
    monkeypatch.setattr(
        protocol.Channel, "receive", lambda self, deadline=None: real(self, deadline) and reply
    )
    result = local.run_one(course, Task(LESSON, "ann"))
    ResultStore(tmp_path / "results").write(result)
    assert result["points"] == 0
    assert (
        json.loads(ResultStore(tmp_path / "results").path(Task(LESSON, "ann")).read_text())["student"]
        == "ann"
    )


def test_unexpected_exception_is_a_fault_with_its_traceback(tmp_path, monkeypatch):
    course = make_course(tmp_path)
    submit(course, "ann")
    monkeypatch.setattr(local, "grade", lambda *arguments: 1 // 0)
    result = local.run_one(course, Task(LESSON, "ann"))
    assert result["status"] == "grader fault"
    assert "ZeroDivisionError" in result["findings"][-1]["what"]
    assert "Traceback" in result["findings"][-1]["what"]


def test_grading_without_submissions_says_what_to_do(tmp_path, capsys):
    course = make_course(tmp_path)
    assert cli.main(["grade", "--course", str(course.root)]) == 0
    assert "make collect" in capsys.readouterr().out
