"""Puts a submission back into the form of the released notebook, and says what was not as released.

The skeleton always comes from the lesson: its order, metadata, points and locked cells. From the submission
come the answers, the student's own cells and notes. So tampering is undone by construction.
"""

from __future__ import annotations

import hashlib
import json
import re
from dataclasses import dataclass, field
from typing import Any

import nbformat
from nbformat import NotebookNode
from nbformat.v4 import new_code_cell, new_markdown_cell
from nbgrader.utils import is_grade, is_locked, is_solution

from course_utils.grading.submission.cell_selection import is_setup

MAX_BYTES = 64 * 2**20
MAX_CELLS = 2000
KINDS = ("code", "markdown", "raw")
LOST = "# This cell was missing in the submission."


@dataclass(frozen=True)
class Finding:
    """Something that was not as released.

    Attributes:
        kind: `damaged` (an accident may do it) or `tampered` (no accident does).
        what: One sentence for the teacher.
    """

    kind: str
    what: str


@dataclass
class Part:
    """A cell of a submission, reduced to what may be kept of it."""

    kind: str
    source: str
    id: str
    marks: dict[str, Any]
    tags: list[str]
    partner: int | None = None


@dataclass
class Restored:
    """A notebook in the released form, and what had to be done for it."""

    notebook: NotebookNode
    findings: list[Finding] = field(default_factory=list)
    readable: bool = True


def restore_notebook(raw: bytes | None, released: NotebookNode) -> Restored:
    """Makes a sound notebook of whatever was submitted.

    Args:
        raw: The submitted file; None where there is none.
        released: The lesson as students got it.
    """
    findings: list[Finding] = []
    parts = _parts(raw, released, findings)
    readable = parts is not None
    # Where nothing can be read, one finding says so; each cell is missing then.
    details = findings if readable else []
    parts = parts or []
    _pair(parts, released.cells, details)
    notebook = nbformat.from_dict({**released, "cells": _assemble(parts, released.cells, details)})
    return Restored(notebook, findings, readable)


def _parts(raw: bytes | None, released: NotebookNode, findings: list[Finding]) -> list[Part] | None:
    damaged = findings.append
    if not raw:
        damaged(Finding("damaged", "The notebook is missing."))
        return None
    try:
        if len(raw) > MAX_BYTES:
            raise ValueError(f"{len(raw)} bytes")
        data = json.loads(raw.decode("utf-8-sig"))
        cells = data["cells"] if "cells" in data else data["worksheets"][0]["cells"]
        parts = [_part(cell) for cell in cells[:MAX_CELLS]]
    except (ValueError, KeyError, TypeError, IndexError, AttributeError, RecursionError) as error:
        damaged(
            Finding("damaged", f"The notebook cannot be read: {type(error).__name__}: {str(error)[:100]}.")
        )
        return None
    _note_frame(data, released, cells, parts, damaged)
    return [part for part in parts if part is not None]


def _note_frame(data: dict, released: NotebookNode, cells: list, parts: list, damaged: Any) -> None:  # noqa: ANN401
    if None in parts or len(cells) > MAX_CELLS:
        damaged(Finding("damaged", "Some cells are of no known form; they were left out."))
    if data.get("nbformat") != released.nbformat:
        damaged(Finding("damaged", f"The notebook's format is {data.get('nbformat')!r}."))
    metadata = data.get("metadata")
    kernel = metadata.get("kernelspec") if isinstance(metadata, dict) else None
    name = kernel.get("name") if isinstance(kernel, dict) else None
    expected = released.metadata.get("kernelspec", {}).get("name")
    if name != expected:
        damaged(Finding("damaged", f"The kernel is {str(name)[:40]!r} instead of {expected!r}."))


def _part(cell: object) -> Part | None:
    if not isinstance(cell, dict) or cell.get("cell_type") not in (*KINDS, "heading"):
        return None
    source = cell.get("source", cell.get("input", ""))
    if isinstance(source, list):
        source = "".join(line for line in source if isinstance(line, str))
    if not isinstance(source, str):
        return None
    source = source.encode("utf-8", "replace").decode()  # half characters fit into no file
    metadata = cell.get("metadata")
    metadata = metadata if isinstance(metadata, dict) else {}
    marks, tags = metadata.get("nbgrader"), metadata.get("tags", [])
    kind = cell["cell_type"] if cell["cell_type"] in KINDS else "markdown"
    return Part(
        kind,
        source,
        str(cell.get("id", "")),
        marks if isinstance(marks, dict) else {},
        [str(tag) for tag in tags] if isinstance(tags, list) else [],
    )


def grade_id(cell: NotebookNode) -> str:
    """The name that nbgrader knows a released cell by; empty for other cells."""
    return str(cell.metadata.get("nbgrader", {}).get("grade_id", ""))


def _pair(parts: list[Part], cells: list[NotebookNode], findings: list[Finding]) -> None:
    """Finds for each released cell the part of the submission that stands for it."""
    matchers = (
        lambda part, cell: bool(grade_id(cell)) and part.marks.get("grade_id") == grade_id(cell),
        lambda part, cell: bool(part.id) and part.id == cell.get("id"),
        lambda part, cell: not is_solution(cell) and part.source.strip() == cell.source.strip(),
    )
    found: dict[int, Part] = {}
    for matches in matchers:
        for place, cell in enumerate(cells):
            # Backwards: of several copies nbgrader keeps the last.
            same = [part for part in reversed(parts) if part.partner is None and matches(part, cell)]
            if place not in found and same:
                found[place], same[0].partner = same[0], place
    names = {grade_id(cell) for cell in cells} - {""}
    for part in parts:
        if part.partner is None and part.marks.get("grade_id"):
            name = str(part.marks["grade_id"])[:60]
            kind, what = (
                ("damaged", "is there twice") if name in names else ("tampered", "is no cell of this lesson")
            )
            findings.append(Finding(kind, f"The cell {name!r} {what}."))
    order = [part.partner for part in parts if part.partner is not None and grade_id(cells[part.partner])]
    if order != sorted(order):
        findings.append(Finding("damaged", "The cells are in another order."))


def _assemble(parts: list[Part], cells: list[NotebookNode], findings: list[Finding]) -> list[NotebookNode]:
    own: dict[int, list[NotebookNode]] = {}
    partners: dict[int, Part] = {}
    place = -1
    for number, part in enumerate(parts):
        if part.partner is not None:
            place = part.partner
            partners[place] = part
        elif part.source.strip() and not _locked_copy(part, cells):
            own.setdefault(place, []).append(_own_cell(part, number))
    result = own.get(-1, [])
    for place, cell in enumerate(cells):
        result += _restored(cell, partners.get(place), findings, place) + own.get(place, [])
    return result


def _locked_copy(part: Part, cells: list[NotebookNode]) -> bool:
    name = part.marks.get("grade_id")
    return bool(name) and any(grade_id(cell) == name and is_locked(cell) for cell in cells)


def _own_cell(part: Part, number: int) -> NotebookNode:
    new = new_code_cell if part.kind == "code" else new_markdown_cell
    digest = hashlib.sha256(f"{number} {part.source}".encode("utf-8", "replace")).hexdigest()
    return new(source=_harmless(part.source, part.kind), id=f"own-{digest[:16]}")


def _harmless(source: str, kind: str) -> str:
    """Takes HTML and links of formulas out of a text that a teacher's browser will show."""
    if kind == "code":
        return source
    return re.sub(r"<(?=[A-Za-z/!?])", "&lt;", source).replace("\\href", "\\text")


def _restored(
    cell: NotebookNode, part: Part | None, findings: list[Finding], place: int
) -> list[NotebookNode]:
    restored = nbformat.from_dict(json.loads(json.dumps(cell)))
    if restored.cell_type == "code":
        restored.outputs, restored.execution_count = [], None
    name = grade_id(cell)
    if part is None:
        if name:
            findings.append(Finding("damaged", f"The cell {name!r} was deleted or lost its metadata."))
        if is_solution(cell):
            restored.source = LOST if cell.cell_type == "code" else ""
        return [restored]
    if name:
        _compare(cell, part, findings)
    if is_locked(cell):
        return [restored]
    if is_setup(cell) and part.source.strip() != cell.source.strip():
        return [restored, _own_cell(part, place)]
    if part.kind == cell.cell_type or name:
        changed = part.source.strip() != cell.source.strip()
        restored.source = _harmless(part.source, cell.cell_type) if changed else cell.source
        return [restored]
    return [_own_cell(part, place)]


def _compare(cell: NotebookNode, part: Part, findings: list[Finding]) -> None:
    name = grade_id(cell)
    if part.marks.get("grade_id") != name:
        findings.append(Finding("damaged", f"The cell {name!r} was renamed or lost its metadata."))
        return
    if part.kind != cell.cell_type:
        findings.append(Finding("damaged", f"The cell {name!r} was {part.kind} instead of {cell.cell_type}."))
    if is_locked(cell) and part.source.strip() != cell.source.strip():
        findings.append(Finding("tampered", f"The locked cell {name!r} was changed."))
    for key in ("grade", "solution", "locked", "task", "points"):
        released = cell.metadata.nbgrader.get(key)
        if key in part.marks and released is not None and part.marks[key] != released:
            findings.append(
                Finding("tampered", f"{key!r} of the cell {name!r} was {str(part.marks[key])[:20]}.")
            )
    if set(part.tags) != set(cell.metadata.get("tags", [])):
        findings.append(
            Finding("tampered", f"The tags of the cell {name!r} were {str(sorted(part.tags))[:80]}.")
        )


def has_answers(cell: NotebookNode) -> bool:
    """Says whether a released cell takes or judges a student's work."""
    return bool(is_grade(cell)) or bool(is_solution(cell))
