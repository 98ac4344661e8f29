"""Selects the cells of a submission that run when it is graded."""

from __future__ import annotations

from nbformat import NotebookNode
from nbgrader.utils import is_grade, is_solution

from course_utils.validation.definitions import meaning


def grade_id(cell: NotebookNode) -> str:
    """Return the name by which nbgrader knows a released cell; empty for other cells."""
    return str(cell.metadata.get("nbgrader", {}).get("grade_id", ""))


def is_setup(cell: NotebookNode) -> bool:
    """Say whether the author tagged a cell `setup`."""
    return "setup" in cell.metadata.get("tags", [])


def cells_to_run(submission: NotebookNode, source: NotebookNode) -> list[bool]:
    """Mark the code cells that grading executes.

    These are the cells tagged `setup`, every cell that the student wrote or changed, and the graded cells.
    Unchanged demonstrations and benchmarks do not run.

    Args:
        submission: A student's notebook.
        source: The lesson with its solutions, as the authors wrote it.

    Returns:
        One bool per cell of `submission`.
    """
    demonstrations = {meaning(cell.source) for cell in source.cells if not _always_runs(cell)}
    return [_runs(cell, demonstrations) for cell in submission.cells]


def _always_runs(cell: NotebookNode) -> bool:
    return is_setup(cell) or bool(is_grade(cell)) or bool(is_solution(cell))


def _runs(cell: NotebookNode, demonstrations: set[str]) -> bool:
    if cell.cell_type != "code" or not cell.source.strip():
        return False
    return _always_runs(cell) or meaning(cell.source) not in demonstrations
