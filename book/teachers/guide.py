"""What a teacher says and shows in a lesson, written by hand in `guides/<lesson>.toml`."""

import tomllib
from dataclasses import dataclass
from pathlib import Path
from typing import Any

GUIDES = Path(__file__).with_name("guides")


@dataclass(frozen=True)
class ShownCell:
    """A cell to run in front of the class.

    Attributes:
        cell: The id of the cell.
        say: What to ask before it runs, or what to look at.
    """

    cell: str
    say: str


@dataclass(frozen=True)
class AskedByStudents:
    """A question that students ask, and an answer."""

    question: str
    answer: str


@dataclass(frozen=True)
class ExerciseGuide:
    """How a class does an exercise.

    Attributes:
        minutes: How long it takes, a part of its section's minutes.
        stop: When to stop the class, and what to show then.
        quick: What to give those who are done.
        say: By the name of the mistake, what to ask a student who has read the check's message.
    """

    minutes: int
    stop: str
    quick: str
    say: dict[str, str]


@dataclass(frozen=True)
class Guide:
    """What a teacher says and shows in a lesson.

    Attributes:
        opening: The first words.
        half_time: The minutes of each section where there is half the time; 0 leaves it out.
        show: The cells to run in front of the class, in order.
        asked: What students ask.
        exercises: By the name of the exercise.
    """

    opening: str
    half_time: tuple[int, ...]
    show: tuple[ShownCell, ...]
    asked: tuple[AskedByStudents, ...]
    exercises: dict[str, ExerciseGuide]


def read_guide(lesson: str) -> Guide | None:
    """Return the guide of a lesson such as `01_jpeg_vs_zip`; None if nobody has written one."""
    path = GUIDES / f"{lesson}.toml"
    if not path.exists():
        return None
    found: dict[str, Any] = tomllib.loads(path.read_text())
    return Guide(
        opening=found["opening"].strip(),
        half_time=tuple(found["half_time"]),
        show=tuple(ShownCell(**one) for one in found["show"]),
        asked=tuple(AskedByStudents(**one) for one in found["asked"]),
        exercises={name: ExerciseGuide(**one) for name, one in found["exercises"].items()},
    )
