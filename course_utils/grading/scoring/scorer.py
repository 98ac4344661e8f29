"""Grades one submission: runs it in the sandbox, judges the evidence outside."""

from __future__ import annotations

import base64
import secrets
import socket
import time
from collections.abc import Iterable
from datetime import UTC, datetime

from nbformat import NotebookNode

from course_utils.grading.course import (
    GRADER_FAULT,
    CellOutput,
    Exercise,
    FindingEntry,
    Lesson,
    Provenance,
    Result,
)
from course_utils.grading.notebook import (
    Restored,
    cells_to_run,
    grade_id,
)
from course_utils.grading.sandbox import Reply, Sandbox, Step
from course_utils.grading.scoring.judge import Judge
from course_utils.grading.scoring.missing_names import find_missing_names
from course_utils.grading.scoring.notebook_reader import read_notebook
from course_utils.grading.submission import Finding, Submission
from course_utils.validation import extract_definitions

# The first that applies is the status of a submission.
STATUSES = (GRADER_FAULT, "tampered", "damaged", "timed out", "crashed", "wrong", "right")
MAX_FINDINGS = 100


def grade(sandbox: Sandbox, lesson: Lesson, submission: Submission, seed: int | None = None) -> Result:
    """Run and judge one submission.

    Args:
        sandbox: A sandbox.
        lesson: The lesson.
        submission: The submission.
        seed: Seed of the inputs; random by default.
    """
    start = time.monotonic()
    seed = secrets.randbits(63) if seed is None else seed
    restored = read_notebook(lesson, submission)
    notebook = restored.notebook
    findings = [*submission.findings, *restored.findings]
    judge = Judge(lesson, seed, watched=sandbox.kind != "none")
    replies = _replies(sandbox, lesson, submission, restored, judge)
    exercises = judge.outcomes(notebook, replies)
    cells = _outputs(lesson, notebook, replies)
    findings += find_missing_names(lesson, exercises.values(), cells.values())
    return {
        "lesson": lesson.name,
        "student": submission.student,
        "status": _status(exercises.values(), findings),
        "points": sum(exercise["points"] for exercise in exercises.values()),
        "max_points": lesson.points,
        "exercises": exercises,
        "findings": _entries(findings),
        "cells": cells,
        "notebook": notebook,
        "provenance": _provenance(lesson, submission, sandbox.kind, seed, time.monotonic() - start),
    }


def fault(lesson: Lesson, student: str, submission: Submission | None, sandbox: str, reason: str) -> Result:
    """Return the result of a submission on which the grader failed: no exercises, no points.

    Args:
        lesson: What was submitted.
        student: Who submitted it.
        submission: Its files; None if they could not be read.
        sandbox: The backend.
        reason: What failed, for the teacher and the maintainers.
    """
    return {
        "lesson": lesson.name,
        "student": student,
        "status": GRADER_FAULT,
        "points": 0.0,
        "max_points": lesson.points,
        "exercises": {},
        "findings": _entries([Finding(GRADER_FAULT, reason)]),
        "cells": {},
        "notebook": {},
        "provenance": _provenance(lesson, submission, sandbox),
    }


def _entries(findings: list[Finding]) -> list[FindingEntry]:
    """Return findings as they are stored: valid Unicode, and not without end."""
    if len(findings) > MAX_FINDINGS:
        findings = [*findings[:MAX_FINDINGS], Finding("damaged", f"{len(findings) - MAX_FINDINGS} more.")]
    return [
        {"kind": finding.kind, "what": finding.what.encode("utf-8", "backslashreplace").decode()}
        for finding in findings
    ]


def _provenance(
    lesson: Lesson, submission: Submission | None, sandbox: str, seed: int | None = None, seconds: float = 0.0
) -> Provenance:
    return {
        **lesson.versions(submission),
        "sandbox": sandbox,
        "seed": seed,
        "node": socket.gethostname(),
        "time": datetime.now(UTC).isoformat(timespec="seconds"),
        "seconds": round(seconds, 3),
    }


def _replies(
    sandbox: Sandbox, lesson: Lesson, submission: Submission, restored: Restored, judge: Judge
) -> dict[int, Reply]:
    steps = sandbox_steps(lesson, restored.notebook, judge)
    if not restored.readable:
        return {
            step.index: Reply("unreadable", "The notebook is missing or cannot be read.") for step in steps
        }
    return sandbox.run(steps, {**submission.files(), **lesson.files()})


def sandbox_steps(lesson: Lesson, notebook: NotebookNode, judge: Judge) -> list[Step]:
    """Return the steps that run a notebook's cells and checks in the sandbox, in order."""
    steps = []
    chosen = cells_to_run(notebook, lesson.source)
    for place, (cell, runs) in enumerate(zip(notebook.cells, chosen, strict=True)):
        graded = lesson.graded.get(grade_id(cell))
        if graded is not None:
            steps.append(
                Step(place, graded.answers, graded.check, lesson.module, judge.handout(graded.check))
            )
        elif cell.cell_type == "code" and (
            source := cell.source if runs else extract_definitions(cell.source)
        ):
            steps.append(Step(place, source))
    return steps


def _status(exercises: Iterable[Exercise], findings: Iterable[Finding]) -> str:
    seen = {exercise["status"] for exercise in exercises} | {finding.kind for finding in findings}
    return next((status for status in STATUSES if status in seen), "right")


def _outputs(lesson: Lesson, notebook: NotebookNode, replies: dict[int, Reply]) -> dict[str, CellOutput]:
    """Return the outputs of the student's own cells; a probe's are left out, as they may show inputs."""
    runs = cells_to_run(notebook, lesson.source)
    return {
        notebook.cells[place].id: {
            "text": reply.text,
            "error": reply.error if reply.outcome == "done" else reply.reason,
            "pictures": [base64.b64encode(picture).decode() for picture in reply.pictures],
        }
        for place, reply in replies.items()
        if runs[place]
        and not reply.evidence
        and (reply.text or reply.error or reply.pictures or reply.reason)
    }
