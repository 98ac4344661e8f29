"""A class graded by the command `nbgrader autograde`."""

import pytest
from nbgrader.api import Gradebook

from grading.course.result import Task
from tests.grading.toy_course import LESSON, make_course, nbgrader, submit


@pytest.fixture(scope="module")
def course(tmp_path_factory):
    course = make_course(tmp_path_factory.mktemp("course"))
    submit(course, "ann")
    submit(course, "bob", total="def total_of(numbers):\n    return 3")
    submit(course, "cleo", largest="import os, signal\nos.kill(os.getpid(), signal.SIGKILL)")
    (submit(course, "dan") / f"{LESSON}.ipynb").write_text("{ not a notebook")
    nbgrader(course.root, "autograde", LESSON)
    return course


@pytest.mark.parametrize(
    ("student", "points", "status"),
    [("ann", 6, "right"), ("bob", 4, "wrong"), ("cleo", 4, "crashed"), ("dan", 0, "damaged")],
)
def test_autograde_writes_points_and_status(course, student, points, status):
    with Gradebook(f"sqlite:///{course.root}/gradebook.db") as gradebook:
        assert gradebook.find_submission(LESSON, student).score == points
    assert course.results.read(Task(LESSON, student))["status"] == status
