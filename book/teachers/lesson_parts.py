"""Find the parts of a lesson that a teacher asks for: needs, exercises, questions and their answers."""

import re
from collections.abc import Iterator
from typing import NamedTuple

from nbformat import NotebookNode
from nbgrader.utils import is_grade, is_solution

QUESTION = "**Question.**"
_QUESTION = re.compile(rf"^{re.escape(QUESTION)}.*?(?=\n\n|\Z)", re.DOTALL | re.MULTILINE)
_REQUEST = re.compile(r"\s*Write down your (own )?answer[^.]*\.")
_ANSWER = re.compile(r"<details>\s*<summary>.*?</summary>\s*(.*?)\s*</details>", re.DOTALL)
_MARKER = re.compile(r"^\s*### (BEGIN|END) SOLUTION\n", re.MULTILINE)
_HEADING = re.compile(r"^#{2,4} (.+)$", re.MULTILINE)
_NEEDS = re.compile(r"\*\*You need\*\* (.*?)\n\n", re.DOTALL)


class Question(NamedTuple):
    """A question of a lesson, the answer that the lesson folds away, and the heading above it."""

    text: str
    answer: str
    section: str


class Exercise(NamedTuple):
    """An exercise of a lesson: its name, its heading, what it asks for, its points and its solution."""

    name: str
    title: str
    statement: str
    points: float
    solution: str


def needs(notebook: NotebookNode) -> str:
    """Return what the first cell of a lesson says that one needs."""
    found = _NEEDS.search(notebook.cells[0].source)
    return " ".join(found[1].split()) if found else ""


def learned(notebook: NotebookNode) -> list[str]:
    """Return what the first cell of a lesson says that one will learn."""
    return re.findall(r"^- (.+)$", notebook.cells[0].source, re.MULTILINE)


def heading_above(markdown: str) -> str:
    """Return the last heading below the title in a text; empty without one."""
    return str(next(reversed(_HEADING.findall(markdown)), ""))


def questions(notebook: NotebookNode) -> Iterator[Question]:
    """Yield the questions of a lesson with their answers, which stand folded in the same or the next text."""
    texts = [str(cell.source) for cell in notebook.cells if cell.cell_type == "markdown"]
    everything = "\n\n".join(texts)
    for found in _QUESTION.finditer(everything):
        after = everything[found.end() :]
        answer = _ANSWER.search(after)
        nearest = _QUESTION.search(after)
        if answer and (nearest is None or answer.start() < nearest.start()):
            text = _REQUEST.sub("", found.group()).removeprefix(QUESTION)
            yield Question(" ".join(text.split()), answer[1], heading_above(everything[: found.start()]))


def exercises(solution: NotebookNode) -> Iterator[Exercise]:
    """Yield the exercises of a lesson in order."""
    points = {cell.metadata.nbgrader.grade_id: cell.metadata.nbgrader.points for cell in _graded(solution)}
    read: list[str] = []
    for cell in solution.cells:
        if cell.cell_type == "markdown":
            read.append(cell.source)
        elif is_solution(cell):
            name = cell.metadata.nbgrader.grade_id.removesuffix("_answer")
            everything = "\n\n".join(read)
            *_, heading = _HEADING.finditer(everything)
            statement = everything[heading.end() :].strip()
            answer = _MARKER.sub("", cell.source + "\n").rstrip()
            yield Exercise(name, heading[1], statement, points[name], answer)


def _graded(notebook: NotebookNode) -> list[NotebookNode]:
    return [cell for cell in notebook.cells if is_grade(cell)]
