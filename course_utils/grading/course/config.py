"""Where a course lies and how it is graded, read from nbgrader's own configuration."""

from __future__ import annotations

import sys
from dataclasses import dataclass, field
from pathlib import Path

from nbgrader.apps import NbGrader
from nbgrader.coursedir import CourseDirectory
from traitlets import Dict, List, Unicode
from traitlets.config import Config, Configurable

from course_utils.grading.course.lesson import PACKAGE, Lesson
from course_utils.grading.sandbox import WARM_MODULES, Box, Limits, backends
from course_utils.grading.submission import Submission
from course_utils.paths import DataNotFoundError, data_dir


class Grading(Configurable):
    """The lines `c.Grading...` of nbgrader_config.py."""

    sandbox = Unicode("auto", help="auto, bwrap, apptainer, namespaces, or none (no protection).").tag(
        config=True
    )
    results_directory = Unicode("marks", help="Where results are kept, below the course.").tag(config=True)
    checks_package = Unicode(PACKAGE, help="The package of the lessons' checks.").tag(config=True)
    module_folders = List(Unicode(), help="More folders that modules are imported from.").tag(config=True)
    warm_modules = List(
        Unicode(), WARM_MODULES, help="What the fork server imports before the first submission."
    ).tag(config=True)
    limits = Dict({}, help="Other values for the fields of course_utils.grading.sandbox.limits.Limits.").tag(
        config=True
    )


@dataclass
class Course:
    """A course directory and how to grade in it."""

    directory: CourseDirectory
    grading: Grading
    config: Config
    lessons_read: dict[str, Lesson] = field(default_factory=dict)

    @property
    def root(self) -> Path:
        """The course directory."""
        return Path(self.directory.root)

    @property
    def results(self) -> Path:
        """The folder of the results."""
        return self.root / self.grading.results_directory

    def folder(self, step: str, student: str = ".", lesson: str = ".") -> Path:
        """The folder of one step of nbgrader, such as `submitted`."""
        return Path(self.directory.format_path(step, student, lesson))

    def lesson(self, name: str) -> Lesson:
        """A lesson of this course, read once."""
        if name not in self.lessons_read:
            source = self.folder(self.directory.source_directory, lesson=name)
            self.lessons_read[name] = Lesson(source, self.grading.checks_package)
        return self.lessons_read[name]

    def lessons(self) -> list[str]:
        """The names of all lessons, in order."""
        source = self.folder(self.directory.source_directory)
        return sorted(
            path.parent.name for path in source.glob("[0-9][0-9]_*/*.ipynb") if path.stem == path.parent.name
        )

    def students(self, lesson: str) -> list[str]:
        """Who handed in a lesson."""
        submitted = self.root / self.directory.submitted_directory
        return sorted(path.parent.name for path in submitted.glob(f"*/{lesson}") if path.is_dir())

    def submission(self, student: str, lesson: str) -> Submission:
        """What a student handed in."""
        return Submission(self.submission_folder(student, lesson), student, lesson)

    def submission_folder(self, student: str, lesson: str) -> Path:
        """Where a student's work lies."""
        return self.folder(self.directory.submitted_directory, student, lesson)

    def box(self, sandbox_kind: str = "") -> Box:
        """A sandbox as this course wants it.

        Raises:
            sandbox.NoSandboxError: This machine has no means; the message says what to do.
        """
        kind = backends.choose(sandbox_kind or self.grading.sandbox)
        folders = [Path(folder).resolve() for folder in self.grading.module_folders]
        readable = [*folders, *_data()]
        modules = [*self.grading.warm_modules, *(self.lesson(name).module for name in self.lessons())]
        return Box(kind, tuple(modules), Limits(**self.grading.limits), readable, folders)


def _data() -> list[Path]:
    try:
        return [data_dir().resolve()]
    except DataNotFoundError:
        return []


def course_of(config: Config) -> Course:
    """The course that a loaded nbgrader configuration describes."""
    course = Course(CourseDirectory(config=config), Grading(config=config), config)
    for folder in course.grading.module_folders:
        if str(folder) not in sys.path:
            sys.path.insert(0, str(folder))
    return course


def course_at(root: Path) -> Course:
    """The course in a directory that has an nbgrader_config.py."""
    app = NbGrader(log_level="ERROR")
    app.initialize([], root=str(root.resolve()))
    config = app.config.copy()
    config.CourseDirectory.root = str(root.resolve())
    return course_of(config)
