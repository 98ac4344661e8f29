"""Says whose a submitted folder is: its name must be a student's id, and it must be nobody else's folder."""

from __future__ import annotations

import re
from pathlib import Path

MAX_ID = 100
_ID = re.compile(r"\w(?:[\w.@ -]*\w)?")


class RefusedSubmissionError(ValueError):
    """A folder that cannot be assigned to one student; the message says what to do. It gets no mark."""


def check_folder(folder: Path, student: str) -> None:
    """Check a submitted folder and its name before anything uses them.

    nbgrader takes an id for a pattern, pages and tables show it, and a link leads to another one's work.

    Args:
        folder: The folder of one lesson, in the folder of its student.
        student: The student's id, the name of that folder.

    Raises:
        RefusedSubmissionError: The id has other characters than letters, digits, `_`, `.`, `@`, `-` and
            spaces, or one of the two folders is a link.
    """
    if len(student) > MAX_ID or not _ID.fullmatch(student):
        raise RefusedSubmissionError(
            f"{student[:MAX_ID]!r} is not a student's id: rename the folder. An id has letters, digits, '_', "
            "'.', '@', '-' and spaces."
        )
    for path in (folder.parent, folder):
        if path.is_symlink():
            raise RefusedSubmissionError(
                f"{path} is a link to {str(path.readlink())[:200]!r}, which may be another student's work. "
                "Replace it by a folder of this student's own."
            )
