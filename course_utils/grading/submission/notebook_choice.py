"""Finds the lesson's notebook among the files of a submission."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import PurePosixPath

SUFFIX = ".ipynb"


def choose_notebook(files: Mapping[str, bytes], expected: str) -> str | None:
    """Return the name of the notebook that a student has worked in.

    It is the one of the right name, unless that file is empty or cut off and there is a whole one. Otherwise
    it is the one with the most cells of the lesson; an `Untitled.ipynb` beside it has none.

    Args:
        files: Contents by relative name.
        expected: The notebook's right name.

    Returns:
        A name among `files`; None where no notebook is there.
    """
    names = [name for name in files if name.endswith(SUFFIX)]
    whole = [name for name in names if _is_whole(files[name])]
    if expected in whole or (expected in names and not whole):
        return expected
    stem = expected.removesuffix(SUFFIX)

    def rank(name: str) -> tuple[int, bool, int, str]:
        return _lesson_cells(files[name]), stem in PurePosixPath(name).name, -name.count("/"), name

    return max(whole or names, key=rank, default=None)


def _is_whole(data: bytes) -> bool:
    """Say whether a file ends as a notebook does; in UTF-16 every other byte is zero."""
    return data.replace(b"\0", b"").rstrip().endswith(b"}")


def _lesson_cells(data: bytes) -> int:
    return data.replace(b"\0", b"").count(b'"grade_id"')
