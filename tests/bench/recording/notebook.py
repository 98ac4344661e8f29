"""Cells of lessons that show a record."""

import json
from pathlib import Path

SOLUTIONS = Path(__file__).parents[3] / "solutions"


def lesson_path(lesson: str) -> Path:
    """Return the source of a lesson."""
    return SOLUTIONS / lesson / f"{lesson}.ipynb"


def read_cell(lesson: str, cell_id: str) -> str:
    """Return the text of a cell; KeyError if there is none."""
    return "".join(_cells(lesson)[cell_id]["source"])


def read_optional_cell(lesson: str, cell_id: str) -> str:
    """Return the text of a cell of a lesson's optional notebook; KeyError if there is none."""
    cells = json.loads((SOLUTIONS / "more" / f"{lesson}.ipynb").read_text())["cells"]
    return "".join({cell["id"]: cell for cell in cells}[cell_id]["source"])


def write_cell(lesson: str, cell_id: str, text: str, after: str = "") -> None:
    """Replace the text of a cell of Markdown; the rest of the file stays as it is.

    Args:
        lesson: The lesson's name.
        cell_id: The cell's id.
        text: Its new text.
        after: The id of the cell below which it is inserted if there is none.
    """
    cells = _cells(lesson)
    made = {"cell_type": "markdown", "id": cell_id, "metadata": {}}
    cell = cells.setdefault(cell_id, made)
    cell["source"] = text.splitlines(keepends=True)
    ordered = [one for one in cells.values() if one is not made]
    if cell is made:
        ordered.insert(list(cells).index(after) + 1, made)
    notebook = json.loads(lesson_path(lesson).read_text()) | {"cells": ordered}
    lesson_path(lesson).write_text(json.dumps(notebook, indent=1, ensure_ascii=False) + "\n")


def _cells(lesson: str) -> dict[str, dict]:
    return {cell["id"]: cell for cell in json.loads(lesson_path(lesson).read_text())["cells"]}
