"""In which minute a class is where: by the lesson's minutes, in three hours, and in half the time."""

import re
from collections.abc import Iterator, Sequence
from itertools import accumulate
from typing import NamedTuple

from nbformat import NotebookNode

SLOT, OPENING, BREAK, CLOSING = 180, 10, 15, 10  # minutes
MOST_PATIENCE = 1.5  # a section takes at most so many times its own minutes
_TABLE = re.compile(r"(?:^\|.*\n?)+", re.MULTILINE)
_RULE = re.compile(r"\|[-|]+\|")


class Section(NamedTuple):
    """A line of the lesson's table of minutes; a break has none."""

    title: str
    minutes: int
    is_break: bool = False


def sections(notebook: NotebookNode) -> list[Section]:
    """Return the sections and breaks that the first cell of a lesson announces, without optional ones."""
    tables = [found.group().splitlines() for found in _TABLE.finditer(notebook.cells[0].source)]
    lines = next((table for table in tables if "minutes |" in table[0]), [])
    return list(filter(None, map(_section, (line for line in lines[1:] if not _RULE.match(line)))))


def _section(line: str) -> Section | None:
    *titles, minutes = (cell.strip() for cell in line.strip().strip("|").split("|"))
    title = ": ".join(filter(None, titles))
    if minutes:
        return Section(title, int(minutes))
    return Section(title, 0, is_break=True) if title.startswith("*") else None


def work(found: Sequence[Section]) -> list[Section]:
    """Return the sections without the breaks."""
    return [one for one in found if not one.is_break]


def plan(found: Sequence[Section], half_time: Sequence[int]) -> str:
    """Return a table of sections: minutes, begin in a slot of three hours, minutes in half the time.

    Args:
        found: Sections and breaks of the lesson.
        half_time: The minutes of each section where there is half the time.
    """
    total = sum(one.minutes for one in found)
    half = iter(half_time)
    rows = [
        "| section | minutes | in three hours, at | in half the time |",
        "|---|---|---|---|",
        f"| Opening | | {_clock(0)} | |",
    ]
    for one, begin in zip(found, begins(found), strict=False):
        short = "" if one.is_break else str(next(half, 0) or "leave out")
        rows.append(f"| {one.title} | {one.minutes or ''} | {_clock(begin)} | {short} |")
    end = list(begins(found))[-1]
    rows.append(f"| Closing: the summary, and one sentence of each student | | {_clock(end)} | |")
    rows.append(f"| **in all** | **{total}** | **{_clock(end + CLOSING)}** | **{sum(half_time)}** |")
    return "\n".join(rows)


def begins(found: Sequence[Section]) -> Iterator[int]:
    """Yield the minute of a three-hour slot in which each section begins, and the one of the end."""
    breaks = sum(one.is_break for one in found)
    time = SLOT - OPENING - CLOSING - BREAK * breaks
    factor = min(MOST_PATIENCE, time / sum(one.minutes for one in found))
    lengths = (BREAK if one.is_break else one.minutes * factor for one in found)
    return (round(begin) for begin in accumulate(lengths, initial=OPENING))


def _clock(minute: int) -> str:
    return f"{minute // 60}:{minute % 60:02d}"
