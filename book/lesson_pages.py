"""Turn lessons into pages: the cells that students get, with the outputs that the solutions saved.

What a student is to write and what its check says of it have no output here, as in the released lesson.
"""

import re
from dataclasses import dataclass
from pathlib import Path

import nbformat
from latex2mathml.converter import convert
from nbformat import NotebookNode
from nbgrader.utils import is_grade, is_solution

from course_utils.start_page import MORE, LessonFacts, read_facts, without_links
from grading.links.glossary import PAGE
from grading.links.outward_links import redirect
from grading.links.package_names import PackageNames

ALT_LENGTH = 300
_LINK_OUTSIDE = re.compile(r"(?<!!)\[(?P<text>[^\]]*)\]\(\.\./[^)]*\)")
_FORMULA = re.compile(r"\$\$(?P<block>.+?)\$\$|\$(?P<inline>[^$\n]+)\$", re.DOTALL)
_CODE = re.compile(r"(```.*?```|`[^`\n]+`)", re.DOTALL)


@dataclass(frozen=True)
class LessonPage:
    """A lesson and the place of its page.

    Args:
        course: The folder of the course.
        name: The lesson's name, such as `01_jpeg_vs_zip`.
    """

    course: Path
    name: str

    @property
    def folder_name(self) -> str:
        """The name of the folder that holds the notebook."""
        return self.name

    @property
    def folder(self) -> Path:
        """The folder that students get."""
        return self.course / "notebooks" / self.folder_name

    @property
    def released(self) -> NotebookNode:
        """The notebook that students get, without its links to other lessons: the book has its own."""
        notebook = self._read("notebooks")
        for cell in notebook.cells:
            if cell.cell_type == "markdown":
                cell.source = without_links(cell.source)
        return notebook

    @property
    def unlinked(self) -> NotebookNode:
        """The notebook that students get, without links to files beside its folder, for other pages."""
        notebook = self.released
        for cell in notebook.cells:
            if cell.cell_type == "markdown":
                cell.source = _LINK_OUTSIDE.sub(r"\g<text>", cell.source)
        return notebook

    @property
    def solution(self) -> NotebookNode:
        """The notebook with solutions and saved outputs."""
        return self._read("solutions")

    def _read(self, folder: str) -> NotebookNode:
        path = self.course / folder / self.folder_name / f"{self.name}.ipynb"
        notebook: NotebookNode = nbformat.read(path, as_version=4)
        return notebook

    @property
    def title(self) -> str:
        """The number and the heading of the lesson."""
        return self._facts.title

    @property
    def minutes(self) -> str:
        """The minutes of work that the lesson announces."""
        return self._facts.minutes

    @property
    def _facts(self) -> LessonFacts:
        return read_facts(self.name, self.released.cells[0].source)

    def notebook(self, links: str) -> NotebookNode:
        """Return the notebook of the page.

        Args:
            links: Markdown that stands below the title: where the lesson can be opened.
        """
        notebook = self.released
        outputs = saved_outputs(self.solution)
        names = PackageNames("\n".join(cell.source for cell in notebook.cells if cell.cell_type == "code"))
        for place, cell in enumerate(notebook.cells):
            if cell.cell_type == "markdown":
                cell.source = with_formulas(with_page_links(cell.source, names))
            else:
                cell.outputs = [] if is_solution(cell) or is_grade(cell) else outputs.get(cell.id, [])
                describe_figures(cell, notebook.cells[place + 1 :])
        first = notebook.cells[0]
        _, rest = first.source.split("\n", 1)
        first.source = f"# {self.title}\n\n{links}\n{rest}"
        return with_one_title(notebook)

    def copy_files(self, target: Path) -> None:
        """Copy the pictures of the lesson beside its page."""
        for picture in sorted(self.folder.glob("pictures/*.svg")):
            place = target / picture.relative_to(self.folder)
            place.parent.mkdir(parents=True, exist_ok=True)
            place.write_bytes(picture.read_bytes())


@dataclass(frozen=True)
class OptionalPage(LessonPage):
    """The optional notebook of a lesson."""

    @property
    def folder_name(self) -> str:
        """The name of the folder that holds the optional notebooks of all lessons."""
        return MORE

    @property
    def title(self) -> str:
        """The heading of the notebook."""
        return str(self.released.cells[0].source).partition("\n")[0].removeprefix("# ")


def optional_pages(course: Path, names: list[str]) -> list[OptionalPage]:
    """Return the optional pages of those lessons that have one."""
    pages = [OptionalPage(course, name) for name in names]
    return [page for page in pages if (page.folder / f"{page.name}.ipynb").is_file()]


def saved_outputs(solution: NotebookNode) -> dict[str, list[NotebookNode]]:
    """Return the saved outputs of a solution by the ids of its cells."""
    return {cell.id: cell.outputs for cell in solution.cells if cell.cell_type == "code"}


def describe_figures(cell: NotebookNode, below: list[NotebookNode]) -> None:
    """Give the figures of a cell the text below it as alternative text."""
    if any("image/png" in output.get("data", {}) for output in cell.outputs):
        text = next(str(other.source) for other in below if other.cell_type == "markdown")
        cell.metadata["mystnb"] = {"image": {"alt": alternative_text(text)}}


def alternative_text(markdown: str) -> str:
    """Return the first sentences of a description, without markup; ValueError if the first is too long."""
    paragraph = re.sub(r"\s+", " ", re.sub(r"[*`]", "", markdown.split("\n\n")[0]))
    paragraph = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", paragraph)
    if len(paragraph) <= ALT_LENGTH:
        return paragraph
    sentences = paragraph[:ALT_LENGTH].rpartition(". ")[0]
    if not sentences:
        raise ValueError(
            f"a picture is described by a sentence of at most {ALT_LENGTH} characters: {paragraph}"
        )
    return f"{sentences}."


def with_page_links(markdown: str, names: PackageNames) -> str:
    """Return a lesson's text whose links to the glossary and to sources lead to pages of the book.

    Args:
        markdown: A text of a released lesson.
        names: The names of the package that the lesson uses.
    """

    def source(span: str) -> str:
        place = names.place(span)
        return f"{{py:obj}}`{span} <{place.dotted}>`" if place else f"`{span}`"

    return redirect(markdown, source, lambda term: f"../{PAGE}#{term}")


def with_formulas(markdown: str) -> str:
    """Return Markdown whose formulas are MathML, which browsers draw without a script."""

    def formula(found: re.Match[str]) -> str:
        block = found["block"] is not None
        return convert(found["block"] or found["inline"], display="block" if block else "inline")

    parts = _CODE.split(markdown)
    return "".join(part if part.startswith("`") else _FORMULA.sub(formula, part) for part in parts)


def with_one_title(notebook: NotebookNode) -> NotebookNode:
    """Return the notebook with one heading of the first level: a page has one title."""
    for cell in notebook.cells[1:]:
        if cell.cell_type == "markdown":
            parts = re.split(r"(```.*?```)", cell.source, flags=re.DOTALL)
            parts[::2] = [re.sub(r"^# ", "## ", part, flags=re.MULTILINE) for part in parts[::2]]
            cell.source = "".join(parts)
    return notebook
