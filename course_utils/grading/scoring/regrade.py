"""Whose marks would change, and why, before anything is written."""

from __future__ import annotations

from typing import Any

from course_utils.grading.scoring.report import table


def is_regrade(old: dict[str, Any] | None, submission: str) -> bool:
    """Says whether a result of this very submission exists already, with marks."""
    if old is None or old["status"] == "grader fault":
        return False
    return old["provenance"].get("submission") == submission


def changes(old: dict[str, Any], new: dict[str, Any]) -> list[list[str]]:
    """One row for each exercise whose points change."""
    rows = []
    for name in sorted(old["exercises"].keys() | new["exercises"].keys()):
        before, after = old["exercises"].get(name), new["exercises"].get(name)
        if _points(before) != _points(after):
            row = [new["lesson"], new["student"], name, _points(before), _points(after)]
            rows.append([*row, _why(old, new), after["message"] if after else "the exercise is gone"])
    return rows


def preview(pairs: list[tuple[dict[str, Any], dict[str, Any]]]) -> str:
    """A table of all changes of points."""
    rows = [row for old, new in pairs for row in changes(old, new)]
    heading = ["lesson", "student", "exercise", "before", "after", "changed since", "verdict now"]
    return table([heading, *rows]) if rows else "No mark changes."


def _points(exercise: dict[str, Any] | None) -> str:
    return "-" if exercise is None else f"{exercise['points']:g}"


def _why(old: dict[str, Any], new: dict[str, Any]) -> str:
    before, after = old["provenance"], new["provenance"]
    changed = [key for key in ("lesson", "checks", "environment") if before.get(key) != after.get(key)]
    return ", ".join(changed) or "new inputs"
