"""Slides from a lesson's own cells (headings, figures, questions), in one file that needs no network."""

import base64
import html
import re
from collections.abc import Iterator
from functools import partial
from itertools import islice
from pathlib import Path

from markdown_it import MarkdownIt
from nbformat import NotebookNode
from nbgrader.utils import is_grade, is_solution

from book.lesson_pages import LessonPage, alternative_text, saved_outputs, with_formulas
from book.teachers.lesson_parts import QUESTION, questions

TEMPLATE = Path(__file__).parents[1] / "_templates" / "slides.html"
_PICTURE = re.compile(r'src="(?P<path>pictures/[^"]+\.svg)"')
_MARKDOWN = MarkdownIt("commonmark", {"html": True}).enable("table")


def lesson_slides(lesson: LessonPage) -> str:
    """Return the slides of a lesson as one HTML page."""
    slides = list(_slides(lesson.unlinked, saved_outputs(lesson.solution)))
    sections = "\n".join(
        f'<section id="slide-{number}" tabindex="-1" aria-label="Slide {number}">{slide}</section>'
        for number, slide in enumerate([f"<h1>{html.escape(lesson.title)}</h1>", *slides], start=1)
    )
    sections = _PICTURE.sub(partial(_embedded, lesson.folder), sections)
    page = TEMPLATE.read_text()
    return page.replace("{title}", html.escape(lesson.title)).replace("{slides}", sections)


def _embedded(folder: Path, found: re.Match[str]) -> str:
    """Return the attribute of a picture with its content instead of its path."""
    content = base64.b64encode((folder / found["path"]).read_bytes()).decode()
    return f'src="data:image/svg+xml;base64,{content}"'


def _slides(notebook: NotebookNode, outputs: dict[str, list[NotebookNode]]) -> Iterator[str]:
    """Yield a slide for each section, figure and question, in the order of the lesson."""
    asked = questions(notebook)
    for place, cell in enumerate(notebook.cells):
        if cell.cell_type == "markdown":
            yield from _sections(cell.source, title=place == 0)
            for question in islice(asked, cell.source.count(QUESTION)):
                yield f"<h2>Question</h2>{render(question.text)}"
                yield f"<h2>Our answer</h2>{render(question.answer)}"
        elif not (is_solution(cell) or is_grade(cell)):
            text = next((c.source for c in notebook.cells[place + 1 :] if c.cell_type == "markdown"), "")
            yield from _figures(outputs.get(cell.id, []), alternative_text(text))


def _sections(text: str, title: bool) -> Iterator[str]:
    """Yield a slide for each heading with the paragraph below it; of a title, what one will learn."""
    heading = ""
    for paragraph in text.split("\n\n"):
        if paragraph.startswith("#"):
            heading = "" if title else paragraph.replace("\n", " ").lstrip("# ")
        elif heading:
            yield f"<h2>{_MARKDOWN.renderInline(heading)}</h2>{render(paragraph)}"
            heading = ""
        elif title and paragraph.startswith("- "):
            yield f"<h2>You will learn</h2>{render(paragraph)}"


def _figures(outputs: list[NotebookNode], text: str) -> Iterator[str]:
    for output in outputs:
        if picture := output.get("data", {}).get("image/png"):
            source = "".join(picture.split())
            shown = html.escape(text)
            image = f'<img src="data:image/png;base64,{source}" alt="{shown}">'
            yield f"<figure>{image}<figcaption>{shown}</figcaption></figure>"


def render(markdown: str) -> str:
    """Return Markdown as HTML."""
    return str(_MARKDOWN.render(with_formulas(markdown)))
