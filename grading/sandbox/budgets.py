"""The wall time that the steps of one submission may take, and the output that is kept of them."""

from __future__ import annotations

import time

from grading.sandbox.isolation.limits import Limits
from grading.sandbox.steps import Reply, Step

# Cells run again after a crash; with all exercises' own time this bounds the whole submission.
RERUNS = 2
PATIENCE = 3  # with a busy machine
MAX_OUTPUT_BYTES = 16 * 2**20
LEFT_OUT = "... output left out: this submission has too much of it ...\n"


class Budgets:
    """One budget for the cells of each exercise, so that a slow one takes no time from the others.

    They are the cells since the check before; a check has time of its own, so that a student's experiments
    take none from it. Running cells again, after another one has crashed, is not charged to their exercise,
    but only to the whole submission.

    Args:
        steps: All steps, in the order of the notebook.
        limits: The limits.
    """

    def __init__(self, steps: list[Step], limits: Limits) -> None:
        self._limits = limits
        self._exercise: dict[int, int] = {}
        exercise = 0
        for step in steps:
            self._exercise[step.index] = exercise
            exercise += bool(step.check)
        self._left = [limits.exercise_seconds] * (exercise + 1)
        self._output = MAX_OUTPUT_BYTES
        self._end = time.monotonic() + RERUNS * limits.exercise_seconds * (exercise + 1)

    def deadline(self, step: Step, again: bool, doubted: bool = False) -> float | None:
        """Return until when a step may run, on the monotonic clock; None if it has no time left.

        Args:
            step: The step that is about to run.
            again: Whether it, or the cell in whose place it runs, has run before.
            doubted: Whether it has failed for a reason that may be the machine's: it gets more time.
        """
        now = time.monotonic()
        left = self._limits.cell_seconds
        if not (again or step.check):
            left = min(left, self._left[self._exercise[step.index]])
        left = min(left * (PATIENCE if doubted else 1), self._end - now)
        return now + left if left > 0 else None

    def spend(self, step: Step, seconds: float) -> None:
        """Charge a cell's wall time to its exercise."""
        self._left[self._exercise[step.index]] -= seconds

    def keep_output(self, reply: Reply) -> None:
        """Drop the output of a reply where the submission has had its share: results are stored and shown."""
        size = len(reply.text) + sum(map(len, reply.pictures))
        if size > self._output:
            reply.text, reply.pictures = LEFT_OUT, []
        else:
            self._output -= size
