"""Feedback pages for students, written by nbgrader."""

from __future__ import annotations

import logging
from pathlib import Path

from nbgrader.converters import GenerateFeedback
from nbgrader.converters.base import NbGraderException
from nbgrader.coursedir import CourseDirectory

from grading.course.config import Course
from grading.course.result import Task
from grading.nbgrader_plugins.gradebook import error_messages


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
