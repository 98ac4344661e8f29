"""A lesson's notebook as JupyterLab has saved it, as far as the start page reads it."""

from pathlib import Path

import msgspec

Text = str | list[str]  # a notebook stores a text as one string or as lines


class Output(msgspec.Struct):
    """An output of a cell."""

    output_type: str = ""
    text: Text = ""
    ename: str = ""
    traceback: list[str] = []


class Marks(msgspec.Struct):
    """What nbgrader knows of a cell."""

    grade_id: str = ""
    grade: bool = False
    solution: bool = False


class Metadata(msgspec.Struct):
    """The metadata of a cell."""

    nbgrader: Marks | None = None


class Cell(msgspec.Struct):
    """A cell of a notebook."""

    source: Text = ""
    metadata: Metadata = msgspec.field(default_factory=Metadata)
    outputs: list[Output] = []
    execution_count: int | None = None


class SavedNotebook(msgspec.Struct):
    """A notebook of format 4."""

    cells: list[Cell]

    def marked(self, solution: bool) -> dict[str, Cell]:
        """Return the answer cells, or the cells that check them, by nbgrader's name; the first of copies."""
        found: dict[str, Cell] = {}
        for cell in self.cells:
            marks = cell.metadata.nbgrader
            if marks and (marks.solution if solution else marks.grade and not marks.solution):
                found.setdefault(marks.grade_id, cell)
        return found


def text_of(text: Text) -> str:
    """Return a text of a notebook as one string."""
    return text if isinstance(text, str) else "".join(text)


def read_saved(path: Path) -> SavedNotebook | None:
    """Read a notebook; None if the file cannot be read, or holds no notebook."""
    try:
        return msgspec.json.decode(path.read_bytes(), type=SavedNotebook)
    except (OSError, ValueError, RecursionError):
        return None
