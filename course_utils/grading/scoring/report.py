"""What a teacher reads after grading: a table, histograms, the frequent mistakes, and what was odd."""

from __future__ import annotations

from collections import Counter
from typing import Any

from course_utils.grading.scoring.scorer import STATUSES

BAR, WIDEST = 40, 120


def summary(results: list[dict[str, Any]]) -> str:
    """A table of lessons by status."""
    lessons = sorted({result["lesson"] for result in results})
    counts = Counter((result["lesson"], result["status"]) for result in results)
    shown = [status for status in reversed(STATUSES) if any(counts[lesson, status] for lesson in lessons)]
    rows = [["lesson", *shown, "all", "mean points"]]
    for lesson in lessons:
        of_lesson = [result for result in results if result["lesson"] == lesson]
        mean = sum(result["points"] for result in of_lesson) / len(of_lesson)
        points = f"{mean:.1f} of {of_lesson[0]['max_points']:g}"
        rows.append([lesson, *(str(counts[lesson, s]) for s in shown), str(len(of_lesson)), points])
    return table(rows)


def table(rows: list[list[str]]) -> str:
    """Lines up the columns of some rows; the first row is the heading."""
    # Names and messages may come from a student: nothing that a terminal would obey.
    rows = [[printable(text)[:WIDEST] for text in row] for row in rows]
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    lines = [
        "  ".join(text.ljust(width) for text, width in zip(row, widths, strict=True)).rstrip() for row in rows
    ]
    return "\n".join([lines[0], "  ".join("-" * width for width in widths), *lines[1:]])


def printable(text: str) -> str:
    """Replaces what a terminal would obey."""
    return "".join(character if character.isprintable() else "?" for character in text)


def histogram(results: list[dict[str, Any]]) -> str:
    """One block for each exercise: how many submissions got which points, and how the others ended."""
    blocks = []
    for lesson, exercise in sorted({(r["lesson"], name) for r in results for name in r["exercises"]}):
        found = [
            r["exercises"][exercise] for r in results if r["lesson"] == lesson and exercise in r["exercises"]
        ]
        counts = Counter(
            f"{one['points']:g} of {one['max_points']:g} points, {one['status']}" for one in found
        )
        lines = [f"{lesson}: {exercise}"]
        for label, count in sorted(counts.items(), reverse=True):
            lines.append(f"  {label:32} {'█' * max(1, round(BAR * count / len(found)))} {count}")
        blocks.append("\n".join(lines))
    return "\n\n".join(blocks)


def mistakes(results: list[dict[str, Any]], most: int = 12) -> str:
    """The most frequent mistakes, by the name that the checks give them."""
    counts = Counter(
        (result["lesson"], name, one["mistake"])
        for result in results
        for name, one in result["exercises"].items()
        if one["mistake"]
    )
    rows = [["times", "lesson", "exercise", "mistake"]]
    rows += [[str(count), *names] for names, count in counts.most_common(most)]
    return table(rows) if len(rows) > 1 else "No mistakes."


def oddities(results: list[dict[str, Any]]) -> str:
    """What was damaged or tampered with, by student."""
    lines = []
    for result in sorted(results, key=lambda one: (one["lesson"], one["student"])):
        for finding in result["findings"]:
            lines.append(
                printable(f"{result['lesson']}  {result['student']}: {finding['kind']}: {finding['what']}")
            )
    return "\n".join(lines) or "Every submission was as released."


def full(results: list[dict[str, Any]]) -> str:
    """All of it, as Markdown."""
    parts = {
        "Marks": summary(results),
        "Points by exercise": histogram(results),
        "Most frequent mistakes": mistakes(results),
        "Damaged, tampered, faults": oddities(results),
    }
    return "\n".join(f"## {title}\n\n```\n{text}\n```\n" for title, text in parts.items()) if results else ""
