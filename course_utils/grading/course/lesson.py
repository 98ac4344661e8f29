"""What grading needs to know of a lesson, read from its folder in solutions/."""

from __future__ import annotations

import ast
import copy
import hashlib
import importlib
import importlib.util
import inspect
import re
from dataclasses import dataclass
from pathlib import Path

import nbformat
from nbformat import NotebookNode
from nbgrader.preprocessors import ClearHiddenTests, ClearSolutions, LockCells
from nbgrader.utils import is_grade, is_solution

from course_utils.checks.core import Check
from course_utils.grading.submission import grade_id

PACKAGE = "course_utils.checks"


@dataclass(frozen=True)
class Graded:
    """A graded cell: the check that it calls and the answers that it hands over."""

    check: str
    answers: str
    points: float


class Lesson:
    """A lesson as the grader sees it.

    Args:
        folder: The lesson's folder, `solutions/<lesson>`.
        package: Package that holds the module of its checks.
    """

    def __init__(self, folder: Path, package: str = PACKAGE) -> None:
        self.folder, self.name = folder, folder.name
        self.source = nbformat.read(folder / f"{folder.name}.ipynb", as_version=4)
        self.released = _release(self.source)
        self.module = f"{package}.{re.sub(r'^[0-9]+_', '', folder.name)}"
        self.graded = {grade_id(cell): _graded(cell) for cell in self.source.cells if _is_check(cell)}

    @property
    def points(self) -> float:
        """The most that a submission can get from checks."""
        return sum(graded.points for graded in self.graded.values())

    def check(self, name: str) -> Check:
        """The check of a graded cell, from the teacher's own module."""
        return getattr(importlib.import_module(self.module), name)

    def files(self) -> dict[str, bytes]:
        """The files that go with the notebook, by relative name."""
        paths = sorted(path for path in self.folder.rglob("*") if path.is_file() and path.suffix != ".ipynb")
        hidden = [
            path
            for path in paths
            if any(part.startswith(".") for part in path.relative_to(self.folder).parts)
        ]
        return {str(path.relative_to(self.folder)): path.read_bytes() for path in paths if path not in hidden}

    def version(self) -> str:
        """Changes with the notebook's cells and the files beside it."""
        digest = hashlib.sha256()
        for cell in self.source.cells:
            digest.update(f"{cell.cell_type}\0{cell.source}\0{cell.metadata.get('nbgrader')}\0".encode())
        for name, data in self.files().items():
            digest.update(name.encode() + data)
        return digest.hexdigest()[:16]

    def checks_version(self) -> str:
        """Changes with the text of any check: they share modules."""
        package = importlib.util.find_spec(self.module.rpartition(".")[0])
        folders = [*package.submodule_search_locations, Path(inspect.getfile(Check)).parent]
        paths = sorted({path for folder in folders for path in Path(folder).rglob("*.py")})
        return hashlib.sha256(b"".join(path.read_bytes() for path in paths)).hexdigest()[:16]


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
    """Reads `lesson.check(answers)` out of a graded cell.

    Raises:
        ValueError: The cell's last line is no such call.
    """
    last = ast.parse(cell.source).body[-1]
    call = last.value if isinstance(last, ast.Expr) else None
    if not isinstance(call, ast.Call) or not isinstance(call.func, ast.Attribute) or call.keywords:
        raise ValueError(f"The graded cell {grade_id(cell)!r} does not end in a call of a check.")
    answers = "".join(f"{ast.unparse(argument)}, " for argument in call.args)
    return Graded(call.func.attr, answers, float(cell.metadata.nbgrader.points))
