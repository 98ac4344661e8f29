"""Grades one submission: runs it in the sandbox, judges the evidence outside."""

from __future__ import annotations

import base64
import secrets
import socket
import time
from collections.abc import Iterable
from datetime import UTC, datetime

from nbformat import NotebookNode

from grading.course.lesson import Lesson
from grading.course.result import GRADER_FAULT, CellOutput, Exercise, FindingEntry, Provenance, Result
from grading.notebook.cell_selection import cells_to_run
from grading.sandbox.steps import Reply
from grading.scoring.examination import Sandboxes, examine, unreadable
from grading.scoring.missing_names import find_missing_names
from grading.scoring.notebook_reader import read_notebook
from grading.submission.files import Submission
from grading.submission.findings import Finding

# The first that applies is the status of a submission.
STATUSES = (GRADER_FAULT, "tampered", "damaged", "timed out", "crashed", "wrong", "right")
MAX_FINDINGS = 100


def grade(sandboxes: Sandboxes, lesson: Lesson, submission: Submission, seed: int | None = None) -> Result:
    """Run and judge one submission.

    Args:
        sandboxes: Two sandboxes; the second one runs only what was right in the first.
        lesson: The lesson.
        submission: The submission.
        seed: Seed of the inputs; random by default.
    """
    start = time.monotonic()
    seed = secrets.randbits(63) if seed is None else seed
    restored = read_notebook(lesson, submission)
    notebook = restored.notebook
    findings = [*submission.findings, *restored.findings]
    if restored.readable:
        files = {**submission.files(), **lesson.files()}
        exercises, replies = examine(sandboxes, lesson, notebook, files, seed)
    else:
        exercises, replies = unreadable(lesson, notebook)
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
        "provenance": _provenance(lesson, submission, sandboxes[0].kind, seed, time.monotonic() - start),
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
