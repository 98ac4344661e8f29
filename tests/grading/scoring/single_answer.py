"""Grades one answer to one exercise, without the other exercises of its lesson."""

import tempfile
from functools import cache
from pathlib import Path
from typing import NamedTuple

import nbformat

from grading.course.lesson import Lesson
from grading.course.result import Exercise
from grading.notebook.cell_selection import grade_id
from grading.scoring.examination import Sandboxes, examine
from tests.grading.toy_course import cell_of
from tests.lessons.lesson import LESSONS, OPTIONAL, read

LESSON_OF = {one.name.partition("_")[2]: one.solution.parent for one in LESSONS}


OPTIONAL_FOLDERS = tempfile.TemporaryDirectory()


class Graded(NamedTuple):
    """The outcome of an exercise, and the exception that ended the cell of its answer, if any."""

    exercise: Exercise
    error: str


def grade_answer(sandboxes: Sandboxes, module: str, check: str, source: str, seed: int = 1) -> Graded:
    """Grade an answer as in a submission that holds no other.

    Args:
        sandboxes: Two sandboxes.
        module: The lesson, by the name of its checks.
        check: The exercise.
        source: The answer.
        seed: Seed of the inputs.
    """
    lesson = Lesson(LESSON_OF[module])
    if check not in lesson.graded:
        lesson = Lesson(_with_marks(module))
    lesson.graded = {check: lesson.graded[check]}
    notebook = nbformat.from_dict(lesson.source)
    answer = cell_of(notebook, f"{check}_answer")
    answer.source = source
    above = notebook.cells[: notebook.cells.index(cell_of(notebook, check)) + 1]
    notebook.cells = [cell for cell in above if grade_id(cell) in ("", f"{check}_answer", check)]
    found = examine(sandboxes, lesson, notebook, lesson.files(), seed)
    return Graded(found.exercises[check], found.replies[notebook.cells.index(answer)].error)


@cache
def _with_marks(module: str) -> Path:
    """Write the optional notebook of a lesson as one whose checks have marks; return its folder."""
    [optional] = [one for one in OPTIONAL if one.module_name == module]
    folder = Path(OPTIONAL_FOLDERS.name, optional.name)
    folder.mkdir()
    notebook = read(optional.solution)
    for cell in notebook.cells:
        if "raises-exception" in cell.metadata.get("tags", []):
            name = cell.source.partition("(")[0].rpartition(".")[2]
            marks = {"grade": True, "solution": False, "locked": True, "task": False, "points": 1}
            cell.metadata.nbgrader = {"schema_version": 3, "cell_type": "code", "grade_id": name, **marks}
    nbformat.write(notebook, folder / f"{optional.name}.ipynb")
    return folder
