"""Reads what is left of a notebook file that is no JSON: cut off, edited by hand, or with merge conflicts."""

from __future__ import annotations

import json
import re
from typing import Any

from grading.submission.findings import Finding

_CONFLICT = re.compile(
    r"^<{7}(?: [^\n]*)?\n(?P<first>.*?)(?:^\|{7}(?: [^\n]*)?\n.*?)?^={7}\n.*?^>{7}(?: [^\n]*)?(?:\n|\Z)",
    re.MULTILINE | re.DOTALL,
)
_CELL = re.compile(r'\{\s*"(?:attachments|cell_type|execution_count|id|metadata|source)"')
_FRAME = {"nbformat": 4}  # the rest of the file is not read
MAX_TRIES = 10_000


def salvage(text: str, decoder: json.JSONDecoder, problem: json.JSONDecodeError) -> tuple[Any, Finding]:
    """Return the notebook that can be read from a damaged text, and what was done.

    Of each merge conflict, the first version is kept. Where the text is no JSON without them either, each
    cell is read by itself.

    Args:
        text: The text of the file.
        decoder: Reads JSON.
        problem: Why the text is no JSON.

    Raises:
        JSONDecodeError: No cell of it can be read; `problem`.
    """
    one_version, conflicts = _CONFLICT.subn(r"\g<first>", text)
    where = f"line {problem.lineno}"
    if conflicts:
        try:
            what = f"The notebook has a merge conflict ({where}); of both versions, the first one was graded."
            return decoder.decode(one_version), Finding("damaged", what)
        except json.JSONDecodeError:
            pass
    cells = _read_cells(one_version, decoder)
    if not cells:
        raise problem
    what = f"The notebook is cut off or damaged ({where}); {len(cells)} cells of it could be read."
    return {**_FRAME, "cells": cells}, Finding("damaged", what)


def _read_cells(text: str, decoder: json.JSONDecoder) -> list[dict[str, Any]]:
    cells, start = [], 0
    for _ in range(MAX_TRIES):
        if (found := _CELL.search(text, start)) is None:
            break
        try:
            cell, start = decoder.raw_decode(text, found.start())
        except json.JSONDecodeError:
            start = found.end()
            continue
        if "cell_type" in cell:
            cells.append(cell)
    return cells
