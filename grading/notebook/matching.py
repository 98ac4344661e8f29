"""Finds for each cell of a lesson the cell that a student submitted for it, and reports what differs."""

from __future__ import annotations

from collections.abc import Callable

from nbformat import NotebookNode
from nbgrader.utils import is_locked, is_solution

from course_utils.validation.definitions import meaning
from grading.notebook.cell_selection import grade_id
from grading.notebook.submitted_cells import SubmittedCell
from grading.submission.findings import Finding


def _same_name(submitted: SubmittedCell, cell: NotebookNode) -> bool:
    return bool(grade_id(cell)) and submitted.marks.get("grade_id") == grade_id(cell)


def _same_id(submitted: SubmittedCell, cell: NotebookNode) -> bool:
    return bool(submitted.id) and submitted.id == cell.get("id")


def _same_text(submitted: SubmittedCell, cell: NotebookNode) -> bool:
    return not is_solution(cell) and _means_the_same(submitted, cell)


def _means_the_same(submitted: SubmittedCell, cell: NotebookNode) -> bool:
    if cell.cell_type != "code":
        return submitted.source.strip() == str(cell.source).strip()
    return meaning(submitted.source) == meaning(cell.source)


# From the surest to the weakest.
MATCHERS: tuple[Callable[[SubmittedCell, NotebookNode], bool], ...] = (_same_name, _same_id, _same_text)


def pair_cells(
    submitted_cells: list[SubmittedCell], cells: list[NotebookNode], findings: list[Finding]
) -> None:
    """Find for each released cell the submitted cell that replaces it: set their `partner`.

    Of several copies the last counts, as in nbgrader, but one that was filled in counts before an empty one.
    """
    found: dict[int, SubmittedCell] = {}
    for matches in MATCHERS:
        for place, cell in enumerate(cells):
            same = [one for one in submitted_cells if one.partner is None and matches(one, cell)]
            if place not in found and same:
                filled_in = [one for one in same if one.source.strip() and not _means_the_same(one, cell)]
                found[place] = (filled_in or same)[-1] if is_solution(cell) else same[-1]
                found[place].partner = place
    names = {grade_id(cell) for cell in cells} - {""}
    for submitted in submitted_cells:
        if submitted.partner is None and submitted.marks.get("grade_id"):
            name = str(submitted.marks["grade_id"])[:60]
            if name in names:
                findings.append(Finding("damaged", f"The cell {name!r} occurs twice."))
            else:
                findings.append(Finding("tampered", f"The cell {name!r} is not in this lesson."))
    order = [
        submitted.partner
        for submitted in submitted_cells
        if submitted.partner is not None and grade_id(cells[submitted.partner])
    ]
    if order != sorted(order):
        findings.append(Finding("damaged", "The cells are in a different order."))


def compare_cells(cell: NotebookNode, submitted: SubmittedCell, findings: list[Finding]) -> None:
    """Report how a submitted cell differs from the released cell of a name."""
    name = grade_id(cell)
    if submitted.marks.get("grade_id") != name:
        findings.append(Finding("damaged", f"The cell {name!r} was renamed or lost its metadata."))
        return
    if submitted.kind != cell.cell_type:
        findings.append(
            Finding("damaged", f"The cell {name!r} was {submitted.kind} instead of {cell.cell_type}.")
        )
    if is_locked(cell) and not _means_the_same(submitted, cell):
        merged = cell.source.strip() in submitted.source
        findings.append(
            Finding("damaged" if merged else "tampered", f"The locked cell {name!r} was changed.")
        )
    for key in ("grade", "solution", "locked", "task", "points"):
        released = cell.metadata.nbgrader.get(key)
        if key in submitted.marks and released is not None and submitted.marks[key] != released:
            findings.append(
                Finding("tampered", f"{key!r} of the cell {name!r} was {str(submitted.marks[key])[:20]}.")
            )
