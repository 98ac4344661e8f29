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
    text = given_in(VERSIONS.read_text(encoding="utf-8"))
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
    return _block(VERSIONS.read_text(encoding="utf-8"), lesson, "diff")


def given_in(page: str) -> str:
    """Return the script as it is given in the text of a `versions.md`, which may be an older one.

    Raises:
        ValueError: The text does not hold it.
    """
    return _block(page, "train.py", "python")


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


def _block(page: str, section: str, language: str) -> str:
    pattern = rf"^## {re.escape(section)}\b.*?^```{language}\n(.*?)^```$"
    found = re.search(pattern, page, re.DOTALL | re.MULTILINE)
    if not found:
        raise ValueError(f"the page of versions has no section {section} in {language}")
    return found[1]
