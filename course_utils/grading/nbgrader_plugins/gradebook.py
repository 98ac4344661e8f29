"""The one writer of the gradebook: nbgrader's own autograde, fed with finished results."""

from __future__ import annotations

import hashlib
import logging
import warnings
from functools import lru_cache
from pathlib import Path
from tempfile import TemporaryDirectory

from nbgrader.api import Gradebook, MissingEntry
from nbgrader.converters import Autograde, GenerateAssignment
from nbgrader.coursedir import CourseDirectory

from course_utils.grading.course import Course, course_at, result_store
from course_utils.grading.submission import tidy


class NotWrittenError(RuntimeError):
    """nbgrader did not take a result; the message is what it said."""


def before_autograde(assignment: str, student: str, notebooks: list[str]) -> None:
    """The hook of nbgrader before each submission, named in `nbgrader_config.py`."""
    course = _course_here(str(Path.cwd()))
    register(course, assignment)
    tidy(Path(notebooks[0]).parent, assignment)


@lru_cache(maxsize=4)
def _course_here(root: str) -> Course:
    return course_at(Path(root))


def register(course: Course, lesson: str) -> None:
    """Tells the gradebook about a lesson and its cells, where it does not know them as they are now."""
    version, marker = course.lesson(lesson).version(), course.results / lesson / ".registered"
    if marker.exists() and marker.read_text() == version and _is_known(course, lesson):
        return
    with TemporaryDirectory(prefix="release-") as scratch:
        config = course.config.copy()
        config.CourseDirectory.release_directory = scratch
        config.CourseDirectory.assignment_id = lesson
        config.CourseDirectory.student_id = "."
        app = GenerateAssignment(coursedir=CourseDirectory(config=config), config=config, force=True)
        app.log.setLevel(logging.ERROR)
        app.start()
    marker.parent.mkdir(parents=True, exist_ok=True)
    marker.write_text(version)


def _is_known(course: Course, lesson: str) -> bool:
    with Gradebook(course.directory.db_url, course.directory.course_id) as gradebook:
        try:
            gradebook.find_notebook(lesson, lesson)
        except MissingEntry:
            return False
    return True


def is_written(course: Course, lesson: str, student: str) -> bool:
    """Says whether the gradebook holds the stored result of a submission."""
    marker = _marker(course, lesson, student)
    return marker.exists() and marker.read_text() == _digest(course, lesson, student)


def write(course: Course, lesson: str, student: str) -> None:
    """Has nbgrader autograde one submission from its stored result.

    Raises:
        NotWrittenError: nbgrader refused; the gradebook is as it was for this student.
    """
    config = course.config.copy()
    config.CourseDirectory.assignment_id, config.CourseDirectory.student_id = lesson, student
    messages: list[str] = []
    app = Autograde(coursedir=CourseDirectory(config=config), config=config, force=True)
    handler = _Collector(messages)
    app.log.addHandler(handler)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # nbgrader's own, of its database library
            app.start()
    except Exception as error:
        raise NotWrittenError("\n".join([*messages, str(error)])) from error
    finally:
        app.log.removeHandler(handler)
    _marker(course, lesson, student).write_text(_digest(course, lesson, student))


class _Collector(logging.Handler):
    def __init__(self, messages: list[str]) -> None:
        super().__init__(logging.ERROR)
        self.messages = messages

    def emit(self, record: logging.LogRecord) -> None:
        self.messages.append(record.getMessage())


def _marker(course: Course, lesson: str, student: str) -> Path:
    return result_store.path_of(course.results, lesson, student).with_suffix(".written")


def _digest(course: Course, lesson: str, student: str) -> str:
    return hashlib.sha256(result_store.path_of(course.results, lesson, student).read_bytes()).hexdigest()
