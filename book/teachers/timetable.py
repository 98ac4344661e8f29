"""The days of a course, written by hand in `timetable.toml`, with the minutes that lessons announce."""

import tomllib
from collections.abc import Iterator
from datetime import datetime
from pathlib import Path
from typing import NamedTuple

from book.lesson_pages import LessonPage
from book.teachers.guide import read_guide
from book.teachers.minutes import sections, work

SOURCE = Path(__file__).with_name("timetable.toml")


class Slot(NamedTuple):
    """A line of the timetable.

    Attributes:
        at: When it begins, such as `9:15`.
        what: What the class does.
        how: In which form.
        lesson: The name of a lesson, if it is about one.
        sections: The first and the last section of it, counted from 1 without breaks.
        without: The names of exercises that are left out.
    """

    at: str
    what: str
    how: str = ""
    lesson: str = ""
    sections: tuple[int, int] = (0, 0)
    without: tuple[str, ...] = ()


def read_timetable() -> dict[str, list[Slot]]:
    """Return the slots of each day, by the title of the day."""
    days = tomllib.loads(SOURCE.read_text())["day"]
    return {day["title"]: [Slot(**slot) for slot in day["slot"]] for day in days}


def lengths(slots: list[Slot]) -> Iterator[int]:
    """Yield the minutes of each slot; the last one has none."""
    times = [datetime.strptime(slot.at, "%H:%M") for slot in slots]
    for begin, end in zip(times, [*times[1:], times[-1]], strict=True):
        yield int((end - begin).total_seconds() // 60)


def lesson_minutes(course: Path, slot: Slot) -> int:
    """Return the minutes that the lesson announces for what stands in a slot; 0 without a lesson."""
    if not slot.lesson:
        return 0
    first, last = slot.sections
    guide = read_guide(slot.lesson)
    found = work(sections(LessonPage(course, slot.lesson).unlinked))[first - 1 : last]
    left_out = sum(guide.exercises[name].minutes for name in slot.without) if guide else 0
    return sum(one.minutes for one in found) - left_out


def with_days(course: Path, page: str) -> str:
    """Return a page in which the tables of the days stand in the place of `{{title of the day}}`."""
    for title, slots in read_timetable().items():
        used = [lesson_minutes(course, slot) for slot in slots]
        page = page.replace("{{" + title + "}}", _table(title, slots, used))
    return page


def _table(title: str, slots: list[Slot], used: list[int]) -> str:
    rows = [f"| {title.lower()} | what | minutes |", "|---|---|---|"]
    for slot, minutes, length in zip(slots, used, lengths(slots), strict=True):
        planned = f"{minutes} of {length}" if minutes else ""
        how = f" *({slot.how})*" if slot.how else ""
        rows.append(f"| {slot.at} | {slot.what}{how} | {planned} |")
    return "\n".join(rows)
