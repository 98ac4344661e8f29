"""With the address of the book, a release has no link to a file that an exchange does not give."""

import re

import pytest

from book.room_pages import room_names
from grading.links.glossary import PAGE
from grading.links.preprocessors import LinkText
from tests.lessons.lesson import COURSE, Lesson, read

BOOK = "https://example.org/course"
TARGET = re.compile(r"\]\(([^)\s]+)\)")


def targets(lesson: Lesson, **settings: str) -> list[str]:
    resources = {"metadata": {"path": str(lesson.solution.parent)}}
    notebook, _ = LinkText(**settings)(read(lesson.solution), resources)
    return [target for cell in notebook.cells for target in TARGET.findall(cell.source)]


def test_links_lead_to_the_book_whose_address_is_set(lesson: Lesson):
    with_files = targets(lesson)
    with_book = targets(lesson, book=f"{BOOK}/")
    assert len(with_book) == len(with_files)
    assert not [target for target in with_book if target.startswith("../")]
    moved = [target for target in with_book if target not in with_files]
    assert len(moved) == len([target for target in with_files if target.startswith("../")])
    pages = {f"{BOOK}/rooms/{room}.html" for room in room_names(COURSE)} | {f"{BOOK}/lessons/glossary.html"}
    assert {target.partition("#")[0] for target in moved} <= pages


def test_texts_are_plain_where_links_are_disabled(lesson: Lesson):
    assert not [
        target for target in targets(lesson, enabled=False) if PAGE in target or "course_utils" in target
    ]


@pytest.mark.parametrize("name", ["c.LinkText.book", "c.LinkText.enabled"])
def test_page_for_teachers_names_the_setting(name: str):
    assert name in (COURSE / "book" / "teachers" / "pages" / "a_term.md").read_text()
