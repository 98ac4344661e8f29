"""Slides from a lesson's own cells (headings, figures, questions), in one file that needs no network."""

import base64
import html
import re
from collections.abc import Collection, Iterator
from functools import partial
from itertools import islice
from pathlib import Path

from markdown_it import MarkdownIt
from nbformat import NotebookNode
from nbgrader.utils import is_grade, is_solution

from book.lesson_pages import LessonPage, alternative_text, saved_outputs, with_formulas
from book.teachers.guide import read_guide
from book.teachers.lesson_parts import QUESTION, learned, questions

LONG, MOST_TEXT = 500, 1200  # characters of a slide
MOST_LINES, MOST_COLUMNS = 18, 100  # of code and output on a slide
TEMPLATE = Path(__file__).parents[1] / "_templates" / "slides.html"
_PICTURE = re.compile(r'src="(?P<path>pictures/[^"]+\.svg)"')
_MARKDOWN = MarkdownIt("commonmark", {"html": True}).enable("table")


def lesson_slides(lesson: LessonPage) -> str:
    """Return the slides of a lesson as one HTML page."""
    guide = read_guide(lesson.name)
    shown = {one.cell for one in guide.show} if guide else set()
    slides = [_learned(lesson.unlinked), *_slides(lesson.unlinked, saved_outputs(lesson.solution), shown)]
    sections = "\n".join(
        f'<section id="slide-{number}" tabindex="-1" aria-label="Slide {number}" {_size(slide)}>'
        f"{slide}</section>"
        for number, slide in enumerate([f"<h1>{html.escape(lesson.title)}</h1>", *slides], start=1)
    )
    sections = _PICTURE.sub(partial(_embedded, lesson.folder), sections)
    page = TEMPLATE.read_text()
    return page.replace("{title}", html.escape(lesson.title)).replace("{slides}", sections)


def _embedded(folder: Path, found: re.Match[str]) -> str:
    """Return the attribute of a picture with its content instead of its path."""
    content = base64.b64encode((folder / found["path"]).read_bytes()).decode()
    return f'src="data:image/svg+xml;base64,{content}"'


def _size(slide: str) -> str:
    """Return the attribute of a slide with so much text that it would not fit on a screen."""
    return 'class="long"' if len(re.sub(r"<[^>]+>", "", slide)) > LONG else ""


def _learned(notebook: NotebookNode) -> str:
    items = "\n".join(f"- {one}" for one in learned(notebook))
    return f"<h2>You will learn</h2>{render(items)}"


def _slides(
    notebook: NotebookNode, outputs: dict[str, list[NotebookNode]], shown: Collection[str]
) -> Iterator[str]:
    """Yield a slide for each section, figure, question and shown cell, in the order of the lesson."""
    asked = questions(notebook)
    for place, cell in enumerate(notebook.cells):
        if cell.cell_type == "markdown":
            yield from _sections(cell.source) if place else ()
            for question in islice(asked, cell.source.count(QUESTION)):
                yield f"<h2>Question</h2>{render(question.text)}"
                if len(question.answer) <= MOST_TEXT:  # a longer one is folded in the lesson
                    yield f"<h2>Our answer</h2>{render(question.answer)}"
        elif not (is_solution(cell) or is_grade(cell)):
            text = next((c.source for c in notebook.cells[place + 1 :] if c.cell_type == "markdown"), "")
            figures = list(_figures(outputs.get(cell.id, []), alternative_text(text)))
            yield from figures
            if cell.id in shown and not figures:
                yield from _code(cell.source, outputs[cell.id])


def _sections(text: str) -> Iterator[str]:
    """Yield a slide for each heading with the paragraph below it, and the list that this one announces."""
    heading, shown = "", ""
    for paragraph in [*text.split("\n\n"), "#"]:
        if heading and paragraph.startswith("#"):
            yield f"<h2>{_MARKDOWN.renderInline(heading)}</h2>{shown}"
        if paragraph.startswith("#"):
            heading, shown, more = paragraph.replace("\n", " ").lstrip("# "), "", True
        elif heading and more and len(shown) + len(paragraph) <= MOST_TEXT:
            shown += render(paragraph)
            more = paragraph.endswith(":")


def _code(source: str, outputs: list[NotebookNode]) -> Iterator[str]:
    """Yield a slide with a cell and what it prints; long ones are shown in the notebook."""
    printed = "".join(output.text for output in outputs if output.output_type == "stream")
    lines = [*source.splitlines(), *printed.splitlines()]
    if len(lines) <= MOST_LINES and max(map(len, lines)) <= MOST_COLUMNS:
        output = f"<p>It prints, for example:</p><pre>{html.escape(printed)}</pre>" if printed else ""
        yield f"<pre>{html.escape(source)}</pre>{output}"


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
