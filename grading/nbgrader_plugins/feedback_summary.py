"""What the top of a feedback page says: each exercise with its verdict, points and comments."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import suppress
from typing import Any

import msgspec
from nbformat import NotebookNode
from nbgrader.utils import is_grade, is_solution

from grading.course.config import Course
from grading.course.result import Result, Task
from grading.course.student_folder import RefusedSubmissionError
from grading.course.titles import Titles, titles_of
from grading.notebook.cell_selection import grade_id
from grading.submission.sanitize import STAMP

NO_ANSWER = "No response."  # nbgrader's own comment on an answer that was not changed


class ExerciseFeedback(msgspec.Struct):
    """One exercise on the page; points are texts such as `2.5`."""

    title: str
    anchor: str
    right: bool
    points: str
    max_points: str
    verdict: str = ""
    mistake: str = ""
    comments: list[str] = []


class FeedbackSummary(msgspec.Struct):
    """The top of a page; points and the penalty are texts, the latter empty without one."""

    title: str
    points: str
    max_points: str
    exercises: list[ExerciseFeedback]
    findings: list[str]
    late_penalty: str = ""
    submitted: str = ""
    version: str = ""


def summarise(course: Course, task: Task, notebook: NotebookNode, grades: dict[str, Any]) -> FeedbackSummary:
    """Return what the page says first.

    Args:
        course: The course.
        task: The submission.
        notebook: It with the grades and comments from the gradebook in its cells.
        grades: The sum that nbgrader puts beside it: `score`, `max_score` and `late_penalty`.
    """
    result = course.results.read(task)
    titles = titles_of(course.lesson(task.lesson).released, task.lesson)
    exercises = list(_exercises(notebook, result, titles))
    findings = [one["what"] for one in result["findings"] if one["kind"] == "damaged"] if result else []
    verdicts = {one.verdict for one in exercises}
    if len(exercises) > 1 and len(verdicts) == 1:  # such as a file that cannot be read: say it once
        findings = findings or list(verdicts)
        for one in exercises:
            one.verdict = one.mistake = ""
    penalty = grades.get("late_penalty") or 0
    return FeedbackSummary(
        title=titles.lesson,
        points=f"{grades['score']:g}",
        max_points=f"{grades['max_score']:g}",
        exercises=exercises,
        findings=[one for one in findings if one],
        late_penalty=f"{penalty:g}" if penalty else "",
        submitted=_submitted(course, task),
        version=_version(result),
    )


def _exercises(notebook: NotebookNode, result: Result | None, titles: Titles) -> Iterator[ExerciseFeedback]:
    comments: list[str] = []
    for cell in notebook.cells:
        if is_solution(cell):
            comments.append(cell.metadata.nbgrader.get("comment") or "")
        if is_grade(cell):
            name = grade_id(cell)
            graded = result["exercises"].get(name) if result else None
            score, most = cell.metadata.nbgrader.get("score") or 0.0, cell.metadata.nbgrader.points
            yield ExerciseFeedback(
                title=titles.exercises.get(name, name),
                anchor=name,
                right=score >= most and score > 0,  # an optional exercise has no maximum
                points=f"{score:g}",
                max_points=f"{most:g}",
                verdict=graded["message"] if graded else "",
                mistake=graded["mistake"] if graded else "",
                comments=[one for one in comments if one and one != NO_ANSWER],
            )
            comments = []


def _submitted(course: Course, task: Task) -> str:
    with suppress(OSError, ValueError, RefusedSubmissionError):
        stamp = (course.submission_folder(task) / STAMP).read_text().strip()[:40]
        return re.sub(r"(:\d\d):\d\d(\.\d+)?", r"\1", stamp)  # to the minute
    return ""


def _version(result: Result | None) -> str:
    found = re.search(r"feeding-the-gpu (\S+)", result["provenance"]["environment"]) if result else None
    return found[1] if found else ""
