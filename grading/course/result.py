"""The result of grading one submission, as it is stored in JSON."""

from __future__ import annotations

from datetime import timedelta
from typing import Any, NamedTuple, TypedDict

GRADER_FAULT = "grader fault"


class Task(NamedTuple):
    """A submission to grade."""

    lesson: str
    student: str


class LateWork(NamedTuple):
    """A submission after its due date: by how long, and the points that were taken off."""

    task: Task
    late_by: timedelta
    penalty: float


class Exercise(TypedDict):
    """The outcome of one graded cell.

    Attributes:
        status: `right`, `wrong`, `crashed`, `timed out`, `unreadable` or `grader fault`.
        points: Points earned.
        max_points: Points for a right answer.
        mistake: The check's name for the mistake; empty where the answer is right.
        message: One sentence for the student.
        seconds: Wall time of the check in the sandbox.
    """

    status: str
    points: float
    max_points: float
    mistake: str
    message: str
    seconds: float


class FindingEntry(TypedDict):
    """A `Finding` as JSON."""

    kind: str
    what: str


class CellOutput(TypedDict):
    """The outputs of one of the student's own cells; pictures are PNG files in base64."""

    text: str
    error: str
    pictures: list[str]


class Versions(TypedDict):
    """Digests and versions that a mark depends on."""

    submission: str
    lesson: str
    checks: str
    environment: str


class Provenance(Versions):
    """How a result came about: its versions, the seed of the inputs, and where and when it ran."""

    sandbox: str
    seed: int | None
    node: str
    time: str
    seconds: float


class Summary(TypedDict):
    """The marks of one submission, without its cells.

    Attributes:
        status: Of all exercises and findings the one that a teacher should see first.
        exercises: By the name of the graded cell.
        findings: What was not as released.
    """

    lesson: str
    student: str
    status: str
    points: float
    max_points: float
    exercises: dict[str, Exercise]
    findings: list[FindingEntry]
    provenance: Provenance


class Result(Summary):
    """All that grading found out about a submission.

    Attributes:
        cells: Outputs by the id of the cell.
        notebook: The submission restored to the released form, as it was graded.
    """

    cells: dict[str, CellOutput]
    notebook: dict[str, Any]


def summary_of(result: Result) -> Summary:
    """Return a result without its cells, which may take megabytes."""
    return {
        "lesson": result["lesson"],
        "student": result["student"],
        "status": result["status"],
        "points": result["points"],
        "max_points": result["max_points"],
        "exercises": result["exercises"],
        "findings": result["findings"],
        "provenance": result["provenance"],
    }
