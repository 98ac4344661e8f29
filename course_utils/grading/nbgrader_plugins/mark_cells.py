"""The preprocessors of a release: marks for demonstrations and the version, links between the lessons."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import nbformat
from nbformat import NotebookNode
from nbgrader.preprocessors import NbGraderPreprocessor
from nbgrader.utils import is_grade, is_solution

from course_utils.grading.course import lesson_names
from course_utils.grading.notebook import is_setup, state_version
from course_utils.start_page import LessonFacts, links_of, read_facts
from course_utils.validation import mark_demonstration


class MarkCells(NbGraderPreprocessor):  # type: ignore[misc]  # nbgrader has no type information
    """Marks what Validate need not run, and which version of the course a notebook is from."""

    def preprocess(self, nb: NotebookNode, resources: Any) -> tuple[NotebookNode, Any]:  # noqa: ANN401 - nbconvert's own
        """Mark the cells of `nb`."""
        state_version(nb.metadata)
        for cell in nb.cells:
            if cell.cell_type == "code" and not (is_setup(cell) or is_grade(cell) or is_solution(cell)):
                mark_demonstration(cell)
        return nb, resources


class LinkLessons(NbGraderPreprocessor):  # type: ignore[misc]  # nbgrader has no type information
    """Writes a line of links below the title of a lesson, and one at the end of its last text."""

    def preprocess(self, nb: NotebookNode, resources: Any) -> tuple[NotebookNode, Any]:  # noqa: ANN401 - nbconvert's own
        """Add the links to `nb`, whose folder stands among those of the other lessons."""
        folder = Path(resources["metadata"]["path"]).absolute()
        line = links_of(folder.name, facts_of_all(folder.parent))
        texts = [cell for cell in nb.cells if cell.cell_type == "markdown"]
        if texts:
            texts[-1].source = f"{texts[-1].source}\n\n{line}"
            title, _, rest = texts[0].source.partition("\n")
            texts[0].source = f"{title}\n\n{line}\n{rest}"
        return nb, resources


def facts_of_all(lessons: Path) -> list[LessonFacts]:
    """Return what the lessons in a folder say of themselves."""
    found = []
    for name in lesson_names(lessons):
        cells = nbformat.read(lessons / name / f"{name}.ipynb", as_version=4).cells
        found.append(read_facts(name, cells[0].source if cells else ""))
    return found
