"""The report after grading: marks, histograms, the most frequent mistakes, and findings."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence

from course_utils.checks.core import NOT_WRITTEN_YET
from grading.course.result import LateWork, Summary
from grading.scoring.scorer import STATUSES
from grading.submission.findings import OTHER_VERSION

BAR_WIDTH, MAX_CELL_WIDTH = 40, 120
NUMBERS = re.compile(r"\d(?:[\d:. -]*\d)?")


def summary(results: Sequence[Summary]) -> str:
    """Return a table of lessons by status."""
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


def term(results: Sequence[Summary], weights: Mapping[str, float]) -> str:
    """Return the mean percentage of all lessons, weighted; empty where no weight was given."""
    lessons = sorted({result["lesson"] for result in results})
    if not weights or not lessons:
        return ""
    means = []
    for lesson in lessons:
        parts = [one["points"] / (one["max_points"] or 1) for one in results if one["lesson"] == lesson]
        means.append((weights.get(lesson, 1.0), sum(parts) / len(parts)))
    whole = sum(weight for weight, _ in means)
    percent = 100 * sum(weight * mean for weight, mean in means) / whole if whole else 0.0
    shown = ", ".join(f"{lesson} {weight:g}" for lesson, (weight, _) in zip(lessons, means, strict=True))
    return f"Mean of these lessons: {percent:.1f} %, weighted ({shown})"


def table(rows: list[list[str]]) -> str:
    """Align rows in columns; the first row is the heading."""
    rows = [[printable(text)[:MAX_CELL_WIDTH] for text in row] for row in rows]
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    lines = [
        "  ".join(text.ljust(width) for text, width in zip(row, widths, strict=True)).rstrip() for row in rows
    ]
    return "\n".join([lines[0], "  ".join("-" * width for width in widths), *lines[1:]])


def printable(text: str) -> str:
    """Replace control characters: names and messages from a submission must not steer a terminal."""
    return "".join(character if character.isprintable() else "?" for character in text)


def histogram(results: Sequence[Summary]) -> str:
    """Return one block for each exercise: how many submissions got how many points, by status."""
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
            lines.append(f"  {label:32} {'█' * max(1, round(BAR_WIDTH * count / len(found)))} {count}")
        blocks.append("\n".join(lines))
    return "\n\n".join(blocks)


def mistakes(results: Sequence[Summary], limit: int = 12) -> str:
    """Return a table of the most frequent mistakes, by the names that the checks give them."""
    counts = Counter(
        (result["lesson"], name, one["mistake"])
        for result in results
        for name, one in result["exercises"].items()
        if one["mistake"]
    )
    rows = [["times", "lesson", "exercise", "mistake"]]
    rows += [[str(count), *names] for names, count in counts.most_common(limit)]
    return table(rows) if len(rows) > 1 else "No mistakes."


def progress(results: Sequence[Summary], mistakes_shown: int = 3) -> str:
    """Return a table of exercises without names: how many are right, not begun, and the common mistakes."""
    rows = [["lesson", "exercise", "right", "not begun", "most frequent mistakes"]]
    for lesson, exercise in sorted({(r["lesson"], name) for r in results for name in r["exercises"]}):
        found = [
            r["exercises"][exercise] for r in results if r["lesson"] == lesson and exercise in r["exercises"]
        ]
        counts = Counter(one["mistake"] for one in found if one["mistake"])
        not_begun = counts.pop(NOT_WRITTEN_YET, 0)
        common = ", ".join(f"{name} ({count})" for name, count in counts.most_common(mistakes_shown))
        right = sum(one["status"] == "right" for one in found)
        rows.append([lesson, exercise, f"{right} of {len(found)}", str(not_begun), common])
    return table(rows) if len(rows) > 1 else "Nothing has been handed in yet."


def deadlines(late: Iterable[LateWork], missing: Mapping[str, Sequence[str]]) -> str:
    """List late submissions with what they lost, and who has submitted nothing; empty without either."""
    lines = []
    for one in late:
        lost = f", {one.penalty:g} points less" if one.penalty else ""
        lines.append(
            f"{one.task.lesson}  {one.task.student}: late by {str(one.late_by).partition('.')[0]} h{lost}"
        )
    lines += [f"{lesson}: nothing from {', '.join(students)}" for lesson, students in missing.items()]
    return "\n".join(map(printable, lines))


def findings(results: Sequence[Summary]) -> str:
    """List what was damaged, tampered with or suspicious; what differs only in its numbers is said once."""
    alike: dict[tuple[str, str, str], list[tuple[str, str]]] = {}
    for result in sorted(results, key=lambda one: (one["lesson"], one["student"])):
        for finding in result["findings"]:
            if finding["kind"] != OTHER_VERSION:
                pattern = NUMBERS.sub("…", finding["what"])
                group = alike.setdefault((result["lesson"], finding["kind"], pattern), [])
                group.append((result["student"], finding["what"]))
    lines = []
    for (lesson, kind, pattern), group in alike.items():
        students = ", ".join(dict.fromkeys(student for student, _ in group))
        texts = {what for _, what in group}
        lines.append(
            printable(f"{lesson}  {students}: {kind}: {texts.pop() if len(texts) == 1 else pattern}")
        )
    return "\n".join([*lines, *_copies(results)]) or "Every submission was as released."


def versions(results: Sequence[Summary]) -> str:
    """List the notebooks that were released with another version of the course; empty without any."""
    students: dict[tuple[str, str], list[str]] = {}
    for result in results:
        for finding in result["findings"]:
            if finding["kind"] == OTHER_VERSION:
                students.setdefault((result["lesson"], finding["what"]), []).append(result["student"])
    return "\n".join(
        printable(f"{lesson}  {', '.join(sorted(names))}: {what}")
        for (lesson, what), names in sorted(students.items())
    )


def _copies(results: Sequence[Summary]) -> list[str]:
    """Name the students who handed in the very same files, and have points for them."""
    students: dict[tuple[str, str], list[str]] = {}
    for result in results:
        if result["points"] > 0:
            key = result["lesson"], result["provenance"]["submission"]
            students.setdefault(key, []).append(result["student"])
    groups = [(lesson, sorted(names)) for (lesson, _), names in students.items() if len(names) > 1]
    return [printable(f"{lesson}  {', '.join(names)}: the same files") for lesson, names in sorted(groups)]


def full(results: Sequence[Summary]) -> str:
    """Return the whole report as Markdown; empty without results."""
    parts = {
        "Marks": summary(results),
        "Points by exercise": histogram(results),
        "Most frequent mistakes": mistakes(results),
        "Damaged, tampered with, suspicious": findings(results),
        "Notebooks of other versions": versions(results),
    }
    if not results:
        return ""
    return "\n".join(f"## {title}\n\n```\n{text}\n```\n" for title, text in parts.items() if text)
