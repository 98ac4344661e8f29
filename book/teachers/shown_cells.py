"""Cells of a lesson with their saved outputs, as parts of a page."""

import html
from collections.abc import Iterator

from nbformat import NotebookNode

from book.lesson_pages import alternative_text
from book.teachers.lesson_parts import heading_above
from book.teachers.markup import fenced, folded


def shown_cell(notebook: NotebookNode, cell_id: str, say: str) -> str:
    """Return a cell of a solved lesson: its section as a heading, its folded code, what it printed and drew.

    Args:
        notebook: The solved lesson.
        cell_id: The id of the cell.
        say: What stands above it.

    Raises:
        ValueError: The lesson has no such cell.
    """
    places = [place for place, cell in enumerate(notebook.cells) if cell.id == cell_id]
    if not places:
        raise ValueError(f"the lesson has no cell {cell_id}")
    cell, below = notebook.cells[places[0]], notebook.cells[places[0] + 1 :]
    above = "\n\n".join(one.source for one in notebook.cells[: places[0]] if one.cell_type == "markdown")
    text = next((one.source for one in below if one.cell_type == "markdown"), "")
    code = folded("The cell", fenced(cell.source, "ipython3"))
    return "\n\n".join([f"### In {heading_above(above)}", say, code, *_outputs(cell, text)])


def _outputs(cell: NotebookNode, text_below: str) -> Iterator[str]:
    printed = "".join(output.text for output in cell.outputs if output.output_type == "stream")
    if printed.strip():
        yield f"It prints, for example:\n\n{fenced(printed, 'text')}"
    for output in cell.outputs:
        if picture := output.get("data", {}).get("image/png"):
            alternative = html.escape(alternative_text(text_below))
            yield f'<p><img src="data:image/png;base64,{"".join(picture.split())}" alt="{alternative}"></p>'
