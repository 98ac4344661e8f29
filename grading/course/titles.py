"""Titles of a lesson and of its exercises, as the release has them."""

import re
from dataclasses import dataclass

from nbformat import NotebookNode
from nbgrader.utils import is_grade

from grading.notebook.cell_selection import grade_id

_HEADING = re.compile(r"^#+ +(.+?) *$", re.MULTILINE)
_FENCED = re.compile(r"^ *```.*?^ *```", re.MULTILINE | re.DOTALL)


@dataclass(frozen=True)
class Titles:
    """The first heading of a lesson, and the last one above each graded cell, by grade id."""

    lesson: str
    exercises: dict[str, str]


def titles_of(released: NotebookNode, default: str) -> Titles:
    """Read the titles of a lesson.

    Args:
        released: The lesson as it was released; a submission's text may be anything, and is HTML by then.
        default: The title of a lesson without headings.
    """
    headings: list[str] = []
    exercises = {}
    for cell in released.cells:
        if cell.cell_type == "markdown":
            headings += _HEADING.findall(_FENCED.sub("", cell.source))
        elif is_grade(cell):
            exercises[grade_id(cell)] = headings[-1] if headings else grade_id(cell)
    return Titles(headings[0] if headings else default, exercises)
