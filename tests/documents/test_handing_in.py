"""Without a site: a lesson is released, handed in from a student's clone, graded and returned."""

import getpass
import json
import subprocess
import sys
from pathlib import Path

import pytest

from grading.site.student_repository import write_student_repository
from tests.browser.hub import clone
from tests.documents.environment import install, linking_uv
from tests.lessons.lesson import LESSONS, read, solved

pytestmark = pytest.mark.proof
LESSON = LESSONS[1]
NUMBER = LESSON.name[:2]


def run(folder: Path, *command: str, fails: bool = False) -> str:
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, stdin=subprocess.DEVNULL)
    assert bool(done.returncode) == fails, done.stdout + done.stderr
    return done.stdout + done.stderr


@pytest.fixture(scope="module")
def tools(tmp_path_factory) -> Path:
    return linking_uv(tmp_path_factory.mktemp("tools"), Path(sys.executable).resolve())


@pytest.fixture(scope="module", autouse=True)
def home(tmp_path_factory):
    """nbgrader remembers there what was handed in."""
    with pytest.MonkeyPatch.context() as patch:
        for name in ("JUPYTER_CONFIG_PATH", "JUPYTER_DATA_DIR", "MAKEFLAGS", "MAKELEVEL", "MFLAGS"):
            patch.delenv(name, raising=False)
        patch.setenv("HOME", str(tmp_path_factory.mktemp("home")))
        yield


@pytest.fixture(scope="module")
def course(tmp_path_factory, tools) -> Path:
    folder = clone(tmp_path_factory.mktemp("teacher") / "course")
    install(folder, tools)
    exchange = folder.parent / "exchange"
    exchange.mkdir()
    (folder / "term_config.py").write_text(f"get_config().Exchange.root = {str(exchange)!r}\n")
    return folder


@pytest.fixture(scope="module")
def student(course, tools) -> Path:
    """A student's clone, whose environment is installed."""
    repository, folder = course.parent / "students", course.parent / "ann" / "course"
    run(course, "make", "students", f"STUDENTS={repository}", f"EXCHANGE={course.parent / 'exchange'}")
    run(course.parent, "git", "clone", "--quiet", str(repository), str(folder))
    install(folder, tools)
    return folder


def solve(notebook: Path) -> None:
    answers = solved(read(LESSON.solution))
    data = json.loads(notebook.read_text())
    for cell in data["cells"]:
        name = cell["metadata"].get("nbgrader", {}).get("grade_id")
        if name in answers:
            cell["source"] = answers[name].source
    notebook.write_text(json.dumps(data, indent=1))


def test_lesson_is_handed_in_graded_and_comes_back(course, student):
    run(course, ".venv/bin/nbgrader", "release_assignment", LESSON.name)
    notebook = student / "notebooks" / LESSON.name / f"{LESSON.name}.ipynb"
    assert "returned no feedback yet" in run(student, "make", "feedback", f"LESSON={NUMBER}", fails=True)
    run(student, "make", "submit", f"LESSON={NUMBER}")
    solve(notebook)
    assert "Submitted as" in run(student, "make", "submit", f"LESSON={NUMBER}")

    assert f"{LESSON.name}: 1 submissions" in run(course, "make", "collect")
    assert "1 of 1 submissions written" in run(course, "make", "grade")
    run(course, "make", "feedback", "GRADE_OPTIONS=--release")

    said = run(student, "make", "feedback", f"LESSON={LESSON.name}")
    page = student / said.rpartition("Open in a browser: ")[2].strip()
    assert page.is_relative_to(notebook.parent / "feedback")
    assert "Exercise 1: " in page.read_text()
    marks = json.loads((course / "marks" / LESSON.name / f"{getpass.getuser()}.json").read_text())
    assert marks["status"] == "right"
    assert run(student, "git", "status", "--porcelain").split() == ["M", str(notebook.relative_to(student))]


@pytest.mark.parametrize("place", [".", "notebooks", f"notebooks/{LESSON.name}"])
def test_nbgraders_own_command_hands_in_from_each_folder_of_the_clone(course, student, place):
    run(course, ".venv/bin/nbgrader", "release_assignment", LESSON.name, "--force")
    said = run(student / place, str(student / ".venv" / "bin" / "nbgrader"), "submit", LESSON.name)
    assert "Submitted as" in said


def test_lesson_that_is_not_named_is_asked_for(student):
    for options in ([], ["LESSON=0"], ["LESSON=99"]):
        said = run(student, "make", "submit", *options, fails=True)
        assert f"make submit LESSON=01 (there are {LESSONS[0].name}, " in said


def test_without_an_exchange_a_student_is_told_so(course, tools):
    repository, folder = course.parent / "without", course.parent / "bob"
    write_student_repository(course, repository)
    run(course.parent, "git", "clone", "--quiet", str(repository), str(folder))
    install(folder, tools)
    for words in (["make", "submit", f"LESSON={NUMBER}"], ["make", "feedback", f"LESSON={NUMBER}"]):
        assert "There is no exchange" in run(folder, *words, fails=True)
