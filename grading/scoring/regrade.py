"""Which marks a regrade would change, and why, before anything is written."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeGuard

from grading.course.result import GRADER_FAULT, Exercise, Result, Summary
from grading.scoring.report import table


def is_regrade(old: Result | None, new: Summary) -> TypeGuard[Result]:
    """Say whether `old` is a mark of the very submission that `new` grades."""
    if old is None or old["status"] == GRADER_FAULT:
        return False
    return old["provenance"].get("submission") == new["provenance"]["submission"]


def changes(old: Summary, new: Summary) -> list[list[str]]:
    """Return one table row for each exercise whose points change."""
    rows = []
    for name in sorted(old["exercises"].keys() | new["exercises"].keys()):
        before, after = old["exercises"].get(name), new["exercises"].get(name)
        if _points(before) != _points(after):
            row = [new["lesson"], new["student"], name, _points(before), _points(after)]
            rows.append([*row, _reason(old, new), after["message"] if after else "the exercise was removed"])
    return rows


def preview(pairs: Sequence[tuple[Summary, Summary]]) -> str:
    """Return a table of all changes of points."""
    rows = [row for old, new in pairs for row in changes(old, new)]
    heading = ["lesson", "student", "exercise", "before", "after", "changed since", "verdict now"]
    return table([heading, *rows]) if rows else "No mark changes."


def _points(exercise: Exercise | None) -> str:
    return "-" if exercise is None else f"{exercise['points']:g}"


def _reason(old: Summary, new: Summary) -> str:
    before, after = old["provenance"], new["provenance"]
    changed = [key for key in ("lesson", "checks", "environment") if before.get(key) != after.get(key)]
    return ", ".join(changed) or "new inputs"
