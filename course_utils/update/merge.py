"""Merge three versions of a lesson by its cells, so that a new version keeps a student's answers.

git merges line by line, which breaks the JSON of a notebook as soon as somebody has run it.
"""

import copy
import json
from collections.abc import Iterable
from itertools import chain, count
from pathlib import Path
from typing import Any

# Parsed JSON: a notebook, and one of its cells.
Notebook = dict[str, Any]
Cell = dict[str, Any]


class NotANotebookError(ValueError):
    """A file does not hold a notebook."""


def read_notebook(path: Path) -> Notebook:
    """Read a notebook as plain JSON.

    Raises:
        NotANotebookError: The file does not hold a notebook of format 4.
    """
    try:
        notebook = json.loads(path.read_text(encoding="utf-8"))
        if not all(isinstance(text_of(cell), str) for cell in notebook["cells"]):
            raise TypeError
    except (ValueError, LookupError, TypeError, AttributeError, RecursionError):
        raise NotANotebookError(f"{path} does not hold a notebook") from None
    return dict(notebook)


def merge_notebooks(base: Notebook, mine: Notebook, theirs: Notebook) -> Notebook:
    """Return the new version of a lesson with a student's work in it.

    What the student has not changed comes from the new version. Answers that the student wrote stay. Where
    both changed a cell, the new text stands in the lesson and the student's in a note below it; in answer
    cells it is the other way round. Cells that the student added stay behind the cell they followed.

    Args:
        base: The version that the student started from.
        mine: The student's notebook.
        theirs: The new version.
    """
    before, after = _by_key(base["cells"]), _by_key(theirs["cells"])
    yours = _with_ids_of(mine["cells"], base["cells"])
    merged: dict[str, list[Cell]] = {key: [cell] for key, cell in after.items()}
    order, seen = list(after), set()
    ids = {cell.get("id") for cell in theirs["cells"]}
    anchor = ""
    first: list[Cell] = []
    for cell in yours:
        key = _key(cell)
        if key in after and key not in seen:
            merged[key] = _merge_cell(before.get(key), cell, after[key])
            seen.add(key)
            anchor = key
        elif not (key in before and text_of(before[key]) == text_of(cell)):
            (merged[anchor] if anchor else first).append(_own(cell, ids))
    cells = [*first, *(cell for key in order for cell in merged[key])]
    return {**theirs, "cells": _with_unique_ids(cells)}


def text_of(cell: Cell) -> str:
    """Return the source of a cell, which a notebook stores as one text or as lines."""
    source = cell["source"]
    return source if isinstance(source, str) else "".join(source)


def _merge_cell(base: Cell | None, mine: Cell, theirs: Cell) -> list[Cell]:
    """Return what stands in the place of a cell that the student's notebook and the new version have."""
    if text_of(mine) == text_of(theirs):
        return [{**theirs, **_results(mine)}]
    if base is not None and text_of(mine) == text_of(base):
        return [theirs]
    kept = {**theirs, "source": mine["source"], **_results(mine)}
    if base is not None and text_of(base) == text_of(theirs):
        return [kept]
    if theirs.get("metadata", {}).get("nbgrader", {}).get("solution"):
        return [kept, _note("A newer version of the course begins this answer differently:", theirs)]
    return [theirs, _note("An update of the course changed the cell above. Yours was:", mine)]


def _results(cell: Cell) -> Cell:
    return {key: cell[key] for key in ("outputs", "execution_count") if key in cell}


def _note(sentence: str, cell: Cell) -> Cell:
    text = text_of(cell)
    fence = "```"
    while fence in text:
        fence += "`"
    body = f"{fence}python\n{text}\n{fence}" if cell["cell_type"] == "code" else text
    note = {"cell_type": "markdown", "id": f"{cell.get('id', 'note')}-note", "metadata": {}}
    return {**note, "source": f"{sentence}\n\n{body}"}


def _own(cell: Cell, ids: set[str | None]) -> Cell:
    """Return a cell as the student's own: no exercise of the new version, and with no id of its cells."""
    cell = copy.deepcopy(cell)
    if cell.get("id") in ids:
        del cell["id"]
    cell.get("metadata", {}).pop("nbgrader", None)
    return cell


def _key(cell: Cell) -> str:
    """Return what names a cell in all versions: nbgrader's name, or the notebook's."""
    grade_id = cell.get("metadata", {}).get("nbgrader", {}).get("grade_id")
    return f"exercise {grade_id}" if grade_id else f"cell {cell.get('id', '')}"


def _by_key(cells: Iterable[Cell]) -> dict[str, Cell]:
    found: dict[str, Cell] = {}
    for cell in cells:
        found.setdefault(_key(cell), cell)
    return found


def _with_ids_of(cells: list[Cell], base: list[Cell]) -> list[Cell]:
    """Return the cells with the ids that some tools drop, found by the text of the version before."""
    ids = {text_of(cell): cell["id"] for cell in reversed(base) if "id" in cell}
    return [
        {**cell, "id": ids[text_of(cell)]} if "id" not in cell and text_of(cell) in ids else cell
        for cell in cells
    ]


def _with_unique_ids(cells: list[Cell]) -> list[Cell]:
    """Return the cells with a new id where one is missing or stands twice, as in a copied cell."""
    taken: set[str] = set()
    result = []
    for cell in cells:
        name = str(cell.get("id", "own"))
        numbered = (f"{name[:50]}-{number}" for number in count(2))
        free = next(one for one in chain([name], numbered) if one not in taken)
        taken.add(free)
        result.append({**cell, "id": free})
    return result
