"""The teacher's commands, from the first grading to feedback and marks, on a small class."""

import csv
import shutil
import sqlite3
import sys

import pytest
from nbformat.v4 import new_markdown_cell
from nbgrader.api import Gradebook

from grading import cli
from grading.course.config import course_at
from grading.course.installed_copy import MixedVersionsError
from grading.course.result import Task
from tests.grading.toy_course import LESSON, TOY, make_course, submit


@pytest.fixture(scope="module")
def course(tmp_path_factory):
    root = tmp_path_factory.mktemp("course")
    shutil.copytree(TOY, root / "checks")
    forget_toy_checks()  # other tests import them from elsewhere
    course = make_course(root, checks=root / "checks")
    submit(course, "ann")
    bob = submit(course, "bob", paste_screenshot, total="def total_of(numbers):\n    return sum(numbers) + 1")
    (bob / "page.html").write_text("<script>alert(1)</script>")
    (bob / "submission_secret.txt").write_text("written by nbgrader when bob submitted")
    yield course
    sys.path.remove(str(root / "checks"))
    forget_toy_checks()


def paste_screenshot(notebook):
    pictures = {"image.png": {"image/png": "iVBORw0KGgo="}}
    notebook.cells.append(
        new_markdown_cell(
            "![what I saw](attachment:image.png)\n\n[click](javascript:alert(1))", attachments=pictures
        )
    )


def forget_toy_checks():
    for name in [name for name in sys.modules if name.partition(".")[0] == "toy_checks"]:
        del sys.modules[name]


@pytest.fixture
def run(course, capsys):
    """Return a function that runs a command on the course and returns its exit status and output."""

    def run(*arguments):
        status = cli.main([arguments[0], "--course", str(course.root), *arguments[1:]])
        caught = capsys.readouterr()
        return status, caught.out + caught.err

    return run


def test_grading_says_what_it_does_before_it_begins(run, monkeypatch):
    def stop():
        raise MixedVersionsError("stopped here")

    monkeypatch.setattr(cli, "require_same_version", stop)
    _, output = run("grade")
    assert output == (
        "2 submissions: reading them, then running those that are new or have changed.\nstopped here\n"
    )


def test_gradebook_in_use_or_of_another_version_is_a_sentence(course, run, monkeypatch):
    database = course.root / "other.db"
    url = f"sqlite:///{database}"
    monkeypatch.setattr(cli, "course_at", lambda _: replace_gradebook(course, url))
    with sqlite3.connect(database) as connection:
        connection.execute("CREATE TABLE alembic_version (version_num VARCHAR(32))")
        connection.execute("CREATE TABLE assignment (id VARCHAR(32), name VARCHAR(128))")
    status, output = run("grade", "--jobs", "1")
    assert status == 1
    assert "An older nbgrader has written it: nbgrader db upgrade" in output
    assert "Traceback" not in output
    database.write_text("no database at all, but a text of more than sixteen bytes")
    status, output = run("grade", "--jobs", "1")
    assert status == 1
    assert "cannot be used: file is not a database" in output
    assert "Traceback" not in output


def replace_gradebook(course, url):
    other = course_at(course.root)
    other.directory.db_url = other.config.CourseDirectory.db_url = url
    return other


def _score(course, student):
    with Gradebook(f"sqlite:///{course.root}/gradebook.db") as gradebook:
        return gradebook.find_submission(LESSON, student).score


def test_grade_with_student_grades_only_that_one(course, run):
    status, output = run("grade", "--student", "ann", "--jobs", "1")
    assert status == 0
    assert "1 of 1 submissions written" in output
    assert course.results.read(Task(LESSON, "bob")) is None


def test_grade_runs_only_new_submissions(course, run):
    status, output = run("grade", "--jobs", "2")
    assert status == 0
    assert "1 of 2 submissions written" in output
    assert "wrong_total" in output
    assert (_score(course, "ann"), _score(course, "bob")) == (6, 4)
    assert "wrong_total" in (course.results.folder / "report.md").read_text()


def test_result_records_its_provenance(course):
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


def test_changed_marks_are_previewed_and_not_written(course, run):
    module = course.root / "checks" / "toy_checks" / "arithmetic.py"
    module.write_text(
        module.read_text().replace("found != expected", "found not in (expected, expected + 1)")
    )
    forget_toy_checks()  # a teacher runs each command in a new process
    _, output = run("grade", "--jobs", "1")
    assert "would change" in output
    assert ["bob", "total", "0", "2", "checks"] in [line.split()[1:6] for line in output.splitlines()]
    assert _score(course, "bob") == 4


def test_changed_marks_are_written_with_write(course, run):
    _, output = run("grade", "--jobs", "1", "--write")
    assert "would change" not in output
    assert _score(course, "bob") == 6


def test_formgrader_finds_no_file_of_a_student(course):
    assert sorted(path.name for path in (course.root / "autograded" / "bob" / LESSON).iterdir()) == [
        f"{LESSON}.ipynb",
        "lesson_file.txt",
        "submission_secret.txt",
    ]
    notebook = (course.root / "autograded" / "bob" / LESSON / f"{LESSON}.ipynb").read_text()
    assert "click</a>" in notebook
    assert "javascript:" not in notebook


def test_feedback_shows_the_verdicts(course, run):
    assert run("feedback")[0] == 0
    page = (course.root / "feedback" / "bob" / LESSON / f"{LESSON}.html").read_text()
    assert 'src="data:image/png;base64,iVBORw0KGgo="' in page
    assert "Content-Security-Policy" in page
    assert "✓ The number is right." in page


def test_csv_has_a_row_for_each_student(course, run):
    run("export", "--to", str(course.root / "marks.csv"))
    with (course.root / "marks.csv").open() as file:
        rows = {row["student_id"]: row["points"] for row in csv.DictReader(file)}
    assert rows == {"ann": "6.0", "bob": "6.0"}


def test_progress_shows_exercises_and_mistakes_without_names(run):
    status, output = run("progress")
    table = output[output.index("lesson  ") :]
    assert status == 0
    assert "2 of 2" in table
    assert "ann" not in table


def test_progress_repeats_until_it_is_interrupted(run, monkeypatch):
    waits = []

    def wait(seconds):
        waits.append(seconds)
        if len(waits) == 2:
            raise KeyboardInterrupt

    monkeypatch.setattr(cli.time, "sleep", wait)
    with pytest.raises(KeyboardInterrupt):
        run("progress", "--every", "300")
    assert waits == [300, 300]


def test_report_shows_stored_results(run):
    assert "Points by exercise" in run("report")[1]


def test_linked_folder_and_pattern_get_no_mark_and_are_reported(course, run):
    submitted = course.root / "submitted"
    (submitted / "carl").symlink_to("ann")
    (submitted / "*" / LESSON).mkdir(parents=True)
    try:
        status, output = run("grade", "--jobs", "1")
    finally:
        (submitted / "carl").unlink()
        (submitted / "*" / LESSON).rmdir()
        (submitted / "*").rmdir()
    assert status == 1
    assert f"No mark: {LESSON}: '*' is not a student's id" in output
    assert f"No mark: {LESSON}: {submitted}/carl is a link to 'ann'" in output
    with Gradebook(f"sqlite:///{course.root}/gradebook.db") as gradebook:
        assert {student.id for student in gradebook.students} == {"ann", "bob"}


def test_unknown_lesson_is_an_error(run):
    status, output = run("grade", "--lesson", "99_nothing")
    assert (status, "99_nothing" in output) == (1, True)


def test_every_command_has_help(capsys):
    for command in ("collect", "grade", "feedback", "export", "report", "progress"):
        with pytest.raises(SystemExit) as stop:
            cli.main([command, "--help"])
        assert stop.value.code == 0
        assert "--lesson" in capsys.readouterr().out
