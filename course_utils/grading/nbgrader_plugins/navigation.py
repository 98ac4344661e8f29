"""The preprocessor of a release that links each lesson to the lessons around it and to the start page."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import nbformat
from nbformat import NotebookNode
from nbgrader.preprocessors import NbGraderPreprocessor

from course_utils.grading.course import lesson_names
from course_utils.start_page import INDEX, LessonFacts, read_facts

ALL_LESSONS = f"[All lessons](../{INDEX})"


class LinkLessons(NbGraderPreprocessor):  # type: ignore[misc]  # nbgrader has no type information
    """Writes a line of links below the title of a lesson, and one at the end of its last text."""

    def preprocess(self, nb: NotebookNode, resources: Any) -> tuple[NotebookNode, Any]:  # noqa: ANN401 - nbconvert's own
        """Add the links to `nb`, whose folder stands among those of the other lessons."""
        folder = Path(resources["metadata"]["path"]).absolute()
        line = links_of(folder.name, folder.parent)
        texts = [cell for cell in nb.cells if cell.cell_type == "markdown"]
        if texts:
            texts[-1].source = f"{texts[-1].source}\n\n{line}"
            title, _, rest = texts[0].source.partition("\n")
            texts[0].source = f"{title}\n\n{line}\n{rest}"
        return nb, resources


def links_of(lesson: str, lessons: Path) -> str:
    """Return the line of links of a lesson.

    Args:
        lesson: The lesson's name.
        lessons: The folder of all lessons.
    """
    names = lesson_names(lessons)
    place = names.index(lesson)
    parts = [ALL_LESSONS]
    if place:
        parts.append(f"previous: {_link(lessons, names[place - 1])}")
    if place + 1 < len(names):
        parts.append(f"next: {_link(lessons, names[place + 1])}")
    return " · ".join(parts)


def without_links(text: str) -> str:
    """Return the text of a cell without its line of links, for pages that have links of their own."""
    return "\n\n".join(part for part in text.split("\n\n") if not part.startswith(ALL_LESSONS))


def _link(lessons: Path, name: str) -> str:
    facts: LessonFacts = _facts(lessons / name / f"{name}.ipynb")
    return f"[{facts.title}](../{facts.path})"


def _facts(notebook: Path) -> LessonFacts:
    cells = nbformat.read(notebook, as_version=4).cells
    return read_facts(notebook.stem, cells[0].source if cells else "")
