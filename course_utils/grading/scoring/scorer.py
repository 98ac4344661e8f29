"""Grades one submission: steps from its notebook, evidence from the sandbox, verdicts from out here."""

from __future__ import annotations

import base64
import platform
import re
import secrets
import socket
import time
import zlib
from collections.abc import Callable
from datetime import UTC, datetime
from functools import cache
from importlib.metadata import version
from typing import Any

import numpy as np
from nbformat import NotebookNode

from course_utils.checks.core import Mistake, evidence
from course_utils.grading.course import Lesson
from course_utils.grading.sandbox import Box, GraderFaultError, Handout, Reply, Step
from course_utils.grading.submission import (
    Finding,
    Repaired,
    Submission,
    cells_to_run,
    grade_id,
    is_setup,
    repair,
)

STATUSES = ("grader fault", "tampered", "damaged", "timed out", "crashed", "wrong", "right")
ANSWER = "_answer"
# What an answer has no use for, and one that rewrites a check from within needs.
REACHES = re.compile(
    r"course_utils\.checks|sys\.modules|gc\.get_objects|addaudithook|settrace|setprofile|_getframe|f_back"
    r"|inspect\.stack|ctypes|builtins|importlib|__import__|__globals__|__setattr__|__subclasses__"
    r"|(?<![.\w])(?:exec|eval)\("
)


def grade(box: Box, lesson: Lesson, submission: Submission, seed: int | None = None) -> dict[str, Any]:
    """Runs and judges one submission.

    Args:
        box: A sandbox.
        lesson: What was to be done.
        submission: What was handed in.
        seed: Of the inputs; drawn anew by default.

    Returns:
        A result as `results` stores it: plain JSON data.
    """
    start = time.monotonic()
    seed = secrets.randbits(32) if seed is None else seed
    repaired = repair(submission.notebook(), lesson.released)
    findings = [
        *submission.findings,
        *repaired.findings,
        *suspects(lesson, repaired.notebook, submission.files()),
    ]
    exam = Exam(lesson, seed, watched=box.kind != "none")
    replies = _replies(box, lesson, submission, repaired, exam)
    exercises = {name: exam.exercise(name, repaired.notebook, replies) for name in lesson.graded}
    return {
        "lesson": lesson.name,
        "student": submission.student,
        "status": _overall(exercises, findings),
        "points": sum(exercise["points"] for exercise in exercises.values()),
        "max_points": lesson.points,
        "exercises": exercises,
        "findings": [{"kind": finding.kind, "what": finding.what} for finding in findings],
        "cells": _outputs(repaired.notebook, replies),
        "provenance": provenance(lesson, submission, box.kind)
        | {
            "seed": seed,
            "node": socket.gethostname(),
            "time": datetime.now(UTC).isoformat(timespec="seconds"),
            "seconds": round(time.monotonic() - start, 3),
        },
    }


def suspects(lesson: Lesson, notebook: NotebookNode, files: dict[str, bytes]) -> list[Finding]:
    """Points a teacher to code of a student that reaches for the checks; it changes no mark.

    Args:
        lesson: The lesson as its authors wrote it.
        notebook: The repaired submission.
        files: The submitted files, by name.
    """
    given = {cell.source.strip() for cell in lesson.source.cells if is_setup(cell)}
    runs = cells_to_run(notebook, lesson.source)
    chosen = [cell for cell, runs_it in zip(notebook.cells, runs, strict=True) if runs_it]
    sources = [cell.source for cell in chosen if grade_id(cell) not in lesson.graded]
    texts = [source for source in sources if source.strip() not in given]
    texts += [data.decode("utf-8", "replace") for name, data in files.items() if name.endswith(".py")]
    words = {match[0] for text in texts for match in REACHES.finditer(text)}
    return [Finding("suspicious", f"The student's code says {word!r}: read it.") for word in sorted(words)]


def fault(lesson: Lesson, submission: Submission, sandbox: str, reason: str) -> dict[str, Any]:
    """The result of a submission on which the grader failed: no exercises, no points."""
    return {
        "lesson": lesson.name,
        "student": submission.student,
        "status": "grader fault",
        "points": 0.0,
        "max_points": lesson.points,
        "exercises": {},
        "findings": [{"kind": "grader fault", "what": reason}],
        "cells": {},
        "provenance": provenance(lesson, submission, sandbox),
    }


def provenance(lesson: Lesson, submission: Submission, sandbox: str) -> dict[str, str]:
    """What a mark depends on; a result with the same needs no second run."""
    return {
        "submission": submission.digest(),
        "lesson": lesson.version(),
        "checks": lesson.checks_version(),
        "environment": environment(),
        "sandbox": sandbox,
    }


@cache
def environment() -> str:
    """The versions of Python and of the packages that a mark may depend on."""
    packages = [f"{name} {version(name)}" for name in ("feeding-the-gpu", "torch", "numpy", "nbgrader")]
    return " ".join([f"python {platform.python_version()}", *packages])


class Exam:
    """The inputs and truths of one grading; the truths never leave this process.

    Args:
        lesson: Whose checks to use.
        seed: Of all inputs of this grading.
        watched: Whether the sandbox can watch files that it lays out.
    """

    def __init__(self, lesson: Lesson, seed: int, watched: bool = True) -> None:
        self.lesson, self.seed, self.watched = lesson, seed, watched
        self._truths: dict[str, Any] = {}
        self._handouts: dict[str, Handout] = {}

    def handout(self, name: str) -> Callable[[], Handout]:
        """A function that draws the inputs of a check, once."""

        def draw() -> Handout:
            if name not in self._handouts:
                rng = np.random.default_rng([self.seed, zlib.crc32(name.encode())])
                try:
                    inputs, self._truths[name] = self.lesson.check(name).make(rng)
                except Exception as error:
                    raise GraderFaultError(
                        f"The check {name!r} could not make its inputs: {error!r}"
                    ) from error
                self._handouts[name] = self._handout(name, inputs)
            return self._handouts[name]

        return draw

    def _handout(self, name: str, inputs: dict[str, Any]) -> Handout:
        if self.lesson.check(name).outside is None or not self.watched:
            return Handout(evidence.encode(inputs))
        folder = f"/tmp/given-{secrets.token_hex(8)}"  # a name that nobody can take before
        return Handout(evidence.encode({**inputs, "files": folder}), folder, inputs["files"])

    def truth(self, name: str) -> Any:  # noqa: ANN401 - what a check knows
        """What the judge of a check knows about the inputs that were drawn."""
        return self._truths[name]

    def exercise(self, name: str, notebook: NotebookNode, replies: dict[int, Reply]) -> dict[str, Any]:
        """The outcome of one graded cell, given all replies."""
        places = {grade_id(cell): place for place, cell in enumerate(notebook.cells)}
        reply = replies[places[name]]
        answer = replies.get(places.get(name + ANSWER, -1), Reply())
        status, mistake, message = self._verdict(name, reply)
        if status != "right" and answer.outcome in ("crashed", "timed out"):
            status, mistake, message = answer.outcome, answer.outcome.replace(" ", "_"), answer.reason
        points = self.lesson.graded[name].points
        return {
            "status": status,
            "points": points if status == "right" else 0.0,
            "max_points": points,
            "mistake": mistake,
            "message": message,
            "seconds": round(reply.seconds, 3),
        }

    def _verdict(self, name: str, reply: Reply) -> tuple[str, str, str]:
        if reply.outcome != "done":
            status = "timed out" if reply.outcome == "skipped" else reply.outcome
            return status, status.replace(" ", "_"), reply.reason
        graded = self.lesson.graded[name]
        check, truth = self.lesson.check(graded.check), self._truths[graded.check]
        try:
            sentence = check.verdict(truth, reply.evidence)
            if reply.opened is not None:
                check.outside(truth, reply.opened)
            return "right", "", sentence
        except Mistake as mistake:
            return "wrong", mistake.name, mistake.message
        except Exception as error:
            return "grader fault", "grader_fault", f"The judge of this exercise failed: {error!r}"


def _replies(
    box: Box, lesson: Lesson, submission: Submission, repaired: Repaired, exam: Exam
) -> dict[int, Reply]:
    steps = sandbox_steps(lesson, repaired.notebook, exam)
    if not repaired.readable:
        return {step.index: Reply("unreadable", "There is no notebook that could be read.") for step in steps}
    return box.run(steps, {**submission.files(), **lesson.files()})


def sandbox_steps(lesson: Lesson, notebook: NotebookNode, exam: Exam) -> list[Step]:
    """What of a notebook runs in the sandbox, in order."""
    steps = []
    chosen = cells_to_run(notebook, lesson.source)
    for place, (cell, runs) in enumerate(zip(notebook.cells, chosen, strict=True)):
        graded = lesson.graded.get(grade_id(cell))
        if graded is not None:
            steps.append(Step(place, graded.answers, graded.check, lesson.module, exam.handout(graded.check)))
        elif runs:
            steps.append(Step(place, cell.source))
    return steps


def _overall(exercises: dict[str, dict], findings: list) -> str:
    seen = {exercise["status"] for exercise in exercises.values()} | {finding.kind for finding in findings}
    return next((status for status in STATUSES if status in seen), "right")


def _outputs(notebook: NotebookNode, replies: dict[int, Reply]) -> dict[str, dict[str, Any]]:
    """What the student's own cells wrote, by cell id; what a probe wrote stays out, it may show inputs."""
    return {
        notebook.cells[place].id: {
            "text": reply.text,
            "error": reply.error if reply.outcome == "done" else reply.reason,
            "pictures": [base64.b64encode(picture).decode() for picture in reply.pictures],
        }
        for place, reply in replies.items()
        if not reply.evidence and (reply.text or reply.error or reply.pictures or reply.reason)
    }
