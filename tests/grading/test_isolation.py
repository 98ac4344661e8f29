"""No submission ends the grading of the others: hostile folders beside honest work."""

import json
import subprocess
from collections.abc import Iterator

import pytest
from nbgrader.api import Gradebook

from course_utils.checks.core import MESSAGE_FILE
from grading import cli
from grading.course.config import Course
from grading.course.result import Task
from grading.course.result_store import ResultStore
from grading.sandbox import protocol
from grading.sandbox.isolation import backends
from grading.sandbox.isolation.backends import NoSandboxError, choose
from grading.scoring import local
from tests.grading.hostile.folders import FOLDERS
from tests.grading.toy_course import LESSON, make_course, submit

try:
    choose()
except NoSandboxError as refusal:
    pytest.skip(str(refusal), allow_module_level=True)

# A handful of those in `hostile`, which are graded all together as a proof.
HOSTILE = (
    "name_not_utf8",
    "folder_named_as_a_notebook",
    "stamp_that_the_decimal_module_refuses",
    "nested_2000_deep",
)


@pytest.fixture(scope="module")
def graded(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Course, int]]:
    """A class of one honest student and all hostile folders, and the exit status of its grading."""
    course = make_course(tmp_path_factory.mktemp("course"))
    submit(course, "honest")
    for name in HOSTILE:
        FOLDERS[name].folder(submit(course, name))
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


@pytest.fixture(scope="module")
def honest(tmp_path_factory: pytest.TempPathFactory) -> Course:
    """A course with one submission; its sandboxes are started once."""
    course = make_course(tmp_path_factory.mktemp("course"))
    submit(course, "ann")
    return course


@pytest.mark.parametrize(
    "reply",
    [{"pictures": 7}, {"pictures": [None]}, {"text": ["\ud800"]}, {"evidence": 3, "error": {}}, [], 7, None],
    ids=str,
)
def test_any_reply_of_a_sandbox_leaves_a_result_that_can_be_stored(honest, tmp_path, monkeypatch, reply):
    real = protocol.Channel.receive
    monkeypatch.setattr(
        protocol.Channel, "receive", lambda self, deadline=None: real(self, deadline) and reply
    )
    result = local.run_one(honest, Task(LESSON, "ann"))
    ResultStore(tmp_path / "results").write(result)
    assert result["points"] == 0
    assert (
        json.loads(ResultStore(tmp_path / "results").path(Task(LESSON, "ann")).read_text())["student"]
        == "ann"
    )


def test_unexpected_exception_is_a_fault_with_its_traceback(honest, monkeypatch):
    monkeypatch.setattr(local, "grade", lambda *arguments: 1 // 0)
    result = local.run_one(honest, Task(LESSON, "ann"))
    assert result["status"] == "grader fault"
    assert "ZeroDivisionError" in result["findings"][-1]["what"]
    assert "Traceback" in result["findings"][-1]["what"]


def test_grading_without_submissions_says_what_to_do(tmp_path, capsys):
    course = make_course(tmp_path)
    assert cli.main(["grade", "--course", str(course.root)]) == 0
    assert "make collect" in capsys.readouterr().out


def test_only_withheld_modules_are_hidden_from_a_submission():
    """Packages inside a lesson's checks are as visible as its modules."""
    package = backends.GRADING.parent
    kept = backends._hidden([package])
    for name, withheld in backends.withheld().items():
        room = package / "course_utils" / name
        entries = {path.name for path in room.iterdir() if path.name != "__pycache__"}
        # Judges read the messages, and they are outside.
        assert entries - set(kept[room]) - {MESSAGE_FILE} == withheld
