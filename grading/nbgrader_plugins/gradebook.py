"""Writes results to the gradebook with nbgrader's own autograde."""

from __future__ import annotations

import logging
import warnings
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from functools import lru_cache
from pathlib import Path
from tempfile import TemporaryDirectory

from nbgrader.api import Gradebook, MissingEntry
from nbgrader.converters import Autograde, GenerateAssignment
from nbgrader.coursedir import CourseDirectory

from grading.course.config import Course, course_at
from grading.course.result import Task
from grading.nbgrader_plugins import deadlines
from grading.nbgrader_plugins.optional_exercises import store_maxima
from grading.submission.sanitize import STAMP, sanitize_folder

SECRET = "submission_secret.txt"  # names a submission's feedback in the exchange


class NotWrittenError(RuntimeError):
    """nbgrader refused a result; the message is its own."""


def before_autograde(assignment: str, student: str, notebooks: list[str]) -> None:
    """Prepare a submission: nbgrader's hook before each one, named in `nbgrader_config.py`."""
    course = _course_here()
    register(course, assignment)
    folder = Path(notebooks[0]).parent
    lesson = course.lesson(assignment)
    sanitize_folder(folder, assignment, lesson.files(), lesson.stubs)
    deadlines.grant_extension(course, Task(assignment, folder.parent.name))  # `student` may be a pattern


def after_autograde(assignment: str, student: str, notebooks: list[str]) -> None:
    """Remove a student's own files from `autograded/`: nbgrader's hook after each submission.

    The formgrader serves that folder with a teacher's rights, pages with scripts included.
    """
    course = _course_here()
    owner = Path(notebooks[0]).parent.parent.name  # `student` may be a pattern
    folder = course.folder(course.directory.autograded_directory, owner, assignment)
    kept = {*course.lesson(assignment).files(), f"{assignment}.ipynb", STAMP, SECRET}
    for path in sorted(folder.rglob("*"), reverse=True):
        if path.is_dir() and not path.is_symlink():
            with suppress(OSError):  # it is not empty
                path.rmdir()
        elif str(path.relative_to(folder)) not in kept:
            path.unlink()


def _course_here() -> Course:
    """Return the course of the working directory, read again after its configuration has changed."""
    root = Path.cwd()
    return _course_at(root, tuple(path.stat().st_mtime_ns for path in sorted(root.glob("*_config.py"))))


@lru_cache(maxsize=4)
def _course_at(root: Path, changed: tuple[int, ...]) -> Course:
    return course_at(root)


def register(course: Course, lesson: str) -> None:
    """Register a lesson and its cells in the gradebook, unless it has them in their present version."""
    _register_cells(course, lesson)
    store_maxima(course, lesson)


def _register_cells(course: Course, lesson: str) -> None:
    version, marker = course.lesson(lesson).version(), course.results.folder / lesson / ".registered"
    known = _is_known(course, lesson)  # before nbgrader meets a gradebook that cannot be used
    if known and marker.exists() and marker.read_text() == version:
        return
    with TemporaryDirectory(prefix="release-") as scratch:
        config = course.nbgrader_config(Task(lesson, "."))
        config.CourseDirectory.release_directory = scratch
        app = GenerateAssignment(coursedir=CourseDirectory(config=config), config=config, force=True)
        app.log.setLevel(logging.ERROR)
        app.start()
    marker.parent.mkdir(parents=True, exist_ok=True)
    marker.write_text(version)


def _is_known(course: Course, lesson: str) -> bool:
    with Gradebook(course.directory.db_url, course.directory.course_id) as gradebook:
        try:
            gradebook.find_assignment(lesson)
            gradebook.find_notebook(lesson, lesson)
        except MissingEntry:
            return False
    return True


def write(course: Course, task: Task, settings: str = "") -> None:
    """Have nbgrader autograde one submission, which takes its stored result.

    Args:
        course: The course.
        task: The submission.
        settings: What its penalty depends on, see `deadlines.late_settings`.

    Raises:
        NotWrittenError: nbgrader refused; the gradebook is unchanged for this student.
    """
    config = course.nbgrader_config(task)
    app = Autograde(coursedir=CourseDirectory(config=config), config=config, force=True)
    with error_messages(app.log) as messages:
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")  # raised by nbgrader's use of its database library
                app.start()
        except Exception as error:
            raise NotWrittenError("\n".join([*messages, str(error)])) from error
    course.results.mark_written(task, settings)


@contextmanager
def error_messages(log: logging.Logger) -> Iterator[list[str]]:
    """Collect what nbgrader logs as errors: its exceptions only refer to them."""
    handler = _ErrorMessages()
    log.addHandler(handler)
    try:
        yield handler.messages
    finally:
        log.removeHandler(handler)


class _ErrorMessages(logging.Handler):
    """Collects logged errors."""

    def __init__(self) -> None:
        super().__init__(logging.ERROR)
        self.messages: list[str] = []

    def emit(self, record: logging.LogRecord) -> None:
        self.messages.append(record.getMessage())
