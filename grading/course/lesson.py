"""A lesson as the grader sees it, read from its folder in solutions/."""

from __future__ import annotations

import ast
import copy
import hashlib
import importlib
import platform
import re
from collections.abc import Collection
from dataclasses import dataclass
from functools import cache
from importlib.metadata import version
from pathlib import Path

import nbformat
from nbformat import NotebookNode
from nbgrader.preprocessors import ClearHiddenTests, ClearSolutions, LockCells
from nbgrader.utils import is_grade, is_solution

from course_utils.checks.core import Check
from grading.course.imported_files import imported_files
from grading.course.result import Versions
from grading.notebook.cell_selection import grade_id
from grading.submission.files import Submission
from grading.submission.notebook_choice import STUB

CHECKS_PACKAGE = "course_utils.checks"


@dataclass(frozen=True)
class Graded:
    """A graded cell.

    Attributes:
        check: Name of the check that it calls.
        answers: Source of the arguments, such as `"Dataset, "`.
        points: Points for a right answer.
    """

    check: str
    answers: str
    points: float


class Lesson:
    """A lesson: its source, its released form and its graded cells.

    Args:
        folder: The lesson's folder, `solutions/<lesson>`.
        package: Package that holds the module of its checks.
        optional: Names of exercises whose points do not count in the maximum.

    Raises:
        ValueError: An optional exercise does not exist.
    """

    def __init__(self, folder: Path, package: str = CHECKS_PACKAGE, optional: Collection[str] = ()) -> None:
        self.folder, self.name = folder, folder.name
        self.source: NotebookNode = nbformat.read(folder / f"{folder.name}.ipynb", as_version=4)
        self.released = _release(self.source)
        self.module = f"{package}.{re.sub(r'^[0-9]+_', '', folder.name)}"
        self.graded = {grade_id(cell): _graded(cell) for cell in self.source.cells if _is_check(cell)}
        self.optional = frozenset(optional)
        if unknown := sorted(self.optional - set(self.graded)):
            raise ValueError(
                f"c.Grading.optional names {unknown[0]!r}, which is no exercise of {self.name}: these are "
                f"{', '.join(self.graded)}"
            )

    @property
    def points(self) -> float:
        """The points for all exercises that are not optional."""
        return sum(graded.points for name, graded in self.graded.items() if name not in self.optional)

    @property
    def stubs(self) -> int:
        """How often a student is asked to write code in the released notebook."""
        return sum(cell.source.count(STUB) for cell in self.released.cells)

    def check(self, name: str) -> Check:
        """Return a check of this lesson, from the teacher's own module."""
        check: Check = getattr(importlib.import_module(self.module), name)
        return check

    def files(self) -> dict[str, bytes]:
        """Return the contents of the lesson's other files, by relative name."""
        paths = sorted(path for path in self.folder.rglob("*") if path.is_file() and path.suffix != ".ipynb")
        hidden = [
            path
            for path in paths
            if any(part.startswith(".") for part in path.relative_to(self.folder).parts)
        ]
        return {str(path.relative_to(self.folder)): path.read_bytes() for path in paths if path not in hidden}

    def versions(self, submission: Submission | None) -> Versions:
        """Return what the mark of a submission depends on; None is one that cannot be read."""
        return {
            "submission": submission.digest() if submission else "",
            "lesson": self.version(),
            "checks": self.checks_version(),
            "environment": environment(),
        }

    def version(self) -> str:
        """Return a digest of the notebook's cells, the other files, and which exercises are optional."""
        digest = hashlib.sha256("".join(sorted(self.optional)).encode())
        for cell in self.source.cells:
            digest.update(f"{cell.cell_type}\0{cell.source}\0{cell.metadata.get('nbgrader')}\0".encode())
        for name, data in self.files().items():
            digest.update(name.encode() + data)
        return digest.hexdigest()[:16]

    def checks_version(self) -> str:
        """Return a digest of the source of the lesson's checks, and of all that they import."""
        return hashlib.sha256(
            b"".join(path.read_bytes() for path in imported_files(self.module))
        ).hexdigest()[:16]


def lesson_names(source: Path) -> list[str]:
    """Return the names of the lessons, sorted: numbered folders that hold a notebook of the same name."""
    notebooks = source.glob("[0-9][0-9]_*/*.ipynb")
    return sorted(path.stem for path in notebooks if path.stem == path.parent.name)


@cache
def environment() -> str:
    """Return the versions of Python and of the packages that a mark may depend on."""
    packages = [f"{name} {version(name)}" for name in ("feeding-the-gpu", "torch", "numpy", "nbgrader")]
    return " ".join([f"python {platform.python_version()}", *packages])


def _release(source: NotebookNode) -> NotebookNode:
    notebook = copy.deepcopy(source)
    for preprocessor in (
        LockCells(),
        ClearSolutions(enforce_metadata=False),
        ClearHiddenTests(enforce_metadata=False),
    ):
        notebook, _ = preprocessor.preprocess(notebook, {"nbgrader": {"language": "python"}})
    return notebook


def _is_check(cell: NotebookNode) -> bool:
    return cell.cell_type == "code" and bool(is_grade(cell)) and not is_solution(cell)


def _graded(cell: NotebookNode) -> Graded:
    """Parse the call `lesson.check(answers)` that ends a graded cell.

    Raises:
        ValueError: The cell's last line is not such a call.
    """
    last = ast.parse(cell.source).body[-1]
    call = last.value if isinstance(last, ast.Expr) else None
    if not isinstance(call, ast.Call) or not isinstance(call.func, ast.Attribute) or call.keywords:
        raise ValueError(f"The graded cell {grade_id(cell)!r} does not end with a call of a check.")
    answers = "".join(f"{ast.unparse(argument)}, " for argument in call.args)
    return Graded(call.func.attr, answers, float(cell.metadata.nbgrader.points))
