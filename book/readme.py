"""Parts of the README, for pages that say the same."""

import re
from pathlib import Path


def introduction(course: Path) -> str:
    """Return what the README says before its first heading of the second level, without title and lessons.

    Links to lessons and figures lead to the pages and files of the book.
    """
    text = (course / "README.md").read_text().partition("\n## ")[0]
    text = text.partition("\n")[2].partition("| lesson |")[0]
    return re.sub(r"\]\(tests/bench/([^)]+)\)", r"](benchmarks/\1)", text).strip()


def run_it_yourself(course: Path) -> str:
    """Return what a student's README says about starting, working and updating."""
    text = (course / "course_utils" / "grading" / "site" / "student_readme.md").read_text()
    return "## Start\n" + text.partition("\n## Start\n")[2]


def teacher(course: Path) -> str:
    """Return what the README says to teachers: how to install the course, collect, grade and return.

    Links to files of the repository become their texts: a book is read without it.
    """
    return re.sub(r"^###", "##", _section(course, "Teacher"), flags=re.MULTILINE)


def troubleshooting(course: Path) -> str:
    """Return the README's table of what one sees and what to do."""
    return _section(course, "Troubleshooting")


def _section(course: Path, title: str) -> str:
    text = (course / "README.md").read_text().partition(f"\n## {title}\n")[2].partition("\n## ")[0]
    if not text:
        raise ValueError(f"the README has no section {title}")
    return re.sub(r"\[([^\]]+)\]\((?!https?://)[^)]+\)", r"\1", text).strip()
