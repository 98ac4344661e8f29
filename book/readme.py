"""Parts of the README and of the student's page, for pages that say the same."""

import re
from pathlib import Path

STUDENTS = "grading/site/student_readme.md"


def introduction(course: Path) -> str:
    """Return what the README says before its first heading of the second level, without title and lessons.

    Links to lessons and figures lead to the pages and files of the book.
    """
    text = (course / "README.md").read_text().partition("\n## ")[0]
    text = text.partition("\n")[2].partition("| lesson |")[0]
    return re.sub(r"\]\(tests/bench/([^)]+)\)", r"](benchmarks/\1)", text).strip()


def run_it_yourself(course: Path) -> str:
    """Return what the student's page says about starting, working, updating and failures."""
    return "## Start\n" + (course / STUDENTS).read_text().partition("\n## Start\n")[2]
