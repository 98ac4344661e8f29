"""What goes out: feedback pages for students and a table of marks for the learning management system."""

from __future__ import annotations

import csv
import logging
from pathlib import Path

from nbgrader.api import Gradebook, MissingEntry
from nbgrader.converters import GenerateFeedback
from nbgrader.coursedir import CourseDirectory

from course_utils.grading.course import Course, result_store


def make_feedback(course: Course, lesson: str, student: str) -> Path:
    """Has nbgrader write one student's feedback pages; returns their folder."""
    config = course.config.copy()
    config.CourseDirectory.assignment_id, config.CourseDirectory.student_id = lesson, student
    app = GenerateFeedback(coursedir=CourseDirectory(config=config), config=config, force=True)
    app.log.setLevel(logging.ERROR)
    app.start()
    return course.folder(course.directory.feedback_directory, student, lesson)


def graded(course: Course, lesson: str, student: str = "") -> list[str]:
    """The students whose work on a lesson has been graded."""
    autograded = course.root / course.directory.autograded_directory
    found = sorted(path.parent.name for path in autograded.glob(f"*/{lesson}"))
    return [who for who in found if student in ("", who)]


def export(course: Course, lessons: list[str], student: str, target: Path) -> int:
    """Writes one row for each student with the points of each lesson.

    Args:
        course: The course.
        lessons: Its lessons, one column each.
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


def _row(course: Course, book: Gradebook, person: object, lessons: list[str]) -> list[object]:
    row = [person.id, person.last_name, person.first_name, person.email]
    # A cell that a spreadsheet would take for a formula is text.
    row = [f"'{text}" if str(text or "").startswith(("=", "+", "-", "@")) else text or "" for text in row]
    points, most = 0.0, 0.0
    for lesson in lessons:
        score, maximum, status = _mark(course, book, person.id, lesson)
        row += [score, maximum, status]
        points, most = points + (score or 0.0), most + (maximum or 0.0)
    return [*row, points, most]


def _mark(course: Course, book: Gradebook, student: str, lesson: str) -> tuple[float | str, float | str, str]:
    try:
        submission = book.find_submission(lesson, student)
    except MissingEntry:
        return "", "", "not submitted"
    result = result_store.read(course.results, lesson, student)
    score = max(0.0, submission.score - (submission.late_submission_penalty or 0.0))
    return score, submission.max_score, result["status"] if result else ""
