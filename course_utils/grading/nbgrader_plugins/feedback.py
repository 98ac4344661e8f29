"""Feedback pages for students, and a CSV of marks for the learning management system."""

from __future__ import annotations

import csv
import logging
from pathlib import Path
from typing import NamedTuple

from nbgrader.api import Gradebook, MissingEntry, Student
from nbgrader.converters import GenerateFeedback
from nbgrader.converters.base import NbGraderException
from nbgrader.coursedir import CourseDirectory

from course_utils.grading.course import Course, Task
from course_utils.grading.nbgrader_plugins.gradebook import error_messages

FORMULA = ("=", "+", "-", "@", "＝", "＋", "－", "＠")  # how formulas begin, in full width, too


def write_feedback(course: Course, task: Task) -> Path:
    """Have nbgrader write the feedback page of a submission; return its folder."""
    config = course.nbgrader_config(task)
    app = GenerateFeedback(coursedir=CourseDirectory(config=config), config=config, force=True)
    app.log.setLevel(logging.ERROR)
    with error_messages(app.log) as messages:
        try:
            app.start()
        except NbGraderException as error:  # it refers to what it has logged
            raise RuntimeError("\n".join(messages) or str(error)) from error
    return course.folder(course.directory.feedback_directory, task.student, task.lesson)


def graded_submissions(course: Course, lesson: str, student: str = "") -> list[Task]:
    """Return the graded submissions of a lesson, of one student or of all."""
    autograded = course.root / course.directory.autograded_directory
    found = sorted(path.parent.name for path in autograded.glob(f"*/{lesson}"))
    return [Task(lesson, one) for one in found if student in ("", one)]


def export_marks(course: Course, lessons: list[str], student: str, target: Path) -> int:
    """Write a CSV with one row for each student and the points of each lesson.

    Args:
        course: The course.
        lessons: Which lessons.
        student: One student's id, or "" for all.
        target: The CSV file to write.

    Returns:
        The number of rows.
    """
    heading = ["student_id", "last_name", "first_name", "email"]
    for lesson in lessons:
        heading += [f"{lesson} points", f"{lesson} of", f"{lesson} status"]
    with Gradebook(course.directory.db_url, course.directory.course_id) as book:
        people = [person for person in book.students if student in ("", person.id)]
        rows = [_row(course, book, person, lessons) for person in people]
    with target.open("w", newline="") as file:
        writer = csv.writer(file)
        writer.writerows([[*heading, "points", "of"], *rows])
    return len(rows)


def _row(course: Course, book: Gradebook, person: Student, lessons: list[str]) -> list[object]:
    identity = [person.id, person.last_name, person.first_name, person.email]
    row: list[object] = [_plain_text(text or "") for text in identity]
    points, max_points = 0.0, 0.0
    for lesson in lessons:
        mark = _mark(course, book, Task(lesson, person.id))
        row += ["", "", "not submitted"] if mark is None else mark
        if mark is not None:
            points, max_points = points + mark.points, max_points + mark.max_points
    return [*row, points, max_points]


def _plain_text(text: str) -> str:
    """Keep a spreadsheet from taking a cell for a formula, also after white space, which some remove."""
    plain = "".join(character if character.isprintable() else " " for character in text)
    return f"'{plain}" if plain.lstrip().startswith(FORMULA) else plain


class _Mark(NamedTuple):
    points: float
    max_points: float
    status: str


def _mark(course: Course, book: Gradebook, task: Task) -> _Mark | None:
    try:
        submission = book.find_submission(*task)
    except MissingEntry:
        return None
    result = course.results.read(task)
    points = max(0.0, submission.score - (submission.late_submission_penalty or 0.0))
    return _Mark(points, submission.max_score, result["status"] if result else "")
