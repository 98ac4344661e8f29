"""Find the parts of a lesson that a teacher asks for: minutes, exercises, questions and their answers."""

import re
from collections.abc import Iterator
from typing import NamedTuple

from nbformat import NotebookNode
from nbgrader.utils import is_solution

QUESTION = "**Question.**"
_QUESTION = re.compile(rf"^{re.escape(QUESTION)}.*?(?=\n\n|\Z)", re.DOTALL | re.MULTILINE)
_REQUEST = re.compile(r"\s*Write down your (own )?answer[^.]*\.")
_ANSWER = re.compile(r"<details>\s*<summary>.*?</summary>\s*(.*?)\s*</details>", re.DOTALL)
_TABLE = re.compile(r"(?:^\|.*\n?)+", re.MULTILINE)
_MARKER = re.compile(r"^\s*### (BEGIN|END) SOLUTION\n", re.MULTILINE)
_HEADING = re.compile(r"^#{2,4} (.+)$", re.MULTILINE)


class Question(NamedTuple):
    """A question of a lesson, and the answer that the lesson folds away."""

    text: str
    answer: str


class Exercise(NamedTuple):
    """An exercise of a lesson: its name, its heading and the source of its solution."""

    name: str
    title: str
    solution: str


def minutes_table(notebook: NotebookNode) -> str:
    """Return the table of sections and minutes in the first cell of a lesson; empty without one."""
    tables = [found.group() for found in _TABLE.finditer(notebook.cells[0].source)]
    return next((table for table in tables if "minutes |" in table.splitlines()[0]), "")


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
            yield Question(" ".join(text.split()), answer[1])


def exercises(solution: NotebookNode) -> Iterator[Exercise]:
    """Yield the exercises of a lesson in order."""
    title = ""
    for cell in solution.cells:
        if cell.cell_type == "markdown":
            headings = _HEADING.findall(cell.source)
            title = headings[-1] if headings else title
        elif is_solution(cell):
            name = cell.metadata.nbgrader.grade_id.removesuffix("_answer")
            yield Exercise(name, title, _MARKER.sub("", cell.source + "\n").rstrip())
