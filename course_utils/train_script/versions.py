"""The script as it is given, and as it is after each lesson."""

import os
import re
from pathlib import Path

from course_utils.system import create_atomically
from course_utils.train_script.diff import changed

VERSIONS = Path(__file__).with_name("versions.md")
LESSONS = ("00", "01", "02", "03", "04", "05")


def source(after: str | None = None) -> str:
    """Return the script as it is given, or with the changes of the lessons up to one of `LESSONS`."""
    text = _block("train.py", "python")
    for lesson in LESSONS if after is not None else ():
        if lesson <= str(after):
            text = changed(text, change(lesson), f"{VERSIONS.name}, {lesson}")
    return text


def change(lesson: str) -> str:
    """Return what a lesson changes in the script, as a diff.

    Raises:
        ValueError: There is no such lesson, or it changes nothing.
    """
    if lesson not in LESSONS:
        raise ValueError(f"lesson {lesson!r} changes nothing in train.py: choose one of {', '.join(LESSONS)}")
    return _block(lesson, "diff")


def write(folder: str | os.PathLike[str], after: str | None = None) -> Path:
    """Write the script into a folder, unless it is there already; return its path.

    Args:
        folder: Made if it is missing.
        after: The lesson up to which it is changed; then its name is ``train_after_<lesson>.py``.

    Raises:
        ValueError: There is no such lesson.
    """
    if after is not None:
        change(after)
    path = Path(folder) / ("train.py" if after is None else f"train_after_{after}.py")
    path.parent.mkdir(parents=True, exist_ok=True)
    if not path.exists():
        create_atomically(path, [source(after).encode()])
    return path


def _block(section: str, language: str) -> str:
    page = VERSIONS.read_text(encoding="utf-8")
    pattern = rf"^## {re.escape(section)}\b.*?^```{language}\n(.*?)^```$"
    found = re.search(pattern, page, re.DOTALL | re.MULTILINE)
    assert found, section
    return found[1]
