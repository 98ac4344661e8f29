"""Slides from a lesson's own cells (headings, figures, questions), in one file that needs no network."""

import html
from collections.abc import Iterator
from pathlib import Path

from markdown_it import MarkdownIt
from nbformat import NotebookNode
from nbgrader.utils import is_grade, is_solution

from book.lesson_pages import LessonPage, alternative_text, saved_outputs, with_formulas
from book.lesson_parts import questions

TEMPLATE = Path(__file__).with_name("_templates") / "slides.html"
_MARKDOWN = MarkdownIt("commonmark", {"html": True}).enable("table")


def lesson_slides(lesson: LessonPage) -> str:
    """Return the slides of a lesson as one HTML page."""
    slides = list(_slides(lesson.released, saved_outputs(lesson.solution)))
    sections = "\n".join(
        f'<section id="slide-{number}" tabindex="-1" aria-label="Slide {number}">{slide}</section>'
        for number, slide in enumerate([f"<h1>{html.escape(lesson.title)}</h1>", *slides], start=1)
    )
    page = TEMPLATE.read_text()
    return page.replace("{title}", html.escape(lesson.title)).replace("{slides}", sections)


def _slides(notebook: NotebookNode, outputs: dict[str, list[NotebookNode]]) -> Iterator[str]:
    """Yield a slide for each section, figure and question, in the order of the lesson."""
    for place, cell in enumerate(notebook.cells):
        if cell.cell_type == "markdown":
            yield from _text_slides(cell, notebook.cells[place + 1 : place + 2], first=place == 0)
        elif not (is_solution(cell) or is_grade(cell)):
            text = next((c.source for c in notebook.cells[place + 1 :] if c.cell_type == "markdown"), "")
            yield from _figures(outputs.get(cell.id, []), alternative_text(text))


def _text_slides(cell: NotebookNode, below: list[NotebookNode], first: bool) -> Iterator[str]:
    heading = ""
    for paragraph in cell.source.split("\n\n"):
        if paragraph.startswith("#"):
            heading = paragraph.replace("\n", " ").lstrip("# ")
        elif heading or (first and paragraph.startswith(("- ", "**You will learn"))):
            yield (
                f"<h2>{_MARKDOWN.renderInline(heading)}</h2>{render(paragraph)}"
                if heading
                else render(paragraph)
            )
            heading = ""
    pair = NotebookNode(cells=[cell, *(one for one in below if one.cell_type == "markdown")])
    if "**Question" in cell.source:
        for question in questions(pair):
            yield f"<h2>Question</h2>{render(question.text)}"
            yield f"<h2>Our answer</h2>{render(question.answer)}"


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
