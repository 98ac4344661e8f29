"""Says where an answer used a value that only a demonstration cell computes: grading does not run those."""

from __future__ import annotations

import re
from collections.abc import Iterable

from course_utils.validation.definitions import defined_names, extract_definitions
from grading.course.lesson import Lesson
from grading.course.result import CellOutput, Exercise
from grading.notebook.cell_selection import cells_to_run
from grading.submission.findings import Finding

_MISSING = re.compile(r"name '(\w+)' is not defined")


def find_missing_names(
    lesson: Lesson, exercises: Iterable[Exercise], cells: Iterable[CellOutput]
) -> list[Finding]:
    """Find names that an answer looked for in vain, although its notebook had them.

    Args:
        lesson: The lesson.
        exercises: The outcomes of a submission; where all are right, nothing is reported.
        cells: The outputs of the student's cells.
    """
    messages = [exercise["message"] for exercise in exercises if exercise["status"] != "right"]
    if not messages:
        return []
    messages += [cell["error"] for cell in cells]
    missing = {name for message in messages for name in _MISSING.findall(message)}
    what = "is computed by a demonstration, which does not run when grading; an answer looked for it in vain"
    return [Finding("damaged", f"{name!r} {what}.") for name in sorted(missing & _computed(lesson))]


def _computed(lesson: Lesson) -> set[str]:
    """Return the names that demonstrations assign, without those that grading defines."""
    runs = cells_to_run(lesson.source, lesson.source)
    cells = [cell for cell, runs_it in zip(lesson.source.cells, runs, strict=True) if not runs_it]
    sources = [cell.source for cell in cells if cell.cell_type == "code"]
    assigned = {name for source in sources for name in defined_names(source)}
    return assigned - {name for source in sources for name in defined_names(extract_definitions(source))}
