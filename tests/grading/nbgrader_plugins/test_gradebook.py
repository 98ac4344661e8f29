"""Writing results to the gradebook through nbgrader's autograde."""

import pytest
from nbgrader.api import Gradebook

from grading.course.result import GRADER_FAULT, Task
from grading.nbgrader_plugins import gradebook
from grading.notebook import restore
from grading.sandbox.server_process import GraderFaultError
from grading.scoring import local
from tests.grading.toy_course import LESSON, make_course, submit

ANN = Task(LESSON, "ann")


@pytest.fixture
def course(tmp_path):
    course = make_course(tmp_path)
    submit(course, "ann")
    gradebook.register(course, LESSON)
    return course


def autograded(course):
    with Gradebook(course.directory.db_url, course.directory.course_id) as book:
        return [grade.auto_score for one in book.notebook_submissions(LESSON, LESSON) for grade in one.grades]


def test_fault_of_the_grader_writes_no_mark(course, monkeypatch):
    def fail(*_):
        raise GraderFaultError("no sandbox today")

    with monkeypatch.context() as patch:
        patch.setattr(local, "grade", fail)
        with pytest.raises(gradebook.NotWrittenError, match="The grader failed on ann"):
            gradebook.write(course, ANN)
    assert course.results.read(ANN)["status"] == GRADER_FAULT
    assert course.results.is_unwritten(ANN)
    assert not any(autograded(course))

    gradebook.write(course, ANN)
    assert not course.results.is_unwritten(ANN)
    assert autograded(course) == [2, 2, 2]


def test_submission_is_restored_once_for_grading_and_gradebook(course, monkeypatch, tmp_path):
    calls = tmp_path / "calls"  # a file: submissions are restored in a process of their own
    assemble = restore._assemble

    def counted(*arguments):
        with calls.open("a") as file:
            file.write("call\n")
        return assemble(*arguments)

    monkeypatch.setattr(restore, "_assemble", counted)
    gradebook.write(course, ANN)
    gradebook.write(course, ANN)
    assert calls.read_text() == "call\n"
