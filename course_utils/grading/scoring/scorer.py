"""Grades one submission: runs it in the sandbox, judges the evidence outside."""

from __future__ import annotations

import base64
import re
import secrets
import socket
import time
from collections.abc import Iterable
from datetime import UTC, datetime

from nbformat import NotebookNode

from course_utils.grading.course import GRADER_FAULT, CellOutput, Exercise, Lesson, Provenance, Result
from course_utils.grading.notebook import Restored, cells_to_run, grade_id, is_setup, restore_notebook
from course_utils.grading.sandbox import Reply, Sandbox, Step
from course_utils.grading.scoring.judge import Judge
from course_utils.grading.submission import Finding, Submission

# The first that applies is the status of a submission.
STATUSES = (GRADER_FAULT, "tampered", "damaged", "timed out", "crashed", "wrong", "right")
# An answer has no use for these; code that rewrites a check from within needs one of them.
SUSPICIOUS = re.compile(
    r"course_utils\.checks|sys\.modules|gc\.get_objects|addaudithook|settrace|setprofile|_getframe|f_back"
    r"|inspect\.stack|ctypes|builtins|importlib|__import__|__globals__|__setattr__|__subclasses__"
    r"|(?<![.\w])(?:exec|eval)\("
)


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
    restored = restore_notebook(submission.notebook(), lesson.released)
    notebook = restored.notebook
    findings = [
        *submission.findings,
        *restored.findings,
        *find_suspicious_code(lesson, notebook, submission.files()),
    ]
    judge = Judge(lesson, seed, watched=sandbox.kind != "none")
    replies = _replies(sandbox, lesson, submission, restored, judge)
    exercises = judge.outcomes(notebook, replies)
    return {
        "lesson": lesson.name,
        "student": submission.student,
        "status": _status(exercises.values(), findings),
        "points": sum(exercise["points"] for exercise in exercises.values()),
        "max_points": lesson.points,
        "exercises": exercises,
        "findings": [{"kind": finding.kind, "what": finding.what} for finding in findings],
        "cells": _outputs(notebook, replies),
        "notebook": notebook,
        "provenance": _provenance(lesson, submission, sandbox.kind, seed, time.monotonic() - start),
    }


def find_suspicious_code(lesson: Lesson, notebook: NotebookNode, files: dict[str, bytes]) -> list[Finding]:
    """Find words in a student's code that could reach for the checks; they change no mark.

    Args:
        lesson: The lesson as its authors wrote it.
        notebook: The restored submission.
        files: The submitted files, by name.
    """
    setup = {cell.source.strip() for cell in lesson.source.cells if is_setup(cell)}
    runs = cells_to_run(notebook, lesson.source)
    chosen = [cell for cell, runs_it in zip(notebook.cells, runs, strict=True) if runs_it]
    sources = [cell.source for cell in chosen if grade_id(cell) not in lesson.graded]
    texts = [source for source in sources if source.strip() not in setup]
    texts += [data.decode("utf-8", "replace") for name, data in files.items() if name.endswith(".py")]
    words = {match[0] for text in texts for match in SUSPICIOUS.finditer(text)}
    return [
        Finding("suspicious", f"The student's code contains {word!r}: read it.") for word in sorted(words)
    ]


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
        "findings": [{"kind": GRADER_FAULT, "what": reason}],
        "cells": {},
        "notebook": {},
        "provenance": _provenance(lesson, submission, sandbox),
    }


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
        elif runs:
            steps.append(Step(place, cell.source))
    return steps


def _status(exercises: Iterable[Exercise], findings: Iterable[Finding]) -> str:
    seen = {exercise["status"] for exercise in exercises} | {finding.kind for finding in findings}
    return next((status for status in STATUSES if status in seen), "right")


def _outputs(notebook: NotebookNode, replies: dict[int, Reply]) -> dict[str, CellOutput]:
    """Return the outputs of the student's own cells; a probe's are left out, as they may show inputs."""
    return {
        notebook.cells[place].id: {
            "text": reply.text,
            "error": reply.error if reply.outcome == "done" else reply.reason,
            "pictures": [base64.b64encode(picture).decode() for picture in reply.pictures],
        }
        for place, reply in replies.items()
        if not reply.evidence and (reply.text or reply.error or reply.pictures or reply.reason)
    }
