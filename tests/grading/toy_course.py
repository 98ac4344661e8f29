"""A course with one toy lesson, and submissions to it."""

import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path

import nbformat
from nbformat import NotebookNode
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook

from grading.course.config import Course, course_at
from grading.nbgrader_plugins.release import generate_release

ROOT = Path(__file__).parents[2]
TOY = Path(__file__).parent / "toy"
LESSON = "01_arithmetic"
DEMONSTRATION = """
import itertools
FIRST = 0
size = len(str(FIRST))

@functools.cache
def last(items):
    return items[-1]

raise RuntimeError("a demonstration ran")
""".strip()
RIGHT = {
    "total": "def total_of(numbers):\n    return sum(numbers)",
    "largest": "def largest_of(numbers):\n    return max(numbers)",
    "backwards": "def backwards(word):\n    return word[::-1]",
}
ANSWERS = {"total": "total_of", "largest": "largest_of", "backwards": "backwards"}


def _marks(name: str, **marks: object) -> dict:
    plain = {"schema_version": 3, "grade": False, "solution": False, "locked": False, "task": False}
    return {"nbgrader": {**plain, "grade_id": name, **marks}}


def _solution() -> NotebookNode:
    cells = [
        new_markdown_cell("# A toy lesson", id="title"),
        new_code_cell(
            "import functools\nfrom toy_checks import arithmetic", metadata={"tags": ["setup"]}, id="setup"
        ),
        new_code_cell(DEMONSTRATION, id="demo"),
    ]
    for name, answer in ANSWERS.items():
        head, _, body = RIGHT[name].partition("\n")
        # An answer cell that nobody has filled in still defines its name.
        source = f"{head}\n    ### BEGIN SOLUTION\n{body}\n    ### END SOLUTION"
        cells.append(
            new_code_cell(source, metadata=_marks(f"{name}_answer", solution=True), id=f"{name}-answer")
        )
        graded = _marks(name, grade=True, locked=True, points=2)
        cells.append(new_code_cell(f"arithmetic.{name}({answer})", metadata=graded, id=name))
    kernel = {"name": "python3", "display_name": "Python 3 (ipykernel)", "language": "python"}
    return new_notebook(cells=cells, metadata={"kernelspec": kernel})


def make_course(root: Path, more: str = "", checks: Path = TOY) -> Course:
    """Write the toy course and release its lesson.

    Args:
        root: Its folder, which may exist.
        more: More lines of configuration.
        checks: The folder with the package of its checks.
    """
    folder = root / "solutions" / LESSON
    folder.mkdir(parents=True)
    nbformat.write(_solution(), folder / f"{LESSON}.ipynb")
    (folder / "lesson_file.txt").write_text("a file of the lesson\n")
    lines = [
        "c.Grading.checks_package = 'toy_checks'",
        f"c.Grading.module_folders = [{str(checks)!r}]",
        "c.Grading.preloaded_modules = ['numpy']",
        more,
    ]
    (root / "nbgrader_config.py").write_text((ROOT / "nbgrader_config.py").read_text() + "\n".join(lines))
    generate_release(root)
    return course_at(root)


def nbgrader(root: Path, *arguments: str) -> str:
    """Run an nbgrader command in a course; return its log."""
    command = ["nbgrader", *arguments]
    done = subprocess.run(command, cwd=root, capture_output=True, text=True, stdin=subprocess.DEVNULL)
    assert done.returncode == 0, done.stderr
    return done.stderr


def submit(
    course: Course, student: str, change: Callable[[NotebookNode], None] | None = None, **answers: str
) -> Path:
    """Submit the released notebook with answers (right ones by default), changed by `change`."""
    folder = course.root / "submitted" / student / LESSON
    shutil.copytree(course.root / "notebooks" / LESSON, folder)
    notebook = nbformat.read(folder / f"{LESSON}.ipynb", as_version=4)
    for name, source in {**RIGHT, **answers}.items():
        cell_of(notebook, f"{name}_answer").source = source
    if change is not None:
        change(notebook)
    (folder / f"{LESSON}.ipynb").write_text(nbformat.writes(notebook))
    return folder


def cell_of(notebook: NotebookNode, grade_id: str) -> NotebookNode:
    """Return the cell with a name given by nbgrader."""
    [cell] = [
        cell for cell in notebook.cells if cell.metadata.get("nbgrader", {}).get("grade_id") == grade_id
    ]
    return cell
