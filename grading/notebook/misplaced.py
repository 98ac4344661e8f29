"""Repairs answers and helpers that a student wrote elsewhere than in the answer cell of the lesson.

In a notebook such an answer passes its check, because the student runs the cells in an order of their own.
Grading runs them from top to bottom: a check must not run before its answer and what that uses, and the
untouched answer cell of the lesson must not replace what the student has defined.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable
from dataclasses import dataclass

from nbformat import NotebookNode
from nbformat.v4 import new_code_cell
from nbgrader.utils import is_grade, is_solution

from course_utils.validation.definitions import defined_names, extract_definitions, free_names, meaning
from grading.notebook.cell_selection import grade_id
from grading.submission.findings import Finding

ELSEWHERE = "# The answer stands in a cell of its own."
OWN = "own-"  # begins the ids of a student's own cells
MAX_HELPERS = 20


@dataclass(frozen=True)
class _Exercise:
    """Positions of an exercise's cells: from `start` to its check, and `end` of the cells that follow."""

    start: int
    answer: int
    check: int
    end: int


def place_answers(cells: list[NotebookNode], written: set[str], stubs: set[str]) -> list[Finding]:
    """Let each check run after the answer to it, and after the helpers that the answer uses.

    Args:
        cells: A restored notebook's cells; changed in place.
        written: The ids of the code cells that the student has added or changed.
        stubs: The meanings of answer cells that the student has not filled in.

    Returns:
        Which answers and helpers were found below a check.
    """
    findings = []
    for name in [grade_id(cell) for cell in cells if _is_check(cell)]:
        if _place_answer(cells, name, written, stubs):
            findings.append(Finding("damaged", f"The answer to {name!r} stood below its check."))
        if helpers := _place_helpers(cells, name, written):
            shown = ", ".join(repr(helper) for helper in helpers)
            what = f"The answer to {name!r} uses {shown}, which stood below its check."
            findings.append(Finding("damaged", what))
    return findings


def _place_answer(cells: list[NotebookNode], name: str, written: set[str], stubs: set[str]) -> bool:
    """Let a check run after an answer in another cell; return whether that one stood below."""
    exercise = _find(cells, name)
    if exercise is None:
        return False
    stub = cells[exercise.answer].source
    wanted, untouched = _used_names(cells[exercise.check].source), meaning(stub) in stubs
    if untouched:
        wanted = wanted & defined_names(stub) or wanted
    elif defined_names(stub) & wanted:
        return False
    places = [
        place
        for place, cell in enumerate(cells)
        if cell.get("id") in written
        and place != exercise.answer
        and defined_names(cell.source) & wanted
        and not _answers_another(cells, place, wanted)
    ]
    if places and untouched:
        cells[exercise.answer].source = ELSEWHERE
    below = [place for place in places if exercise.check < place < exercise.end]
    if below:
        last = max(below) + 1
        between = range(exercise.check + 1, last)
        moved = [cells[place] for place in between if place in below or _is_own(cells[place])]
        rest = [cells[place] for place in between if cells[place] not in moved]
        cells[exercise.check : last] = [*moved, cells[exercise.check], *rest]
    elif places and min(places) > exercise.check:
        cells.insert(exercise.check, _copy(cells[min(places)].source, wanted, f"answer-{name}"))
    return bool(places) and (bool(below) or min(places) > exercise.check)


def _place_helpers(cells: list[NotebookNode], name: str, written: set[str]) -> list[str]:
    """Copy definitions that an answer uses from below its check to above; return their names."""
    exercise = _find(cells, name)
    if exercise is None:
        return []
    above = cells[: exercise.check]
    known = {one for cell in above if cell.cell_type == "code" for one in defined_names(cell.source)}
    answers = [cell.source for cell in above[exercise.start :] if _is_written_code(cell, written)]
    open_names = {one for source in answers for one in free_names(source)} - known
    found: list[str] = []
    for cell in cells[exercise.check :] if open_names else ():
        if _is_written_code(cell, written) and len(found) < MAX_HELPERS:
            source = extract_definitions(cell.source)
            if used := sorted(defined_names(source) & open_names):
                copy = new_code_cell(source=source, id=_own_id(f"helper-{len(found)}-{name}"))
                cells.insert(exercise.start + len(found), copy)
                found += used
                open_names |= free_names(source)
                open_names -= {*known, *defined_names(source)}
    return found


def _is_written_code(cell: NotebookNode, written: set[str]) -> bool:
    return cell.cell_type == "code" and cell.get("id") in written


def _copy(source: str, wanted: Iterable[str], name: str) -> NotebookNode:
    """Return a cell with the definitions of another one; with all of it where that computes them."""
    definitions = extract_definitions(source)
    plain = not defined_names(source) & set(wanted) - defined_names(definitions)
    cell: NotebookNode = new_code_cell(source=definitions if plain else source, id=_own_id(name))
    return cell


def _own_id(name: str) -> str:
    return f"{OWN}{name}"[:64]


def _is_own(cell: NotebookNode) -> bool:
    return cell.cell_type == "code" and str(cell.get("id")).startswith(OWN)


def _is_check(cell: NotebookNode) -> bool:
    return cell.cell_type == "code" and bool(is_grade(cell)) and not is_solution(cell)


def _answers_another(cells: list[NotebookNode], place: int, wanted: set[str]) -> bool:
    """Say whether a cell is the answer cell of another exercise that wants the same name."""
    if not is_solution(cells[place]):
        return False
    checks = [cell for cell in cells[place:] if _is_check(cell)]
    return bool(checks) and bool(_used_names(checks[0].source) & wanted)


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
