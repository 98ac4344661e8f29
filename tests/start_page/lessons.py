"""Lessons as a student has saved them, for tests of the start page."""

import json
from pathlib import Path
from typing import Any

from course_utils.checks.core.check import CheckFailed, CheckPassed, Mistake

NAME = "01_jpeg_vs_zip"
FIRST_CELL = """# Lesson 01: many small files

**You need** Python and lesson 00. No GPU.

**Time** about 90 minutes with the exercises.
"""
UNWRITTEN = "def answer():\n    # YOUR CODE HERE\n    raise NotImplementedError()\n"
WRITTEN = "def answer():\n    return 42\n"


def passed() -> dict[str, Any]:
    return {"output_type": "stream", "name": "stdout", "text": f"{CheckPassed('all is right')}\n"}


def failed(mistake: str) -> dict[str, Any]:
    error = CheckFailed(Mistake(mistake, "a long sentence about what is wrong, and about what to do " * 3))
    return {
        "output_type": "error",
        "ename": "CheckFailed",
        "evalue": str(error),
        "traceback": error._render_traceback_(),
    }


def crashed() -> dict[str, Any]:
    return {"output_type": "error", "ename": "NameError", "evalue": "name 'answer'", "traceback": ["Name"]}


def exercise(
    name: str, source: str = UNWRITTEN, output: dict[str, Any] | None = None, counts: tuple = (1, 2)
) -> list[dict[str, Any]]:
    """The answer cell of an exercise, and the cell that checks it."""
    answer = {"grade_id": f"{name}_answer", "solution": True, "grade": False}
    check = {"grade_id": name, "solution": False, "grade": True}
    code = {"cell_type": "code", "outputs": []}
    return [
        {**code, "metadata": {"nbgrader": answer}, "source": source, "execution_count": counts[0]},
        {
            **code,
            "metadata": {"nbgrader": check},
            "source": f"jpeg_vs_zip.{name}(answer)",
            "execution_count": counts[1],
            "outputs": [output] if output else [],
        },
    ]


def save_lesson(
    folder: Path, *exercises: list[dict[str, Any]], name: str = NAME, first: str = FIRST_CELL
) -> Path:
    """Save a lesson with these exercises below a folder of lessons."""
    cells = [{"cell_type": "markdown", "metadata": {}, "source": first.splitlines(keepends=True)}]
    notebook = {
        "cells": [*cells, *(cell for pair in exercises for cell in pair)],
        "metadata": {},
        "nbformat": 4,
        "nbformat_minor": 5,
    }
    path = folder / name / f"{name}.ipynb"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(notebook))
    return path
