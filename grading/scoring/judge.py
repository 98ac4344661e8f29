"""Draws the inputs of one grading and judges the evidence; the truths never leave this process."""

from __future__ import annotations

import re
import zlib
from collections.abc import Callable, Iterable
from functools import partial

import numpy as np
from nbformat import NotebookNode

from course_utils.checks.core import NO_ANSWER, Inputs, Mistake, Truth, evidence
from grading.course.lesson import Lesson
from grading.course.result import GRADER_FAULT, Exercise
from grading.notebook.cell_selection import grade_id
from grading.sandbox.server_process import GraderFaultError
from grading.sandbox.steps import Handout, Reply
from grading.scoring.bounded import Exceeded, run_bounded

ANSWER = "_answer"
MAX_MESSAGE = 5000  # characters


class Judge:
    """The judge of one submission.

    Args:
        lesson: Whose checks to use.
        seed: Seed of all inputs.
    """

    def __init__(self, lesson: Lesson, seed: int) -> None:
        self.lesson, self.seed = lesson, seed
        self._truths: dict[str, Truth] = {}
        self._handouts: dict[str, Handout] = {}

    def handout(self, name: str) -> Callable[[], Handout]:
        """Return a function that draws the inputs of a check on its first call.

        Raises:
            GraderFaultError: From that function: the check cannot make its inputs.
        """

        def draw() -> Handout:
            if name not in self._handouts:
                rng = np.random.default_rng([self.seed, zlib.crc32(name.encode())])
                try:
                    inputs, self._truths[name] = self.lesson.check(name).make(rng)
                except Exception as error:
                    raise GraderFaultError(f"The check {name!r} cannot make its inputs: {error!r}") from error
                self._handouts[name] = self._handout(name, inputs)
            return self._handouts[name]

        return draw

    def _handout(self, name: str, inputs: Inputs) -> Handout:
        check = self.lesson.check(name)
        world = None if check.world is None else partial(check.world, self._truths[name])
        return Handout(evidence.encode(inputs), world)

    def truth(self, name: str) -> Truth:
        """Return what a check's judge knows about the inputs drawn."""
        return self._truths[name]

    def outcomes(
        self,
        notebook: NotebookNode,
        replies: dict[int, Reply],
        names: Iterable[str] | None = None,
        earlier: dict[int, Reply] | None = None,
    ) -> dict[str, Exercise]:
        """Return the outcomes of graded cells, judged in another process with bounds on what it may use.

        Args:
            notebook: The restored submission.
            replies: All replies of the sandbox, by the position of the cell.
            names: The names of the graded cells; all by default.
            earlier: Replies of another process to the same inputs, with which these must agree.

        Raises:
            GraderFaultError: That process was lost, not through the evidence.
        """
        found = run_bounded(
            lambda name: self.outcome(name, notebook, replies, earlier),
            list(self.lesson.graded if names is None else names),
            Exercise,
        )
        return {
            name: self._not_judged(name, one.reason) if isinstance(one, Exceeded) else one
            for name, one in found
        }

    def _not_judged(self, name: str, reason: str) -> Exercise:
        return {
            "status": "wrong",
            "points": 0.0,
            "max_points": self.lesson.graded[name].points,
            "mistake": "too_much_to_judge",
            "message": f"The check could not finish judging your result: it {reason}. Return or write less.",
            "seconds": 0.0,
        }

    def outcome(
        self,
        name: str,
        notebook: NotebookNode,
        replies: dict[int, Reply],
        earlier: dict[int, Reply] | None = None,
    ) -> Exercise:
        """Return the outcome of a graded cell.

        Args:
            name: The name of the graded cell.
            notebook: The restored submission.
            replies: All replies of the sandbox, by the position of the cell.
            earlier: Replies of another process to the same inputs.
        """
        places = {grade_id(cell): place for place, cell in enumerate(notebook.cells)}
        reply = replies[places[name]]
        answer = replies.get(places.get(name + ANSWER, -1), Reply())
        status, mistake, message = self._verdict(name, reply, earlier[places[name]] if earlier else None)
        if status != "right" and answer.outcome != "done":
            status, mistake, message = _not_run(answer)
        elif mistake == NO_ANSWER and (error := self._error_of_definition(name, notebook, replies)):
            mistake, message = "definition_failed", f"The cell of your answer stopped with an error: {error}"
        points = self.lesson.graded[name].points
        return {
            "status": status,
            "points": points if status == "right" else 0.0,
            "max_points": points,
            "mistake": mistake,
            "message": message[:MAX_MESSAGE],
            "seconds": round(reply.seconds, 3),
        }

    def _error_of_definition(self, name: str, notebook: NotebookNode, replies: dict[int, Reply]) -> str:
        """Return the error that stopped a cell which defines an answer; empty without one."""
        names = "|".join(re.findall(r"\w+", self.lesson.graded[name].answers))
        defines = re.compile(rf"^\s*((async +)?def|class) +({names})\b|^({names})\s*=", re.MULTILINE)
        places = [place for place, cell in enumerate(notebook.cells) if defines.search(cell.source)]
        failed = (replies[place].error for place in places if place in replies)
        return next(filter(None, failed), "")

    def _verdict(self, name: str, reply: Reply, earlier: Reply | None) -> tuple[str, str, str]:
        if reply.outcome != "done":
            return _not_run(reply)
        graded = self.lesson.graded[name]
        check, truth = self.lesson.check(graded.check), self._truths[graded.check]
        try:
            before = None if earlier is None else (earlier.evidence, earlier.world)
            return "right", "", check.verdict(truth, reply.evidence, reply.world, before)
        except Mistake as mistake:
            return "wrong", mistake.name, mistake.message
        except Exception as error:
            return GRADER_FAULT, "grader_fault", f"The judge of this exercise failed: {error!r}"


def _not_run(reply: Reply) -> tuple[str, str, str]:
    """Return the status, mistake and message of a step that did not run to its end."""
    status = "timed out" if reply.outcome == "skipped" else reply.outcome
    return status, status.replace(" ", "_"), reply.reason
