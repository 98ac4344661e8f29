"""Repairs answers that a student wrote in a cell of their own, where the lesson has an answer cell.

In a notebook such an answer passes its check, because the student runs the cells in an order of their own.
Grading runs them from top to bottom: a check must not run before its answer, and the untouched answer cell of
the lesson must not replace what the student has defined.
"""

from __future__ import annotations

import ast
from dataclasses import dataclass

from nbformat import NotebookNode
from nbgrader.utils import is_grade, is_solution

from course_utils.grading.submission import Finding
from course_utils.validation import defined_names, meaning

ELSEWHERE = "# The answer stands in a cell of its own."


@dataclass(frozen=True)
class _Exercise:
    """Positions of an exercise's cells: from `start` to its check, and `end` of the cells that follow."""

    start: int
    answer: int
    check: int
    end: int


def place_answers(cells: list[NotebookNode], own: set[str], stubs: set[str]) -> list[Finding]:
    """Let each check run after the answer to it.

    Args:
        cells: A restored notebook's cells; changed in place.
        own: The ids of the student's own cells.
        stubs: The meanings of answer cells that the student has not filled in.

    Returns:
        Which answers were found elsewhere.
    """
    findings = []
    for name in [str(cell.metadata.nbgrader.grade_id) for cell in cells if _is_check(cell)]:
        exercise = _find(cells, name)
        if exercise is None or meaning(cells[exercise.answer].source) not in stubs:
            continue
        wanted = _used_names(cells[exercise.check].source)
        below = [
            place for place in range(exercise.check + 1, exercise.end) if _defines(cells[place], own, wanted)
        ]
        above = [
            place for place in range(exercise.start, exercise.check) if _defines(cells[place], own, wanted)
        ]
        if below:
            last = max(below) + 1
            moved = [cell for cell in cells[exercise.check + 1 : last] if cell.get("id") in own]
            rest = [cell for cell in cells[exercise.check + 1 : last] if cell.get("id") not in own]
            cells[exercise.check : last] = [*moved, cells[exercise.check], *rest]
        if below or above:
            cells[exercise.answer].source = ELSEWHERE
        if below:
            findings.append(Finding("damaged", f"The answer to {name!r} stood below its check."))
    return findings


def _is_check(cell: NotebookNode) -> bool:
    return cell.cell_type == "code" and bool(is_grade(cell)) and not is_solution(cell)


def _find(cells: list[NotebookNode], name: str) -> _Exercise | None:
    """Find the last answer cell before a check, and the limits of its exercise."""
    marked = [
        place
        for place, cell in enumerate(cells)
        if cell.cell_type == "code" and (_is_check(cell) or is_solution(cell))
    ]
    check = next(place for place in marked if cells[place].metadata.nbgrader.grade_id == name)
    before, after = [p for p in marked if p < check], [p for p in marked if p > check]
    if not before or not is_solution(cells[before[-1]]):
        return None
    start = max((p + 1 for p in before if _is_check(cells[p])), default=0)
    return _Exercise(start, before[-1], check, after[0] if after else len(cells))


def _used_names(source: str) -> set[str]:
    """Return the names that a check's call hands over."""
    try:
        calls = [node for node in ast.walk(ast.parse(source)) if isinstance(node, ast.Call)]
    except SyntaxError:
        return set()
    arguments = [argument for call in calls for argument in call.args]
    return {node.id for argument in arguments for node in ast.walk(argument) if isinstance(node, ast.Name)}


def _defines(cell: NotebookNode, own: set[str], wanted: set[str]) -> bool:
    return cell.cell_type == "code" and cell.get("id") in own and bool(defined_names(cell.source) & wanted)
