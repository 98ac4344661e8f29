"""Due dates, extensions and penalties, in nbgrader's own gradebook."""

import shutil
from pathlib import Path

import pytest
from nbgrader.api import Gradebook

from grading import cli
from grading.course.config import Course, course_at
from grading.nbgrader_plugins.deadlines import DeadlineError, store_due_dates
from tests.grading.toy_course import LESSON, make_course, submit

DUE = "2026-02-01 12:00+01:00"
DAY_LATE = "2026-02-02 12:00:00 UTC"  # a day and an hour


@pytest.fixture(scope="module")
def graded(tmp_path_factory) -> Course:
    """A course that was graded before anything was due: ann was late, bob in time, cyd did nothing."""
    course = make_course(tmp_path_factory.mktemp("course"))
    for student, time in (("ann", DAY_LATE), ("bob", "2026-02-01 10:59:59 UTC")):
        (submit(course, student) / "timestamp.txt").write_text(time)
    assert cli.main(["grade", "--course", str(course.root), "--jobs", "1"]) == 0
    with Gradebook(course.directory.db_url) as book:
        book.add_student("cyd")
    return course


@pytest.fixture
def copy(graded, tmp_path) -> Path:
    return shutil.copytree(graded.root, tmp_path / "course")


def configure(root: Path, **settings: object) -> None:
    with (root / "nbgrader_config.py").open("a") as file:
        file.writelines(f"\nc.Grading.{name} = {value!r}\n" for name, value in settings.items())


def grade(root: Path, capsys) -> str:
    status = cli.main(["grade", "--course", str(root), "--jobs", "1"])
    caught = capsys.readouterr()
    return caught.out + caught.err if status == 0 else f"failed: {caught.err}"


def marks(root: Path) -> dict[str, float]:
    with Gradebook(f"sqlite:///{root}/gradebook.db") as book:
        found = book.assignment_submissions(LESSON)
        return {one.student.id: one.score - (one.late_submission_penalty or 0) for one in found}


def test_late_work_and_missing_students_are_listed(copy, capsys):
    configure(copy, due={LESSON: DUE})
    told = grade(copy, capsys)
    assert f"{LESSON}  ann: late by 1 day, 1:00:00 h" in told
    assert f"{LESSON}: nothing from cyd" in told
    assert "bob: late" not in told
    assert marks(copy) == {"ann": 6, "bob": 6}


def test_a_penalty_that_is_set_later_is_applied(copy, capsys):
    configure(copy, due={LESSON: DUE}, penalty_per_day=0.25)
    assert "3 points less" in grade(copy, capsys)
    assert marks(copy) == {"ann": 3, "bob": 6}
    assert "0 of 2 submissions written" in grade(copy, capsys)


def test_an_extension_takes_the_penalty_back(copy, capsys):
    configure(copy, due={LESSON: DUE}, penalty_per_day=0.25)
    grade(copy, capsys)
    configure(copy, extensions={LESSON: {"ann": "2026-02-02 13:00+01:00"}})
    assert "1 of 2 submissions written" in grade(copy, capsys)
    assert marks(copy) == {"ann": 6, "bob": 6}


def test_a_due_date_of_the_formgrader_counts(copy, capsys):
    configure(copy, penalty_per_day=1.0)
    with Gradebook(f"sqlite:///{copy}/gradebook.db") as book:
        book.update_or_create_assignment(LESSON, duedate=DUE)
    grade(copy, capsys)
    assert marks(copy) == {"ann": 0, "bob": 6}


@pytest.mark.parametrize(
    ("settings", "reason"),
    [
        ({"due": {LESSON: "tomorrow"}}, "write it as"),
        ({"due": {LESSON: "2026-02-01 12:00"}}, "needs a time zone"),
        ({"due": {"09_other": DUE}}, "is no lesson"),
        ({"extensions": {LESSON: {"ann": DUE}}}, "has no date"),
        ({"due": {LESSON: DUE}, "extensions": {LESSON: {"ann": "2026-01-01 12:00+01:00"}}}, "ends before"),
    ],
)
def test_dates_that_cannot_be_meant_are_refused(graded, settings, reason):
    course = course_at(graded.root)
    for name, value in settings.items():
        setattr(course.grading, name, value)
    with pytest.raises(DeadlineError, match=reason):
        store_due_dates(course, [LESSON])
