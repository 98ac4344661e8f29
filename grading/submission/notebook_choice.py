"""Finds the lesson's notebook among the files of a submission."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from pathlib import PurePosixPath

SUFFIX = ".ipynb"
STUB = "# YOUR CODE HERE\n"  # in each function of an answer that nobody has written
_GRADE_ID = re.compile(rb'"grade_id"\s*:\s*"([^"]{1,100})"')


def choose_notebook(files: Mapping[str, bytes], expected: str, stubs: int = 0) -> str | None:
    """Return the name of the notebook that a student has worked in.

    It is the one of the right name, unless that file is empty or cut off and there is a whole one, or nobody
    has worked in it but in a copy. Otherwise it is the one with the most cells of the lesson; an
    `Untitled.ipynb` beside it has none. Without any `.ipynb`, it is a notebook of another ending, such as
    `.ipynb.txt`, which browsers add.

    Args:
        files: Contents by relative name.
        expected: The notebook's right name.
        stubs: How often `STUB` occurs in the released notebook; 0 where that is not known.

    Returns:
        A name among `files`; None where no notebook is there.
    """
    names = [name for name in files if name.endswith(SUFFIX)]
    names = names or [name for name, data in files.items() if _is_misnamed(name, data)]
    whole = [name for name in names if is_whole(files[name])]
    if expected in whole:
        return _filled_in(files, whole, expected, stubs)
    if expected in names and not whole:
        return expected
    stem = expected.removesuffix(SUFFIX)

    def rank(name: str) -> tuple[int, bool, int, str]:
        return _lesson_cells(files[name]), stem in PurePosixPath(name).name, -name.count("/"), name

    return max(whole or names, key=rank, default=None)


def _is_misnamed(name: str, data: bytes) -> bool:
    return SUFFIX in name.casefold() or (_lesson_cells(data) > 0 and is_whole(data))


def _filled_in(files: Mapping[str, bytes], whole: list[str], expected: str, stubs: int) -> str:
    """Return the copy with the most answers where the expected notebook is as it was released."""
    if not 0 < stubs <= _stubs(files[expected]):
        return expected
    lesson = _grade_ids(files[expected])
    copies = [name for name in whole if lesson and _grade_ids(files[name]) == lesson]
    return min(copies, key=lambda name: (_stubs(files[name]), name != expected, name), default=expected)


def is_whole(data: bytes) -> bool:
    """Say whether a file ends as a notebook does."""
    return _text(data).rstrip().endswith(b"}")


def _lesson_cells(data: bytes) -> int:
    return _text(data).count(b'"grade_id"')


def _grade_ids(data: bytes) -> set[bytes]:
    return set(_GRADE_ID.findall(_text(data)))


def _stubs(data: bytes) -> int:
    return _text(data).count(json.dumps(STUB)[1:-1].encode())


def _text(data: bytes) -> bytes:
    return data.replace(b"\0", b"")  # in UTF-16 every other byte is zero
