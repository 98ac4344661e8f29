"""Due dates, extensions and penalties: from `nbgrader_config.py` into nbgrader's own tables."""

from __future__ import annotations

import math
from collections.abc import Iterable
from datetime import UTC, datetime, timedelta

from nbgrader.api import Gradebook, MissingEntry, SubmittedAssignment
from nbgrader.plugins import BasePlugin
from nbgrader.utils import parse_utc

from grading.course.config import Course, Grading
from grading.course.result import LateWork, Task

SECONDS_PER_DAY = 24 * 3600


class DeadlineError(ValueError):
    """A due date in the configuration cannot be used; the message says which and why."""


class PenaltyPerDay(BasePlugin):  # type: ignore[misc]  # nbgrader has no type information
    """nbgrader's plugin for late submissions: takes off a part of the points for each day that has begun."""

    def late_submission_penalty(
        self, student_id: str, score: float, total_seconds_late: float
    ) -> float | None:
        """Return the points to take off; nbgrader limits them to `score`."""
        part: float = Grading(config=self.config).penalty_per_day
        return score * part * math.ceil(total_seconds_late / SECONDS_PER_DAY) if part else None


def store_due_dates(course: Course, lessons: Iterable[str]) -> None:
    """Write the configured due dates into the gradebook; a lesson without one keeps what the formgrader set.

    Raises:
        DeadlineError: A date cannot be read, or belongs to no lesson.
    """
    dates = {lesson: _date(text, lesson) for lesson, text in course.grading.due.items()}
    for lesson, students in course.grading.extensions.items():
        if lesson not in dates:
            raise DeadlineError(f"c.Grading.extensions names {lesson!r}, which has no date in c.Grading.due")
        for student, text in students.items():
            if _date(text, f"{lesson} of {student}") < dates[lesson]:
                raise DeadlineError(f"the extension of {student} for {lesson} ends before the lesson is due")
    if unknown := sorted(set(dates) - set(course.lessons())):
        raise DeadlineError(f"c.Grading.due names {unknown[0]!r}, which is no lesson of this course")
    with Gradebook(course.directory.db_url, course.directory.course_id) as book:
        for lesson in dates.keys() & set(lessons):
            book.find_assignment(lesson).duedate = dates[lesson]
        book.db.commit()


def grant_extension(course: Course, task: Task) -> None:
    """Write a student's configured extension into the gradebook, before nbgrader looks at the date."""
    text = course.grading.extensions.get(task.lesson, {}).get(task.student)
    if text is None:
        return
    with Gradebook(course.directory.db_url, course.directory.course_id) as book:
        book.update_or_create_student(task.student)
        submission = book.update_or_create_submission(*task)
        submission.extension = _date(text, f"{task.lesson} of {task.student}") - submission.assignment.duedate
        book.db.commit()


def late_settings(course: Course, lessons: Iterable[str]) -> dict[Task, str]:
    """Return what a penalty depends on, by submission; nothing for lessons that are never due.

    A mark whose text here has changed is written again.
    """
    found = {}
    with Gradebook(course.directory.db_url, course.directory.course_id) as book:
        for lesson in lessons:
            due = _due(book, lesson)
            rows = {one.student.id: one for one in _submissions(book, lesson)} if due else {}
            for student in course.students(lesson) if due else ():
                configured = course.grading.extensions.get(lesson, {}).get(student)
                granted = rows[student].extension if student in rows else None
                plugin = course.config.get("AssignLatePenalties", {}), course.grading.penalty_per_day
                found[Task(lesson, student)] = f"{due} {configured or granted} {plugin}"
    return found


def late_work(course: Course, lessons: Iterable[str]) -> list[LateWork]:
    """Return the late submissions in the gradebook, by lesson and student."""
    with Gradebook(course.directory.db_url, course.directory.course_id) as book:
        late = [
            LateWork(
                Task(lesson, one.student.id),
                timedelta(seconds=one.total_seconds_late),
                one.late_submission_penalty or 0.0,
            )
            for lesson in lessons
            if _due(book, lesson)
            for one in _submissions(book, lesson)
            if one.total_seconds_late > 0
        ]
    return sorted(late, key=lambda one: one.task)


def not_submitted(course: Course, lessons: Iterable[str]) -> dict[str, list[str]]:
    """Return by lesson the students of the gradebook who have submitted nothing, where others have."""
    with Gradebook(course.directory.db_url, course.directory.course_id) as book:
        known = {student.id for student in book.students}
    submitted = {lesson: set(course.students(lesson)) for lesson in lessons}
    return {lesson: sorted(known - there) for lesson, there in submitted.items() if there and known - there}


def _due(book: Gradebook, lesson: str) -> datetime | None:
    try:
        due: datetime | None = book.find_assignment(lesson).duedate
    except MissingEntry:
        return None
    return due


def _submissions(book: Gradebook, lesson: str) -> list[SubmittedAssignment]:
    found: list[SubmittedAssignment] = book.assignment_submissions(lesson)
    return found


def _date(text: str, what: str) -> datetime:
    """Parse a date as nbgrader stores it: in UTC, without a time zone."""
    try:
        parsed = datetime.fromisoformat(text)
    except (ValueError, TypeError):
        example = "'2026-12-01 23:59+01:00'"
        raise DeadlineError(f"the due date of {what} is {text!r}: write it as {example}") from None
    if parsed.tzinfo is None:
        raise DeadlineError(f"the due date of {what}, {text!r}, needs a time zone, such as +01:00")
    stored: datetime = parse_utc(parsed.astimezone(UTC))
    return stored
