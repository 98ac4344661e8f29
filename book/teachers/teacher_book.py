"""The sources of the teachers' book: how to teach each lesson, with model answers; not for students."""

from pathlib import Path

from book import readme
from book.lesson_pages import LessonPage
from book.student_book import toctree, write_lessons, write_rooms
from book.teachers import timetable
from book.teachers.lesson_page import SLIDES, lesson_page
from book.teachers.markup import fenced
from book.teachers.slides import lesson_slides
from book.teachers.stuck import progress_example
from grading.course.lesson import lesson_names

PAGES = Path(__file__).with_name("pages")
WRITTEN = [
    "before_the_course",
    "in_the_room",
    "timetable",
    "a_site",
    "with_administrators",
    "installations",
    "records",
    "a_term",
    "the_sandbox",
]
EXAMPLE = "01_jpeg_vs_zip"


def write_sources(course: Path, target: Path, mistakes: int) -> None:
    """Write all pages into a folder that Sphinx can read.

    Args:
        course: The folder of the course.
        target: An empty folder.
        mistakes: How many mistakes of each exercise are explained; the checks run for each of them.
    """
    lessons = [LessonPage(course, name) for name in lesson_names(course / "solutions")]
    for lesson in lessons:
        (target / f"{lesson.name}.md").write_text(f"{lesson_page(lesson, mistakes)}\n")
    write_lessons(lessons, target / "lessons", {one.name: _teach(one.name) for one in lessons})
    write_rooms(course, target / "rooms", for_teachers=True)
    _write_general_pages(course, target)
    teach = [f"{lesson.title} <{lesson.name}>" for lesson in lessons]
    read = [f"{lesson.title} <lessons/{lesson.name}/{lesson.name}>" for lesson in lessons]
    general = [*WRITTEN, "run_it_yourself"]
    contents = [
        toctree(general, "A course", hidden=True),
        toctree(teach, "Teach a lesson", hidden=True),
        toctree([*read, "lessons/glossary"], "What students read", hidden=True),
        toctree(["rooms/index"], "Checks and grading", hidden=True),
    ]
    (target / "index.md").write_text("\n".join([(PAGES / "index.md").read_text(), *contents]))


def _teach(lesson: str) -> str:
    return f"*[How to teach this lesson](../../{lesson}.md)*\n"


def _write_general_pages(course: Path, target: Path) -> None:
    for name in WRITTEN:
        page = timetable.with_days(course, (PAGES / f"{name}.md").read_text())
        page = page.replace("{{progress}}", fenced(progress_example(LessonPage(course, EXAMPLE)), "text"))
        (target / f"{name}.md").write_text(page)
    (target / "run_it_yourself.md").write_text(
        f"# What students are told\n\n{readme.run_it_yourself(course)}"
    )


def write_slides(course: Path, site: Path) -> None:
    """Write the slides of all lessons into the built site."""
    folder = site / SLIDES
    folder.mkdir(parents=True, exist_ok=True)
    for name in lesson_names(course / "solutions"):
        (folder / f"{name}.html").write_text(lesson_slides(LessonPage(course, name)))
