"""What the verdict says where the check finds no answer: it was deleted, or its cell failed."""

import sys

import nbformat
import pytest

from grading.notebook.restore import restore_notebook
from grading.sandbox.isolation import backends
from grading.scoring.examination import examine
from grading.scoring.report import mistakes, versions
from tests.grading.toy_course import LESSON, cell_of, make_course

try:
    backends.choose()
except backends.NoSandboxError as refusal:
    pytest.skip(str(refusal), allow_module_level=True)

HERE = f"Python 3.{sys.version_info.minor}"
FAILED = {
    "syntax of a newer Python": (
        "def total_of(numbers):\n    return sum(numbers) ? 1",
        f"SyntaxError in {HERE}: invalid syntax (line 2: return sum(numbers) ? 1)",
    ),
    "missing package": (
        "import no_such_package\nclass total_of(no_such_package.Base):\n    pass",
        "ModuleNotFoundError: No module named 'no_such_package'",
    ),
    "default argument": (
        "def total_of(numbers, more=[1][5]):\n    pass",
        "IndexError: list index out of range",
    ),
}


@pytest.fixture(scope="module")
def graded(tmp_path_factory):
    """Return a function that grades a right submission with another answer to `total`."""
    course = make_course(tmp_path_factory.mktemp("course"))
    with course.make_sandbox() as first, course.make_sandbox() as second:

        def graded(source):
            lesson = course.lesson(LESSON)
            notebook = nbformat.from_dict(lesson.source)
            cell_of(notebook, "total_answer").source = source
            return examine((first, second), lesson, notebook, lesson.files(), 5).exercises["total"]

        yield graded


@pytest.mark.parametrize("source", ["", "# This cell was missing.", "def other():\n    pass"])
def test_deleted_answer_is_no_crash(graded, source):
    found = graded(source)
    assert (found["status"], found["mistake"], found["points"]) == ("wrong", "no_answer_found", 0)
    assert "no cell defines `total_of`" in found["message"]
    shown = mistakes([{"lesson": LESSON, "exercises": {"total": found}}])
    assert "no_answer_found" in shown


@pytest.mark.parametrize("what", FAILED)
def test_error_of_the_cell_that_defines_the_answer_is_said_first(graded, what):
    source, error = FAILED[what]
    found = graded(source)
    assert (found["mistake"], found["points"]) == ("definition_failed", 0)
    assert found["message"] == f"The cell of your answer stopped with an error: {error}"


def released() -> nbformat.NotebookNode:
    return nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell("pass", id="one")])


def ran_in(version: object) -> list[str]:
    """What is reported of a notebook that ran in this version of Python."""
    notebook = released()
    notebook.metadata["language_info"] = {"name": "python", "version": version}
    findings = restore_notebook(nbformat.writes(notebook).encode(), released()).findings
    return [f"{one.kind}: {one.what}" for one in findings]


def test_newer_python_is_reported_once_a_class():
    minor = sys.version_info.minor
    [found] = ran_in(f"3.{minor + 1}.4")
    assert f"ran in Python 3.{minor + 1}" in found
    kind, _, what = found.partition(": ")
    results = [
        {"lesson": LESSON, "student": student, "findings": [{"kind": kind, "what": what}]}
        for student in ("ann", "ben")
    ]
    assert versions(results) == f"{LESSON}  ann, ben: {what}"


@pytest.mark.parametrize("version", [f"3.{sys.version_info.minor}.99", "3.1", "2.7.18", "", None, 3, "3.x"])
def test_any_other_python_is_not_reported(version):
    assert ran_in(version) == []


def test_mark_of_utf_8_at_the_start_of_an_answer_is_left_out():
    notebook = released()
    notebook.cells[0].source = "\ufeffx = 1"
    restored = restore_notebook(nbformat.writes(notebook).encode(), released()).notebook
    assert "\ufeff" not in "".join(cell.source for cell in restored.cells)
