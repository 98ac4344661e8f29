"""A machine on which no sandbox works: it shows results and grades nothing but with `--sandbox none`."""

import pytest

from grading import cli
from grading.course.result import Task
from grading.sandbox.isolation import backends
from tests.grading.toy_course import LESSON, make_course, submit


@pytest.fixture
def grade(tmp_path, monkeypatch, capsys):
    """Return a function that grades ann's and then bob's submission without a sandbox."""
    course = make_course(tmp_path)
    monkeypatch.setattr(backends, "works", lambda kind: False)

    def grade(*options: str) -> tuple[int, str]:
        status = cli.main(["grade", "--course", str(course.root), "--jobs", "1", *options])
        caught = capsys.readouterr()
        return status, caught.out + caught.err

    grade.course = course
    return grade


def test_results_are_shown_where_no_sandbox_works(grade):
    submit(grade.course, "ann")
    status, output = grade("--sandbox", "none")
    assert (status, "1 of 1 submissions written" in output) == (0, True)
    result = grade.course.results.read(Task(LESSON, "ann"))
    assert (result["points"], result["provenance"]["sandbox"]) == (6, "none")

    status, output = grade()
    assert (status, "mean points" in output, "No sandbox works" in output) == (0, True, False)

    submit(grade.course, "bob")
    status, output = grade()
    assert (status, "mean points" in output, "No sandbox works" in output) == (1, True, True)
    assert grade.course.results.read(Task(LESSON, "bob")) is None
    assert "failed" not in output
