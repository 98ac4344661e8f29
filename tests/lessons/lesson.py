"""Find all lessons, their notebooks and their checks."""

import importlib
import re
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType

import nbformat
from nbformat import NotebookNode
from nbgrader.utils import is_grade, is_solution

from course_utils.checks.core.check import Check
from course_utils.start_page import MORE
from grading.course.lesson import lesson_names

COURSE = Path(__file__).parents[2]
FENCED = re.compile(r"^```.*?^```", re.MULTILINE | re.DOTALL)  # code within Markdown


@dataclass(frozen=True)
class Lesson:
    """A lesson, or its optional notebook, which has neither marks nor points."""

    name: str
    optional: bool = False

    @property
    def module_name(self) -> str:
        return self.name.split("_", 1)[1]

    @property
    def folder(self) -> str:
        return MORE if self.optional else self.name

    @property
    def solution(self) -> Path:
        return COURSE / "solutions" / self.folder / f"{self.name}.ipynb"

    @property
    def release(self) -> Path:
        return COURSE / "notebooks" / self.folder / f"{self.name}.ipynb"

    def checks(self) -> dict[str, Check]:
        return {name: value for name, value in vars(self.module()).items() if isinstance(value, Check)}

    def module(self) -> ModuleType:
        return importlib.import_module(f"course_utils.checks.{self.module_name}")


def read(path: Path) -> NotebookNode:
    return nbformat.read(path, as_version=4)


def code_cells(notebook: NotebookNode) -> list[NotebookNode]:
    return [cell for cell in notebook.cells if cell.cell_type == "code"]


def fails_on_purpose(cell: NotebookNode) -> bool:
    """Return whether a cell shows a traceback; the checks of exercises fail until they are solved."""
    return "raises-exception" in cell.metadata.get("tags", []) and "nbval-ignore-output" in cell.metadata.tags


def graded(notebook: NotebookNode) -> dict[str, NotebookNode]:
    return {cell.metadata.nbgrader.grade_id: cell for cell in notebook.cells if is_grade(cell)}


def solved(notebook: NotebookNode) -> dict[str, NotebookNode]:
    return {cell.metadata.nbgrader.grade_id: cell for cell in notebook.cells if is_solution(cell)}


def asked(notebook: NotebookNode) -> set[str]:
    """Return the names of the exercises of a notebook, graded or not."""
    return {name.removesuffix("_answer") for name in solved(notebook)}


LESSONS = [Lesson(name) for name in lesson_names(COURSE / "solutions")]
OPTIONAL = [
    one for one in (Lesson(lesson.name, optional=True) for lesson in LESSONS) if one.solution.exists()
]
