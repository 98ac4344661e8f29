"""The start page as a notebook, which stands beside the lessons and whose one cell shows how far one is.

`make lab` writes it anew each time, with the cell's output, so that it is up to date before a kernel runs. In
a clone of the course git ignores it. The students' repository holds one, for a Hub, where nobody calls make.
"""

import json
import platform
from pathlib import Path
from typing import Any

from course_utils.start_page.overview import CourseOverview, course_overview
from course_utils.system import write_atomically

INDEX = "index.ipynb"
INTRODUCTION = """# Feeding the GPU

A training loop is as fast as its slowest stage, and often that is not the network but loading the next batch.
In these lessons you follow a batch from files on a disk to the accelerator, and measure every step yourself.

Run the cell below (Shift+Enter) to see how far you are *now*. An exercise counts when its check has passed
and its notebook is saved (Ctrl+S, on macOS ⌘S)."""
CODE = """from course_utils.start_page import course_overview

course_overview()"""


def write_index(folder: Path, this_machine: bool = True) -> Path:
    """Write the start page into the folder that holds the lessons; a student's own cells in it stay.

    Args:
        folder: The folder that holds the lessons' folders.
        this_machine: Whether to say what this machine lacks.

    Returns:
        The notebook.

    Raises:
        OSError: The folder cannot be written to.
    """
    path = folder / INDEX
    cells = _cells(course_overview(folder, this_machine))
    ours = {cell["id"] for cell in cells}
    own = [cell for cell in _present_cells(path) if cell.get("id") not in ours]
    notebook = {"cells": [*cells, *own], "metadata": _metadata(), "nbformat": 4, "nbformat_minor": 5}
    text = f"{json.dumps(notebook, indent=1)}\n".encode()
    if not path.is_file() or path.read_bytes() != text:
        write_atomically(path, [text])
    return path


def _cells(overview: CourseOverview) -> list[dict[str, Any]]:
    data = {"text/markdown": overview._repr_markdown_(), "text/plain": repr(overview)}
    output = {"output_type": "execute_result", "execution_count": None, "data": data, "metadata": {}}
    code = {"cell_type": "code", "id": "progress", "metadata": {}, "source": CODE}
    return [
        {"cell_type": "markdown", "id": "introduction", "metadata": {}, "source": INTRODUCTION},
        {**code, "execution_count": None, "outputs": [output]},
    ]


def _present_cells(path: Path) -> list[dict[str, Any]]:
    """Return the cells of a page that was written before; none if it cannot be read."""
    try:
        return [cell for cell in json.loads(path.read_bytes())["cells"] if isinstance(cell, dict)]
    except (OSError, ValueError, LookupError, TypeError, RecursionError):
        return []


def _metadata() -> dict[str, Any]:
    # As JupyterLab writes it: otherwise it changes the notebook when it is opened.
    language = {
        "codemirror_mode": {"name": "ipython", "version": 3},
        "file_extension": ".py",
        "mimetype": "text/x-python",
        "name": "python",
        "nbconvert_exporter": "python",
        "pygments_lexer": "ipython3",
        "version": platform.python_version(),
    }
    kernel = {"display_name": "Python 3 (ipykernel)", "language": "python", "name": "python3"}
    return {"kernelspec": kernel, "language_info": language}
