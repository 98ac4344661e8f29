"""The sources of the book that everybody may read: lessons, rooms, benchmarks, glossary."""

import shutil
from pathlib import Path

import nbformat

from book import benchmark_pages, readme, room_pages
from book.lesson_pages import LessonPage, OptionalPage, optional_pages
from book.open_links import OpenLinks
from course_utils.start_page import MORE
from grading.course.lesson import lesson_names
from grading.links.glossary import PAGE


def write_sources(course: Path, target: Path, links: OpenLinks) -> None:
    """Write all pages into a folder that Sphinx can read.

    Args:
        course: The folder of the course.
        target: An empty folder.
        links: Where lessons can be opened.
    """
    names = lesson_names(course / "solutions")
    lessons = [LessonPage(course, name) for name in names]
    optional = optional_pages(course, names)
    write_lessons(lessons, target / "lessons", {one.name: links.of(one.name) for one in lessons})
    write_optional(optional, target / "lessons" / MORE)
    write_rooms(course, target / "rooms")
    _write_benchmarks(course, target / "benchmarks")
    (target / "run_it_yourself.md").write_text(
        f"# Run the lessons yourself\n\n{_repository(links)}\n\n{readme.run_it_yourself(course)}"
    )
    (target / "index.md").write_text(_index(course, lessons, optional))


def write_lessons(lessons: list[LessonPage], target: Path, links: dict[str, str]) -> None:
    """Write the lessons as students read them; `links` has what stands below each title, by lesson."""
    target.mkdir()
    # Beside the lessons, as in `notebooks/`: the same links lead to it.
    shutil.copy(lessons[0].folder.with_name(PAGE), target)
    for lesson in lessons:
        folder = target / lesson.name
        folder.mkdir(parents=True)
        lesson.copy_files(folder)
        notebook = lesson.notebook(links[lesson.name])
        nbformat.write(notebook, folder / f"{lesson.name}.ipynb")


def write_optional(pages: list[OptionalPage], target: Path) -> None:
    """Write the optional notebooks, beside the folders of their lessons."""
    target.mkdir()
    for page in pages:
        nbformat.write(page.notebook(links=""), target / f"{page.name}.ipynb")


def write_rooms(course: Path, target: Path, for_teachers: bool = False) -> None:
    """Write a page for each room: those that lessons import, or those that check and grade."""
    target.mkdir()
    names = room_pages.room_names(course, for_teachers)
    for name in names:
        (target / f"{name}.md").write_text(room_pages.room_page(course, name, indexed=not for_teachers))
    title = "Checks and grading" if for_teachers else "The course's package"
    rooms_of = "`course_utils.checks` and `grading`" if for_teachers else "`course_utils`"
    intro = f"The rooms of {rooms_of}; each page is made from the docstrings."
    rows = [f"| [`{name}`]({name}.md) | {room_pages.summary(course, name)} |" for name in names]
    table = "\n".join(["| room | what it is for |", "|---|---|", *rows])
    (target / "index.md").write_text(f"# {title}\n\n{intro}\n\n{table}\n\n{toctree(names, hidden=True)}")


def _write_benchmarks(course: Path, target: Path) -> None:
    target.mkdir()
    pages = benchmark_pages.benchmark_pages(course)
    for name, text in pages.items():
        (target / f"{name}.md").write_text(text)
    shown = []
    for path, text in benchmark_pages.figures(course).items():
        shutil.copy(path, target)
        shown.append(f"![{text}]({path.name})\n\n({benchmark_pages.made(path)})\n")
    for path in benchmark_pages.page_figures(course):
        shutil.copy(path, target)
    intro = "Measured by `make bench`; each page names its date, the machine and the versions."
    (target / "index.md").write_text(f"# Benchmarks\n\n{intro}\n\n{''.join(shown)}\n{toctree(sorted(pages))}")


def _repository(links: OpenLinks) -> str:
    if not links.repository:
        return "Clone the repository of the course; the commands below run in its folder."
    return f"    git clone {links.repository}\n\nThe commands below run in the new folder."


def _index(course: Path, lessons: list[LessonPage], optional: list[OptionalPage]) -> str:
    rows = [f"| [{one.title}](lessons/{one.name}/{one.name}.ipynb) | {one.minutes} |" for one in lessons]
    table = "\n".join(["| lesson | minutes |", "|---|---|", *rows])
    entries = [f"{one.title} <lessons/{one.name}/{one.name}>" for one in lessons]
    further = [f"{one.title} <lessons/{MORE}/{one.name}>" for one in optional]
    more = ["run_it_yourself", "lessons/glossary", "benchmarks/index", "rooms/index"]
    return (
        f"# Feeding the GPU\n\n{readme.introduction(course)}\n\n## Lessons\n\n{table}\n\n"
        f"{toctree(entries, 'Lessons', hidden=True)}\n"
        f"{toctree(further, 'More on the lessons', hidden=True)}\n"
        f"{toctree(more, 'More', hidden=True)}"
    )


def toctree(entries: list[str], caption: str = "", hidden: bool = False) -> str:
    """Return a table of contents in MyST."""
    options = [f":caption: {caption}"] * bool(caption) + [":hidden:"] * hidden
    return "\n".join(["```{toctree}", *options, "", *entries, "```", ""])
