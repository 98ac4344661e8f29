"""Restores a submission to the form of the released notebook, and reports what differed.

Order, metadata, points and locked cells come from the lesson; answers, the student's own cells and notes come
from the submission. So tampering is undone by construction.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable
from dataclasses import dataclass, field

import nbformat
from nbformat import NotebookNode
from nbformat.v4 import new_code_cell, new_markdown_cell
from nbgrader.utils import is_locked, is_solution

from course_utils.grading.notebook.cell_selection import grade_id, is_setup
from course_utils.grading.notebook.markdown_html import safe_markdown
from course_utils.grading.notebook.submitted_cells import SubmittedCell, read_cells
from course_utils.grading.submission import Finding

MAX_FORMATTED = 500_000  # characters, inline pictures included; longer texts are shown as they are
LOST = "# This cell was missing in the submission."


@dataclass
class Restored:
    """A notebook in the released form.

    Attributes:
        notebook: The notebook.
        findings: What differed from the release.
        readable: Whether the submitted file could be read.
    """

    notebook: NotebookNode
    findings: list[Finding] = field(default_factory=list)
    readable: bool = True


def restore_notebook(raw: bytes | None, released: NotebookNode) -> Restored:
    """Restore whatever was submitted to the form of the released notebook.

    Args:
        raw: The submitted file; None where there is none.
        released: The lesson as it was released.
    """
    findings: list[Finding] = []
    cells = read_cells(raw, released, findings)
    # One finding says that the file cannot be read; that each cell is missing then says nothing more.
    details = [] if cells is None else findings
    submitted = cells or []
    _pair(submitted, released.cells, details)
    restored = _assemble(submitted, released.cells, details)
    _sanitize_texts(restored, released.cells)
    notebook = nbformat.from_dict({**released, "cells": restored})
    return Restored(notebook, findings, cells is not None)


def _sanitize_texts(cells: list[NotebookNode], released: list[NotebookNode]) -> None:
    """Make all texts that are not the lesson's own harmless: formgrader and feedback show them."""
    original, left = {cell.get("id"): cell.source for cell in released}, MAX_FORMATTED
    for cell in cells:
        if cell.cell_type != "code" and original.get(cell.get("id")) != cell.source:
            attachments = cell.pop("attachments", {})
            formatted, left = len(cell.source) <= left, left - len(cell.source)
            cell.source = safe_markdown(cell.source, attachments, formatted)


def _same_name(submitted: SubmittedCell, cell: NotebookNode) -> bool:
    return bool(grade_id(cell)) and submitted.marks.get("grade_id") == grade_id(cell)


def _same_id(submitted: SubmittedCell, cell: NotebookNode) -> bool:
    return bool(submitted.id) and submitted.id == cell.get("id")


def _same_text(submitted: SubmittedCell, cell: NotebookNode) -> bool:
    return not is_solution(cell) and submitted.source.strip() == cell.source.strip()


# From the surest to the weakest.
MATCHERS: tuple[Callable[[SubmittedCell, NotebookNode], bool], ...] = (_same_name, _same_id, _same_text)


def _pair(submitted_cells: list[SubmittedCell], cells: list[NotebookNode], findings: list[Finding]) -> None:
    """Find for each released cell the submitted cell that replaces it."""
    found: dict[int, SubmittedCell] = {}
    for matches in MATCHERS:
        for place, cell in enumerate(cells):
            # Reversed: of several copies nbgrader keeps the last.
            same = [
                submitted
                for submitted in reversed(submitted_cells)
                if submitted.partner is None and matches(submitted, cell)
            ]
            if place not in found and same:
                found[place], same[0].partner = same[0], place
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


def _assemble(
    submitted_cells: list[SubmittedCell], cells: list[NotebookNode], findings: list[Finding]
) -> list[NotebookNode]:
    own: dict[int, list[NotebookNode]] = {}
    partners: dict[int, SubmittedCell] = {}
    place = -1
    for number, submitted in enumerate(submitted_cells):
        if submitted.partner is not None:
            place = submitted.partner
            partners[place] = submitted
        elif submitted.source.strip() and not _locked_copy(submitted, cells):
            own.setdefault(place, []).append(_own_cell(submitted, number))
    result = own.get(-1, [])
    for place, cell in enumerate(cells):
        result += _restored(cell, partners.get(place), findings, place) + own.get(place, [])
    return result


def _locked_copy(submitted: SubmittedCell, cells: list[NotebookNode]) -> bool:
    name = submitted.marks.get("grade_id")
    return bool(name) and any(grade_id(cell) == name and is_locked(cell) for cell in cells)


def _own_cell(submitted: SubmittedCell, number: int) -> NotebookNode:
    digest = hashlib.sha256(f"{number} {submitted.source}".encode("utf-8", "replace")).hexdigest()
    name = f"own-{digest[:16]}"
    cell: NotebookNode
    if submitted.kind == "code":
        cell = new_code_cell(source=submitted.source, id=name)
    else:
        cell = new_markdown_cell(source=submitted.source, attachments=submitted.attachments, id=name)
    return cell


def _restored(
    cell: NotebookNode, submitted: SubmittedCell | None, findings: list[Finding], place: int
) -> list[NotebookNode]:
    restored = nbformat.from_dict(json.loads(json.dumps(cell)))
    if restored.cell_type == "code":
        restored.outputs, restored.execution_count = [], None
    name = grade_id(cell)
    if submitted is None:
        if name:
            findings.append(Finding("damaged", f"The cell {name!r} was deleted or lost its metadata."))
        if is_solution(cell):
            restored.source = LOST if cell.cell_type == "code" else ""
        return [restored]
    if name:
        _compare(cell, submitted, findings)
    if is_locked(cell):
        return [restored]
    if is_setup(cell) and submitted.source.strip() != cell.source.strip():
        return [restored, _own_cell(submitted, place)]
    if submitted.kind == cell.cell_type or name:
        changed = submitted.source.strip() != cell.source.strip()
        if changed:
            restored.source = submitted.source
            if cell.cell_type != "code":
                restored.attachments = submitted.attachments
        return [restored]
    return [_own_cell(submitted, place)]


def _compare(cell: NotebookNode, submitted: SubmittedCell, findings: list[Finding]) -> None:
    name = grade_id(cell)
    if submitted.marks.get("grade_id") != name:
        findings.append(Finding("damaged", f"The cell {name!r} was renamed or lost its metadata."))
        return
    if submitted.kind != cell.cell_type:
        findings.append(
            Finding("damaged", f"The cell {name!r} was {submitted.kind} instead of {cell.cell_type}.")
        )
    if is_locked(cell) and submitted.source.strip() != cell.source.strip():
        findings.append(Finding("tampered", f"The locked cell {name!r} was changed."))
    for key in ("grade", "solution", "locked", "task", "points"):
        released = cell.metadata.nbgrader.get(key)
        if key in submitted.marks and released is not None and submitted.marks[key] != released:
            findings.append(
                Finding("tampered", f"{key!r} of the cell {name!r} was {str(submitted.marks[key])[:20]}.")
            )
    if set(submitted.tags) != set(cell.metadata.get("tags", [])):
        findings.append(
            Finding("tampered", f"The tags of the cell {name!r} were {str(sorted(submitted.tags))[:80]}.")
        )
