"""What a lesson says of itself in its first cell: title, minutes, and what it needs.

It stands there once: the start page, the links between lessons and the book take it from there.
"""

import re
from dataclasses import dataclass

_NEEDS = re.compile(r"\*\*You need\*\* (?P<text>[^|\n]+)")
_MINUTES = re.compile(r"about (\d+) minutes")
_LINK = re.compile(r"\[([^\]]+)\]\([^)]*\)")
_LESSONS = re.compile(r"lessons? (\d\d(?:(?:, | and )\d\d)*)")

MORE = "more"  # the folder of the optional notebooks, one a lesson, which nobody grades


@dataclass(frozen=True)
class LessonFacts:
    """What the first cell of a lesson says.

    Attributes:
        name: Name of the lesson's folder, such as `01_jpeg_vs_zip`.
        title: The lesson's number and heading; the folder's name where there is no heading.
        minutes: Minutes of work; empty where the cell does not say.
        needs: What one needs, in one sentence; empty where the cell does not say.
        needed_lessons: Numbers of the lessons that it builds on, such as `("00",)`.
    """

    name: str
    title: str
    minutes: str = ""
    needs: str = ""
    needed_lessons: tuple[str, ...] = ()

    @property
    def number(self) -> str:
        """The lesson's number, two digits."""
        return self.name[:2]

    @property
    def path(self) -> str:
        """The lesson's notebook, relative to the folder that holds all lessons."""
        return f"{self.name}/{self.name}.ipynb"


def read_facts(name: str, first_cell: str) -> LessonFacts:
    """Read what the first cell of a lesson says.

    Args:
        name: Name of the lesson's folder.
        first_cell: Source of the first cell; may be anything, because students can edit it.
    """
    text = _LINK.sub(r"\1", first_cell)  # links are relative to the lesson
    minutes = _MINUTES.search(text)
    found = _NEEDS.search(text)
    needs = re.split(r"\.(?: |$)", found["text"].strip())[0] if found else ""
    numbers = "".join(_LESSONS.findall(needs))
    return LessonFacts(
        name,
        _title(name, text),
        minutes[1] if minutes else "",
        f"{needs[:1].upper()}{needs[1:]}",
        tuple(re.findall(r"\d\d", numbers)),
    )


def _title(name: str, first_cell: str) -> str:
    heading = first_cell.partition("\n")[0]
    text = re.sub(r"^Lesson \d+: ", "", heading.removeprefix("# ")).strip()
    if not heading.startswith("# ") or not text:
        return name
    return f"{name[:2]} {text[0].upper()}{text[1:]}"
