"""Each room that others import by its door has a page."""

import importlib
import inspect
import re

from book.cross_references import link_names, rooms_by_name
from book.room_pages import offered, room_names, summary
from tests.lessons.lesson import COURSE


def test_every_room_that_lessons_import_has_a_page_and_no_other():
    names = room_names(COURSE)
    assert {"course_utils.data", "course_utils.paths", "course_utils.distributed.batch"} <= set(names)
    assert not [name for name in names if "checks" in name or "grading" in name]


def linked(text: str, described: str = "course_utils.data.x") -> str:
    lines = [text]
    link_names(None, "function", described, None, None, lines)
    return lines[0]


def test_names_in_docstrings_are_links_and_parameters_are_not():
    assert "course_utils.data" in rooms_by_name()["JpegDataset"]
    assert linked("a `JpegDataset`.") == "a :py:obj:`JpegDataset <course_utils.data.JpegDataset>`."
    for text in ("`transform`", "``JpegDataset``", ":class:`JpegDataset`", "`JpegDataset(x)`", "`no_name`"):
        assert linked(text) == text
    assert linked("`JpegDataset`", "course_utils.data.JpegDataset") == "`JpegDataset`"


def first_lines(value: object) -> list[str]:
    """Return the lines of docstrings in which Sphinx looks for a type before a colon."""
    members = list(vars(value).values()) if isinstance(value, type) else []
    lines = [inspect.getdoc(member).partition("\n")[0] for member in members if isinstance(member, property)]
    for described in (value, *filter(inspect.isfunction, members)):
        lines += re.findall(r"^(?:Returns|Yields):\n +(.*)", inspect.getdoc(described) or "", re.MULTILINE)
    return [re.sub("`+.*?`+", "", line) for line in lines]


def test_no_description_is_taken_for_a_type():
    found = [
        (room, name, line)
        for room in room_names(COURSE)
        for name in offered(COURSE, room)
        for line in first_lines(getattr(importlib.import_module(room), name))
    ]
    assert len(found) > 50
    assert [one for one in found if re.search(":( |$)", one[2])] == []


def test_every_room_says_in_a_line_what_it_is_for():
    for name in (*room_names(COURSE), *room_names(COURSE, for_teachers=True)):
        assert summary(COURSE, name).endswith("."), name
