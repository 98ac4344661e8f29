"""Leave the demonstrations of a lesson out when JupyterLab's button Validate runs it.

Validate executes a whole notebook. Grading runs of a demonstration only what it imports and defines, so
Validate does the same: its verdict comes sooner, and it is the verdict of the grading. A release marks each
demonstration cell with a digest of its source; a cell that a student has changed runs as it is.
"""

import hashlib
from typing import Any

from course_utils.validation.definitions import extract_definitions

KEY = "demonstration"


def mark_demonstration(cell: Any) -> None:  # noqa: ANN401 - a cell of nbformat, which lessons do not import
    """Write the digest of a demonstration's source into the metadata of its cell.

    Args:
        cell: Code cell of a notebook, changed in place.
    """
    cell.metadata[KEY] = _digest(cell.source)


def keep_definitions(cell: Any, cell_index: int) -> None:  # noqa: ANN401 - what nbclient calls
    """Replace an unchanged demonstration by its imports and definitions; nbclient's hook `on_cell_start`.

    Args:
        cell: Cell of the notebook that nbclient is about to execute, changed in place.
        cell_index: Position of the cell.
    """
    if cell.cell_type == "code" and cell.metadata.get(KEY) == _digest(cell.source):
        cell.source = extract_definitions(cell.source)


def _digest(source: str) -> str:
    return hashlib.sha256(source.strip().encode(errors="surrogatepass")).hexdigest()[:16]
