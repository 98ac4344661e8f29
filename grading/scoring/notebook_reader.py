"""Reads a submitted notebook in a process with bounds: a text can make any parser slow, hungry or crash."""

from __future__ import annotations

from typing import Any

import msgspec
import nbformat

from grading.course.lesson import Lesson
from grading.notebook.restore import Restored, restore_notebook
from grading.scoring.bounded import Exceeded, run_bounded
from grading.submission.files import Submission
from grading.submission.findings import Finding


class _Read(msgspec.Struct):
    notebook: dict[str, Any]
    findings: list[Finding]
    readable: bool


def read_notebook(lesson: Lesson, submission: Submission) -> Restored:
    """Return a submission's notebook in the released form, and what was found in it.

    Raises:
        GraderFaultError: Reading failed, not through what was submitted.
    """
    [(_, found)] = run_bounded(lambda _: _read(lesson, submission), ["notebook"], _Read)
    if isinstance(found, Exceeded):
        reason = f"The notebook cannot be read: it {found.reason}."
        notebook = restore_notebook(None, lesson.released).notebook
        return Restored(notebook, [Finding("damaged", reason)], readable=False)
    return Restored(nbformat.from_dict(found.notebook), found.findings, found.readable)


def _read(lesson: Lesson, submission: Submission) -> _Read:
    restored = restore_notebook(submission.notebook(), lesson.released)
    return _Read(restored.notebook, restored.findings, restored.readable)
