"""A teacher's commands from the first grading to the returned page, on a small class."""

import csv
import shutil
import sys

import pytest
from nbgrader.api import Gradebook

from course_utils.grading import cli
from course_utils.grading.course import Task
from tests.grading.toy_course import LESSON, TOY, make_course, submit


@pytest.fixture(scope="module")
def course(tmp_path_factory):
    root = tmp_path_factory.mktemp("course")
    shutil.copytree(TOY, root / "checks")
    forget_toy_checks()  # other tests import them from elsewhere
    course = make_course(root, checks=root / "checks")
    submit(course, "ann")
    submit(course, "bob", total="def total_of(numbers):\n    return sum(numbers) + 1")
    yield course
    sys.path.remove(str(root / "checks"))
    forget_toy_checks()


def forget_toy_checks():
    for name in [name for name in sys.modules if name.partition(".")[0] == "toy_checks"]:
        del sys.modules[name]


@pytest.fixture
def say(course, capsys):
    """Runs a command on the course; returns its exit status and what it said."""

    def say(*arguments):
        status = cli.main([arguments[0], "--course", str(course.root), *arguments[1:]])
        caught = capsys.readouterr()
        return status, caught.out + caught.err

    return say


def _score(course, student):
    with Gradebook(f"sqlite:///{course.root}/gradebook.db") as gradebook:
        return gradebook.find_submission(LESSON, student).score


def test_one_student_alone(course, say):
    status, said = say("grade", "--student", "ann", "--jobs", "1")
    assert status == 0
    assert "1 of 1 submissions written" in said
    assert course.results.read(Task(LESSON, "bob")) is None


def test_then_all_and_only_what_is_new(course, say):
    status, said = say("grade", "--jobs", "2")
    assert status == 0
    assert "1 of 2 submissions written" in said
    assert "wrong_total" in said
    assert (_score(course, "ann"), _score(course, "bob")) == (6, 4)
    assert "wrong_total" in (course.results.folder / "report.md").read_text()


def test_a_mark_says_where_it_comes_from(course):
    provenance = course.results.read(Task(LESSON, "ann"))["provenance"]
    assert {
        "submission",
        "lesson",
        "checks",
        "environment",
        "seed",
        "node",
        "time",
        "sandbox",
    } <= provenance.keys()


def test_a_changed_check_is_shown_before_it_is_written(course, say):
    module = course.root / "checks" / "toy_checks" / "arithmetic.py"
    module.write_text(
        module.read_text().replace("found != expected", "found not in (expected, expected + 1)")
    )
    forget_toy_checks()  # a teacher's command begins in a new process
    _, said = say("grade", "--jobs", "1")
    assert "would change" in said
    assert ["bob", "total", "0", "2", "checks"] in [line.split()[1:6] for line in said.splitlines()]
    assert _score(course, "bob") == 4


def test_and_written_on_the_teachers_word(course, say):
    _, said = say("grade", "--jobs", "1", "--write")
    assert "would change" not in said
    assert _score(course, "bob") == 6


def test_feedback_shows_the_verdicts(course, say):
    assert say("feedback")[0] == 0
    page = (course.root / "feedback" / "bob" / LESSON / f"{LESSON}.html").read_text()
    assert "✓ The number is right." in page


def test_the_csv_has_a_row_for_each_student(course, say):
    say("export", "--to", str(course.root / "marks.csv"))
    with (course.root / "marks.csv").open() as file:
        rows = {row["student_id"]: row["points"] for row in csv.DictReader(file)}
    assert rows == {"ann": "6.0", "bob": "6.0"}


def test_the_report_can_be_read_again(say):
    assert "Points by exercise" in say("report")[1]


def test_a_lesson_that_does_not_exist_is_an_error(say):
    status, said = say("grade", "--lesson", "99_nothing")
    assert (status, "99_nothing" in said) == (1, True)


def test_every_command_has_help(capsys):
    for command in ("collect", "grade", "feedback", "export", "report"):
        with pytest.raises(SystemExit) as stop:
            cli.main([command, "--help"])
        assert stop.value.code == 0
        assert "--lesson" in capsys.readouterr().out
