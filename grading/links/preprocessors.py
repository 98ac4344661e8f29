"""The preprocessors of a release that write its links: of the names in its texts, and between the lessons."""

from pathlib import Path
from typing import Any

import nbformat
from nbformat import NotebookNode
from nbgrader.preprocessors import NbGraderPreprocessor
from traitlets import Unicode

from course_utils.start_page import MORE, LessonFacts, link_back, links_of, read_facts
from grading.course.lesson import lesson_names
from grading.links.glossary import PAGE, Glossary
from grading.links.linker import Entry, Linker
from grading.links.outward_links import to_book
from grading.links.package_names import PackageNames


class LinkText(NbGraderPreprocessor):  # type: ignore[misc]  # nbgrader has no type information
    """Links terms, programs and names of the package where a lesson uses them first."""

    book = Unicode(
        "",
        help="Address of the course's book, to which links to the glossary and the package lead. Without it "
        "they lead to files of the course, which nbgrader's exchange does not give to students.",
    ).tag(config=True)

    def preprocess(self, nb: NotebookNode, resources: Any) -> tuple[NotebookNode, Any]:  # noqa: ANN401 - nbconvert's own
        """Link the texts of `nb`; the glossary stands beside the folder of the lesson."""
        link_texts(nb, Glossary.read(Path(resources["metadata"]["path"]).parent / PAGE), self.book)
        return nb, resources


class LinkLessons(NbGraderPreprocessor):  # type: ignore[misc]  # nbgrader has no type information
    """Writes a line of links below the title of a lesson, and one at the end of its last text."""

    def preprocess(self, nb: NotebookNode, resources: Any) -> tuple[NotebookNode, Any]:  # noqa: ANN401 - nbconvert's own
        """Add the links to `nb`, whose folder stands among those of the other lessons."""
        folder = Path(resources["metadata"]["path"]).absolute()
        line = _links(folder, resources["metadata"]["name"])
        texts = [cell for cell in nb.cells if cell.cell_type == "markdown"]
        if texts:
            texts[-1].source = f"{texts[-1].source}\n\n{line}"
            title, _, rest = texts[0].source.partition("\n")
            texts[0].source = f"{title}\n\n{line}\n{rest}"
        return nb, resources


def _links(folder: Path, notebook: str) -> str:
    """Return the line of links of a notebook: of a lesson, or of the optional one of a lesson."""
    lessons = facts_of_all(folder.parent)
    if folder.name == MORE:
        return link_back(notebook, lessons)
    return links_of(folder.name, lessons, more=(folder.parent / MORE / f"{folder.name}.ipynb").is_file())


def facts_of_all(lessons: Path) -> list[LessonFacts]:
    """Return what the lessons in a folder say of themselves."""
    found = []
    for name in lesson_names(lessons):
        cells = nbformat.read(lessons / name / f"{name}.ipynb", as_version=4).cells
        found.append(read_facts(name, cells[0].source if cells else ""))
    return found


def link_texts(notebook: NotebookNode, glossary: Glossary, book: str = "") -> None:
    """Link each name once in the texts of a lesson, where it is used first.

    Args:
        notebook: The lesson, changed in place.
        glossary: The terms and programs to link.
        book: Address of the book to which the links lead; empty for files of the course.
    """
    names = PackageNames("\n".join(cell.source for cell in notebook.cells if cell.cell_type == "code"))

    def code(span: str) -> Entry | None:
        return names.entry(span) or glossary.code(span)

    linker = Linker(glossary.words, glossary.names, code)
    for cell in notebook.cells:
        if cell.cell_type == "markdown":
            linked = linker.link(cell.source)
            cell.source = to_book(linked, names, book) if book else linked
