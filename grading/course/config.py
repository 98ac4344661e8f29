"""A course's folders and grading settings, read from nbgrader's configuration."""

from __future__ import annotations

import copy
import sys
from dataclasses import dataclass, field
from pathlib import Path

from nbgrader.apps import NbGrader
from nbgrader.coursedir import CourseDirectory
from traitlets import Dict, Float, List, Unicode
from traitlets.config import Config, Configurable

from course_utils.paths import DataNotFoundError, data_dir
from grading.course.lesson import CHECKS_PACKAGE, Lesson, lesson_names
from grading.course.result import Task, Versions
from grading.course.result_store import ResultStore
from grading.course.student_folder import check_folder
from grading.sandbox.client import PRELOADED_MODULES, Sandbox
from grading.sandbox.isolation import backends
from grading.sandbox.isolation.limits import Limits
from grading.submission.files import Submission


class Grading(Configurable):
    """The options `c.Grading...` of nbgrader_config.py."""

    sandbox = Unicode("auto", help="auto, bwrap (bubblewrap), or none (no protection).").tag(config=True)
    results_directory = Unicode("marks", help="Folder of the results, relative to the course.").tag(
        config=True
    )
    checks_package = Unicode(CHECKS_PACKAGE, help="Package of the lessons' checks.").tag(config=True)
    module_folders = List(Unicode(), help="More folders to import modules from.").tag(config=True)
    preloaded_modules = List(
        Unicode(),
        list(PRELOADED_MODULES),
        help="Modules that the fork server imports before the first submission.",
    ).tag(config=True)
    due = Dict(
        {}, help="Due date of lessons: {'01_jpeg_vs_zip': '2026-12-01 23:59+01:00'}; others have none."
    ).tag(config=True)
    extensions = Dict(
        {}, help="Later dates for some: {'01_jpeg_vs_zip': {'ann': '2026-12-08 23:59+01:00'}}."
    ).tag(config=True)
    penalty_per_day = Float(
        0.0, min=0.0, max=1.0, help="Part of the points that each day late takes off, such as 0.1."
    ).tag(config=True)
    optional = Dict(
        {}, help="Exercises that add points but not to the maximum: {'01_jpeg_vs_zip': ['raw_pixels']}."
    ).tag(config=True)
    weights = Dict(
        {}, help="Weights of lessons in the percentage of a term, 1 by default: {'01_jpeg_vs_zip': 2}."
    ).tag(config=True)
    limits = Dict({}, help="Fields of grading.sandbox.Limits to change.").tag(config=True)


@dataclass
class Course:
    """A course directory and how submissions in it are graded."""

    directory: CourseDirectory
    grading: Grading
    config: Config
    _lessons: dict[str, Lesson] = field(default_factory=dict)

    @property
    def root(self) -> Path:
        """The course directory."""
        return Path(self.directory.root)

    @property
    def results(self) -> ResultStore:
        """The results of this course's submissions."""
        return ResultStore(self.root / self.grading.results_directory)

    def folder(self, step: str, student: str = ".", lesson: str = ".") -> Path:
        """Return the folder of one of nbgrader's steps, such as `submitted`."""
        return Path(self.directory.format_path(step, student, lesson))

    def lesson(self, name: str) -> Lesson:
        """Return a lesson of this course, read once."""
        if name not in self._lessons:
            source = self.folder(self.directory.source_directory, lesson=name)
            optional = self.grading.optional.get(name, ())
            self._lessons[name] = Lesson(source, self.grading.checks_package, optional)
        return self._lessons[name]

    def lessons(self) -> list[str]:
        """Return the names of all lessons, in order."""
        return lesson_names(self.folder(self.directory.source_directory))

    @property
    def submitted(self) -> Path:
        """The folder of all submissions."""
        return self.root / str(self.directory.submitted_directory)

    def students(self, lesson: str) -> list[str]:
        """Return the ids of those who submitted a lesson."""
        return sorted(path.parent.name for path in self.submitted.glob(f"*/{lesson}") if path.is_dir())

    def misplaced_submissions(self) -> list[str]:
        """Return what lies in `submitted/` but not as `<student>/<lesson>/`, by relative name."""
        lessons = set(self.lessons())
        found = [path for path in self.submitted.glob("[!.]*") if not path.is_dir()]
        for path in self.submitted.glob("[!.]*/[!.]*"):
            if path.name not in lessons or not path.is_dir():
                found.append(path)
        return sorted(str(path.relative_to(self.submitted)) for path in found)

    def submission(self, task: Task) -> Submission:
        """Read a submission."""
        return Submission(self.submission_folder(task), task.student, task.lesson)

    def submission_folder(self, task: Task) -> Path:
        """Return the folder of a submission.

        Raises:
            RefusedSubmissionError: It cannot be assigned to one student.
        """
        folder = self.submitted / task.student / task.lesson
        check_folder(folder, task.student)
        return self.folder(self.directory.submitted_directory, task.student, task.lesson)

    def nbgrader_config(self, task: Task) -> Config:
        """Return a configuration with which nbgrader works on one submission."""
        config = copy.deepcopy(self.config)
        config.CourseDirectory.assignment_id, config.CourseDirectory.student_id = task
        return config

    def versions(self, task: Task) -> Versions:
        """Return what the mark of a submission depends on at present."""
        return self.lesson(task.lesson).versions(self.submission(task))

    def make_sandbox(self) -> Sandbox:
        """Make a sandbox with this course's settings.

        Raises:
            backends.NoSandboxError: No backend works on this machine; the message says what to do.
        """
        kind = backends.choose(self.grading.sandbox)
        folders = [Path(folder).resolve() for folder in self.grading.module_folders]
        readable = [*folders, *_data()]
        modules = [*self.grading.preloaded_modules, *(self.lesson(name).module for name in self.lessons())]
        return Sandbox(kind, tuple(modules), Limits(**self.grading.limits), readable, folders)


def _data() -> list[Path]:
    try:
        return [data_dir().resolve()]
    except DataNotFoundError:
        return []


def course_of(config: Config) -> Course:
    """Return the course that a loaded nbgrader configuration describes."""
    course = Course(CourseDirectory(config=config), Grading(config=config), config)
    for folder in course.grading.module_folders:
        if str(folder) not in sys.path:
            sys.path.insert(0, str(folder))
    return course


def course_at(root: Path) -> Course:
    """Return the course in a directory that has an nbgrader_config.py."""
    app = NbGrader(log_level="ERROR")
    app.initialize([], root=str(root.resolve()))
    config = app.config.copy()
    config.CourseDirectory.root = str(root.resolve())
    return course_of(config)
