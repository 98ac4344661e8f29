"""The sources of the teachers' book: a page for each lesson, with model answers; students do not get it."""

import re
import shutil
from collections.abc import Iterator
from pathlib import Path

from book.lesson_pages import LessonPage
from book.student_book import toctree, write_rooms
from book.teachers.lesson_parts import exercises, minutes_table, questions
from book.teachers.slides import lesson_slides
from book.teachers.stumbles import Stumble, right_answers, stumbles
from course_utils.grading.course.lesson import lesson_names

PAGES = Path(__file__).with_name("pages")
OTHER_DESIGNS = 3  # shown of each exercise beside the model answer
SLIDES = "slides"


def write_sources(course: Path, target: Path, mistakes: int) -> None:
    """Write all pages into a folder that Sphinx can read.

    Args:
        course: The folder of the course.
        target: An empty folder.
        mistakes: How many mistakes of each exercise are explained; the checks run for each of them.
    """
    lessons = [LessonPage(course, name) for name in lesson_names(course / "solutions")]
    for lesson in lessons:
        page = "\n\n".join(filter(None, _lesson_page(lesson, mistakes)))
        (target / f"{lesson.name}.md").write_text(f"{page}\n")
    write_rooms(course, target / "rooms", for_teachers=True)
    shutil.copy(PAGES / "timetable.md", target)
    entries = [f"{lesson.title} <{lesson.name}>" for lesson in lessons]
    index = (PAGES / "index.md").read_text()
    (target / "index.md").write_text(
        f"{index}\n{toctree(['timetable'], hidden=True)}\n{toctree(entries, 'Lessons', hidden=True)}\n"
        f"{toctree(['rooms/index'], 'Checks and grading', hidden=True)}"
    )


def write_slides(course: Path, site: Path) -> None:
    """Write the slides of all lessons into the built site."""
    folder = site / SLIDES
    folder.mkdir(parents=True, exist_ok=True)
    for name in lesson_names(course / "solutions"):
        (folder / f"{name}.html").write_text(lesson_slides(LessonPage(course, name)))


def _lesson_page(lesson: LessonPage, mistakes: int) -> Iterator[str]:
    yield f"# {lesson.title}"
    slides = f'<a href="{SLIDES}/{lesson.name}.html">Slides of this lesson</a>'
    yield f"<p>{slides}: turn them with the arrow keys.</p>"
    written = PAGES / f"{lesson.name}.md"
    yield written.read_text().strip() if written.exists() else ""
    yield f"## Minutes\n\n{minutes_table(lesson.released)}"
    yield "## Questions to ask aloud\n\nThe lesson's own questions; its answers are folded."
    for question in questions(lesson.released):
        yield f"**{question.text}**\n\n{folded('Answer', question.answer)}"
    yield from _exercise_parts(lesson, mistakes)


def _exercise_parts(lesson: LessonPage, mistakes: int) -> Iterator[str]:
    module = lesson.name.partition("_")[2]
    found = list(stumbles(module, mistakes)) if mistakes else []
    designs = right_answers(module)
    for exercise in exercises(lesson.solution):
        yield f"## {exercise.title}"
        own = [one for one in found if one.exercise == exercise.name]
        if own:
            yield "### Where students stumble"
            yield from map(_stumble, own)
        yield "### Model answer"
        yield python(exercise.solution)
        for answer in designs.get(exercise.name, [])[:OTHER_DESIGNS]:
            title = answer.name.removeprefix("right_").replace("_", " ")
            yield folded(f"Also right: {title}", python(answer.source))


def _stumble(one: Stumble) -> str:
    ways = "1 answer" if one.ways == 1 else f"{one.ways} answers"
    message = "\n".join(f"> {line}".rstrip() for line in escaped(one.message).splitlines())
    title = one.mistake.replace("_", " ").capitalize()
    code = folded("Such an answer", python(one.example.source))
    return f"**{title}** ({ways} of the bank). The check says:\n\n{message}\n\n{code}"


def folded(title: str, body: str) -> str:
    """Return a part of a page that opens on a click."""
    return f"<details>\n<summary>{title}</summary>\n\n{body}\n\n</details>"


def python(source: str) -> str:
    """Return code as Markdown; the fence is longer than any in it."""
    fence = "`" * (1 + max(map(len, re.findall(r"`+", source)), default=2))
    return f"{fence}python\n{source.strip()}\n{fence}"


def escaped(text: str) -> str:
    """Return plain text such that Markdown shows it as it is."""
    return re.sub(r"([\\`*_{}\[\]<>#|$~])", r"\\\1", text)
