"""Reads the cells of a submitted notebook file, which may hold anything."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from typing import Any

from nbformat import NotebookNode

from grading.notebook.release_version import compare_python, compare_version
from grading.notebook.salvage import salvage
from grading.notebook.text_encoding import UTF_8, decode_text
from grading.submission.findings import Finding

MAX_BYTES = 112 * 2**20  # nearly all of a large notebook are outputs, which are not read
MAX_CELLS, MAX_NAME = 2000, 100
# Each list or object takes up to 64 bytes, each other value about 50.
MAX_PARTS = 10**6
MAX_SOURCE, MAX_TEXT = 2**20, 8 * 2**20
KINDS = ("code", "markdown", "raw")
# Python refuses to parse an integer of many digits.
_DECODER = json.JSONDecoder(parse_int=lambda digits: (int if len(digits) < 19 else float)(digits))


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
    attachments: dict[str, dict[str, str]] = field(default_factory=dict)
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
        data, encoding = _parse(raw, findings)
        entries = data["cells"] if "cells" in data else _worksheets(data)
        cells = [_cell(entry) for entry in entries[:MAX_CELLS]]
        if sum(len(cell.source) for cell in cells if cell) > MAX_TEXT:
            raise ValueError(f"its cells have more than {MAX_TEXT} characters")
    except (ValueError, KeyError, TypeError, IndexError, AttributeError, RecursionError) as error:
        reason = f"{type(error).__name__}: {str(error)[:100]}"
        findings.append(Finding("damaged", f"The notebook cannot be read: {reason}."))
        return None
    if encoding not in UTF_8:
        findings.append(Finding("damaged", f"The notebook was saved in the encoding {encoding}."))
    if None in cells:
        findings.append(Finding("damaged", "Some cells have an unknown form; they were left out."))
    if len(entries) > MAX_CELLS:
        text = f"The notebook has {len(entries):,} cells; those after the first {MAX_CELLS:,} were left out."
        findings.append(Finding("damaged", text))
    _compare_frame(data, released, findings)
    return [cell for cell in cells if cell is not None]


def _worksheets(data: dict[str, Any]) -> list[object]:
    """Return the cells of a notebook of format 3."""
    return [cell for sheet in data["worksheets"] for cell in sheet["cells"]]


def _parse(raw: bytes, findings: list[Finding]) -> tuple[Any, str]:
    """Parse JSON whose values together take a bounded memory; return it, repaired, and its encoding.

    Raises:
        ValueError: It is no JSON, or too large.
    """
    parts, values = raw.count(b"[") + raw.count(b"{"), raw.count(b",")
    if len(raw) > MAX_BYTES or parts > MAX_PARTS or values > 5 * MAX_PARTS:
        raise ValueError(f"{len(raw)} bytes, or too many values")
    text, encoding = decode_text(raw)
    try:
        return _DECODER.decode(text), encoding
    except json.JSONDecodeError as problem:
        data, finding = salvage(text, _DECODER, problem)
    findings.append(finding)
    return data, encoding


def _cell(entry: object) -> SubmittedCell | None:
    if not isinstance(entry, dict) or entry.get("cell_type") not in (*KINDS, "heading"):
        return None
    source = entry.get("source", entry.get("input", ""))
    if isinstance(source, list):
        source = "".join(line for line in source if isinstance(line, str))
    if not isinstance(source, str) or len(source) > MAX_SOURCE:
        return None
    source = source.removeprefix("\ufeff")  # an editor's mark of UTF-8 is no Python
    source = source.encode("utf-8", "replace").decode()  # lone surrogates cannot be written to a file
    metadata = entry.get("metadata")
    metadata = metadata if isinstance(metadata, dict) else {}
    marks, attachments = metadata.get("nbgrader"), entry.get("attachments")
    kind = entry["cell_type"] if entry["cell_type"] in KINDS else "markdown"
    return SubmittedCell(
        kind,
        source,
        _short(entry.get("id", "")),
        {_short(key): _scalar(value) for key, value in marks.items()} if isinstance(marks, dict) else {},
        _pictures(attachments) if isinstance(attachments, dict) else {},
    )


def _pictures(attachments: dict[str, Any]) -> dict[str, dict[str, str]]:
    """Return a cell's pictures, `{name: {type: base64}}`, without anything of another form."""
    return {
        name: {kind: data for kind, data in picture.items() if isinstance(data, str)}
        for name, picture in attachments.items()
        if isinstance(picture, dict)
    }


def _scalar(value: object) -> str | float | bool | None:
    """Return a plain value that can be compared and shown."""
    return value if value is None or isinstance(value, bool | int | float) else _short(value)


def _short(value: object) -> str:
    """Return a text that can be shown and stored; lists and objects, which may be deep, become their type."""
    text = str(value) if isinstance(value, str | bool | int | float | None) else type(value).__name__
    return text[:MAX_NAME].encode("utf-8", "replace").decode()


def _compare_frame(data: dict[str, Any], released: NotebookNode, findings: list[Finding]) -> None:
    if data.get("nbformat") != released.nbformat:
        findings.append(Finding("damaged", f"The notebook's format is {_short(data.get('nbformat'))}."))
    metadata = data.get("metadata")
    if isinstance(metadata, dict):
        findings += [*compare_version(metadata), *compare_python(metadata)]
        if (language := _other_language(metadata)) is not None:
            advice = (
                "choose a Python kernel (Kernel, Change Kernel) and run all cells before you hand it in again"
            )
            what = f"The notebook's language is {_short(language)!r}, and it was graded as Python: {advice}."
            findings.append(Finding("damaged", what))


def _other_language(metadata: dict[str, Any]) -> object:
    """Return a language that the metadata state and that is not Python; None if there is none.

    Kernels of any name run Python; which one is a matter of the site.
    """
    for key, name in (("kernelspec", "language"), ("language_info", "name")):
        entry = metadata.get(key)
        language = entry.get(name) if isinstance(entry, dict) else None
        if language is not None and not (isinstance(language, str) and language.lower() == "python"):
            return language
    return None
