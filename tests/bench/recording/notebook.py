"""Cells of lessons that show a record."""

import json
from pathlib import Path

SOLUTIONS = Path(__file__).parents[3] / "solutions"


def lesson_path(lesson: str) -> Path:
    """Return the source of a lesson."""
    return SOLUTIONS / lesson / f"{lesson}.ipynb"


def read_cell(lesson: str, cell_id: str) -> str:
    """Return the text of a cell."""
    return "".join(_cell(json.loads(lesson_path(lesson).read_text()), cell_id)["source"])


def write_cell(lesson: str, cell_id: str, text: str) -> None:
    """Replace the text of a cell; the rest of the file stays as it is."""
    notebook = json.loads(lesson_path(lesson).read_text())
    _cell(notebook, cell_id)["source"] = text.splitlines(keepends=True)
    lesson_path(lesson).write_text(json.dumps(notebook, indent=1, ensure_ascii=False) + "\n")


def _cell(notebook: dict, cell_id: str) -> dict:
    [cell] = [cell for cell in notebook["cells"] if cell["id"] == cell_id]
    return cell
