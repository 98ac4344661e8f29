"""Runs a submission and judges it; what is right is asked again, twice, in a second process.

What an answer does can depend on its process (the hash of a text, the order of a set), on the inputs, or on
what ran before. So a process of another fork server, which shares nothing with the first, is asked the same
once more, and then with other inputs. An answer earns its points if it is right each time.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import NamedTuple

from nbformat import NotebookNode

from course_utils.validation.definitions import extract_definitions
from grading.course.lesson import Lesson
from grading.course.result import GRADER_FAULT, Exercise
from grading.notebook.cell_selection import cells_to_run, grade_id
from grading.sandbox.client import Sandbox
from grading.sandbox.steps import Reply, Step
from grading.scoring.judge import Judge

Sandboxes = tuple[Sandbox, Sandbox]
RIGHT = "right"
# What precedes the message about an answer that was right at first, by what it was asked later.
ONLY_AT_FIRST = {
    "the same inputs": "Right at first, but not when a new process got the same inputs: ",
    "other inputs": "Right with some inputs, but not with others that the same process got after them: ",
}


class Examination(NamedTuple):
    """The outcome of each graded cell, and the replies of the first process by the position of the cell."""

    exercises: dict[str, Exercise]
    replies: dict[int, Reply]


def examine(
    sandboxes: Sandboxes, lesson: Lesson, notebook: NotebookNode, files: dict[str, bytes], seed: int
) -> Examination:
    """Run and judge one submission.

    Args:
        sandboxes: Two sandboxes; only what was right in the first runs in the second.
        lesson: The lesson.
        notebook: The restored submission.
        files: The lesson's and the student's files by relative name.
        seed: Seed of the inputs; the other inputs have its successor.

    Raises:
        GraderFaultError: A sandbox or a judge failed.
    """
    first, second = sandboxes
    judge = Judge(lesson, seed)
    replies = first.run(sandbox_steps(lesson, notebook, judge), files)
    exercises = judge.outcomes(notebook, replies)
    right = [name for name, exercise in exercises.items() if exercise["status"] == RIGHT]
    if right:
        judges = [judge, Judge(lesson, seed + 1)]
        asked = _ask_again(second, judges, notebook, files, replies, right)
        for inputs, outcomes in zip(ONLY_AT_FIRST, asked, strict=True):
            for name, outcome in outcomes.items():
                exercises[name] = _both(exercises[name], outcome, inputs)
    return Examination(exercises, replies)


def unreadable(lesson: Lesson, notebook: NotebookNode) -> Examination:
    """Return the examination of a submission whose notebook cannot be read.

    Args:
        lesson: The lesson.
        notebook: The notebook that takes its place.
    """
    judge = Judge(lesson, seed=0)
    places = [step.index for step in sandbox_steps(lesson, notebook, judge)]
    replies = {place: Reply("unreadable", "The notebook is missing or cannot be read.") for place in places}
    return Examination(judge.outcomes(notebook, replies), replies)


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


def _ask_again(
    sandbox: Sandbox,
    judges: Sequence[Judge],
    notebook: NotebookNode,
    files: dict[str, bytes],
    earlier: dict[int, Reply],
    names: list[str],
) -> list[dict[str, Exercise]]:
    """Ask the checks of some graded cells, one judge's inputs after the other's, in one new process.

    Args:
        sandbox: A sandbox.
        judges: The judges; the first one has the inputs of the process before.
        notebook: The restored submission.
        files: Its files.
        earlier: The replies of the process before.
        names: The names of the graded cells.

    Returns:
        The outcomes by name, for each judge.
    """
    steps = _steps_again(judges, notebook, names)
    cells = {step.index: earlier[step.index] for step in steps if not step.check}
    replies = sandbox.run(steps, files, cells)
    asked = []
    for number, judge in enumerate(judges):
        size = len(notebook.cells) * number
        own = {place - size: reply for place, reply in replies.items() if place >= size}
        compared = None if number else earlier
        asked.append(judge.outcomes(notebook, replies | own, names, compared))
    return asked


def _steps_again(judges: Sequence[Judge], notebook: NotebookNode, names: list[str]) -> list[Step]:
    """Return the cells up to the last check, and each check once for each judge, at an index of its own."""
    steps: list[Step] = []
    for asked in zip(*(sandbox_steps(judge.lesson, notebook, judge) for judge in judges), strict=True):
        if not asked[0].check:
            steps.append(asked[0])
        elif grade_id(notebook.cells[asked[0].index]) in names:
            size = len(notebook.cells)
            steps += [replace(step, index=step.index + number * size) for number, step in enumerate(asked)]
    last = max(number for number, step in enumerate(steps) if step.check)
    return steps[: last + 1]


def _both(first: Exercise, later: Exercise, inputs: str) -> Exercise:
    """Return the outcome of an exercise that was asked again: right if it was right both times."""
    seconds = round(first["seconds"] + later["seconds"], 3)
    if first["status"] != RIGHT or later["status"] == RIGHT:
        return {**first, "seconds": seconds}
    said = "" if later["status"] == GRADER_FAULT else ONLY_AT_FIRST[inputs]
    return {**later, "message": said + later["message"], "seconds": seconds}
