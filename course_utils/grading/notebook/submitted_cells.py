"""Reads the cells of a submitted notebook file, which may hold anything."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from typing import Any

from nbformat import NotebookNode

from course_utils.grading.notebook.text_encoding import UTF_8, decode_text
from course_utils.grading.submission import Finding

MAX_BYTES = 64 * 2**20
MAX_CELLS = 2000
KINDS = ("code", "markdown", "raw")


@dataclass
class SubmittedCell:
    """A cell of a submission, reduced to what may be kept of it.

    Attributes:
        kind: One of `KINDS`.
        source: Its text.
        id: Its id; empty without one.
        marks: The metadata of nbgrader.
        attachments: Its pictures, by name.
        partner: Position of the released cell that it replaces; None for a cell of the student's own.
    """

    kind: str
    source: str
    id: str
    marks: dict[str, Any]
    attachments: dict[str, Any] = field(default_factory=dict)
    partner: int | None = None


def read_cells(
    raw: bytes | None, released: NotebookNode, findings: list[Finding]
) -> list[SubmittedCell] | None:
    """Read the cells of a notebook file.

    Args:
        raw: The submitted file; None where there is none.
        released: The lesson as it was released.
        findings: Gets what is damaged.

    Returns:
        The readable cells; None where the file cannot be read.
    """
    if not raw:
        findings.append(Finding("damaged", "The notebook is missing."))
        return None
    try:
        if len(raw) > MAX_BYTES:
            raise ValueError(f"{len(raw)} bytes")
        text, encoding = decode_text(raw)
        data = json.loads(text)
        entries = data["cells"] if "cells" in data else _worksheets(data)
        cells = [_cell(entry) for entry in entries[:MAX_CELLS]]
        complete = None not in cells and len(entries) <= MAX_CELLS
    except (ValueError, KeyError, TypeError, IndexError, AttributeError, RecursionError) as error:
        reason = f"{type(error).__name__}: {str(error)[:100]}"
        findings.append(Finding("damaged", f"The notebook cannot be read: {reason}."))
        return None
    if encoding not in UTF_8:
        findings.append(Finding("damaged", f"The notebook was saved in the encoding {encoding}."))
    if not complete:
        findings.append(Finding("damaged", "Some cells have an unknown form; they were left out."))
    _compare_frame(data, released, findings)
    return [cell for cell in cells if cell is not None]


def _worksheets(data: dict[str, Any]) -> list[object]:
    """Return the cells of a notebook of format 3."""
    return [cell for sheet in data["worksheets"] for cell in sheet["cells"]]


def _cell(entry: object) -> SubmittedCell | None:
    if not isinstance(entry, dict) or entry.get("cell_type") not in (*KINDS, "heading"):
        return None
    source = entry.get("source", entry.get("input", ""))
    if isinstance(source, list):
        source = "".join(line for line in source if isinstance(line, str))
    if not isinstance(source, str):
        return None
    source = source.encode("utf-8", "replace").decode()  # lone surrogates cannot be written to a file
    metadata = entry.get("metadata")
    metadata = metadata if isinstance(metadata, dict) else {}
    marks, attachments = metadata.get("nbgrader"), entry.get("attachments")
    kind = entry["cell_type"] if entry["cell_type"] in KINDS else "markdown"
    return SubmittedCell(
        kind,
        source,
        str(entry.get("id", "")),
        marks if isinstance(marks, dict) else {},
        attachments if isinstance(attachments, dict) else {},
    )


def _compare_frame(data: dict[str, Any], released: NotebookNode, findings: list[Finding]) -> None:
    if data.get("nbformat") != released.nbformat:
        findings.append(Finding("damaged", f"The notebook's format is {str(data.get('nbformat'))[:20]!r}."))
    metadata = data.get("metadata")
    kernel = metadata.get("kernelspec") if isinstance(metadata, dict) else None
    language = kernel.get("language", "python") if isinstance(kernel, dict) else "python"
    if language != "python":  # kernels of any name run Python; which one is a matter of the site
        findings.append(Finding("damaged", f"The kernel's language is {str(language)[:40]!r}."))
