"""An attack: a submission to the toy lesson, and what it may earn."""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from nbformat import NotebookNode

ALL_POINTS = 6
TRACE = "TRACE"  # printed or left behind by an attack that has succeeded
WRONG = "def total_of(numbers):\n    return 0"


@dataclass(frozen=True)
class Attack:
    """A submission.

    Attributes:
        total: The source of the answer to the attacked exercise; the other answers are honest.
        change: Changes the notebook further.
        folder: Changes the submitted folder.
        points: Points earned: by default those of the two honest exercises. -1 allows fewer.
        statuses: The possible statuses of the submission.
        error: The exception that ends the answer's cell if its process survives.
        says: What a finding or a message must say.
    """

    total: str = WRONG
    change: Callable[[NotebookNode], None] | None = None
    folder: Callable[[Path], None] | None = None
    points: float = 4
    statuses: tuple[str, ...] = ("wrong",)
    error: str = ""
    says: str = ""


def code(text: str, *statuses: str, points: float = 4, error: str = "") -> Attack:
    """Return an answer that attacks and then gives a wrong total."""
    return Attack(f"{text}\n{WRONG}", statuses=statuses or ("wrong",), points=points, error=error)
