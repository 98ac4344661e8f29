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
