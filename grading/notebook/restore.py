"""Restores a submission to the form of the released notebook, and reports what differed.

Order, metadata, points and locked cells come from the lesson; answers, the student's own cells and notes come
from the submission. So tampering is undone by construction.
"""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass, field, replace

import nbformat
from nbformat import NotebookNode
from nbformat.v4 import new_code_cell, new_markdown_cell
from nbgrader.utils import is_locked, is_solution

from course_utils.validation.definitions import meaning
from grading.notebook.cell_selection import grade_id, is_setup
from grading.notebook.markdown_html import safe_markdown
from grading.notebook.matching import compare_cells, pair_cells
from grading.notebook.misplaced import OWN, place_answers
from grading.notebook.submitted_cells import SubmittedCell, read_cells
from grading.submission.findings import Finding

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
    pair_cells(submitted, released.cells, details)
    restored = _assemble(submitted, released.cells, details)
    details += place_answers(restored, _written(restored, released.cells), _stubs(released.cells))
    _sanitize_texts(restored, released.cells)
    notebook = nbformat.from_dict({**released, "cells": restored})
    return Restored(notebook, findings, cells is not None)


def _written(cells: list[NotebookNode], released: list[NotebookNode]) -> set[str]:
    """Return the ids of the code cells that the student has added or changed."""
    original = {cell.get("id"): meaning(cell.source) for cell in released if cell.cell_type == "code"}
    code = [cell for cell in cells if cell.cell_type == "code" and cell.get("id")]
    return {cell.id for cell in code if original.get(cell.id) != meaning(cell.source)}


def _stubs(released: list[NotebookNode]) -> set[str]:
    """Return the meanings of answer cells that nobody has filled in."""
    stubs = [cell.source for cell in released if cell.cell_type == "code" and is_solution(cell)]
    return {meaning(source) for source in ["", LOST, *stubs]}


def _sanitize_texts(cells: list[NotebookNode], released: list[NotebookNode]) -> None:
    """Make all texts that are not the lesson's own harmless: formgrader and feedback show them."""
    original, left = {cell.get("id"): cell.source for cell in released}, MAX_FORMATTED
    for cell in cells:
        if cell.cell_type != "code" and original.get(cell.get("id")) != cell.source:
            attachments = cell.pop("attachments", {})
            formatted, left = len(cell.source) <= left, left - len(cell.source)
            cell.source = safe_markdown(cell.source, attachments, formatted)


def _assemble(
    submitted_cells: list[SubmittedCell], cells: list[NotebookNode], findings: list[Finding]
) -> list[NotebookNode]:
    own: dict[int, list[NotebookNode]] = {}
    partners: dict[int, SubmittedCell] = {}
    place, stubs = -1, _stubs(cells)
    for number, submitted in enumerate(submitted_cells):
        if submitted.partner is not None:
            place = submitted.partner
            partners[place] = submitted
        elif (
            submitted.source.strip() and not _locked_copy(submitted, cells) and not _is_stub(submitted, stubs)
        ):
            own.setdefault(place, []).append(_own_cell(submitted, number))
    result = own.get(-1, [])
    for place, cell in enumerate(cells):
        result += _restored(cell, partners.get(place), findings, place) + own.get(place, [])
    return result


def _is_stub(submitted: SubmittedCell, stubs: set[str]) -> bool:
    return submitted.kind == "code" and meaning(submitted.source) in stubs - {meaning("")}


def _locked_copy(submitted: SubmittedCell, cells: list[NotebookNode]) -> bool:
    name = submitted.marks.get("grade_id")
    return bool(name) and any(grade_id(cell) == name and is_locked(cell) for cell in cells)


def _own_cell(submitted: SubmittedCell, number: int) -> NotebookNode:
    digest = hashlib.sha256(f"{number} {submitted.source}".encode("utf-8", "replace")).hexdigest()
    name = f"{OWN}{digest[:16]}"
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
        compare_cells(cell, submitted, findings)
    if submitted.source.strip() == cell.source.strip():
        return [restored]
    if is_locked(cell):
        return [*_merged_into(cell, submitted, place), restored]
    if is_setup(cell) or (submitted.kind != cell.cell_type and not name):
        return [restored, _own_cell(submitted, place)]
    restored.source = submitted.source
    if cell.cell_type != "code":
        restored.attachments = submitted.attachments
    return [restored]


def _merged_into(cell: NotebookNode, submitted: SubmittedCell, place: int) -> list[NotebookNode]:
    """Return what a student has added to a locked cell, such as the answer, by merging two cells."""
    if cell.cell_type != "code" or cell.source.strip() not in submitted.source:
        return []
    added = submitted.source.replace(cell.source.strip(), "").strip()
    return [_own_cell(replace(submitted, source=added, kind="code"), place)] if added else []
