"""A lesson from release to feedback on the command line, as on the page "A term, step by step"."""

import csv
import subprocess
import sys
from pathlib import Path

import nbformat
import pytest

from grading.course.config import Course
from tests.grading.toy_course import LESSON, RIGHT, cell_of, make_course, nbgrader

STUDENT_CONFIG = """
c.CourseDirectory.course_id = {course_id!r}
c.Exchange.root = {exchange!r}
"""


@pytest.fixture
def course(tmp_path: Path) -> Course:
    (tmp_path / "exchange").mkdir()
    (tmp_path / "exchange").chmod(0o1777)
    return make_course(tmp_path / "course", f"c.Exchange.root = {str(tmp_path / 'exchange')!r}")


@pytest.fixture
def home(tmp_path: Path, course: Course) -> Path:
    """A student's folder that knows only the exchange."""
    folder = tmp_path / "home"
    folder.mkdir()
    exchange = course.config.Exchange.root
    text = STUDENT_CONFIG.format(course_id=course.directory.course_id, exchange=exchange)
    (folder / "nbgrader_config.py").write_text(text)
    return folder


def teacher(course: Course, *words: str) -> str:
    command = [sys.executable, "-m", "grading", *words]
    done = subprocess.run(command, cwd=course.root, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return done.stdout


def solve(path: Path) -> None:
    notebook = nbformat.read(path, as_version=4)
    for name, source in {**RIGHT, "largest": "def largest_of(numbers):\n    return min(numbers)"}.items():
        cell_of(notebook, f"{name}_answer").source = source
    nbformat.write(notebook, path)


# Eight commands start a Python each; `make test` runs them in one (test_workflow.py).
@pytest.mark.proof
def test_lesson_from_release_to_feedback(course: Course, home: Path):
    nbgrader(course.root, "release_assignment", LESSON)
    nbgrader(home, "fetch_assignment", LESSON)
    solve(home / LESSON / f"{LESSON}.ipynb")
    nbgrader(home, "submit", LESSON)

    assert f"{LESSON}: 1 submissions" in teacher(course, "collect")
    assert "1 of 1 submissions written" in teacher(course, "grade")
    assert f"{LESSON}: 1 pages" in teacher(course, "feedback", "--release")
    teacher(course, "export")
    [row] = csv.DictReader((course.root / "marks.csv").read_text().splitlines())
    assert (row["points"], row["of"]) == ("4.0", "6.0")

    nbgrader(home, "fetch_feedback", LESSON)
    [page] = (home / LESSON / "feedback").rglob("*.html")
    assert "[wrong_largest]" in page.read_text()
