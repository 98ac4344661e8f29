"""What an attack is: a submission to the toy lesson, and what it may earn."""

from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

from nbformat import NotebookNode

ALL = 6
WRONG = "def total_of(numbers):\n    return 0"


@dataclass(frozen=True)
class Attack:
    """A submission.

    Attributes:
        total: The source of the answer to the exercise that is under attack; the others are honest.
        change: What else happens to the notebook.
        folder: What happens to the submitted folder.
        points: What the submission has earned: by default the two honest exercises.
        statuses: How it may end.
    """

    total: str = WRONG
    change: Callable[[NotebookNode], None] | None = None
    folder: Callable[[Path], None] | None = None
    points: float = 4
    statuses: tuple[str, ...] = field(default=("wrong",))


def code(text: str, *statuses: str, points: float = 4) -> Attack:
    """An answer that attacks and then gives a wrong total."""
    return Attack(f"{text}\n{WRONG}", statuses=statuses or ("wrong",), points=points)
