"""The table of marks as CSV, in the columns that learning management systems document for their import.

- Canvas: Student, ID, SIS User ID, SIS Login ID, Section, then one column an assignment; a second row holds
  the points possible.
- Moodle: any columns; the import maps the email address or the ID number to its users.
- Brightspace: OrgDefinedId, Username, "<item> Points Grade", and a last column with `#`.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import NamedTuple

from nbgrader.api import Gradebook, MissingEntry, Student

from course_utils.system import write_atomically
from grading.course.config import Course
from grading.course.result import Task

FORMULA = ("=", "+", "-", "@", "＝", "＋", "－", "＠")  # how formulas begin, in full width, too
Row = list[object]


class _Mark(NamedTuple):
    points: float
    max_points: float
    status: str


class _Column(NamedTuple):
    """A lesson: its name, its points without optional exercises, and its weight in the term."""

    name: str
    points: float
    weight: float


class _Person(NamedTuple):
    """A student and their marks by lesson; None where nothing was submitted."""

    student_id: str
    last_name: str
    first_name: str
    email: str
    marks: list[_Mark | None]


def export_marks(course: Course, lessons: list[str], student: str, target: Path, form: str = "plain") -> int:
    """Write a CSV with one row for each student; a file that exists is replaced as a whole.

    Args:
        course: The course.
        lessons: Which lessons.
        student: One student's id, or "" for all.
        target: The CSV file to write.
        form: One of `FORMS`.

    Returns:
        The number of students.
    """
    with Gradebook(course.directory.db_url, course.directory.course_id) as book:
        found = [one for one in book.students if student in ("", one.id)]
        people = [_person(course, book, one, lessons) for one in found]
    weights = course.grading.weights
    columns = [_Column(name, course.lesson(name).points, weights.get(name, 1.0)) for name in lessons]
    rows = FORMS[form](columns, people)
    table = io.StringIO(newline="")
    csv.writer(table).writerows(rows)
    target.parent.mkdir(parents=True, exist_ok=True)
    write_atomically(target, [table.getvalue().encode()], mode=0o600)  # marks are private
    return len(people)


def plain_text(text: str) -> str:
    """Keep a spreadsheet from taking a cell for a formula, also after white space, which some remove."""
    plain = "".join(character if character.isprintable() else " " for character in text)
    return f"'{plain}" if plain.lstrip().startswith(FORMULA) else plain


def _plain(columns: Sequence[_Column], people: Sequence[_Person]) -> list[Row]:
    heading: Row = ["student_id", "last_name", "first_name", "email"]
    for column in columns:
        heading += [f"{column.name} points", f"{column.name} of", f"{column.name} status"]
    rows: list[Row] = [[*heading, "points", "of", "weighted percent"]]
    for one in people:
        row: Row = list(one[:4])
        for mark in one.marks:
            row += mark or ["", "", "not submitted"]
        there = [mark for mark in one.marks if mark]
        sums = sum(m.points for m in there), sum(m.max_points for m in there)
        rows.append([*row, *sums, _weighted_percent(columns, one.marks)])
    return rows


def _weighted_percent(columns: Sequence[_Column], marks: Sequence[_Mark | None]) -> float:
    """Return the percentage of a term; a lesson without a submission counts as none of its points."""
    whole = sum(column.weight for column in columns)
    parts = [
        column.weight * mark.points / column.points
        for column, mark in zip(columns, marks, strict=True)
        if mark and column.points
    ]
    return round(100 * sum(parts) / whole, 1) if whole else 0.0


def _canvas(columns: Sequence[_Column], people: Sequence[_Person]) -> list[Row]:
    rows: list[Row] = [
        ["Student", "ID", "SIS User ID", "SIS Login ID", "Section", *(one.name for one in columns)],
        ["    Points Possible", "", "", "", "", *(one.points for one in columns)],
    ]
    for one in people:
        name = ", ".join(filter(None, (one.last_name, one.first_name))) or one.student_id
        rows.append([name, "", one.student_id, one.student_id, "", *_points(one)])
    return rows


def _moodle(columns: Sequence[_Column], people: Sequence[_Person]) -> list[Row]:
    names = [column.name for column in columns]
    rows: list[Row] = [["First name", "Last name", "ID number", "Email address", *names]]
    for one in people:
        rows.append([one.first_name, one.last_name, one.student_id, one.email, *_points(one)])
    return rows


def _brightspace(columns: Sequence[_Column], people: Sequence[_Person]) -> list[Row]:
    items = [f"{column.name} Points Grade" for column in columns]
    rows: list[Row] = [["OrgDefinedId", "Username", *items, "End-of-Line Indicator"]]
    for one in people:
        rows.append([one.student_id, one.student_id, *_points(one), "#"])
    return rows


def _points(person: _Person) -> Row:
    """Return the points by lesson, empty where nothing was submitted: an import leaves empty cells out."""
    return ["" if mark is None else mark.points for mark in person.marks]


FORMS: dict[str, Callable[[Sequence[_Column], Sequence[_Person]], list[Row]]] = {
    "plain": _plain,
    "canvas": _canvas,
    "moodle": _moodle,
    "brightspace": _brightspace,
}


def _person(course: Course, book: Gradebook, student: Student, lessons: list[str]) -> _Person:
    texts = {name: plain_text(getattr(student, name) or "") for name in ("last_name", "first_name", "email")}
    marks = [_mark(course, book, Task(lesson, student.id)) for lesson in lessons]
    return _Person(student_id=plain_text(student.id), marks=marks, **texts)


def _mark(course: Course, book: Gradebook, task: Task) -> _Mark | None:
    try:
        submission = book.find_submission(*task)
    except MissingEntry:
        return None
    result = course.results.read(task)
    points = max(0.0, submission.score - (submission.late_submission_penalty or 0.0))
    return _Mark(points, submission.max_score, result["status"] if result else "")
